"""Processor time of one compilation by stage, and its peak memory, in a process of its own; any checkout's match."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

#: Runs with the interpreter of any checkout, so it imports nothing of this one. Children count: their processor time
#: when they have ended, and the largest of them in memory. Imports run with the thresholds of garbage collection
#: that ``match`` sets.
_RUN = """
import gc, json, os, resource, sys, time

gc.set_threshold(1_000_000, 5, 5)

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

#: The command, without the folder of the call among those that are imported from: its files change.
_MAIN = "import sys; sys.path.remove(''); from match_core.cli.main import main; main()"


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
    """Compile with this checkout, or the one at ``root``, with its ``.venv`` if it has one. ``cache``: the folder of
    caches, None for none; ``jobs``: processes of the search, 0 for as many as match chooses. They belong to a server
    of processes, so that their time is not counted. RuntimeError if the compiler ends otherwise than with a program or
    a refusal."""
    given = (str(model), target, str(output or ""), str(int(cache is not None)), str(jobs))
    return CompileCost(*json.loads(_run(root, cache, _RUN, *given).splitlines()[-1]))


def command_seconds(model: Path, target: str, output: Path, cache: Path, *, root: Path | None = None) -> float:
    """Seconds of all processors of ``match compile``, from the start of the interpreter to its end; 0 if it refuses
    the model."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        _run(root, cache, _MAIN, "compile", str(model), "-t", target, "-o", str(output), "--quiet")
    except RuntimeError:
        return 0.0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _run(root: Path | None, cache: Path | None, code: str, *given: str) -> str:
    """What these lines of Python print; RuntimeError if they fail."""
    python = Path(sys.executable) if root is None else root / ".venv" / "bin" / "python"
    environment = {**os.environ, **({"MATCH_CACHE_DIR": str(cache)} if cache is not None else {})}
    # Modules are compiled once, as those of installed packages are: by an earlier call.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["PYTHONPYCACHEPREFIX"] = str(Path(tempfile.gettempdir()) / "match_compile_cost")
    if root is not None and not python.exists():  # a work tree: its modules, with the libraries of this environment
        python = Path(sys.executable)
        sources = [root / "core" / "src", *sorted(root.glob("plugins/*/src"))]
        environment["PYTHONPATH"] = os.pathsep.join(map(str, sources))
    command = [str(python), "-c", code, *given]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(given)}: {done.stderr[-2000:]}")
    return done.stdout
