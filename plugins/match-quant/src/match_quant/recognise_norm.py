"""Layer normalisation and RMS normalisation in elementary operators.

    (x - mean) / sqrt(variance + epsilon) * scale + bias    or without mean    x / sqrt(mean of x^2 + epsilon) * scale

Exporters divide by the root, or multiply by its reciprocal, by a power of -1/2, or by that times the scale; TensorFlow
writes ``x * r + (bias - mean * r)`` with ``r = scale / sqrt(variance + epsilon)``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.editor import Editor
from match_core.ir.reader import constant, quant_constant, shape_of
from numpy.typing import NDArray

from match_quant.factors import inner, made_by, real_constant, scalar, sums

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import onnx
    import onnx_graphsurgeon as gs

Reals = NDArray[np.generic]

RMS = "match.norm::RMSNormalization"
_RMS_BODY = """<domain: "match.norm", opset_import: ["" : 21]>
RMSNormalization <epsilon> (x, scale) => (y) {
    last = Constant <value_ints = [-1]> ()
    given = Constant <value_float: float = @epsilon> ()
    small = CastLike (given, x)
    square = Mul (x, x)
    mean = ReduceMean <keepdims: int = 1> (square, last)
    moved = Add (mean, small)
    root = Sqrt (moved)
    normal = Div (x, root)
    y = Mul (normal, scale)
}"""


@lru_cache(maxsize=1)
def rms_function() -> onnx.FunctionProto:
    """The body of ``RMS``: normalisation along the last axis. Read only."""
    import onnx.parser

    return onnx.parser.parse_function(_RMS_BODY)


@dataclass(frozen=True, slots=True)
class _Root:
    """``sqrt(variance + epsilon)`` of ``x`` over the axes from ``axis`` on, or its reciprocal (``inverse``), times
    ``scale``. ``mean`` is None for RMS normalisation."""

    x: gs.Tensor
    mean: gs.Tensor | None
    axis: int
    epsilon: float
    inverse: bool
    nodes: tuple[gs.Node, ...]
    scale: Reals | None = None


@dataclass(frozen=True, slots=True)
class _Norm:
    """A normalisation without what follows it."""

    root: _Root
    nodes: tuple[gs.Node, ...]
    last: gs.Node
    parameters: Mapping[str, Reals] = field(default_factory=dict)


def replace_norm(editor: Editor, node: gs.Node, rms: bool) -> None:
    """Replace the normalisation whose quotient or product is ``node``. ``rms``: whether one without mean gets an
    operator of its own."""
    norm = _quotient(node)
    if norm is None or not inner(editor, norm.nodes, norm.last) or (norm.root.mean is None and not rms):
        return
    root, nodes, last = norm.root, norm.nodes, norm.last
    size = shape_of(root.x)[root.axis :]
    parameters = dict(norm.parameters) | ({"Mul": root.scale} if root.scale is not None else {})
    for op in ("Mul", "Add"):
        if op in parameters or (op == "Mul" and "Add" in parameters) or (op == "Add" and root.mean is None):
            continue
        behind, values = _parameter(editor, last, op, size)
        if behind is not None and values is not None:
            parameters[op], last, nodes = values, behind, (*nodes, behind)
    if root.mean is None and (root.axis != len(shape_of(root.x)) - 1 or "Mul" not in parameters):
        return
    y = last.outputs[0]
    scale = parameters.get("Mul", np.ones(size, np.dtype(y.dtype)))
    inputs = [root.x, editor.constant(f"{last.name}_scale", scale)]
    if "Add" in parameters:
        inputs.append(editor.constant(f"{last.name}_bias", parameters["Add"]))
    attrs: Mapping[str, object] = {"epsilon": root.epsilon} | ({"axis": root.axis} if root.mean is not None else {})
    op, origin = "LayerNormalization" if root.mean is not None else RMS, editor.origin(*nodes)
    new = editor.node(op, inputs, y.dtype, shape_of(y), name=last.name, origin=origin, attrs=attrs)
    editor.replace(y, new)


def _quotient(node: gs.Node) -> _Norm | None:
    if np.dtype(node.outputs[0].dtype).kind != "f":
        return None
    if node.op == "Div":
        root = _root(node.inputs[1])
        return _centred(node, node.inputs[0], root) if root is not None and not root.inverse else None
    for value, factor in sums(node):
        root = _scaled_root(factor)
        if root is not None and root.inverse:
            return _centred(node, value, root) or _moved(node, value, root)
    return None


def _centred(node: gs.Node, value: gs.Tensor, root: _Root) -> _Norm | None:
    """``(x - mean) * root``, or ``x * root`` of RMS normalisation."""
    if root.mean is None:
        return _Norm(root, (*root.nodes, node), node) if value is root.x else None
    difference = made_by(value, "Sub")
    if difference is None or difference.inputs[0] is not root.x or difference.inputs[1] is not root.mean:
        return None
    return _Norm(root, (*root.nodes, difference, node), node)


def _moved(node: gs.Node, value: gs.Tensor, root: _Root) -> _Norm | None:
    """``x * r + (bias - mean * r)``; ``node`` is the first product."""
    readers = node.outputs[0].outputs
    if value is not root.x or root.mean is None or len(readers) != 1 or readers[0].op != "Add":
        return None
    total = readers[0]
    for product, rest in sums(total):
        offset = made_by(rest, "Sub") if product is node.outputs[0] else None
        bias = _values(offset.inputs[0], shape_of(root.x)[root.axis :]) if offset is not None else None
        moved = made_by(offset.inputs[1], "Mul") if offset is not None else None
        if offset is None or moved is None or bias is None:
            continue
        factor = next(other for one, other in sums(node) if one is root.x)
        if {id(t) for t in moved.inputs} == {id(root.mean), id(factor)}:
            return _Norm(root, (*root.nodes, node, moved, offset, total), total, {"Add": bias})
    return None


def _scaled_root(tensor: gs.Tensor) -> _Root | None:
    """A root, perhaps times a constant for each normalised element."""
    root = _root(tensor)
    node = made_by(tensor, "Mul") if root is None else None
    for factor, other in sums(node) if node is not None else ():
        found = _root(factor)
        values = _values(other, shape_of(found.x)[found.axis :]) if found is not None else None
        if node is not None and found is not None and values is not None:
            return replace(found, scale=values, nodes=(*found.nodes, node))
    return root


def _root(tensor: gs.Tensor) -> _Root | None:
    node = made_by(tensor, "Sqrt", "Reciprocal", "Pow", "Div")
    if node is None:
        return None
    if node.op == "Reciprocal" or (node.op == "Div" and scalar(node.inputs[0]) == 1.0):
        found = _root(node.inputs[-1])
        if found is None or found.inverse:
            return None
        return replace(found, inverse=True, nodes=(*found.nodes, node))
    exponent = scalar(node.inputs[1]) if node.op == "Pow" else 0.5
    if node.op == "Div" or exponent not in (0.5, -0.5):
        return None
    shifted = made_by(node.inputs[0], "Add")
    for variance, epsilon in sums(shifted) if shifted is not None else ():
        number, mean = scalar(epsilon), made_by(variance, "ReduceMean")
        if shifted is None or number is None or mean is None:
            continue
        for x, centre, nodes in _squares(mean):
            return _Root(x, centre, _axis(mean), number, exponent < 0, (*nodes, mean, shifted, node))
    return None


def _squares(mean: gs.Node) -> Iterator[tuple[gs.Tensor, gs.Tensor | None, tuple[gs.Node, ...]]]:
    """x, its mean (None: without one) and the nodes of the squares that ``mean`` averages."""
    square = made_by(mean.inputs[0], "Pow", "Mul")
    if square is None or _axis(mean) < 0 or not _is_square(square):
        return
    base = square.inputs[0]
    difference = made_by(base, "Sub")
    centre = made_by(difference.inputs[1], "ReduceMean") if difference is not None else None
    if difference is None or centre is None:
        yield base, None, (square,)
    elif centre.inputs[0] is difference.inputs[0] and _axis(centre) == _axis(mean):
        yield difference.inputs[0], centre.outputs[0], (centre, difference, square)


def _is_square(node: gs.Node) -> bool:
    if node.op == "Mul":
        return node.inputs[0] is node.inputs[1]
    exponent = constant(node.inputs[1])
    return exponent is not None and exponent.size == 1 and exponent.reshape(-1)[0] == 2


def _axis(node: gs.Node) -> int:
    """The first axis of a mean over the last axes with ``keepdims``; -1 for other means."""
    axes = constant(node.inputs[1]) if len(node.inputs) > 1 else np.asarray(node.attrs.get("axes", ()))
    rank = len(shape_of(node.inputs[0]))
    if axes is None or not axes.size or not node.attrs.get("keepdims", 1):
        return -1
    found = sorted(int(axis) % rank for axis in axes.reshape(-1).tolist())
    return found[0] if found == list(range(found[0], rank)) else -1


def _parameter(editor: Editor, last: gs.Node, op: str, size: tuple[int, ...]) -> tuple[gs.Node | None, Reals | None]:
    """The only reader of a result, if it multiplies or adds a constant for each normalised element."""
    y = last.outputs[0]
    if len(y.outputs) != 1 or y.outputs[0].op != op or any(y is output for output in editor.graph.outputs):
        return None, None
    reader = y.outputs[0]
    for one, other in sums(reader):
        if one is y and shape_of(reader.outputs[0]) == shape_of(y):
            return reader, _values(other, size)
    return None, None


def _values(tensor: gs.Tensor, size: tuple[int, ...]) -> Reals | None:
    """A constant, perhaps quantised, as one value for each normalised element."""
    values = real_constant(tensor)
    if values is None:
        stored = quant_constant(tensor)
        values = stored.real().astype(np.dtype(tensor.dtype)) if stored is not None else None
    if values is None:
        return None
    if values.size == 1:
        return np.broadcast_to(values.reshape(-1)[0], size)
    if values.size != np.prod(size) or values.shape[max(0, values.ndim - len(size)) :] != size:
        return None
    return values.reshape(size)
