"""Gives ternary convolutions between 7-bit tensors the arithmetic of the analog array, in the core's operators.

``RequantI8(ConvInteger(x, w), ...)`` becomes the form of ``analog_structures``, with the numbers that ``analog_fit``
finds. ``analog_scales`` has chosen these layers before: their inputs and outputs are clipped to 7 bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core import Model, Pass, PassContext, Phase
from match_core.contract.model import qualified_op
from match_core.ir.editor import Editor
from match_core.ir.geometry import conv_geometry
from match_core.ir.reader import constant, is_private, optional_input, producer, shape_of

from match_diana.analog import limits
from match_diana.analog.arithmetic import Norm
from match_diana.analog.fit import ERROR_MAX, Fit, Wanted, fit
from match_diana.analog.ternary import Ternary, ternary

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

_REQUANT = "match.arith::RequantI8"
_NARROW_BOUNDS = ((limits.OUTPUT_MIN, limits.OUTPUT_MAX), (0, limits.OUTPUT_MAX))


def run(model: Model, context: PassContext) -> Model:
    """Rewrite every such layer; integers that the source spells out keep their values."""
    if model.integer_source:
        return model
    editor = Editor(model)
    changed = False
    for node in list(editor.graph.nodes):
        weights = _ternary_layer(editor, node)
        if weights is None or not context.changes(editor.origin(node.inputs[0].inputs[0])):
            continue
        changed = True
        found = fit(_wanted(node, weights))
        _note(editor, node, found)
        if found.error <= ERROR_MAX:
            _rewrite(editor, node, weights, found.norm)
    return editor.finish() if changed else model


def _ternary_layer(editor: Editor, requant: gs.Node) -> Ternary | None:
    """The weights of a convolution between tensors of 7 bits; None for all else."""
    if qualified_op(requant) != _REQUANT or not is_private(requant.inputs[0], editor.graph.outputs):
        return None
    conv = producer(requant.inputs[0])
    if conv is None or qualified_op(conv) != "ConvInteger":
        return None
    weight = constant(conv.inputs[1])
    if weight is None or weight.dtype != np.int8 or weight.ndim != 4 or conv.inputs[0].dtype != np.int8:
        return None
    if any(optional_input(conv, position) is not None for position in (2, 3)):
        return None
    if not limits.has_form(shape_of(conv.inputs[0])[1], weight.shape[0], conv_geometry(conv)):
        return None
    bounds = tuple(int(np.asarray(constant(tensor)).reshape(-1)[0]) for tensor in requant.inputs[4:6])
    if bounds not in _NARROW_BOUNDS or _input_range(conv.inputs[0]) is None:
        return None
    return ternary(weight.astype(np.int64))


def _input_range(tensor: gs.Tensor) -> tuple[int, int] | None:
    """The values that a tensor can have, where these are known to have 7 bits."""
    node = producer(tensor)
    if node is None:
        return None
    if qualified_op(node) == _REQUANT or qualified_op(node) == "match.arith::AddRequantI8":
        low, high = (int(np.asarray(constant(bound)).reshape(-1)[0]) for bound in node.inputs[-2:])
    elif qualified_op(node) == "match.arith::LutI8":
        table = constant(node.inputs[1])
        if table is None:
            return None
        low, high = int(table.min()), int(table.max())
    elif qualified_op(node) in ("MaxPool", "Clip") and node.inputs[0].dtype == np.int8:
        inner = _input_range(node.inputs[0])
        if inner is None:
            return None
        low, high = inner
    else:
        return None
    return (low, high) if low >= limits.INPUT_MIN and high <= limits.INPUT_MAX else None


def _wanted(requant: gs.Node, weights: Ternary) -> Wanted:
    """The requantisation as a function of sums of the cells."""
    k = weights.size.size
    multiplier, addend = (
        np.broadcast_to(np.asarray(constant(tensor), np.float64).reshape(-1), (k,)) for tensor in requant.inputs[1:3]
    )
    divisor, low = (int(np.asarray(constant(requant.inputs[index])).reshape(-1)[0]) for index in (3, 4))
    conv = requant.inputs[0].inputs[0]
    bounds = _input_range(conv.inputs[0])
    positive = bounds is not None and bounds[0] >= 0
    return Wanted(weights.cells, multiplier * weights.size / divisor, addend / divisor, low, positive)


def _note(editor: Editor, requant: gs.Node, found: Fit) -> None:
    name = "/".join(editor.origin(requant.inputs[0].inputs[0]))
    expected = (
        f"expected root mean square of the difference {found.error:.2f} steps of 7 bits, {found.relative:.2f} of the "
        f"spread of the results"
    )
    if found.error > ERROR_MAX:
        why = f"{expected}; {ERROR_MAX:g} steps are allowed"
        editor.notes.append(f"{name}: not in the arithmetic of the analog array ({why})")
    else:
        editor.notes.append(f"{name}: arithmetic of the analog array, gain {found.norm.gain} ({expected})")


def _rewrite(editor: Editor, requant: gs.Node, weights: Ternary, norm: Norm) -> None:
    """Converters for every group of input channels, and the stage after them."""
    conv = requant.inputs[0].inputs[0]
    x, geometry, shape = _source(conv.inputs[0]), conv_geometry(conv), shape_of(requant.outputs[0])
    name, origin = conv.name, editor.origin(conv)

    def requantised(value: gs.Tensor, numbers: tuple[int, int, int, int, int], hint: str) -> gs.Variable:
        return editor.node(
            _REQUANT, [value, *_numbers(editor, hint, numbers)], np.int8, shape, name=hint, origin=origin
        )

    sums: list[gs.Tensor] = []
    counts = limits.groups(weights.cells.shape[1], geometry.kernel[0] * geometry.kernel[1])
    first = 0
    for index, count in enumerate(counts):
        hint = f"{name}_group{index}" if len(counts) > 1 else name
        part = _clipped(editor, _channels(editor, x, first, count, hint, origin), hint, origin)
        cells = editor.constant(f"{hint}_cells", weights.cells[:, first : first + count].astype(np.int8))
        acc = editor.node(
            "ConvInteger", [part, cells], np.int32, shape, name=hint, origin=origin, attrs=geometry.attributes()
        )
        numbers = _numbers(editor, f"{hint}_converted", (1, 0, norm.gain, limits.SUM_MIN, limits.SUM_MAX))
        sums.append(editor.node(_REQUANT, [acc, *numbers], np.int8, shape, name=f"{hint}_converted", origin=origin))
        first += count
    total = sums[0]
    for index, each in enumerate(sums[1:-1], start=1):
        hint = f"{name}_sum{index}"
        numbers = _numbers(editor, hint, (1, 1, 0, 1, -128, 127))
        total = editor.node(
            "match.arith::AddRequantI8", [total, each, *numbers], np.int8, shape, name=hint, origin=origin
        )
    editor.replace(requant.outputs[0], _normalised(editor, requant, (total, *sums[1:][-1:]), norm))


def _normalised(editor: Editor, requant: gs.Node, parts: tuple[gs.Tensor, ...], norm: Norm) -> gs.Variable:
    """The stage after the converters for one sum, or for two that it adds."""
    name, origin, shape = f"{requant.name}_analog", editor.origin(requant), shape_of(requant.outputs[0])
    multiplier, addend = (
        editor.constant(f"{name}_{hint}", values.reshape(-1, 1, 1))
        for hint, values in (("multiplier", norm.multiplier), ("addend", norm.addend))
    )
    rest = _numbers(editor, name, (1 << norm.shift, norm.low, limits.OUTPUT_MAX))
    multipliers = [multiplier] * len(parts)
    op = _REQUANT if len(parts) == 1 else "match.arith::AddRequantI8"
    return editor.node(op, [*parts, *multipliers, addend, *rest], np.int8, shape, name=name, origin=origin)


def _source(x: gs.Tensor) -> gs.Tensor:
    """The tensor that was clipped to give the layer's input, if nothing else was done to it."""
    node = producer(x)
    if node is None or qualified_op(node) != "match.arith::LutI8":
        return x
    table = np.asarray(constant(node.inputs[1])).reshape(-1)
    cut = np.clip(np.arange(-128, 128), limits.INPUT_MIN, limits.INPUT_MAX)
    return node.inputs[0] if np.array_equal(table, cut) else x


