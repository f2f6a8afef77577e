"""Structures of the integer graph that kernels of several chips implement, for use in patterns."""

from __future__ import annotations

from match_core.contract.structure import Any, Const, Maybe, OneOf, Op, Structure

#: Inputs of a requantisation after the tensor: clip(floor((x * multiplier + addend) / divisor), low, high).
REQUANT = ("multiplier", "addend", "divisor", "low", "high")
#: The same for a sum of two tensors.
ADD_REQUANT = ("multiplier_a", "multiplier_b", *REQUANT[1:])


def constants(*names: str, prefix: str = "") -> tuple[Const, ...]:
    """Constants that are captured by name."""
    return tuple(Const(prefix + name) for name in names)


def arithmetic(name: str, *types: str) -> str:
    """An operator of the integer graph with results of these types ("U8", "I8")."""
    return "|".join(f"match.arith::{name}{kind}" for kind in types)


def requantised(inner: Structure, *types: str, prefix: str = "") -> Op:
    """A tensor and its requantisation to these types."""
    return Op(arithmetic("Requant", *types), f"{prefix}requant", (inner, *constants(*REQUANT, prefix=prefix)))


def added(first: Structure, second: Structure, *types: str, prefix: str = "") -> Op:
    """The requantised sum of two tensors."""
    inputs = (first, second, *constants(*ADD_REQUANT, prefix=prefix))
    return Op(arithmetic("AddRequant", *types), f"{prefix}add", inputs)


def convolution(operator: str, *, padded: bool) -> Op:
    """A convolution with constant weights; ``padded``: include the Pad node before it, if there is one."""
    x: Structure = Maybe(Op("Pad", "pad", (Any("input"),))) if padded else Any("input")
    return Op(operator, "conv", (x, Const("weight")))


DENSE = Op("MatMulInteger", "dense", (Any("input"), Const("weight")))
#: The mean of a window, divided by QuantizeLinear (ties to even).
AVERAGE = Op(
    "QuantizeLinear",
    "quantize",
    (Op("Cast", "cast", (convolution("match.nhwc::ConvInteger", padded=False),)), Const("area")),
)
MAXIMUM = Op("match.nhwc::MaxPool", "pool", (Any("input"),))
#: A change of sign: int8 to uint8 with zero 128 and back.
OFFSET = Op("match.arith::OffsetI8ToU8|match.arith::OffsetU8ToI8", "offset", (Any("input"),))
#: A permutation, including a change of sign before or after it.
TRANSPOSE = OneOf(
    (
        Op("Transpose", "transpose", (Maybe(OFFSET),)),
        Op(OFFSET.op, "offset", (Op("Transpose", "transpose", (Any("input"),)),)),
    )
)
