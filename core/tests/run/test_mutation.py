"""Every wait and every need that is taken from an emitted program is noticed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.tests.emit import side_program
from core.tests.run.side_twin import twin_apis, write_program
from tests.twin.mutants import mutants_of
from tests.twin.mutation import bench, run_mutants, table

#: Its own turn and that of the link, the end of a swap, the loops of two units, and the end of all tasks.
OF_THE_HOST = ("queue", "queue", "swap", "join", "join", "end")


def test_mutants_are_all_waits_and_all_needs(tmp_path: Path) -> None:
    """Counted in the text by other means: calls that wait, and entries of the tables that are not 0."""
    document = write_program(tmp_path / "side")
    mutants = mutants_of(tmp_path / "side", document, twin_apis())
    units = [(tmp_path / "side" / f"side_{unit}.c").read_text() for unit in side_program.UNITS]
    waits = ("copy_wait(", "kernel_wait(", "store_wait(", "fake_queue_wait(")
    needs = sum(len(job.needs) for job in side_program.JOBS) + sum(map(len, side_program.SWAPS))
    assert len(mutants) == sum(text.count(wait) for text in units for wait in waits) + needs + len(OF_THE_HOST)
    assert sorted(m.kind for m in mutants if m.file == "side.c" and m.kind != "need") == sorted(OF_THE_HOST)
    assert len({mutant.text for mutant in mutants}) == len(mutants)


@pytest.mark.parametrize("count", [8, pytest.param(None, marks=pytest.mark.slow)])
def test_every_missing_wait_and_need_is_caught(count: int | None, tmp_path: Path) -> None:
    document = write_program(tmp_path / "side")
    x = side_program.chain()[1][np.newaxis]
    made = bench(tmp_path / "side", tmp_path / "work", document, twin_apis(), "host", {"x": x}, timeout_seconds=60)
    outcomes = run_mutants(made, twin_apis(), count)
    assert all(outcome.mode for outcome in outcomes), table(outcomes)
