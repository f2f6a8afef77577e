"""Structures of the core's integer graph that the 8-bit kernels implement, and what a match of one says."""

from __future__ import annotations

from match_core import Any, Const, Match, Maybe, OneOf, Op

_REQUANT = ("multiplier", "addend", "divisor", "low", "high")


def _requantised(op: Op) -> Op:
    return Op("match.arith::RequantU8|match.arith::RequantI8", "requant", (op, *(Const(name) for name in _REQUANT)))


#: Convolution, its zero-point padding (if any) taken in.
CONV = _requantised(Op("match.nhwc::ConvInteger", "conv", (Maybe(Op("Pad", "pad", (Any("input"),))), Const("weight"))))
DENSE = _requantised(Op("MatMulInteger", "dense", (Any("input"), Const("weight"))))
ADD = Op(
    "match.arith::AddRequantU8|match.arith::AddRequantI8",
    "add",
    (
        Any("input_a"),
        Any("input_b"),
        Const("multiplier_a"),
        Const("multiplier_b"),
        Const("addend"),
        Const("divisor"),
        Const("low"),
        Const("high"),
    ),
)
#: The mean of a window whose area is a power of two, rounded by QuantizeLinear.
AVERAGE = Op(
    "QuantizeLinear",
    "quantize",
    (Op("Cast", "cast", (Op("match.nhwc::ConvInteger", "conv", (Any("input"), Const("weight"))),)), Const("area")),
)
MAXIMUM = Op("match.nhwc::MaxPool", "pool", (Any("input"),))

_OFFSET = "match.arith::OffsetI8ToU8|match.arith::OffsetU8ToI8"
TRANSPOSE = OneOf(
    (
        Op("Transpose", "transpose", (Maybe(Op(_OFFSET, "offset", (Any("input"),))),)),
        Op(_OFFSET, "offset", (Op("Transpose", "transpose", (Any("input"),)),)),
    )
)
OFFSET = Op(_OFFSET, "offset", (Any("input"),))


def number(match: Match, capture: str) -> int:
    """The value of a captured constant of one number."""
    return int(match.const(capture).reshape(-1)[0])


def shift(match: Match, capture: str = "divisor") -> int:
    """S where a captured divisor is 2**S."""
    return number(match, capture).bit_length() - 1


def pads(match: Match) -> tuple[int, int, int, int]:
    """Top, left, bottom, right padding: of the operator's attribute plus, where there is one, of its Pad node."""
    attributes = match.node("conv" if match.has("conv") else "pool").attrs
    top, left, bottom, right = (int(p) for p in attributes["pads"])
    if match.has("pad"):
        amounts = [int(a) for a in match.node("pad").inputs[1].values]
        top, left = top + amounts[1], left + amounts[2]
        bottom, right = bottom + amounts[5], right + amounts[6]
    return top, left, bottom, right


def pad_value(match: Match) -> int:
    """What padding pixels hold."""
    if not match.has("pad"):
        return 0
    inputs = match.node("pad").inputs
    return int(inputs[2].values) if len(inputs) > 2 and inputs[2].name else 0


def is_depthwise(match: Match) -> bool:
    """One input channel per group and one output channel per group."""
    out_channels, in_per_group = match.shape("weight")[:2]
    return in_per_group == 1 and int(match.node("conv").attrs["group"]) == out_channels
