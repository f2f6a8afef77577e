"""Processor time of one compilation by stage, and its peak memory, in a process of its own; any checkout's match."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

#: Runs with the interpreter of any checkout, so it imports nothing of this one. Children count: their processor time
#: when they have ended, and the largest of them in memory.
_RUN = """
import json, os, resource, sys, time

def spent():
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system

from pathlib import Path
from match_core.contract.errors import MatchError
from match_core.contract.observe import NullObserver
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins

class Watch(NullObserver):
    def __init__(self):
        self.stages, self.begun = {}, 0.0
    def stage_started(self, name):
        self.begun = spent()
    def stage_finished(self, name, facts):
        self.stages[name] = self.stages.get(name, 0.0) + spent() - self.begun

def main():
    model, target, output, cache, jobs = sys.argv[1:6]
    watch, began, cycles, error = Watch(), time.perf_counter(), 0, ""
    request = CompileRequest(
        model=Path(model), target=target, output=Path(output) if output else None, cache=cache == "1",
        jobs=int(jobs) or None,
    )
    try:
        cycles = compile_model(request, Plugins.load(), watch).compilation.program.predicted_cycles
    except MatchError as refused:
        error = str(refused)
    peaks = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    wall = time.perf_counter() - began
    print(json.dumps([spent(), wall, max(peaks) * 1024, cycles, watch.stages, error]))

if __name__ == "__main__":
    main()
"""


@dataclass(frozen=True, slots=True)
class CompileCost:
    """Seconds of all processors (children included) and of the clock, peak bytes of the largest process, modelled
    cycles, seconds by stage; ``error``: why match refuses the model, empty if it does not."""

    seconds: float
    wall: float
    peak_bytes: int
    cycles: int
    stages: dict[str, float]
    error: str = ""


def compile_cost(
    model: Path,
    target: str,
    *,
    root: Path | None = None,
    output: Path | None = None,
    cache: Path | None = None,
    jobs: int = 1,
) -> CompileCost:
    """Compile with this checkout, or the one at ``root`` (its ``.venv``). ``cache``: the folder of caches, None for
    none; ``jobs``: processes of the search, 0 for as many as match chooses. They belong to a server of processes, so
    that their time is not counted. RuntimeError if the compiler ends otherwise than with a program or a refusal."""
    python = str(root / ".venv" / "bin" / "python") if root is not None else sys.executable
    environment = {**os.environ, **({"MATCH_CACHE_DIR": str(cache)} if cache is not None else {})}
    # Modules are compiled once, as those of installed packages are: by the first call, which is not measured.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["PYTHONPYCACHEPREFIX"] = str(Path(tempfile.gettempdir()) / "match_compile_cost")
    command: Sequence[str] = (python, "-c", _RUN, str(model), target, str(output or ""), str(int(cache is not None)))
    done = subprocess.run([*command, str(jobs)], capture_output=True, text=True, env=environment, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{model} on {target}: {done.stderr[-2000:]}")
    return CompileCost(*json.loads(done.stdout.splitlines()[-1]))
