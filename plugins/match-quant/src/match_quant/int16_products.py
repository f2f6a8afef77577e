"""Products of int16 and int8 that a network writes with bytes become one operator, and so do the numbers behind them.

TFLite's int16 networks multiply the lower bytes of values, and the upper ones plus 128. One product of 16 bits has the
same sums where the weights prove that int32 holds them. What then scales the sums, with one rounding, is a Requant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import Model
from match_core.contract.passes import Pass, PassContext, Phase
from match_core.ir.editor import Editor, sort_nodes
from match_core.ir.geometry import conv_geometry
from match_core.ir.reader import constant, producer, shape_of
from numpy.typing import NDArray

from match_quant.factors import made_by
from match_quant.integer_graph import quantised_types
from match_quant.integerise_conv import fits_sums
from match_quant.operators import has_operator
from match_quant.requant_node import per_channel, typed

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

_INT16, _INT64 = np.dtype(np.int16), 7  # the latter as TensorProto has it
_PRODUCTS = {"ConvInteger": "match.arith::ConvIntegerI16", "MatMulInteger": "match.arith::MatMulIntegerI16"}
#: Bits of sums, and of multipliers that kernels take.
_SUM, _FACTOR = 31, 31


def run(model: Model, context: PassContext) -> Model:
    """Replace every such product, and what scales its sums."""
    written = has_operator(model, "ConvInteger") or has_operator(model, "MatMulInteger")
    if not written or _INT16 not in quantised_types(context):
        return model
    editor = Editor(model)
    sort_nodes(editor.graph)
    changed = [_product(editor, node) for node in list(editor.graph.nodes) if node.op == "Add"]
    if not any(changed):
        return model
    for node in list(editor.graph.nodes):
        if node.op == "Cast":
            _requantised(editor, node)
    return editor.finish()


@dataclass(frozen=True)
class _Bytes:
    """The lower or the ``upper`` bytes of the int16 tensor ``x``, which ``moved`` transposes."""

    x: gs.Tensor
    moved: gs.Node | None
    upper: bool


def _number(tensor: gs.Tensor) -> int | None:
    values = constant(tensor)
    return int(values.reshape(-1)[0]) if values is not None and values.size == 1 and values.dtype.kind in "iu" else None


def _of(tensor: gs.Tensor, op: str, number: int) -> gs.Tensor | None:
    """What is combined with this number."""
    node = made_by(tensor, op)
    return node.inputs[0] if node is not None and _number(node.inputs[1]) == number else None


def _bytes(tensor: gs.Tensor) -> _Bytes | None:
    moved = made_by(tensor, "Transpose")
    narrow = made_by(tensor if moved is None else moved.inputs[0], "Cast")
    if narrow is None or narrow.outputs[0].dtype != np.uint8:
        return None
    wide, upper = _of(narrow.inputs[0], "Mod", 256), False
    if wide is None:
        above = _of(narrow.inputs[0], "Add", 128)
        whole = _of(above, "Div", 256) if above is not None else None
        less = made_by(whole, "Sub") if whole is not None else None
        if less is None or _of(less.inputs[1], "Mod", 256) is not less.inputs[0]:
            return None
        wide, upper = less.inputs[0], True
    cast = made_by(wide, "Cast")
    if cast is None or cast.inputs[0].dtype != _INT16:
        return None
    return _Bytes(cast.inputs[0], moved, upper)


def _sums(tensor: gs.Tensor, upper: bool) -> tuple[gs.Node, _Bytes] | None:
    """The product of the lower or upper bytes whose sums, in int64, are this tensor."""
    cast = made_by(tensor, "Cast")
    node = made_by(cast.inputs[0], *_PRODUCTS) if cast is not None else None
    given = _bytes(node.inputs[0]) if node is not None else None
    if node is None or given is None or given.upper != upper:
        return None
    zeros = [0 if _number(tensor) is None else _number(tensor) for tensor in node.inputs[2:]]
    return (node, given) if [*zeros, 0, 0][:2] == [128 if upper else 0, 0] else None


def _product(editor: Editor, node: gs.Node) -> bool:
    scaled = _of(node.inputs[0], "Mul", 256)
    high = _sums(scaled, upper=True) if scaled is not None else None
    low = _sums(node.inputs[1], upper=False)
    if high is None or low is None:
        return False
    (first, upper), (second, lower) = high, low
    weight = constant(first.inputs[1])
    same = first.op == second.op and first.inputs[1] is second.inputs[1] and upper.x is lower.x
    moves = [part.moved.attrs.get("perm") if part.moved is not None else None for part in (upper, lower)]
    if not same or weight is None or weight.dtype != np.int8 or first.attrs != second.attrs or moves[0] != moves[1]:
        return False
    axes = tuple(range(1, weight.ndim)) if first.op == "ConvInteger" else -2
    if weight.ndim < 2 or not fits_sums(int(np.abs(weight.astype(np.int64)).sum(axis=axes).max()), _INT16):
        return False
    origin, x = editor.origin(node), upper.x
    if upper.moved is not None:
        shape = shape_of(upper.moved.outputs[0])
        attrs = dict(upper.moved.attrs)
        x = editor.node("Transpose", [x], _INT16, shape, name=f"{first.name}_moved", origin=origin, attrs=attrs)
    attrs = {} if first.op == "MatMulInteger" else conv_geometry(first).attributes()
    shape = shape_of(first.outputs[0])
    inputs = [x, first.inputs[1]]
    acc = editor.node(_PRODUCTS[first.op], inputs, np.int32, shape, name=first.name, origin=origin, attrs=attrs)
    wide = editor.node("Cast", [acc], np.int64, shape, name=f"{first.name}_wide", origin=origin, attrs={"to": _INT64})
    editor.replace(node.outputs[0], wide)
    return True


def _clipped(tensor: gs.Tensor, low: int, high: int) -> tuple[gs.Tensor, int, int] | None:
    """What is clipped, and to which bounds inside of these; None if it may lie outside."""
    bounds: list[tuple[int, int]] = []
    while (node := made_by(tensor, "Clip")) is not None:
        ends = [_number(end) for end in node.inputs[1:]]
        if len(ends) != 2 or ends[0] is None or ends[1] is None:
            return None
        bounds.insert(0, (ends[0], ends[1]))
        tensor = node.inputs[0]
    if not bounds:
        return None
    first, last = bounds[0]
    for least, most in bounds[1:]:
        first, last = min(max(first, least), most), min(max(last, least), most)
    return (tensor, first, last) if low <= first and last <= high else None


def _combined(tensor: gs.Tensor, op: str) -> tuple[gs.Tensor, NDArray[np.object_]] | None:
    """A tensor combined with constant integers."""
    node = made_by(tensor, op)
    values = constant(node.inputs[1]) if node is not None else None
    if node is None or values is None or values.dtype.kind not in "iu":
        return None
    return node.inputs[0], values.astype(object)


def _requantised(editor: Editor, node: gs.Node) -> None:
    """A Requant instead of ((sums + bias) * M + half) / D, rounded down, clipped and stored."""
    old = node.outputs[0]
    limits = np.iinfo(old.dtype) if np.dtype(old.dtype).name in ("int8", "int16", "uint8") else None
    clipped = _clipped(node.inputs[0], int(limits.min), int(limits.max)) if limits is not None else None
    divided = _combined(clipped[0], "Div") if clipped is not None else None
    less = made_by(divided[0], "Sub") if divided is not None else None
    rest = _combined(less.inputs[1], "Mod") if less is not None else None
    moved = _combined(less.inputs[0], "Add") if less is not None else None
    scaled = _combined(moved[0], "Mul") if moved is not None else None
    if clipped is None or divided is None or less is None or rest is None or moved is None or scaled is None:
        return
    if rest[0] is not less.inputs[0] or not np.array_equal(rest[1], divided[1]):
        return
    total = _combined(scaled[0], "Add") or (scaled[0], np.zeros((), object))
    cast = made_by(total[0], "Cast")
    product = producer(cast.inputs[0]) if cast is not None else None
    if cast is None or product is None or product.domain != "match.arith" or product.op[:-3] not in _PRODUCTS:
        return
    acc, channel = cast.inputs[0], 1 if "Conv" in product.op else -1
    factors = _factors(scaled[1], total[1] * scaled[1] + moved[1], divided[1])
    shape = [1] * len(acc.shape)
    shape[channel] = -1
    if factors is None or any(values.size not in (1, acc.shape[channel]) for values in factors[:2]):
        return
    m, b = (per_channel(values.astype(np.int64).reshape(-1), tuple(shape)) for values in factors[:2])
    numbers = zip(("multiplier", "addend", "divisor", "lo", "hi"), (m, b, factors[2], *clipped[1:]), strict=True)
    inputs = [acc, *(editor.constant(f"{node.name}_{name}", np.array(value, np.int64)) for name, value in numbers)]
    operator, origin = typed("Requant", np.dtype(old.dtype)), editor.origin(node)
    editor.replace(old, editor.node(operator, inputs, old.dtype, shape_of(old), name=node.name, origin=origin))


def _factors(
    m: NDArray[np.object_], b: NDArray[np.object_], d: NDArray[np.object_]
) -> tuple[NDArray[np.object_], NDArray[np.object_], int] | None:
    """The same numbers with one power of two as the divisor; None if they exceed 31 and 63 bits."""
    most = int(d.max())
    if any(int(value) & (int(value) - 1) or int(value) <= 0 for value in d.reshape(-1)):
        return None
    m, b = m * (most // d), b * (most // d)
    reach = (np.abs(m) << _SUM) + np.abs(b)
    return (m, b, most) if np.abs(m).max() < 1 << _FACTOR and reach.max() < 1 << 63 else None


INT16_PRODUCTS = Pass(
    "int16_products",
    Phase.INTEGER,
    run,
    "products of int16 values written with bytes become one product of 16 bits",
    before=("recognise_requant", "narrow_integers", "integerise"),
    optional=True,
)
