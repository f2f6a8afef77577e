"""The limits of the 8-bit kernels as named constraints."""

from __future__ import annotations

import numpy as np
from match_core import Constraint, Match
from numpy.typing import NDArray

from match_carfield.int8_structures import is_depthwise, number, pad_value, shift
from match_carfield.rules import MOVES_BLOCK, SAME_SHAPES, SIZES

__all__ = ["MOVES_BLOCK", "SAME_SHAPES", "SIZES"]

_INT32 = 2**31
#: One bit of int64 to spare, so that no sum of two terms overflows.
_LIMIT = 2**62
_SHIFT_MAX = 62
_Objects = NDArray[np.object_]


def _activations(match: Match) -> str | None:
    found = _input_types(match)
    return None if found == ["uint8"] else f"input is {', '.join(found)}"


def _same_activations(match: Match) -> str | None:
    found, result = _input_types(match), np.dtype(match.output.dtype).name
    if found not in (["uint8"], ["int8"]):
        return f"input is {', '.join(found)}"
    return None if found == [result] else f"input is {found[0]}, the result {result}"


def _input_types(match: Match) -> list[str]:
    names = [name for name in ("input", "input_a", "input_b") if match.has(name)]
    return sorted({np.dtype(match.tensor(name).dtype).name for name in names})


ACTIVATIONS = Constraint("activations", "activations are uint8", _activations)
SAME_ACTIVATIONS = Constraint("activations", "activations are uint8, or all int8", _same_activations)
WEIGHTS = Constraint(
    "weights",
    "weights are int8",
    lambda m: None if m.const("weight").dtype == np.int8 else f"weights are {m.const('weight').dtype.name}",
)


def _power_of_two(match: Match) -> str | None:
    divisor = number(match, "divisor")
    return None if divisor == 1 << shift(match) and shift(match) <= _SHIFT_MAX else f"the divisor is {divisor}"


SHIFT = Constraint("shift", f"the requantisation divides by 2**S with S of 0 to {_SHIFT_MAX}", _power_of_two)


def _sums(match: Match) -> tuple[_Objects, _Objects]:
    """Smallest and largest sum per output channel for any inputs of their type, as Python integers."""
    weight = match.const("weight").astype(np.int64)
    rows = (weight.T if match.has("dense") else weight).reshape(match.output.shape[-1], -1)
    negative, positive = np.minimum(rows, 0).sum(1), np.maximum(rows, 0).sum(1)
    limits = np.iinfo(np.dtype(match.tensor("input").dtype))
    least, most = int(limits.min), int(limits.max)
    low, high = least * positive + most * negative, most * positive + least * negative
    return low.astype(object), high.astype(object)


def _product_range(match: Match) -> str | None:
    sums = _sums(match)
    reach = max(abs(int(value)) for bound in sums for value in bound)
    if reach >= _INT32:
        return f"a sum reaches {reach}"
    multiplier, addend = (match.const(name).astype(object).reshape(-1) for name in ("multiplier", "addend"))
    widest = max(abs(int(value)) for value in multiplier)
    if widest >= _INT32:
        return f"a multiplier is {widest}"
    products = [bound * multiplier for bound in sums]
    worst = max(abs(int(value)) for terms in (*products, *(p + addend for p in products)) for value in terms)
    return None if worst < _LIMIT else f"a product reaches {worst}"


PRODUCT = Constraint(
    "product", "sums and M fit int32, sum * M and sum * M + B stay below 2**62 for every input", _product_range
)


def _sum_range(match: Match) -> str | None:
    values = [number(match, name) for name in ("multiplier_a", "multiplier_b", "addend")]
    if max(abs(value) for value in values[:2]) >= _INT32:
        return f"a multiplier is {max(abs(value) for value in values[:2])}"
    worst = 255 * (abs(values[0]) + abs(values[1])) + abs(values[2])
    return None if worst < _LIMIT else f"it reaches {worst}"


ADD_PRODUCT = Constraint("product", "M fit int32 and a * Ma + b * Mb + B stays below 2**62", _sum_range)
PER_TENSOR = Constraint(
    "multipliers",
    "multipliers and addend are per tensor",
    lambda m: (
        None
        if all(m.const(name).size == 1 for name in ("multiplier_a", "multiplier_b", "addend"))
        else "they differ by channel"
    ),
)


def _one_group(match: Match) -> str | None:
    group = int(match.node("conv").attrs["group"])
    return None if group == 1 else f"there are {group} groups"


ONE_GROUP = Constraint("groups", "there is one group", _one_group)
DEPTHWISE = Constraint(
    "depthwise",
    "each output channel reads its own input channel",
    lambda m: None if is_depthwise(m) else f"weights are {'x'.join(map(str, m.shape('weight')))}",
)


def _plain_pad(match: Match) -> str | None:
    if not match.has("pad"):
        return None
    node = match.node("pad")
    if node.attrs.get("mode", "constant") not in ("constant", b"constant"):
        return f"mode is {node.attrs['mode']}"
    if len(node.inputs) > 3:
        return "it names axes"
    amounts = [int(a) for a in node.inputs[1].values]
    if len(amounts) != 8 or any(amounts[i] for i in (0, 3, 4, 7)) or min(amounts) < 0:
        return f"amounts are {amounts}"
    inner = [int(p) for p in match.node("conv").attrs["pads"]]
    return None if not any(inner) or pad_value(match) == 0 else f"the convolution pads by {inner} itself"


PLAIN_PAD = Constraint("padding", "padding is constant, in y and x only", _plain_pad)


def _mean(match: Match) -> str | None:
    fy, fx = match.shape("weight")[2:]
    if not is_depthwise(match) or not (match.const("weight") == 1).all():
        return "weights differ from 1"
    area, zero = match.const("area"), match.node("quantize").inputs[2:]
    if area.size != 1 or float(area.reshape(-1)[0]) != fy * fx or (fy * fx) & (fy * fx - 1):
        return f"it divides by {area.reshape(-1)[0]} for {fy * fx} pixels"
    offset = int(zero[0].values) if zero and zero[0].name else 0
    result = np.dtype(match.output.dtype).name
    return None if (result, offset) == ("uint8", 0) else f"the result is {result} with zero point {offset}"


MEAN = Constraint("mean", "it is a sum over a window, divided by its area, a power of two", _mean)


def _no_dilation(match: Match) -> str | None:
    values = [int(d) for d in match.node("conv" if match.has("conv") else "pool").attrs.get("dilations", [1, 1])]
    return None if values == [1, 1] else f"dilation is {values[0]}x{values[1]}"


NO_DILATION = Constraint("dilation", "there is no dilation", _no_dilation)


def _bytes(match: Match) -> str | None:
    kind = np.dtype(match.tensor("input").dtype)
    return None if kind.itemsize == 1 else f"input is {kind.name}"


BYTES = Constraint("elements", "elements are 8 bits wide", _bytes)
