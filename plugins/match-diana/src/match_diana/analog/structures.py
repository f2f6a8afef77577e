"""The form of an analog layer in the integer graph, and the parameters of its matches.

One group of input channels is ``RequantI8(ConvInteger(Clip(x, -64, 63), w), 1, 0, gain, -32, 31)``: the converters.
More groups read their channels through a Slice, and their results are added. The stage after them scales the sum: it is
the last node, a RequantI8 of one group's sum or an AddRequantI8 of two. All operators are the core's, so the host
computes the same bits if it runs the layer.
"""

from __future__ import annotations

import numpy as np
from match_core import Any, Const, Match, OneOf, Op, Structure
from match_core.ir.geometry import ConvGeometry, conv_geometry

from match_diana.analog.arithmetic import Norm
from match_diana.analog.limits import GROUPS_MAX, Window

_SUM = ("multiplier", "addend", "divisor", "low", "high")


def _constants(prefix: str, names: tuple[str, ...]) -> tuple[Const, ...]:
    return tuple(Const(f"{prefix}{name}") for name in names)


def _group(index: int, *, sliced: bool) -> Op:
    """The converters' result for one group of input channels."""
    part: Structure = Any("input")
    if sliced:
        bounds = _constants(f"slice{index}_", ("start", "end", "axes"))
        part = Op("Slice", f"slice{index}", (part, *bounds))
    clipped = Op("Clip", f"clip{index}", (part, *_constants(f"clip{index}_", ("low", "high"))))
    conv = Op("ConvInteger", f"conv{index}", (clipped, Const(f"cells{index}")))
    return Op("match.arith::RequantI8", f"adc{index}", (conv, *_constants(f"adc{index}_", _SUM)))


def _added(left: Structure, right: Structure, name: str, prefix: str) -> Op:
    numbers = ("multiplier", "multiplier_b", "addend", "divisor", "low", "high")
    return Op("match.arith::AddRequantI8", name, (left, right, *_constants(prefix, numbers)))


def _layer(groups: int) -> Op:
    """A layer with this number of groups, added from the first to the last."""
    if groups == 1:
        return Op("match.arith::RequantI8", "norm", (_group(0, sliced=False), *_constants("", _SUM)))
    total: Structure = _group(0, sliced=True)
    for index in range(1, groups - 1):
        total = _added(total, _group(index, sliced=True), f"sum{index}", f"sum{index}_")
    return _added(total, _group(groups - 1, sliced=True), "norm", "")


ANALOG_CONV = OneOf(tuple(_layer(groups) for groups in range(GROUPS_MAX, 0, -1)))


def group_count(match: Match) -> int:
    """How many groups of input channels the match has."""
    return sum(match.has(f"conv{index}") for index in range(GROUPS_MAX))


def number(match: Match, capture: str) -> int | None:
    """A captured constant of one value; None for several."""
    values = match.const(capture)
    return int(values.reshape(-1)[0]) if values.size == 1 else None


def geometry_of(match: Match, index: int = 0) -> ConvGeometry:
    """Kernel, strides and padding (top, left, bottom, right) of a group's convolution."""
    return conv_geometry(match.node(f"conv{index}"))


def window_of(match: Match) -> Window:
    """The geometry of the whole layer."""
    _, c, iy, ix = match.shape("input")
    k, _, fy, fx = match.shape("cells0")
    _, _, oy, ox = (int(size) for size in match.output.shape)
    return Window(c, k, fy, fx, geometry_of(match).strides[0], iy, ix, oy, ox)


def norm_of(match: Match) -> Norm:
    """The numbers of the converters and of the stage after them; the rules check whether they are legal."""
    k = match.shape("cells0")[0]
    multiplier, addend = (
        np.broadcast_to(match.const(name).astype(np.int64).reshape(-1), (k,)) for name in ("multiplier", "addend")
    )
    gain, divisor = number(match, "adc0_divisor"), number(match, "divisor")
    assert gain is not None and divisor is not None
    return Norm(gain, multiplier, addend, divisor.bit_length() - 1, number(match, "low") == 0)
