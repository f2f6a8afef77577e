"""What is expected of an int8 tensor of the integer graph: mean and spread of each channel (last axis).

The core knows this while it makes the graph integer, and forgets it. Here it is found again from the nodes that make
the tensor: quantised inputs, layer normalisation (which fixes mean and spread), linear layers, tables, attention. What
is not understood counts as uniform over all values, which is the most cautious guess in use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.model import qualified_op
from match_core.transforms.expectation import Expectation, Reals, clipped, of_sum, unknown
from match_core.transforms.quant import constant, producer, quant_of, shape_of

from match_ita.passes.linear_layers import INT8_MAX, INT8_MIN, linear_layer

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

_UNIFORM_SD = 256 / np.sqrt(12)
#: Nodes that are followed towards the inputs.
_DEPTH = 32


def expected(x: gs.Tensor, outputs: Sequence[gs.Tensor], depth: int = _DEPTH) -> Expectation:
    """Of each channel of ``x``, an int8 tensor; one entry where channels are not told apart."""
    node = producer(x)
    rule = _RULES.get(qualified_op(node)) if node is not None and depth > 0 else None
    found = rule(node, outputs, depth - 1) if rule is not None and node is not None else None
    return found if found is not None else _uniform()


def _uniform() -> Expectation:
    lo, hi = np.array([INT8_MIN], np.int64), np.array([INT8_MAX], np.int64)
    return Expectation(lo, hi, np.array([-0.5]), np.array([_UNIFORM_SD]), axis=-1)


def _quantised(node: gs.Node, outputs: Sequence[gs.Tensor], depth: int) -> Expectation | None:
    quant = quant_of(node, node.outputs[0].dtype)
    return _last(unknown(quant)) if quant is not None else None


def _last(found: Expectation) -> Expectation:
    return replace(found, axis=-1)


def _moved(node: gs.Node, outputs: Sequence[gs.Tensor], depth: int) -> Expectation | None:
    """Reshape and Transpose: channels are told apart where the last axis stays as it is."""
    found = expected(node.inputs[0], outputs, depth)
    before, after = shape_of(node.inputs[0]), shape_of(node.outputs[0])
    stays = before[-1:] == after[-1:]
    if node.op == "Transpose":
        stays = stays and int(node.attrs.get("perm", [0])[-1]) == len(before) - 1
    return found if stays or found.lo.size == 1 else _last(found.merged())


def _requantised(node: gs.Node, outputs: Sequence[gs.Tensor], depth: int) -> Expectation | None:
    layer = linear_layer(node, outputs)
    if layer is None:
        return None
    inputs = expected(layer.x, outputs, depth).per_channel(layer.weight.shape[0], -1)
    sums = of_sum(inputs, layer.weight.T[:, :, None], 1)
    scale = 2.0**layer.shift
    mean = (sums.mean * layer.multiplier + layer.addend) / scale - 0.5
    lo, hi = np.full(mean.shape, layer.lo, np.int64), np.full(mean.shape, layer.hi, np.int64)
    return clipped(mean, sums.sd * layer.multiplier / scale, lo, hi, axis=-1)


def _table(node: gs.Node, outputs: Sequence[gs.Tensor], depth: int) -> Expectation | None:
    table = constant(node.inputs[1])
    return through_table(expected(node.inputs[0], outputs, depth), np.asarray(table, np.float64))


def through_table(x: Expectation, table: Reals) -> Expectation:
    """Of ``table[x + 128]``, for normally distributed x."""
    values = np.arange(INT8_MIN, INT8_MAX + 1)
    weight = np.exp(-0.5 * np.square((values[None, :] - x.mean[:, None]) / x.sd[:, None]))
    weight /= weight.sum(axis=1, keepdims=True)
    mean = weight @ table
    sd = np.sqrt(np.maximum(weight @ np.square(table) - np.square(mean), 0.25))
    lo, hi = (np.full(mean.shape, int(end), np.int64) for end in (table.min(), table.max()))
    return Expectation(lo, hi, mean, sd, axis=-1)


_RULES: Mapping[str, Callable[[gs.Node, Sequence[gs.Tensor], int], Expectation | None]] = {
    "QuantizeLinear": _quantised,
    "Reshape": _moved,
    "Transpose": _moved,
    "match.arith::RequantI8": _requantised,
    "match.arith::LutI8": _table,
}
