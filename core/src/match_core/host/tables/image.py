"""Operators on images and other sampled signals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.host.graph import shape_of, text
from match_core.host.kernels.movement import build_movement
from match_core.host.kernels.scalar import STORED_TYPES
from match_core.host.operator import Operator
from match_core.host.rules import STATIC, NodeRule, attribute_is, types

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def _resize(node: gs.Node) -> str | None:
    shape, out = shape_of(node.inputs[0]), shape_of(node.outputs[0])
    if any(o % s for o, s in zip(out, shape, strict=True)):
        return f"{shape} to {out}"
    return None


def _resize_rounding(node: gs.Node) -> str | None:
    asymmetric = text(node, "coordinate_transformation_mode", "half_pixel") == "asymmetric"
    mode = text(node, "nearest_mode", "round_prefer_floor")
    if asymmetric and mode != "floor":
        return f"nearest_mode is {mode}"
    if not asymmetric and mode not in ("round_prefer_floor", "round_prefer_ceil"):
        return f"nearest_mode is {mode}"
    return None


RESIZE_RULES = (
    attribute_is("mode", "nearest", "nearest"),
    attribute_is("coordinate_transformation_mode", "half_pixel", "asymmetric", "half_pixel", "pytorch_half_pixel"),
    NodeRule("factor", "every axis grows by a whole factor", _resize),
    NodeRule("rounding", "rounding keeps each source element's copies together", _resize_rounding),
)

IMAGE: tuple[Operator, ...] = (
    Operator("Resize", "movement", (STATIC, types(STORED_TYPES, 0), *RESIZE_RULES), build_movement),
)
