"""Shapes that the model states for its results, carried back to where they say something new.

A model may let an input give a size (axes of a reduction, the length of a window) and state the size of the result all
the same. Then every run that the model allows has that size, and the input is pinned to the values that lead to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from match_core.frontend.static.values import Array, Call, Value

if TYPE_CHECKING:
    import onnx

    from match_core.frontend.static.walk import Walk

Shape = tuple[int, ...]
#: Operators whose result has the shape of their first input.
SAME_SHAPE = frozenset(
    (
        "Abs",
        "Acos",
        "Acosh",
        "Asin",
        "Asinh",
        "Atan",
        "Atanh",
        "Cast",
        "CastLike",
        "Ceil",
        "Clip",
        "Cos",
        "Cosh",
        "Elu",
        "Erf",
        "Exp",
        "Floor",
        "Identity",
        "LeakyRelu",
        "Log",
        "Neg",
        "Not",
        "Reciprocal",
        "Relu",
        "Round",
        "Selu",
        "Sigmoid",
        "Sign",
        "Sin",
        "Sinh",
        "Softmax",
        "Softplus",
        "Sqrt",
        "Tan",
        "Tanh",
    )
)
#: Operators of two inputs that broadcast.
_BROADCAST = frozenset(("Add", "Sub", "Mul", "Div", "Pow", "Min", "Max", "Mod"))


def stated_shapes(
    nodes: Sequence[onnx.NodeProto], stated: Mapping[str, Shape], constants: Mapping[str, Array]
) -> dict[str, Shape]:
    """``stated`` and what it says of the tensors before, through operators that keep a shape."""
    result = dict(stated)
    if not result:
        return result
    for node in reversed(nodes):
        shape = result.get(node.output[0]) if node.output and node.input else None
        if shape is None or node.domain not in ("", "ai.onnx"):
            continue
        if node.op_type in SAME_SHAPE:
            result.setdefault(node.input[0], shape)
        elif node.op_type in _BROADCAST and len(node.input) == 2:
            for one, other in (node.input, tuple(node.input)[::-1]):
                if other in constants and constants[other].size == 1 and constants[other].ndim == 0:
                    result.setdefault(one, shape)
    return result


def with_pinned_inputs(walk: Walk, call: Call) -> Call:
    """The call with constants in place of inputs that the stated shape of its result leaves no choice."""
    pin = _PINS.get(call.node.op_type) if call.node.domain in ("", "ai.onnx") else None
    shape = call.stated(0)
    if pin is None or shape is None:
        return call
    position, rule = pin
    if not call.input(position) or walk.values(call.input(position)) is not None:
        return call
    values = rule(walk, call, shape)
    if values is None:
        return call
    given: list[Value] = list(call.inputs)
    given[position] = walk.constant(values, f"{call.path}/pinned_{position}")
    return Call(call.node, tuple(given), call.scope, call.path, call.origin)


def _whole(walk: Walk, call: Call, shape: Shape) -> Array | None:
    return np.array(shape, np.int64)


def _length(walk: Walk, call: Call, shape: Shape) -> Array | None:
    """The one size of a window."""
    kind = walk.types.get(call.inputs[0]) if isinstance(call.inputs[0], str) else None
    if len(shape) != 1 or kind is None:
        return None
    import onnx

    dtype = onnx.helper.tensor_dtype_to_np_dtype(kind.tensor_type.elem_type)
    return np.array(shape[0], dtype).reshape(walk.shape(call.inputs[0]) or ())


def _along_axes(walk: Walk, call: Call, shape: Shape) -> Array | None:
    """The sizes that CenterCropPad brings its axes to."""
    axes = call.integers("axes", tuple(range(len(shape))))
    fits = all(-len(shape) <= axis < len(shape) for axis in axes)
    return np.array([shape[axis] for axis in axes], np.int64) if fits else None


def _grid(walk: Walk, call: Call, shape: Shape) -> Array | None:
    """The size of AffineGrid: batch, channels (which no result depends on), and the places of the grid."""
    return np.array([shape[0], 1, *shape[1:-1]], np.int64) if len(shape) > 2 else None


#: Which input a stated shape pins, and to which values.
_PINS: Mapping[str, tuple[int, Callable[[Walk, Call, Shape], Array | None]]] = {
    "ConstantOfShape": (0, _whole),
    "CenterCropPad": (1, _along_axes),
    "AffineGrid": (1, _grid),
    "BlackmanWindow": (0, _length),
    "HammingWindow": (0, _length),
    "HannWindow": (0, _length),
}
