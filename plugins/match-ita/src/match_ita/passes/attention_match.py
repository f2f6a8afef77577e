"""Finds multi-head attention in the integer graph, from its softmax outwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import qualified_op
from match_core.ir.reader import producer, shape_of
from match_quant.linear.layers import LinearLayer, is_private, linear_layer
from numpy.typing import NDArray

from match_ita.passes.attention_affine import Affine, affine_of, scalar
from match_ita.passes.attention_trace import trace

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

Ints = NDArray[np.int64]

_SOFTMAXES = (
    "match.arith::SoftmaxI8",
    "match.arith::SoftmaxU8",
    "match.arith::SoftmaxFloorU8",
    "match.arith::ShiftSoftmaxU8",
)
_REQUANT = "match.arith::RequantI8"
_RESHAPES = ("Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity")


@dataclass(frozen=True, slots=True)
class Projection:
    """The linear layer that computes q, k or v: element (head, row, p) is ``affine`` of row ``row`` and column
    ``columns[head, p]`` of its result, less ``zero``. ``rows``: rows of the result."""

    layer: LinearLayer
    columns: Ints
    rows: int
    affine: Affine
    zero: int
    nodes: tuple[gs.Node, ...]


@dataclass(frozen=True, slots=True)
class Heads:
    """softmax(q k^T) v of some heads. ``qk`` is the line from products (less zero points) to the softmax's input,
    ``av`` that from products with the probabilities to ``output``, the last requantisation's result [.., S, P]."""

    q: Projection
    k: Projection
    v: Projection
    qk: Affine
    av: Affine
    softmax: gs.Node
    av_requant: gs.Node
    nodes: tuple[gs.Node, ...]

    @property
    def inner_nodes(self) -> tuple[gs.Node, ...]:
        """The nodes between the linear layers: both products and the softmax."""
        outer = {node.name for projection in (self.q, self.k, self.v) for node in projection.nodes}
        return tuple(node for node in self.nodes if node.name not in outer)

    @property
    def output(self) -> gs.Variable:
        """The result of all heads."""
        result: gs.Variable = self.av_requant.outputs[0]
        return result

    @property
    def size(self) -> int:
        """P, columns of a head."""
        return int(self.q.columns.shape[1])

    @property
    def count(self) -> int:
        """H, heads."""
        return int(self.q.columns.shape[0])


class NotAttentionError(Exception):
    """The reason why a softmax is not an attention that ITA supports."""


def softmaxes(nodes: Sequence[gs.Node]) -> list[gs.Node]:
    """All softmaxes of a graph."""
    return [node for node in nodes if qualified_op(node) in _SOFTMAXES]


def heads_of(softmax: gs.Node, outputs: Sequence[gs.Tensor]) -> Heads:
    """The attention around a softmax; NotAttentionError where there is none."""
    rank = len(softmax.inputs[0].shape)
    if int(softmax.attrs.get("axis", -1)) % rank != rank - 1:
        raise NotAttentionError("the softmax is not along the last axis")
    product, qk, before = _logits(softmax, outputs)
    av_product, av_requant, behind = _values(softmax, outputs)
    av = affine_of(av_requant)
    if av is None:
        raise NotAttentionError("the product with the values has no requantisation of the whole tensor")
    zeros = _zeros(product)
    p_zero, v_zero = _zeros(av_product)
    if p_zero != _probability_zero(softmax):
        raise NotAttentionError("the probabilities have a different zero point in the product")
    q = _projection(product.inputs[0], zeros[0], False, outputs)
    k = _projection(product.inputs[1], zeros[1], True, outputs)
    v = _projection(av_product.inputs[1], v_zero, False, outputs)
    if q.columns.shape != k.columns.shape or k.columns.shape != v.columns.shape or k.rows != v.rows:
        raise NotAttentionError(f"heads of q, k and v differ: {[p.columns.shape for p in (q, k, v)]}")
    nodes = (*q.nodes, *k.nodes, *v.nodes, *before, softmax, *behind, av_requant)
    return Heads(q, k, v, qk, av, softmax, av_requant, nodes)


def _logits(softmax: gs.Node, outputs: Sequence[gs.Tensor]) -> tuple[gs.Node, Affine, list[gs.Node]]:
    """The product of q and k, the line from it to the softmax's input, and the nodes between."""
    tensor, line, nodes = softmax.inputs[0], None, []
    while (node := producer(tensor)) is not None and is_private(tensor, outputs):
        nodes.append(node)
        if qualified_op(node) == "MatMulInteger":
            if line is None:
                break
            return node, line, nodes
        if node.op in _RESHAPES and not node.domain:
            if shape_of(node.inputs[0])[-2:] != shape_of(tensor)[-2:]:
                break
        else:
            step = affine_of(node)
            if step is None:
                break
            line = step if line is None else line.after(step)
        tensor = node.inputs[0]
    what = qualified_op(node) if node is not None else "an input of the model"
    raise NotAttentionError(f"the logits are not a requantised product: there is {what} before the softmax")


def _values(softmax: gs.Node, outputs: Sequence[gs.Tensor]) -> tuple[gs.Node, gs.Node, list[gs.Node]]:
    """The product of probabilities and values, its requantisation, and the nodes on the way."""
    tensor, nodes = softmax.outputs[0], []
    while is_private(tensor, outputs):
        node = tensor.outputs[0]
        nodes.append(node)
        if qualified_op(node) == "MatMulInteger":
            requant = node.outputs[0].outputs[0] if is_private(node.outputs[0], outputs) else None
            if node.inputs[0] is tensor and requant is not None and qualified_op(requant) == _REQUANT:
                return node, requant, nodes
            break
        if node.op not in _RESHAPES or node.domain or shape_of(node.outputs[0])[-2:] != shape_of(tensor)[-2:]:
            break
        tensor = node.outputs[0]
    raise NotAttentionError("the probabilities are not read by one product with requantisation")


def _zeros(product: gs.Node) -> tuple[int, int]:
    found = [scalar(product.inputs[position]) if position < len(product.inputs) else 0 for position in (2, 3)]
    if found[0] is None or found[1] is None:
        raise NotAttentionError("a product has zero points per row or column")
    return found[0], found[1]


def _probability_zero(softmax: gs.Node) -> int:
    if softmax.op in ("SoftmaxI8", "SoftmaxU8"):
        zero = scalar(softmax.inputs[3])
        if zero is None:
            raise NotAttentionError("the softmax's zero point is not constant")
        return zero
    return 0


def _projection(tensor: gs.Tensor, zero: int, turned: bool, outputs: Sequence[gs.Tensor]) -> Projection:
    """The linear layer that makes an operand of a product. ``turned``: the operand is [.., P, rows]."""
    found = trace(tensor)
    maker = producer(found.source)
    layer = linear_layer(maker, outputs) if maker is not None else None
    if layer is None:
        raise NotAttentionError(f"{tensor.name!r} does not come from a linear layer")
    index = found.index.swapaxes(-1, -2) if turned else found.index
    index = index.reshape(-1, *index.shape[-2:])
    width = layer.weight.shape[1]
    rows, columns = index // width, index % width
    count = int(np.prod(shape_of(found.source))) // width
    if not np.array_equal(rows, np.broadcast_to(np.arange(count)[:, None], rows.shape)):
        raise NotAttentionError(f"rows of {tensor.name!r} are not those of its linear layer")
    if np.any(columns != columns[:, :1]):
        raise NotAttentionError(f"columns of {tensor.name!r} are not columns of its linear layer")
    nodes = (layer.matmul, layer.requant, *found.nodes)
    return Projection(layer, columns[:, 0], count, found.affine, zero, nodes)
