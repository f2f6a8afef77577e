"""Operators that change an image's height and width."""

from __future__ import annotations

import numpy as np

from match_tflite.call import Call
from match_tflite.faults import damaged


def nearest(call: Call) -> None:
    """RESIZE_NEAREST_NEIGHBOR: floor of the source position, rounded if corners are aligned or pixels have centres."""
    mode = _places(call)
    _resize(call, True, mode="nearest", nearest_mode="floor" if mode == "asymmetric" else "round_prefer_ceil")


def bilinear(call: Call) -> None:
    """RESIZE_BILINEAR."""
    _resize(call, False, mode="linear")


def _places(call: Call) -> str:
    if call.option("AlignCorners"):
        return "align_corners"
    return "half_pixel" if call.option("HalfPixelCenters") else "asymmetric"


def _resize(call: Call, moves: bool, **attributes: str) -> None:
    image, result = call.input(0).shape, call.output().shape
    if len(image) != 4 or len(result) != 4:
        raise damaged(call.where, f"its input has shape {list(image)[:8]}, its result {list(result)[:8]}")
    same = moves and call.same_values()
    x = call.stored(0, planes=True) if same else call.real(0, planes=True)
    sizes = call.constant("sizes", np.array([result[axis] for axis in (0, 3, 1, 2)], np.int64))
    name = call.node("Resize", [x, "", "", sizes], coordinate_transformation_mode=_places(call), **attributes)
    call.give_moved(name, same, planes=True)


def space_and_depth(call: Call) -> None:
    """SPACE_TO_DEPTH and DEPTH_TO_SPACE: blocks of pixels as channels, and back."""
    operator = "SpaceToDepth" if call.operator.kind == "SPACE_TO_DEPTH" else "DepthToSpace"
    if call.option("BlockSize") < 1:
        raise damaged(call.where, f"its block size is {call.option('BlockSize')}")
    same = call.same_values()
    x = call.stored(0, planes=True) if same else call.real(0, planes=True)
    call.give_moved(call.node(operator, [x], blocksize=call.option("BlockSize")), same, planes=True)
