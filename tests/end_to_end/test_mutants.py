"""Programs for real chips with units side by side: every wait and every need that is taken out is noticed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from match_core.plugin.facade import Plugins

from tests.end_to_end.mutants import CASES, Case
from tests.end_to_end.side_by_side import Beside, compiled, two_branches
from tests.twin.mutation import bench, run_mutants, summary, table


def _check(program: Beside, work: Path, count: int | None, threads: bool) -> None:
    made = bench(program.program, work, program.document, program.apis, program.host, program.inputs, threads=threads)
    outcomes = run_mutants(made, program.apis, count)
    assert outcomes
    assert summary(outcomes)[2] == "0", table(outcomes)


def test_a_sample_of_missing_waits_is_caught(tmp_path: Path, plugins: Plugins) -> None:
    two_branches(tmp_path / "model.onnx")
    _check(compiled(tmp_path / "model.onnx", tmp_path, plugins), tmp_path / "work", 10, threads=False)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_missing_wait_is_caught(
    case: Case, shared_model: Callable[[str], Path], tmp_path: Path, plugins: Plugins
) -> None:
    model = shared_model(case.model) / "model.onnx"
    program = compiled(model, tmp_path, plugins, case.target, case.memory)
    assert bool(program.document["swaps"]) == case.swaps
    _check(program, tmp_path / "work", None, threads=True)
