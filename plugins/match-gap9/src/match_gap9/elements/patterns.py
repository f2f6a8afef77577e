"""The cluster's patterns of single bytes: functions by table, products, requantisation."""

from __future__ import annotations

from math import prod

import numpy as np
from match_core import Axis, Dim, KernelInterface, Match, Operand, Pattern, Workload
from match_core.lower.interfaces import BINARY, UNARY
from match_core.patterns import rules_requant as requant
from match_core.patterns import rules_tensors as tensors
from match_core.patterns.captures import number, shift, type_name
from match_core.patterns.packing import Arrays
from match_core.patterns.rule import rule
from match_core.patterns.workloads import axis

from match_gap9.elements import structures as s

#: output[n] = table[input[n]].
LUT = KernelInterface("lut", (("input", "input"), ("table", "constant"), ("output", "output")), ("N",))
#: output[b][r][c] = clip(((input_a[b][r][c] - zero_a) * (input_b[b][c] - zero_b) * multiplier + addend) >> shift).
PRODUCT = KernelInterface("product", BINARY, ("B", "R", "C"), (), ("zero_a", "zero_b", "multiplier", "addend", "shift"))
#: output[r][c] = clip((input[r][c] * multiplier[c] + addend[c]) >> shift).
REQUANT = KernelInterface(
    "requant",
    (("input", "input"), ("multiplier", "constant"), ("addend", "constant"), ("output", "output")),
    ("R", "C"),
    (),
    ("shift",),
)
#: output[n] = (input[n] - zero_point) * scale, bytes of the sign bit ``flip``; ``scale_bits`` are those of the float32.
DEQUANTIZE = KernelInterface("dequantize", UNARY, ("N",), (), ("scale_bits", "zero_point", "flip"))
INTERFACES = (LUT, PRODUCT, REQUANT, DEQUANTIZE)

_WORD = 4
_TABLE = 256
_INT32 = 1 << 31
#: Bits by which the wide product's kernel shifts before it adds.
_EARLY_SHIFT = 17


# ---- rules -----------------------------------------------------------------------------------------------------


@rule("shapes", "the second input is constant along axes that follow each other, or has the shape of the result")
def one_block(match: Match) -> str | None:
    shapes = f"shapes are {match.shape('input_a')} and {match.shape('input_b')}"
    return None if s.factors(match) is not None else shapes


def _largest(match: Match) -> int:
    """The largest magnitude of a product of the two inputs less their zero points."""
    sides = ([abs(end - s.zero(match, side)) for end in (0, 255)] for side in "ab")
    return prod(max(ends) for ends in sides)


@rule("product", "M and p * M + B stay below 2**31 for every product p of the inputs")
def product_in_32_bits(match: Match) -> str | None:
    reach = _largest(match) * abs(number(match, "multiplier"))
    worst = max(reach, reach + abs(number(match, "addend")))
    return None if worst < _INT32 else f"it reaches {worst}"


@rule("product", "M is below 2**31, B a multiple of 2**17, and p * M + B below 2**47 for every product p of the inputs")
def product_in_47_bits(match: Match) -> str | None:
    multiplier, addend = number(match, "multiplier"), number(match, "addend")
    worst = _largest(match) * abs(multiplier) + abs(addend)
    if addend % (1 << _EARLY_SHIFT):
        return f"B is {addend}"
    return None if abs(multiplier) < _INT32 and worst < _INT32 << (_EARLY_SHIFT - 1) else f"it reaches {worst}"


@rule("shift", f"the requantisation divides by 2**S with S of {_EARLY_SHIFT} to {_EARLY_SHIFT + 31}")
def early_shift(match: Match) -> str | None:
    divisor = number(match, "divisor")
    power = divisor > 0 and not divisor & (divisor - 1)
    possible = power and _EARLY_SHIFT <= shift(match) <= _EARLY_SHIFT + 31
    return None if possible else f"the divisor is {divisor}"


@rule("constants", "multipliers and addends vary along the last axes only")
def last_axes(match: Match) -> str | None:
    shapes = f"shapes are {match.const('multiplier').shape} and {match.const('addend').shape}"
    return None if s.channels(match) is not None else shapes


@rule("scale", "bytes become float32, with one scale and one zero point")
def one_scale(match: Match) -> str | None:
    node, kinds = match.node("dequantize"), (type_name(match.tensor("input")), type_name(match.output))
    if kinds[0] not in ("int8", "uint8") or kinds[1] != "float32":
        return f"it turns {kinds[0]} into {kinds[1]}"
    zero = node.inputs[2] if len(node.inputs) > 2 else None
    if zero is not None and not hasattr(zero, "values"):
        return "the zero point is computed"
    sizes = [match.const("scale").size, *([] if zero is None else [zero.values.size])]
    return None if max(sizes) == 1 else f"it has {max(sizes)} scales"


@rule("product", "x * M and x * M + B stay below 2**31 for every input x")
def scaled_in_32_bits(match: Match) -> str | None:
    multiplier, addend = (match.const(name).astype(object) for name in ("multiplier", "addend"))
    products = [end * multiplier for end in (0, 255)]
    worst = max(int(np.max(np.abs(values))) for values in (*products, *(p + addend for p in products)))
    return None if worst < _INT32 else f"it reaches {worst}"


