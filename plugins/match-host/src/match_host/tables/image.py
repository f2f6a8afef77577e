"""Operators on images and other sampled signals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.node_rule import NodeRule
from match_core.ir.reader import shape_of

from match_host.graph import text
from match_host.kernels.image.affine_grid import build_affine_grid
from match_host.kernels.image.decoder import CHANNELS, build_image_decoder
from match_host.kernels.image.grid_sample import PADDINGS, TAPS, build_grid_sample
from match_host.kernels.image.resize import build_resize
from match_host.kernels.image.resize_axis import COORDINATES, REACH, ROUNDINGS, SCALES, SIZES, modes_of, present
from match_host.kernels.image.roi import build_max_roi_pool, build_roi_align
from match_host.kernels.movement.movement import build_movement
from match_host.kernels.products.col2im import build_col2im
from match_host.kernels.products.deform_conv import build_deform_conv
from match_host.kernels.reduction.neighbours import build_lrn
from match_host.kernels.scalar import ALL_TYPES, ANY_FLOATS, NUMBERS, SMALL, STORED_TYPES
from match_host.operator import Operator
from match_host.rules import STATIC, attribute_is, rank, type_name, types

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def _interpolated(node: gs.Node) -> str | None:
    name = type_name(node.inputs[0])
    return f"input 0 is {name}" if modes_of(node).mode != "nearest" and name not in (*NUMBERS, *SMALL) else None


def _smoothed(node: gs.Node) -> str | None:
    modes = modes_of(node)
    return "antialias is 1 and mode is nearest" if modes.antialias and modes.mode == "nearest" else None


def _measured(node: gs.Node) -> str | None:
    given = [index for index in (SCALES, SIZES) if present(node, index) is not None]
    return None if len(given) == 1 else f"inputs {given} are given" if given else "neither is given"


RESIZE_RULES = (
    types(STORED_TYPES, 0),
    types(("float16", "float32", "float64"), 1, 2),
    types(("int64",), 3),
    attribute_is("mode", "nearest", *REACH),
    attribute_is("coordinate_transformation_mode", "half_pixel", *COORDINATES),
    attribute_is("nearest_mode", "round_prefer_floor", *ROUNDINGS),
    attribute_is("keep_aspect_ratio_policy", "stretch", "stretch", "not_larger", "not_smaller"),
    NodeRule("interpolated", "interpolated elements are numbers", _interpolated),
    NodeRule("smoothed", "antialias requires linear or cubic interpolation", _smoothed),
    NodeRule("measured", "either scales or sizes are given", _measured),
)


def _sampled(node: gs.Node) -> str | None:
    mode, name = text(node, "mode", "linear"), type_name(node.inputs[0])
    return f"mode is {mode} and input 0 {name}" if mode != "nearest" and name not in ANY_FLOATS else None


GRID_RULES = (
    STATIC,
    rank(3, 4, 5),
    types(STORED_TYPES, 0),
    types(ANY_FLOATS, 1),
    attribute_is("mode", "linear", *TAPS),
    attribute_is("padding_mode", "zeros", *PADDINGS),
    NodeRule(
        "sampled",
        "interpolated elements are floating-point numbers: ONNX does not define rounding for others",
        _sampled,
    ),
)


def _colours(node: gs.Node) -> str | None:
    shape, order = shape_of(node.outputs[0]), text(node, "pixel_format", "RGB")
    return None if len(shape) == 3 and shape[2] == CHANNELS[order] else f"the result is {shape} and the format {order}"


FILE_RULES = (
    rank(1),
    types(("uint8",), 0),
    attribute_is("pixel_format", "RGB", *CHANNELS),
    NodeRule("colours", "the model states height, width and 1 or 3 channels of the result", _colours),
)

IMAGE: tuple[Operator, ...] = (
    Operator("Resize", "image", (STATIC, *RESIZE_RULES), build_resize),
    Operator("GridSample", "image", GRID_RULES, build_grid_sample),
    Operator("AffineGrid", "image", (STATIC, types(ANY_FLOATS, 0)), build_affine_grid),
    Operator("CenterCropPad", "image", (STATIC, types(STORED_TYPES, 0)), build_movement),
    Operator("RoiAlign", "image", (STATIC, rank(4), types(ANY_FLOATS, 0, 1), types(("int64",), 2)), build_roi_align),
    Operator("MaxRoiPool", "image", (STATIC, rank(4), types(ANY_FLOATS, 0, 1)), build_max_roi_pool),
    Operator("Col2Im", "image", (STATIC, rank(3), types((*ALL_TYPES, *SMALL), 0)), build_col2im),
    Operator("DeformConv", "image", (STATIC, rank(4), types(ANY_FLOATS, 0, 1, 2, 3, 4)), build_deform_conv),
    Operator("ImageDecoder", "image", (STATIC, *FILE_RULES), build_image_decoder),
    Operator("LRN", "image", (STATIC, rank(3, 4, 5), types(ANY_FLOATS, 0)), build_lrn),
)