def _channels(editor: Editor, x: gs.Tensor, first: int, count: int, name: str, origin: tuple[str, ...]) -> gs.Tensor:
    """``count`` channels of ``x`` from ``first`` on."""
    shape = shape_of(x)
    if count == shape[1]:
        return x
    bounds = [
        editor.constant(f"{name}_{hint}", np.array([value], np.int64))
        for hint, value in (("start", first), ("end", first + count), ("axes", 1))
    ]
    return editor.node(
        "Slice", [x, *bounds], np.int8, (shape[0], count, *shape[2:]), name=f"{name}_channels", origin=origin
    )


def _clipped(editor: Editor, x: gs.Tensor, name: str, origin: tuple[str, ...]) -> gs.Variable:
    ends = (limits.INPUT_MIN, limits.INPUT_MAX)
    bounds = [editor.constant(f"{name}_cut_{end}", np.array(end, np.int8)) for end in ends]
    return editor.node("Clip", [x, *bounds], np.int8, shape_of(x), name=f"{name}_cut", origin=origin)


def _numbers(editor: Editor, name: str, values: tuple[int, ...]) -> list[gs.Constant]:
    return [editor.constant(f"{name}_{index}", np.array(value, np.int64)) for index, value in enumerate(values)]


ANALOG = Pass(
    "diana_analog",
    Phase.TARGET,
    run,
    "ternary convolutions between 7-bit tensors get the arithmetic of the analog array",
    after=("diana_shift",),
    exact=None,
    lossy=True,
)
