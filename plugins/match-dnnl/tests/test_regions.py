"""Whole networks: several regions with host operators between, several ways out, and regions that are given back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from dnnl_networks import Network, verified
from match_verify.verify import VerifyResult


def _units(result: VerifyResult) -> list[tuple[str, int]]:
    """Unit and number of nodes of each task, in order."""
    return [
        (task.assignment.candidate.unit, len(task.assignment.candidate.match.nodes))
        for task in result.compilation.program.tasks
    ]


def _block(n: Network, tensor: str, channels: int) -> str:
    weights = [n.floats(channels, channels, 3, 3, low=-0.1, high=0.1) for _ in range(2)]
    first = n.node("Relu", [n.node("Conv", [tensor, weights[0], n.floats(channels)], pads=[1] * 4)])
    second = n.node("Conv", [first, weights[1], n.floats(channels)], pads=[1] * 4)
    return n.node("Relu", [n.node("Add", [second, tensor])])


def _two_regions() -> Network:
    n = Network()
    first = _block(n, n.node("Conv", [n.input(1, 3, 24, 24), n.floats(32, 3, 3, 3)]), 32)
    summed = n.node("CumSum", [first, n.constant(np.array(2, np.int64))])
    scaled = n.node("Mul", [summed, n.constant(np.array(0.05, np.float32))])
    second = _block(n, scaled, 32)
    n.case("result", "GlobalAveragePool", [second])
    return n


def test_two_regions_with_the_host_between(tmp_path: Path) -> None:
    """The host's operator splits what oneDNN has; the twin takes the modelled cycles of both."""
    result = verified(_two_regions(), tmp_path)
    assert result.ok
    units = [unit for unit, _ in _units(result)]
    assert units.count("dnnl") == 2
    assert "host" in units[units.index("dnnl") :]
    program = result.compilation.program
    assert result.run.cycles_total == program.predicted_cycles
    assert set(result.run.cycles_by_unit) == {"host", "dnnl"}


@pytest.mark.parametrize("preset", ["winograd", "direct"])
def test_presets(tmp_path: Path, preset: str) -> None:
    """With and without Winograd's transformation the results stay within the bound; the code says which."""
    result = verified(_two_regions(), tmp_path, preset=preset, sanitize=False)
    assert result.ok
    code = b"".join(file.content for file in result.compilation.sources.files if file.name.endswith("_00.json"))
    assert (b"convolution_winograd" in code) == (preset == "winograd")


def test_several_ways_out(tmp_path: Path) -> None:
    """Tensors in the midst of a region are outputs of the model and inputs of the host."""
    n = Network()
    first = n.node("Relu", [n.node("Conv", [n.input(1, 8, 20, 20), n.floats(24, 8, 3, 3), n.floats(24)])])
    n.case("middle", "Conv", [first, n.floats(16, 24, 1, 1)])
    n.case("end", "MaxPool", ["middle"], kernel_shape=[2, 2], strides=[2, 2])
    n.case("host", "CumSum", [first, n.constant(np.array(3, np.int64))])
    result = verified(n, tmp_path, regions="largest")
    assert result.ok
    regions = [task for task in result.compilation.program.tasks if task.assignment.candidate.unit == "dnnl"]
    assert [len(task.assignment.candidate.match.outputs) for task in regions] == [3]


def test_a_small_region_is_given_back(tmp_path: Path) -> None:
    """A call of the library costs more than a few additions."""
    n = Network()
    n.case("little", "Add", [n.input(1, 4), n.input(1, 4)])
    result = verified(n, tmp_path)
    assert result.ok
    assert {unit for unit, _ in _units(result)} == {"host"}


def test_views_alone_are_no_region(tmp_path: Path) -> None:
    """What moves elements only is refused, with the rule."""
    n = Network()
    n.case("moved", "Transpose", [n.input(3, 40, 50)], perm=[2, 0, 1])
    result = verified(n, tmp_path)
    assert result.ok
    assert {unit for unit, _ in _units(result)} == {"host"}
    (refusal,) = [refusal for refusal in result.compilation.refused if refusal.unit == "dnnl"]
    assert (refusal.rule, refusal.value) == ("a region computes something", "1 operators that move elements only")
