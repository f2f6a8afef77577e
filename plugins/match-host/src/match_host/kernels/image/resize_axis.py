"""Sources of a Resize's results, axis by axis: coordinates, the nearest element, taps and their weights.

Interpolation is separable and its kernels are even functions, so a table describes an axis: the first element that each
result reads, and the weights from there on. Elements outside the axis repeat its border, which adds up their weights.
Semantics: ONNX Resize-19. The cubic kernel is that of R. Keys, Cubic convolution interpolation (1981).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.reader import optional_input, shape_of
from match_core.ir.topology import is_constant

from match_host.graph import elements, integer, integers, number, text, values_of

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from numpy.typing import NDArray

ROI, SCALES, SIZES = 1, 2, 3
#: Smaller weights are rounding errors.
NO_WEIGHT = 1e-13
#: Radius of a kernel in elements.
REACH = {"nearest": 1, "linear": 1, "cubic": 2}
COORDINATES = (
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
    "tf_half_pixel_for_nn",
    "tf_crop_and_resize",
)
ROUNDINGS = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


@dataclass(frozen=True, slots=True)
class Modes:
    """The attributes of a Resize that determine coordinates and weights."""

    mode: str
    coordinates: str
    rounding: str
    antialias: bool
    exclude_outside: bool
    cubic: float
    extrapolation: float

    @property
    def crops(self) -> bool:
        """Whether the result shows a region of the input and may reach outside."""
        return self.coordinates == "tf_crop_and_resize"


def modes_of(node: gs.Node) -> Modes:
    """The attributes of a node, with the standard's defaults."""
    return Modes(
        text(node, "mode", "nearest"),
        text(node, "coordinate_transformation_mode", "half_pixel"),
        text(node, "nearest_mode", "round_prefer_floor"),
        bool(integer(node, "antialias", 0)),
        bool(integer(node, "exclude_outside", 0)),
        number(node, "cubic_coeff_a", -0.75),
        number(node, "extrapolation_value", 0.0),
    )


@dataclass(frozen=True, slots=True)
class ResizeAxis:
    """``position``: the axis' position among those that scales, sizes and roi list. ``scale`` and ``region`` (begin and
    end, relative to the axis) are None if they are known only at run time. ``given``: the size of the result comes from
    ``sizes``, so ``scale * size`` should equal ``out``."""

    axis: int
    position: int
    size: int
    out: int
    scale: float | None
    given: bool
    region: tuple[float, float] | None

    @property
    def known(self) -> bool:
        """Whether its table can be computed at compile time."""
        return self.scale is not None and self.region is not None

    @property
    def least_scale(self) -> float:
        """The smallest scale that gives this size of the result."""
        return (self.out - 0.5) / self.size if self.scale is None else self.scale


def present(node: gs.Node, index: int) -> gs.Tensor | None:
    """An input that exists and has elements, else None."""
    tensor = optional_input(node, index)
    return tensor if tensor is not None and elements(shape_of(tensor)) else None


def listed_axes(node: gs.Node) -> tuple[int, ...]:
    """The axes that scales, sizes and roi refer to."""
    rank = len(shape_of(node.inputs[0]))
    return tuple(axis % rank for axis in integers(node, "axes", tuple(range(rank))))


def resized_axes(node: gs.Node) -> tuple[ResizeAxis, ...]:
    """The axes that a Resize changes."""
    shape, out, axes, modes = shape_of(node.inputs[0]), shape_of(node.outputs[0]), listed_axes(node), modes_of(node)
    scales, regions = _scales(node, axes), _regions(node, axes, modes)
    given = present(node, SIZES) is not None and text(node, "keep_aspect_ratio_policy", "stretch") == "stretch"
    found = []
    for position, axis in enumerate(axes):
        scale, region = scales[position], regions[position]
        same = scale is not None and math.isclose(scale, 1.0) and region == (0.0, 1.0)
        if shape[axis] == out[axis] and (same or out[axis] == 1):
            continue
        found.append(ResizeAxis(axis, position, shape[axis], out[axis], scale, given, region))
    return tuple(sorted(found, key=lambda item: item.axis))


def _scales(node: gs.Node, axes: tuple[int, ...]) -> list[float | None]:
    """Scales as the standard defines them: in double precision, from float32 or from sizes."""
    shape, out = shape_of(node.inputs[0]), shape_of(node.outputs[0])
    sizes, scales = present(node, SIZES), present(node, SCALES)
    policy = text(node, "keep_aspect_ratio_policy", "stretch")
    if sizes is not None and policy == "stretch":
        return [out[axis] / shape[axis] for axis in axes]
    parameter = sizes if sizes is not None else scales
    if parameter is None or not is_constant(parameter):
        return [None] * len(axes)
    values = [float(value) for value in values_of(parameter).reshape(-1).tolist()]
    if sizes is None:
        return list(values)
    ratios = [value / shape[axis] for value, axis in zip(values, axes, strict=True)]
    return [min(ratios) if policy == "not_larger" else max(ratios)] * len(axes)


def _regions(node: gs.Node, axes: tuple[int, ...], modes: Modes) -> list[tuple[float, float] | None]:
    roi = present(node, ROI)
    if not modes.crops or roi is None:
        return [(0.0, 1.0)] * len(axes)
    if not is_constant(roi):
        return [None] * len(axes)
    values = [float(value) for value in values_of(roi).reshape(-1).tolist()]
    return list(zip(values[: len(axes)], values[len(axes) :], strict=True))


