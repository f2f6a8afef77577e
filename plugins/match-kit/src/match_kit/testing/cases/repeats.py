"""Level ``repeats``: same input, same bytes."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from match_kit.testing.findings import Case, Finding

if TYPE_CHECKING:
    from match_kit.testing.subject import Subject

LEVEL = "repeats"
_SEED = "4711"
_CODE = """
import sys
from pathlib import Path
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins

model, target, output, precision = sys.argv[1:]
request = CompileRequest(model=Path(model), target=target, output=Path(output), precision=precision)
compile_model(request, Plugins.load())
"""


def _bytes(subject: Subject) -> Iterator[Finding]:
    model = subject.programs[0]
    here = subject.program(model).digests
    output = subject.folder / f"{subject.target}-again"
    command = [sys.executable, "-c", _CODE, str(subject.path(model)), subject.target, str(output), model.precision]
    seed = _SEED if os.environ.get("PYTHONHASHSEED") != _SEED else "1"
    path = os.pathsep.join(entry for entry in sys.path if entry)
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        yield Finding(f"target {subject.target}", f"a second process fails: {done.stderr.strip().splitlines()[-1:]}")
        return
    paths = [path for path in output.rglob("*") if path.is_file()]
    there = {path.relative_to(output).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
    for name in sorted(here.keys() | there.keys()):
        if here.get(name) != there.get(name):
            yield Finding(
                f"emitted file {name} of {model.name}",
                "the bytes differ between two processes with different hash seeds",
            )


CASES = (Case(LEVEL, "bytes", "two processes with different hash seeds emit the same bytes", _bytes),)
