"""Layers of the digital array through the compiler and the twin, bit for bit, under sanitizers."""

from __future__ import annotations

from pathlib import Path

import onnx_graphsurgeon as gs
import pytest
from digital_graphs import DigitalGraph, deploy, only
from match_core.plugin.facade import Plugins

Made = tuple[DigitalGraph, gs.Variable]


def conv(c: int, k: int, height: int, width: int, **numbers: object) -> Made:
    g = DigitalGraph()
    return g, g.conv(g.input(1, c, height, width), k, **numbers)  # type: ignore[arg-type]


def two_convs(c: int, k: int, height: int, width: int) -> Made:
    """What the first one leaves behind the columns must not reach the second one."""
    g, y = conv(c, k, height, width)
    return g, g.conv(y, k)


def depthwise(c: int, height: int, width: int, **numbers: object) -> Made:
    return conv(c, c, height, width, depthwise=True, **numbers)


def dense(inputs: int, outputs: int, **numbers: int) -> Made:
    g = DigitalGraph()
    return g, g.dense(g.input(1, inputs), outputs, **numbers)


def two_dense(inputs: int, between: int, outputs: int) -> Made:
    g, y = dense(inputs, between)
    return g, g.dense(y, outputs)


def add(c: int, height: int, width: int, low: int = -128) -> Made:
    g = DigitalGraph()
    return g, g.add(g.input(1, c, height, width), g.input(1, c, height, width), low=low)


def twice(c: int) -> Made:
    """A tensor added to itself: two buffers of the same bytes, one of which the sum replaces."""
    g, y = conv(c, c, 8, 32)
    return g, g.add(y, y, low=0)


LAYERS: dict[str, tuple[str, Made]] = {
    "narrow": ("digital_conv", two_convs(3, 20, 9, 25)),
    "stride": ("digital_conv", conv(5, 8, 32, 32, stride=2, pads=(1, 1, 0, 0), low=0)),
    "rectangle": ("digital_conv", conv(4, 16, 12, 20, kernel=(5, 7), pads=(2, 3, 1, 3))),
    "pointwise": ("digital_conv", conv(64, 64, 5, 5, kernel=(1, 1), pads=(0, 0, 0, 0))),
    "pointwise stride": ("digital_conv", conv(16, 32, 16, 16, kernel=(1, 1), stride=2, pads=(0, 0, 0, 0))),
    "no shift": ("digital_conv", conv(1, 16, 4, 4, kernel=(1, 1), pads=(0, 0, 0, 0), shift=0)),
    "channels": ("digital_conv_channels", conv(16, 96, 8, 16)),
    "few channels": ("digital_conv_channels", conv(16, 20, 8, 32)),
    "depthwise": ("digital_depthwise", depthwise(16, 16, 16)),
    "depthwise narrow": ("digital_depthwise", depthwise(8, 25, 5, low=0)),
    "depthwise stride": ("digital_depthwise", depthwise(20, 15, 33, stride=2, kernel=(5, 5), pads=(2, 2, 2, 2))),
    "image": ("digital_conv", conv(3, 16, 18, 18, stride=2, pads=(0, 0, 0, 0))),
    "one row": ("digital_conv", conv(1, 16, 2, 1)),
    "depthwise pixels": ("digital_depthwise", depthwise(50, 1, 16)),
    "blocks": ("digital_depthwise_blocks", depthwise(24, 12, 20, stride=2, low=0)),
    "sum of few": ("digital_add", add(3, 5, 5)),
    "dense": ("digital_dense", dense(64, 10)),
    "dense chain": ("digital_dense", two_dense(40, 10, 50)),
    "sum": ("digital_add", add(16, 8, 8)),
    "sum odd": ("digital_add", add(32, 15, 48)),
    "sum channels": ("digital_add_channels", add(20, 7, 15)),
    "sum relu": ("digital_add_relu", add(32, 8, 40, low=0)),
    "sum twice": ("digital_add_relu", twice(16)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name: str, plugins: Plugins, tmp_path: Path) -> None:
    pattern, (g, y) = LAYERS[name]
    with only(pattern, *(["digital_conv"] if len(g.nodes) > 2 else [])):
        found = deploy(g.graph(y), plugins, tmp_path, samples=2)
    assert pattern in found.patterns
    found.check()


TILED: dict[str, tuple[str, int, Made]] = {
    "rows of 16": ("digital_conv", 4096, conv(16, 32, 25, 5)),
    "rows of 48": ("digital_conv", 4096, conv(8, 32, 25, 40, stride=2)),
    "prime": ("digital_conv", 8192, conv(16, 32, 13, 13)),
    "channels": ("digital_conv_channels", 4096, conv(16, 150, 8, 16)),
    "depthwise": ("digital_depthwise", 4096, depthwise(64, 25, 5)),
    "depthwise rows": ("digital_depthwise", 8192, depthwise(16, 33, 41, stride=2)),
    "depthwise channels": ("digital_depthwise", 16384, depthwise(64, 12, 12)),
    "few outputs": ("digital_conv", 4096, conv(16, 10, 24, 32)),
    "image": ("digital_conv", 2048, conv(3, 16, 25, 10)),
    "blocks": ("digital_depthwise_blocks", 16384, depthwise(64, 25, 5)),
    "dense": ("digital_dense", 2112, dense(2000, 150)),
    "sum": ("digital_add", 4096, add(64, 17, 16)),
    "sum relu": ("digital_add_relu", 16384, add(64, 17, 16, low=0)),
}


@pytest.mark.parametrize("name", TILED)
def test_layers_in_a_small_l1(name: str, plugins: Plugins, tmp_path: Path) -> None:
    pattern, size, (g, y) = TILED[name]
    with only(pattern):
        found = deploy(g.graph(y), plugins, tmp_path, memory=(("l1", size),))
    assert pattern in found.patterns
    task = next(t for t in found.compilation.program.tasks if t.assignment.candidate.pattern.name == pattern)
    assert task.assignment.schedule.loops
    found.check()


@pytest.mark.parametrize("name", ["rows of 48", "depthwise", "sum relu"])
def test_nothing_is_read_before_it_is_there(name: str, plugins: Plugins, tmp_path: Path) -> None:
    pattern, size, (g, y) = TILED[name]
    with only(pattern):
        deploy(g.graph(y), plugins, tmp_path, memory=(("l1", size),), mode="lazy").check()


def test_channels_that_the_tensor_lacks_are_stored_where_weights_are_cut(plugins: Plugins, tmp_path: Path) -> None:
    g, y = conv(64, 120, 4, 16)
    with only("digital_conv"):
        found = deploy(g.graph(y), plugins, tmp_path)
    task = next(t for t in found.compilation.program.tasks if t.assignment.candidate.unit == "digital")
    assert task.assignment.candidate.workload.operand("output").axes[0].size == 128
    found.check()


def test_weights_beyond_the_weight_memory_are_cut(plugins: Plugins, tmp_path: Path) -> None:
    """64 x 128 x 9 bytes: more than 64 KiB."""
    g, y = conv(64, 128, 4, 16)
    with only("digital_conv"):
        found = deploy(g.graph(y), plugins, tmp_path)
    task = next(t for t in found.compilation.program.tasks if t.assignment.candidate.unit == "digital")
    assert [loop.dim for loop in task.assignment.schedule.loops] == ["K"]
    found.check()
