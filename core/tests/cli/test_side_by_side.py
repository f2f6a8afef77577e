"""What compile and verify tell of programs with units side by side."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from match_core.cli.results import side_by_side_lines
from match_core.contract.mapping import Bounds
from match_core.contract.program import Queue, Swap
from match_core.summary.program_json import side_by_side_json

QUEUES = (Queue("host", "host", ()), Queue("unit", "unit", (0, 1)), Queue("link", "link", (0,)))


def _document(queues: tuple[Queue, ...] = QUEUES, sequential_cycles: int | None = 100) -> dict[str, Any]:
    tasks = [SimpleNamespace(queue="unit", cycles=30), SimpleNamespace(queue="unit", cycles=25)]
    program = SimpleNamespace(
        queues=queues,
        tasks=tasks,
        swaps=(Swap(0, "a", "b", 8, 0, 7, ()),),
        predicted_cycles=60,
    )
    mapping = SimpleNamespace(bounds=Bounds(45, 30))
    compilation = SimpleNamespace(
        program=program,
        mapping=mapping,
        sequential_cycles=sequential_cycles,
        declined_cycles=None,
        soc=SimpleNamespace(uncertain_share=lambda mode: 0.0),
    )
    return {"predicted_cycles": 60, **side_by_side_json(cast(Any, compilation))}


def test_queues_bounds_and_gap() -> None:
    document = _document()
    assert document["queues"] == [
        {"name": "host", "kind": "host", "tasks": 0, "cycles": 0},
        {"name": "unit", "kind": "unit", "tasks": 2, "cycles": 55},
        {"name": "link", "kind": "link", "tasks": 1, "cycles": 7},
    ]
    assert document["sequential_cycles"] == 100
    assert document["bounds"] == {"work": 45, "path": 30}
    assert document["gap"] == 0.25
    assert side_by_side_lines(document) == [
        "concurrent: 60 cycles, sequential: 100 (modelled), gain 40.0%",
        "lower bound 45 cycles, gap 25.0%",
    ]


def test_one_task_after_another_says_nothing() -> None:
    document = _document(queues=())
    assert (document["queues"], document["bounds"], document["gap"]) == ([], None, None)
    assert side_by_side_lines(document) == []


def test_where_only_units_side_by_side_fit() -> None:
    assert side_by_side_lines(_document(sequential_cycles=None))[0] == "concurrent: 60 cycles (modelled)"
