"""The demo network on GAP9, compiled twice, and counters of it that the tests make up."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins

sys.path.insert(0, str(Path(__file__).parent))  # tests are imported by path

from calibration_programs import DEMO, PRECISIONS, Programs


@pytest.fixture(scope="session")
def installed() -> Plugins:
    return Plugins.load()


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory, installed: Plugins) -> Path:
    """Directories ``fast`` and ``exact`` of compiled programs, and counters that equal their predictions."""
    folder = tmp_path_factory.mktemp("calibrate")
    for precision in PRECISIONS:
        options = {"preset": "engine", "precision": precision, "execution": "sequential"}
        request = CompileRequest(DEMO, "gap9", folder / precision, **options)
        program = compile_model(request, installed).compilation.program
        layers = [task for task in program.tasks if not task.assignment.candidate.pattern.view]
        rows = [f"{task.index},{task.assignment.schedule.cost.total_cycles}" for task in layers]
        (folder / f"{precision}.csv").write_text("\n".join(("index,cycles", *rows, "")), "utf-8")
    return folder


@pytest.fixture(scope="session")
def programs(folder: Path, installed: Plugins) -> Programs:
    return Programs(folder, installed)
