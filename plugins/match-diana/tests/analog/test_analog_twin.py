"""Layers of the analog array through the compiler and the twin, bit for bit, under sanitizers."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import pytest
from analog_graphs import Shape, analog, cells_of
from digital_graphs import Deployed, deploy
from match_core.contract.program import Task
from match_core.plugin.facade import Plugins
from match_diana.analog.patterns import ANALOG_PATTERNS

LAYERS = {
    "unrolled": Shape(c=64, k=64, size=(8, 16)),
    "stride": Shape(c=30, k=20, size=(15, 17), stride=2),
    "pointwise": Shape(c=100, k=130, size=(5, 4), kernel=(1, 1), pads=(0, 0, 0, 0)),
    "row": Shape(c=128, k=8, size=(6, 9), kernel=(1, 3), pads=(0, 1, 0, 1)),
    "uneven padding": Shape(c=16, k=16, size=(9, 10), stride=2, pads=(0, 0, 1, 1)),
    "wide kernel": Shape(c=65, k=4, size=(7, 8), kernel=(3, 5), pads=(1, 3, 2, 0)),
    "two groups": Shape(c=144, k=70, size=(6, 6)),
    "four groups": Shape(c=512, k=16, size=(4, 4)),
    "all columns": Shape(c=8, k=512, size=(3, 4)),
}


def run(shape: Shape, plugins: Plugins, directory: Path, **options: object) -> Deployed:
    """The layer where the analog array has to take it."""
    model = analog(shape, cells_of(shape, 6))
    with mock.patch("match_diana.patterns.PATTERNS", {"digital": (), "analog": ANALOG_PATTERNS}):
        found = deploy(model.graph, plugins, directory, **options)  # type: ignore[arg-type]
    assert "analog_conv" in found.patterns
    found.check()
    return found


def check_cycles(found: Deployed, steps: int) -> None:
    """A call of some of a layer's groups is priced as its part of all, rounded down."""
    (node,) = (node for node in found.run.nodes if node.unit == "analog")
    assert 0 <= node.cycles - node.predicted_cycles < steps


def task_of(found: Deployed) -> Task:
    """The layer's task."""
    (task,) = (task for task in found.compilation.program.tasks if task.assignment.candidate.unit == "analog")
    return task


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name: str, plugins: Plugins, tmp_path: Path) -> None:
    found = run(LAYERS[name], plugins, tmp_path, samples=2)
    check_cycles(found, task_of(found).assignment.schedule.steps)


@pytest.mark.parametrize(
    ("name", "memory", "cut"),
    [
        ("unrolled", ("l1", 8192), {"OY"}),
        ("stride", ("l1", 8192), {"OY"}),
        ("uneven padding", ("l1", 4096), {"OY"}),
        ("wide kernel", ("l1", 4096), {"OY", "G"}),
        ("two groups", ("l1", 4096), {"OY", "G"}),
        ("two groups", ("analog_cells", 40_000), {"G"}),
        ("four groups", ("analog_cells", 40_000), {"G"}),
    ],
)
@pytest.mark.parametrize("mode", ["eager", "lazy"])
def test_tiles(name: str, memory: tuple[str, int], cut: set[str], mode: str, plugins: Plugins, tmp_path: Path) -> None:
    """Rows are cut, and groups of input channels, whose sums wait in the output's place."""
    found = run(LAYERS[name], plugins, tmp_path, memory=(memory,), mode=mode)
    schedule = task_of(found).assignment.schedule
    assert {loop.dim for loop in schedule.loops} == cut
    check_cycles(found, schedule.steps)
