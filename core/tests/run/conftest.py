"""Builds the scenarios on the twin's runtime, for the timeline and for threads."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from match_core.lower.templates import Templates
from match_core.run.build import RUNTIME
from match_core.run.compiler import BuildOptions, host_compiler

from core.tests.run.scenario_runs import Scenarios

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="session")
def scenarios(tmp_path_factory: pytest.TempPathFactory) -> Scenarios:
    folder = tmp_path_factory.mktemp("scenarios")
    (folder / "match_runtime.h").write_text(Templates().render("match_runtime.h.mako", {}), encoding="utf-8")
    sources = [str(path) for path in (*sorted(RUNTIME.glob("*.c")), HERE / "scenarios.c")]
    built = {}
    for name, options in (("timeline", BuildOptions(sanitize=True)), ("threads", BuildOptions(threads=True))):
        built[name] = folder / name
        command = [*host_compiler(), *options.flags, f"-I{RUNTIME}", f"-I{folder}", *sources]
        subprocess.run([*command, "-o", str(built[name])], check=True)
    return Scenarios(built["timeline"], built["threads"])
