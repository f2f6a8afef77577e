"""Operators that only move 8-bit values (Reshape, Transpose, Split, MaxPool, Resize), applied to stored integers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.editor import Editor
from match_core.ir.geometry import conv_geometry
from match_core.ir.reader import shape_of

from match_quant.expectation import Expectation
from match_quant.nodes import append, reshape

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: Operators with one data input, the first, and unchanged values; the maximum commutes with quantisation.
MOVES = frozenset(
    (
        "Reshape",
        "Flatten",
        "Squeeze",
        "Unsqueeze",
        "Transpose",
        "MaxPool",
        "Identity",
        "Slice",
        "Split",
        "Gather",
        "Expand",
        "Tile",
    )
)


def is_move(node: gs.Node) -> bool:
    """Whether the node only moves values of its first input."""
    return (
        (node.op in MOVES or takes_nearest(node))
        and (len(node.outputs) == 1 or node.op == "Split")
        and (node.domain or "") in ("", "ai.onnx")
    )


def takes_nearest(node: gs.Node) -> bool:
    """Whether the node is a Resize whose results are all elements of its input."""
    crops = node.attrs.get("coordinate_transformation_mode") == "tf_crop_and_resize"
    inside = not crops and not node.attrs.get("exclude_outside", 0)
    return node.op == "Resize" and node.attrs.get("mode", "nearest") == "nearest" and inside


def append_move(
    editor: Editor, node: gs.Node, x: gs.Tensor, known: Expectation, origin: tuple[str, ...]
) -> tuple[tuple[gs.Variable, Expectation], ...]:
    """Add the node on the stored integers ``x`` with expectation ``known``; returns one result per output."""
    shapes = [shape_of(output) for output in node.outputs]
    attrs = _attributes(node)
    operator = "match.arith::MaxPoolI16" if node.op == "MaxPool" and np.dtype(x.dtype).itemsize > 1 else node.op
    if node.op == "MaxPool" and len(shapes[0]) == 3:  # units pool images
        (batch, channels, length), (*_, out) = shape_of(x), shapes[0]
        row = reshape(editor, x, (batch, channels, 1, length), f"{node.name}_row", origin)
        pooled = append(editor, operator, [row], (batch, channels, 1, out), node.name, origin, **attrs)
        return ((reshape(editor, pooled, shapes[0], f"{node.name}_rows", origin), known),)
    first = editor.node(operator, [x, *node.inputs[1:]], x.dtype, shapes[0], name=node.name, origin=origin, attrs=attrs)
    results = [first, *(editor.variable(first.name, x.dtype, shape) for shape in shapes[1:])]
    for other in results[1:]:
        first.inputs[0].outputs.append(other)
    return tuple((result, _known(node, x, result, known)) for result in results)


def _attributes(node: gs.Node) -> dict[str, object]:
    if node.op != "MaxPool":
        return dict(node.attrs)
    attrs = conv_geometry(node).plane().attributes()
    del attrs["group"]
    return {**attrs, "ceil_mode": int(node.attrs.get("ceil_mode", 0))}


def _known(node: gs.Node, x: gs.Tensor, result: gs.Variable, known: Expectation) -> Expectation:
    """The expectation of the result, per channel if the move preserves channels."""
    before, after = shape_of(x), shape_of(result)
    if node.op in ("Reshape", "Flatten", "Squeeze", "Unsqueeze"):
        return known.reshaped(before, after)
    axis = known.axis
    kept = len(before) == len(after) and before[axis : axis + 1] == after[axis : axis + 1]
    if node.op in ("MaxPool", "Identity") or (node.op in ("Slice", "Split", "Resize") and kept):
        return known
    return known.merged()