def coordinates_of(axis: ResizeAxis, modes: Modes) -> NDArray[np.float64]:
    """The input's coordinate of every result."""
    assert axis.scale is not None
    assert axis.region is not None
    at, width = np.arange(axis.out, dtype=np.float64), axis.out if axis.given else axis.scale * axis.size
    if modes.coordinates == "align_corners":
        return at * 0.0 if width == 1 else at * (axis.size - 1) / (width - 1)
    if modes.coordinates == "asymmetric":
        return at / axis.scale
    if modes.coordinates == "tf_half_pixel_for_nn":  # opsets 11 and 12
        return (at + 0.5) / axis.scale
    if modes.crops:
        begin, end = axis.region
        span = (end - begin) * (axis.size - 1)
        return begin * (axis.size - 1) + (at * 0.0 + span / 2 if width == 1 else at * span / (width - 1))
    if modes.coordinates == "pytorch_half_pixel" and width == 1:
        return at * 0.0 - 0.5
    centre = axis.size / 2 * (1 - axis.out / width) if modes.coordinates == "half_pixel_symmetric" else 0.0
    return np.asarray(centre + (at + 0.5) / axis.scale - 0.5)


def _outside(axis: ResizeAxis, modes: Modes, at: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.asarray((at < 0) | (at > axis.size - 1) if modes.crops else np.zeros(at.shape, bool))


def nearest_table(axis: ResizeAxis, modes: Modes) -> NDArray[np.int32]:
    """The element that each result copies; -1 if it is outside."""
    at = coordinates_of(axis, modes)
    base = np.floor(at)
    rest = at - base
    up = {"floor": rest < 0, "ceil": rest > 0, "round_prefer_floor": rest > 0.5, "round_prefer_ceil": rest >= 0.5}
    place = base + up[modes.rounding]
    outside = _outside(axis, modes, at)
    if modes.exclude_outside:
        outside = outside | (place < 0) | (place >= axis.size)
    return np.where(outside, -1, np.clip(place, 0, axis.size - 1)).astype(np.int32)


def shrink_of(axis: ResizeAxis, modes: Modes) -> float:
    """The factor on distances before the kernel, at most 1: smaller scales are smoothed (antialias)."""
    return min(axis.least_scale, 1.0) if modes.antialias else 1.0


def reach_before(shrink: float, modes: Modes) -> int:
    """The position of the first tap relative to the element at or before the coordinate (0 or less)."""
    return math.floor(-REACH[modes.mode] / shrink) + 1


def _kernel(distance: NDArray[np.float64], modes: Modes) -> NDArray[np.float64]:
    x = np.abs(distance)
    if modes.mode == "linear":
        return np.maximum(1.0 - x, 0.0)
    a = modes.cubic
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    return np.where(x <= 1, near, np.where(x < 2, ((a * x - 5 * a) * x + 8 * a) * x - 4 * a, 0.0))


@dataclass(frozen=True)
class Taps:
    """``first`` element of every result (-1 if it is outside), ``weights`` as [result][tap]."""

    first: NDArray[np.int32]
    weights: NDArray[np.float64]


def tap_table(axis: ResizeAxis, modes: Modes) -> Taps:
    """Taps of every result, all inside the axis, with the least number of columns."""
    at, shrink = coordinates_of(axis, modes), shrink_of(axis, modes)
    start = reach_before(shrink, modes)
    places = np.floor(at)[:, None].astype(np.int64) + np.arange(start, 2 - start)
    weights = _kernel((places - at[:, None]) * shrink, modes)
    if modes.exclude_outside:
        weights = np.where((places < 0) | (places >= axis.size), 0.0, weights)
    total = weights.sum(axis=1, keepdims=True)
    if modes.antialias or modes.exclude_outside:
        weights = weights / np.where(total == 0, 1.0, total)
    count = min(axis.size, places.shape[1])
    first = np.clip(places[:, 0], 0, axis.size - count)
    inside = np.zeros((axis.out, count))
    rows = np.broadcast_to(np.arange(axis.out)[:, None], places.shape)
    np.add.at(inside, (rows, np.clip(places, 0, axis.size - 1) - first[:, None]), weights)
    return _narrowed(first, inside, axis, _outside(axis, modes, at))


def _narrowed(
    first: NDArray[np.int64], weights: NDArray[np.float64], axis: ResizeAxis, outside: NDArray[np.bool_]
) -> Taps:
    """The table without unused columns; weights that are only rounding errors count as 0."""
    used = (np.abs(weights) > NO_WEIGHT) & ~outside[:, None]
    some = used.any(axis=1)
    begin = first + np.where(some, used.argmax(axis=1), 0)
    end = np.where(some, first + weights.shape[1] - used[:, ::-1].argmax(axis=1), begin + 1)
    width = int((end - begin).max())
    moved = np.minimum(begin, axis.size - width)
    columns = (moved - first)[:, None] + np.arange(width)
    kept = np.take_along_axis(weights, np.clip(columns, 0, weights.shape[1] - 1), axis=1)
    kept = np.where((columns >= 0) & (columns < weights.shape[1]), kept, 0.0)
    return Taps(np.where(outside, -1, moved).astype(np.int32), np.where(np.abs(kept) > NO_WEIGHT, kept, 0.0))