# ---- workloads -------------------------------------------------------------------------------------------------


def _lut(match: Match) -> Workload:
    n = axis("n", prod(match.shape("input")))
    operands = (
        Operand("input", "input", (n,)),
        Operand("table", "constant", (Axis("t", _TABLE),)),
        Operand("output", "output", (n,)),
    )
    return Workload("lut", (Dim("N", n.size, granularity=_WORD),), operands, 0)


def _product(match: Match) -> Workload:
    return _product_of(match, number(match, "addend"), shift(match))


def _product_wide(match: Match) -> Workload:
    return _product_of(match, number(match, "addend") >> _EARLY_SHIFT, shift(match) - _EARLY_SHIFT)


def _product_of(match: Match, addend: int, places: int) -> Workload:
    sizes = s.factors(match)
    assert sizes is not None  # a rule says so
    b, r, c = axis("b", sizes.blocks), axis("r", sizes.rows), axis("c", sizes.channels)
    operands = (
        Operand("input_a", "input", (b, r, c)),
        Operand("input_b", "input", (b, c)),
        Operand("output", "output", (b, r, c)),
    )
    dims = (Dim("B", b.size), Dim("R", r.size), Dim("C", c.size))
    arithmetic = (
        *((f"zero_{side}", s.zero(match, side)) for side in "ab"),
        ("multiplier", number(match, "multiplier")),
        ("addend", addend),
        ("shift", places),
    )
    return Workload("product", dims, operands, 0, arithmetic=arithmetic)


def _requant(match: Match) -> Workload:
    size = s.channels(match)
    assert size is not None  # a rule says so
    r, c = axis("r", prod(match.shape("input")) // size), axis("c", size)
    operands = (
        Operand("input", "input", (r, c)),
        *(Operand(name, "constant", (c,), 32) for name in ("multiplier", "addend")),
        Operand("output", "output", (r, c)),
    )
    dims = (Dim("R", r.size), Dim("C", c.size))
    return Workload("requant", dims, operands, 0, arithmetic=(("shift", shift(match)),))


def _dequantize(match: Match) -> Workload:
    n, node = axis("n", prod(match.shape("input"))), match.node("dequantize")
    scale = match.const("scale").astype(np.float32).reshape(1)
    zero = int(node.inputs[2].values.reshape(-1)[0]) if len(node.inputs) > 2 else 0
    numbers = (
        ("scale_bits", int(scale.view(np.int32)[0])),
        ("zero_point", zero),
        ("flip", 128 if type_name(match.tensor("input")) == "int8" else 0),
    )
    operands = (Operand("input", "input", (n,)), Operand("output", "output", (n,), 32))
    return Workload("dequantize", (Dim("N", n.size, granularity=_WORD),), operands, 0, arithmetic=numbers)


# ---- constants -------------------------------------------------------------------------------------------------


def pack_table(match: Match, workload: Workload) -> Arrays:
    """256 results in the order of the inputs' bytes; those of int8 begin with 0."""
    table = match.const("table").reshape(-1)
    signed = np.dtype(match.tensor("input").dtype) == np.int8
    return {"table": np.roll(table, _TABLE // 2) if signed else table}


def pack_scales(match: Match, workload: Workload) -> Arrays:
    """Multiplier and addend of each channel."""
    size, rank = workload.dim("C").size, len(match.shape("input"))
    names = ("multiplier", "addend")
    seen = np.broadcast_shapes((1,) * rank, *(match.const(name).shape for name in names))
    return {
        name: np.broadcast_to(np.broadcast_to(match.const(name), seen).reshape(-1), (size,)).astype(np.int32)
        for name in names
    }


_UINT8 = (tensors.uint8_activations, requant.per_tensor(), requant.uint8_bounds, one_block)

PATTERNS = (
    Pattern(
        "lut",
        "function of single bytes by a table: hard-swish, sigmoid, tanh, SiLU, GELU (match_gap9_lut)",
        s.LUT,
        (tensors.bytes_wide,),
        _lut,
    ),
    Pattern(
        "product",
        "element-wise product of two tensors, or of a tensor and a factor per channel, with requantisation "
        "(match_gap9_product)",
        s.PRODUCT,
        (*_UINT8, requant.shift_at_most(31), product_in_32_bits),
        _product,
    ),
    Pattern(
        "product_wide",
        "element-wise product with multipliers of 31 bits (match_gap9_product_wide)",
        s.PRODUCT,
        (*_UINT8, early_shift, product_in_47_bits),
        _product_wide,
    ),
    Pattern(
        "requant",
        "multiplication and addition of constants per channel or element (match_gap9_requant)",
        s.REQUANT,
        (tensors.uint8_activations, requant.uint8_bounds, requant.shift_at_most(31), last_axes, scaled_in_32_bits),
        _requant,
    ),
    Pattern(
        "dequantize",
        "bytes to float32 at the graph's end (match_gap9_dequantize)",
        s.DEQUANTIZE,
        (one_scale,),
        _dequantize,
    ),
)
