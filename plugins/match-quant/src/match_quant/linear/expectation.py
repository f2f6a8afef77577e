"""The expectation of an int8 tensor of the integer graph: mean and spread of each channel (last axis).

Integerisation knows it but does not store it. This module derives it again from the nodes that compute the tensor:
quantised inputs, layer normalisation (which fixes mean and spread), linear layers, tables, and operators for which a
chip has rules. Other tensors count as uniform over all values, the most cautious estimate in use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import qualified_op
from match_core.ir.reader import constant, producer, quant_of, shape_of

from match_quant.expectation import Expectation, Reals, clipped, graph_input, unknown
from match_quant.linear.layers import INT8_MAX, INT8_MIN, Ints, linear_layer, per_column

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

_UNIFORM_SD = 256 / np.sqrt(12)
#: Nodes that are followed towards the inputs.
DEPTH = 32
Rule = Callable[["gs.Node", "Expected", int], "Expectation | None"]


@dataclass(frozen=True)
class Expected:
    """Expectations in a graph with these ``outputs``. ``rules``: of further operators, by name; each receives a node,
    this object, and how many nodes above it are still followed."""

    outputs: Sequence[gs.Tensor]
    rules: Mapping[str, Rule] = field(default_factory=dict)

    def of(self, x: gs.Tensor, depth: int = DEPTH) -> Expectation:
        """The expectation of each channel of ``x``, an int8 tensor; one entry if channels are not distinguished."""
        node = producer(x)
        op = qualified_op(node) if node is not None and depth > 0 else ""
        rule = self.rules.get(op) or _RULES.get(op)
        found = rule(node, self, depth - 1) if rule is not None and node is not None else None
        return found if found is not None else _uniform()


def _uniform() -> Expectation:
    lo, hi = np.array([INT8_MIN], np.int64), np.array([INT8_MAX], np.int64)
    return Expectation(lo, hi, np.array([-0.5]), np.array([_UNIFORM_SD]), axis=-1)


def _quantised(node: gs.Node, graph: Expected, depth: int) -> Expectation | None:
    quant = quant_of(node, node.outputs[0].dtype)
    if quant is None:
        return None
    return _last(unknown(quant) if node.inputs[0].inputs else graph_input(quant))


def _last(found: Expectation) -> Expectation:
    return replace(found, axis=-1)


def _moved(node: gs.Node, graph: Expected, depth: int) -> Expectation | None:
    """Moves: per channel if the last axis does not change. Padding has little influence."""
    found = graph.of(node.inputs[0], depth)
    before, after = shape_of(node.inputs[0]), shape_of(node.outputs[0])
    stays = before[-1:] == after[-1:]
    if node.op == "Transpose":
        stays = stays and int(node.attrs.get("perm", [0])[-1]) == len(before) - 1
    return found if stays or found.lo.size == 1 else _last(found.merged())


def sums(x: Expectation, weight: Ints) -> tuple[Reals, Reals]:
    """Mean and standard deviation of each column of ``x weight``, for independent channels of x."""
    return x.mean @ weight, np.sqrt(np.square(x.sd) @ np.square(weight.astype(np.float64)))


def _gathered(node: gs.Node, graph: Expected, depth: int) -> Expectation | None:
    return _moved(node, graph, depth) if int(node.attrs.get("axis", 0)) == 0 else None


def _requantised(node: gs.Node, graph: Expected, depth: int) -> Expectation | None:
    layer = linear_layer(node, graph.outputs)
    if layer is None:
        return _scaled(node, graph, depth)
    mean, sd = sums(graph.of(layer.x, depth).per_channel(layer.weight.shape[0], -1), layer.weight)
    slope, offset = layer.multiplier / 2.0**layer.shift, layer.addend / 2.0**layer.shift - 0.5
    lo, hi = np.full(mean.shape, layer.lo, np.int64), np.full(mean.shape, layer.hi, np.int64)
    return clipped(slope * mean + offset, slope * sd, lo, hi, axis=-1)


def _scaled(node: gs.Node, graph: Expected, depth: int) -> Expectation | None:
    """RequantI8 of an int8 tensor."""
    if node.inputs[0].dtype != np.int8:
        return None
    return _affine(node, (graph.of(node.inputs[0], depth),), node.inputs[1:])


def _added(node: gs.Node, graph: Expected, depth: int) -> Expectation | None:
    terms = node.inputs[:2]
    if any(tensor.dtype != np.int8 for tensor in terms):
        return None
    return _affine(node, tuple(graph.of(tensor, depth) for tensor in terms), node.inputs[2:])


def _normalised(node: gs.Node, graph: Expected, depth: int) -> Expectation | None:
    """The operand of M has mean 0 and variance 1 in units of 2^29 / sqrt(n), and the product is divided by 2^32."""
    unit = 2.0**-3 / np.sqrt(int(node.inputs[0].shape[-1]))
    normal = replace(_uniform(), mean=np.zeros(1), sd=np.full(1, unit))
    return _affine(node, (normal,), [node.inputs[position] for position in (1, 2, 3, 5, 6)])


def _affine(node: gs.Node, terms: tuple[Expectation, ...], constants: Sequence[gs.Tensor]) -> Expectation | None:
    """Of ``clip(floor((sum of M * term + B) / D), lo, hi)``; None where constants differ along other axes than the
    last."""
    count, rank = int(node.outputs[0].shape[-1]), len(node.outputs[0].shape)
    known = [constant(tensor) for tensor in constants]
    columns = [per_column(values.astype(np.int64), rank, count) for values in known if values is not None]
    numbers = [column.astype(np.float64) for column in columns if column is not None]
    if len(numbers) != len(terms) + 4:
        return None
    *factors, addend, divisor, lo, hi = numbers
    mean, variance = addend / divisor - 0.5, np.zeros(count)
    for factor, term in zip(factors, terms, strict=True):
        channels = term.per_channel(count, -1)
        mean = mean + factor / divisor * channels.mean
        variance = variance + np.square(factor / divisor * channels.sd)
    return clipped(mean, np.sqrt(variance), lo.astype(np.int64), hi.astype(np.int64), axis=-1)


def _table(node: gs.Node, graph: Expected, depth: int) -> Expectation | None:
    table = constant(node.inputs[1])
    return through_table(graph.of(node.inputs[0], depth), np.asarray(table, np.float64))


def through_table(x: Expectation, table: Reals) -> Expectation:
    """Of ``table[x + 128]``, for normally distributed x."""
    values = np.arange(INT8_MIN, INT8_MAX + 1)
    weight = np.exp(-0.5 * np.square((values[None, :] - x.mean[:, None]) / x.sd[:, None]))
    weight /= weight.sum(axis=1, keepdims=True)
    mean = weight @ table
    sd = np.sqrt(np.maximum(weight @ np.square(table) - np.square(mean), 0.25))
    lo, hi = (np.full(mean.shape, int(end), np.int64) for end in (table.min(), table.max()))
    return Expectation(lo, hi, mean, sd, axis=-1)


_RULES: Mapping[str, Rule] = {
    "QuantizeLinear": _quantised,
    "Reshape": _moved,
    "Transpose": _moved,
    "Gather": _gathered,
    "Pad": _moved,
    "Slice": _moved,
    "match.arith::RequantI8": _requantised,
    "match.arith::AddRequantI8": _added,
    "match.arith::LayerNormRequantI8": _normalised,
    "match.arith::LutI8": _table,
}
