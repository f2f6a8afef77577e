"""Replaces layer normalisation and GELU written in elementary operators with one operator each.

In real numbers the two forms are equal. One operator rounds once, the elementary form after every step; in float16 this
moves results by a few units in the last place towards the exact ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import Model
from match_core.contract.passes import Pass, PassContext, Phase
from match_core.ir.editor import Editor
from match_core.ir.reader import constant, producer, shape_of
from numpy.typing import NDArray

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def run(model: Model, context: PassContext) -> Model:
    """Check every node that may be the last of such a group."""
    editor = Editor(model)
    for node in list(editor.graph.nodes):
        if node.op in ("Mul", "Div"):
            _replace_gelu(editor, node)
    for node in list(editor.graph.nodes):
        if node.op == "Div":
            _replace_norm(editor, node)
    return editor.finish()


# ---- producers and readers of a tensor -----------------------------------------------------------------------------


def _made_by(tensor: gs.Tensor, *ops: str) -> gs.Node | None:
    """The node that computes a tensor, if it is one of these operators."""
    node = producer(tensor)
    return node if node is not None and node.op in ops and (node.domain or "") in ("", "ai.onnx") else None


def _inner(editor: Editor, nodes: tuple[gs.Node, ...], last: gs.Node) -> bool:
    """Whether no other node reads results of these nodes, except the result of the last one."""
    members = {id(node) for node in nodes}
    tensors = [node.outputs[0] for node in nodes if node is not last]
    outputs = {id(tensor) for tensor in editor.graph.outputs}
    return all(id(t) not in outputs and all(id(reader) in members for reader in t.outputs) for t in tensors)


def _with_constant(node: gs.Node) -> tuple[gs.Tensor, NDArray[np.generic]] | None:
    """The computed and the constant input of a node that has one of each."""
    values = [constant(tensor) for tensor in node.inputs[:2]]
    for position in (0, 1):
        other, by = node.inputs[1 - position], values[position]
        if len(node.inputs) == 2 and by is not None and values[1 - position] is None:
            return other, by
    return None


def _is(values: NDArray[np.generic], wanted: float) -> bool:
    """Whether all elements of a constant equal this value, rounded to its type."""
    return values.size == 1 and values.dtype.kind == "f" and values.reshape(-1)[0] == values.dtype.type(wanted)


# ---- GELU ------------------------------------------------------------------------------------------------------------


def _replace_gelu(editor: Editor, last: gs.Node) -> None:
    """``x * (1 + erf(x / sqrt(2))) / 2``, with the half at the end or on x."""
    found = _half_last(last) or _half_first(last)
    if found is None:
        return
    x, nodes = found
    if not _inner(editor, nodes, last):
        return
    y, origin = last.outputs[0], editor.origin(*nodes)
    new = editor.node("Gelu", [x], y.dtype, shape_of(y), name=last.name, origin=origin, attrs={"approximate": "none"})
    editor.replace(y, new)


def _half_last(last: gs.Node) -> tuple[gs.Tensor, tuple[gs.Node, ...]] | None:
    found = _halved(last)
    product = _made_by(found, "Mul") if found is not None else None
    if product is None:
        return None
    for x, gate in (product.inputs[:2], product.inputs[1::-1]):
        nodes = _gate(gate, x)
        if nodes is not None:
            return x, (*nodes, product, last)
    return None


def _half_first(last: gs.Node) -> tuple[gs.Tensor, tuple[gs.Node, ...]] | None:
    if last.op != "Mul":
        return None
    for half, gate in (last.inputs[:2], last.inputs[1::-1]):
        maker = _made_by(half, "Mul", "Div")
        x = _halved(maker) if maker is not None else None
        nodes = _gate(gate, x) if x is not None else None
        if maker is not None and x is not None and nodes is not None:
            return x, (*nodes, maker, last)
    return None


def _halved(node: gs.Node) -> gs.Tensor | None:
    """The tensor that the node halves; None if it does something else."""
    found = _with_constant(node)
    if found is None or (node.op == "Div" and found[0] is not node.inputs[0]):
        return None
    return found[0] if _is(found[1], 2.0 if node.op == "Div" else 0.5) else None


def _gate(tensor: gs.Tensor, x: gs.Tensor) -> tuple[gs.Node, ...] | None:
    """The nodes of ``1 + erf(x / sqrt(2))``."""
    total = _made_by(tensor, "Add")
    found = _with_constant(total) if total is not None else None
    erf = _made_by(found[0], "Erf") if found is not None and _is(found[1], 1.0) else None
    scaled = _made_by(erf.inputs[0], "Div", "Mul") if erf is not None else None
    inner = _with_constant(scaled) if scaled is not None else None
    if total is None or erf is None or scaled is None or inner is None or inner[0] is not x:
        return None
    divides = scaled.op == "Div" and scaled.inputs[0] is x
    if not _is(inner[1], sqrt(2.0) if divides else sqrt(0.5)) or (scaled.op == "Div") != divides:
        return None
    return scaled, erf, total


# ---- layer normalisation ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Norm:
    """``(x - mean) / sqrt(variance + epsilon)`` over the axes from ``axis`` on."""

    x: gs.Tensor
    axis: int
    epsilon: float
    nodes: tuple[gs.Node, ...]


def _replace_norm(editor: Editor, quotient: gs.Node) -> None:
    norm = _norm(quotient)
    if norm is None or not _inner(editor, norm.nodes, quotient):
        return
    size, nodes, last = shape_of(norm.x)[norm.axis :], norm.nodes, quotient
    parameters: dict[str, NDArray[np.generic]] = {}
    for op in ("Mul", "Add"):
        behind, values = _parameter(editor, last, op, size)
        if behind is not None and values is not None:
            parameters[op], last, nodes = values, behind, (*nodes, behind)
    y = last.outputs[0]
    scale = parameters.get("Mul", np.ones(size, np.dtype(y.dtype)))
    inputs = [norm.x, editor.constant(f"{last.name}_scale", scale)]
    if "Add" in parameters:
        inputs.append(editor.constant(f"{last.name}_bias", parameters["Add"]))
    attrs = {"axis": norm.axis, "epsilon": norm.epsilon}
    origin = editor.origin(*nodes)
    new = editor.node("LayerNormalization", inputs, y.dtype, shape_of(y), name=last.name, origin=origin, attrs=attrs)
    editor.replace(y, new)


def _norm(quotient: gs.Node) -> _Norm | None:
    difference, root = _made_by(quotient.inputs[0], "Sub"), _made_by(quotient.inputs[1], "Sqrt")
    if difference is None or root is None:
        return None
    shifted, x = _made_by(root.inputs[0], "Add"), difference.inputs[0]
    found = _with_constant(shifted) if shifted is not None else None
    variance = _made_by(found[0], "ReduceMean") if found is not None and found[1].size == 1 else None
    mean = _made_by(difference.inputs[1], "ReduceMean")
    square = _made_by(variance.inputs[0], "Pow", "Mul") if variance is not None else None
    if shifted is None or found is None or variance is None or mean is None or square is None:
        return None
    axis = _trailing(mean)
    if axis is None or axis != _trailing(variance) or mean.inputs[0] is not x:
        return None
    if not _is_square(square, difference.outputs[0]):
        return None
    epsilon = float(found[1].reshape(-1)[0])
    return _Norm(x, axis, epsilon, (mean, difference, square, variance, shifted, root, quotient))


def _is_square(node: gs.Node, tensor: gs.Tensor) -> bool:
    if node.op == "Mul":
        return all(factor is tensor for factor in node.inputs)
    exponent = constant(node.inputs[1])
    return node.inputs[0] is tensor and exponent is not None and exponent.size == 1 and exponent.reshape(-1)[0] == 2


def _trailing(node: gs.Node) -> int | None:
    """The first axis of a mean over the last axes with ``keepdims``; None for other means."""
    axes = constant(node.inputs[1]) if len(node.inputs) > 1 else np.asarray(node.attrs.get("axes", ()))
    rank = len(shape_of(node.inputs[0]))
    if axes is None or not axes.size or not node.attrs.get("keepdims", 1):
        return None
    found = sorted(int(axis) % rank for axis in axes.reshape(-1).tolist())
    return found[0] if found == list(range(found[0], rank)) else None


def _parameter(
    editor: Editor, last: gs.Node, op: str, size: tuple[int, ...]
) -> tuple[gs.Node | None, NDArray[np.generic] | None]:
    """The only reader of a result, if it multiplies or adds a constant for each normalised element."""
    y = last.outputs[0]
    if len(y.outputs) != 1 or y.outputs[0].op != op or any(y is output for output in editor.graph.outputs):
        return None, None
    found = _with_constant(y.outputs[0])
    if found is None or shape_of(y.outputs[0].outputs[0]) != shape_of(y):
        return None, None
    values = found[1]
    if values.size == 1:
        values = np.broadcast_to(values.reshape(-1)[0], size)
    if values.size != np.prod(size) or values.shape[max(0, values.ndim - len(size)) :] != size:
        return None, None
    return y.outputs[0], values.reshape(size)


RECOGNISE_FUNCTIONS = Pass(
    "recognise_functions",
    Phase.FLOAT,
    run,
    "layer normalisation and GELU written in elementary operators become one operator",
    exact=False,
    optional=True,
)
