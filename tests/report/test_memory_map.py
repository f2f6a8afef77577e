"""Lifetimes of buffers in modelled cycles: one task after another, side by side, and swapped."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from match_core.contract.program import Buffer, Queue, Swap
from match_core.summary.memory_map import buffers_json


def _task(index: int, start: int, cycles: int, reads: tuple[str, ...], writes: tuple[str, ...]) -> SimpleNamespace:
    return SimpleNamespace(index=index, start_cycles=start, cycles=cycles, buffers_in=reads, buffers_out=writes)


def _lifetimes(beside: bool, swaps: tuple[Swap, ...] = ()) -> dict[str, tuple[int, int]]:
    """Tasks 0 to 3; the second one ends last."""
    tasks = (
        _task(0, 0, 10, ("x",), ("a#0",)),
        _task(1, 10, 50, ("a#0",), ("b",)),
        _task(2, 10, 5, ("a#0",), ("b",)),
        _task(3, 90, 20, ("a#1", "b"), ("y",)),
    )
    buffers = (
        Buffer("a#0", ("a",), "l2", 0, 8, 0, 2),
        Buffer("a#store", ("a",), "l3", 0, 8, 0, 3),
        Buffer("a#1", ("a",), "l2", 0, 8, 3, 3),
        Buffer("staging", (), "l2", 8, 8, 1, 1, "scratch"),
    )
    queues = (Queue("host", "host", (0, 1, 2, 3)),) if beside else ()
    program: Any = SimpleNamespace(tasks=tasks, buffers=buffers, swaps=swaps, queues=queues, predicted_cycles=110)
    rows: list[dict[str, Any]] = buffers_json(program)
    return {row["name"]: (row["start_cycles"], row["end_cycles"]) for row in rows}


def test_one_after_another_a_buffer_lives_from_its_first_to_its_last_task() -> None:
    assert _lifetimes(False)["a#0"] == (0, 15)
    assert _lifetimes(False)["staging"] == (10, 60)


def test_side_by_side_it_lives_until_its_last_user_ends() -> None:
    assert _lifetimes(True)["a#0"] == (0, 60)
    assert _lifetimes(True)["staging"] == (10, 60), "no task names it"


@pytest.mark.parametrize("out_end", [40, 80])
def test_swapped_it_lives_with_its_copies(out_end: int) -> None:
    swaps = (Swap(0, "a#0", "a#store", 8, 20, out_end - 20, ()), Swap(1, "a#store", "a#1", 8, 80, 6, ()))
    found = _lifetimes(True, swaps)
    assert found["a#store"] == (20, 86)
    assert found["a#1"] == (80, 110)
    assert found["a#0"] == (0, max(60, out_end))
