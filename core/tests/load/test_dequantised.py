"""Weights are dequantised without ONNX's reference implementation, to the same bits."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from match_core.load.static.evaluate import Evaluator, _dequantised

KINDS = ("int8", "uint8", "int16", "uint16", "int32")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(), (7,), (3, 4, 2)])
@pytest.mark.parametrize("axis", [None, 0, 1, 2])
@pytest.mark.parametrize("zero", [False, True])
def test_weights_are_those_of_the_reference(kind: str, shape: tuple[int, ...], axis: int | None, zero: bool) -> None:
    if axis is not None and axis >= len(shape):
        return
    rng, limits = np.random.default_rng(len(shape)), np.iinfo(kind)
    size = () if axis is None else (shape[axis],)
    feeds = {
        "x0": np.asarray(rng.integers(limits.min, limits.max, shape, endpoint=True), kind),
        "x1": np.asarray(rng.uniform(0.001, 0.1, size), np.float32),
    }
    if zero:
        feeds["x2"] = np.asarray(rng.integers(0, 100, size), kind)
    node = onnx.helper.make_node("DequantizeLinear", list(feeds), ["y"], "n", axis=1 if axis is None else axis)
    wanted = Evaluator([onnx.helper.make_opsetid("", 21)])._reference(node).run(None, feeds)[0]
    found = _dequantised(node, feeds)
    assert found is not None
    assert (np.asarray(found[0]).dtype, np.shape(found[0])) == (wanted.dtype, wanted.shape)
    np.testing.assert_array_equal(found[0], wanted)


def test_the_reference_computes_the_rest() -> None:
    feeds = {"x0": np.ones((4, 2), np.int8), "x1": np.ones(3, np.float32)}
    node = onnx.helper.make_node("DequantizeLinear", list(feeds), ["y"], "n", axis=0)
    assert _dequantised(node, feeds) is None
    blocks = onnx.helper.make_node("DequantizeLinear", list(feeds), ["y"], "n", axis=0, block_size=2)
    assert _dequantised(blocks, {**feeds, "x1": np.ones((2, 2), np.float32)}) is None
    assert _dequantised(onnx.helper.make_node("Add", list(feeds), ["y"], "n"), feeds) is None
