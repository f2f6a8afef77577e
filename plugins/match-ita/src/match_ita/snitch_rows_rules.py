"""The limits of the kernels for rows and elements as named constraints."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np
from match_core import Constraint, Match

from match_ita import snitch_rows_moves as moves
from match_ita import snitch_rows_plan as plan
from match_ita import snitch_rows_structures as s
from match_ita.captures import number

_BYTES = (np.dtype(np.int8), np.dtype(np.uint8))


def inputs_of(match: Match) -> tuple[str, ...]:
    """The captured activations."""
    return tuple(name for name in ("input", "input_a", "input_b", "input_c") if match.has(name))


def _bytes(match: Match) -> str | None:
    kinds = [s.kind(match, name) for name in inputs_of(match)]
    wrong = sorted({kind.name for kind in (*kinds, np.dtype(match.output.dtype)) if kind not in _BYTES})
    return None if not wrong else f"there is {', '.join(wrong)}"


BYTES = Constraint("elements", "inputs and result are 8 bits wide", _bytes)


def _signed(match: Match) -> str | None:
    kinds = sorted({s.kind(match, name).name for name in inputs_of(match)})
    return None if kinds == ["int8"] else f"they are {', '.join(kinds)}"


SIGNED = Constraint("signs", "inputs are int8", _signed)


def _all_inputs(match: Match) -> str | None:
    count = len(match.node("concat").inputs)
    return None if count == len(inputs_of(match)) else f"there are {count}"


ALL_INPUTS = Constraint("inputs", "the tensors that are joined are all", _all_inputs)


def _divisors(match: Match) -> str | None:
    names = [name for name in ("divisor", "sum_divisor", "second_divisor") if match.has(name)]
    for name in names:
        divisor = number(match, name)
        if divisor < 1 or divisor & (divisor - 1):
            return f"a divisor is {divisor}"
    return None


SHIFT = Constraint("shift", "requantisation divides by a power of two", _divisors)


def _same_shapes(match: Match) -> str | None:
    shapes = [match.shape(name) for name in ("input_a", "input_b") if match.has(name)]
    wrong = [shape for shape in shapes if shape != s.output_shape(match)]
    return None if not wrong else f"an input is {'x'.join(map(str, wrong[0]))}"


SAME_SHAPES = Constraint("shapes", "inputs have the shape of the result", _same_shapes)


def _names(match: Match, prefixes: tuple[str, ...]) -> tuple[str, ...]:
    ends = ("multiplier", "multiplier_a", "multiplier_b", "addend")
    return tuple(prefix + name for prefix in prefixes for name in ends if match.has(prefix + name))


def _per_tensor(*prefixes: str) -> Callable[[Match], str | None]:
    def check(match: Match) -> str | None:
        wrong = [name for name in _names(match, prefixes) if match.const(name).size != 1]
        return None if not wrong else f"{wrong[0]} has {match.const(wrong[0]).size} values"

    return check


PER_TENSOR = Constraint("scales", "multipliers and addend are those of the whole tensor", _per_tensor(""))
SUM_PER_TENSOR = Constraint("sum scales", "those of the sum are those of the whole tensor", _per_tensor("sum_"))


def _per_channel(match: Match) -> str | None:
    wrong = [name for name in _names(match, ("", "second_")) if s.spread(match, name) == 0]
    return None if not wrong else f"{wrong[0]} is {'x'.join(map(str, match.const(wrong[0]).shape))}"


PER_CHANNEL = Constraint("channels", "multipliers and addends differ along the last axis at most", _per_channel)


def _for_each(match: Match) -> str | None:
    if match.const("multiplier").size != 1:
        return "multipliers differ"
    return None if match.const("addend").size == prod(s.output_shape(match)) else "the addend has another shape"


FOR_EACH = Constraint("addends", "there is one multiplier, and an addend for each element", _for_each)


def _one_clip(match: Match) -> str | None:
    pairs = {
        (number(match, prefix + "low"), number(match, prefix + "high"))
        for prefix in ("", "sum_", "second_")
        if match.has(prefix + "low")
    }
    return None if len(pairs) == 1 else f"they are {sorted(pairs)}"


ONE_CLIP = Constraint("bounds", "all steps clip alike", _one_clip)


def found(choose: Callable[[Match], object]) -> Callable[[Match], str | None]:
    """Whether a form that the kernels have was found."""
    return lambda match: None if choose(match) is not None else "it does not"


REQUANT_FITS = Constraint(
    "product", "x * M + B fits 32 bits, or 63 with M of 32 bits for a shift of at least 32", found(plan.requant)
)
ADD_FITS = Constraint("product", "the sum fits 32 bits, or 63 with factors of 32 for a shift of 32", found(plan.add))
TWICE_FITS = Constraint("product", "both steps have an equal form in 32 bits", found(plan.requant_twice))
ADD_REQUANT_FITS = Constraint("product", "both steps have an equal form in 32 bits", found(plan.add_requant))
ADD_TWICE_FITS = Constraint("product", "all steps have an equal form in 32 bits", found(plan.add_requant_twice))
EACH_FITS = Constraint("product", "there is an equal form in 32 bits", found(plan.requant_narrow))


def _norm_numbers(match: Match) -> str | None:
    for name in ("multiplier", "addend"):
        values = match.const(name)
        if s.spread(match, name) == 0:
            return f"{name} is {'x'.join(map(str, values.shape))}"
        if int(np.abs(values.astype(object)).max()) >= 2**31:
            return f"{name} reaches {int(np.abs(values.astype(object)).max())}"
    half = (np.abs(match.const("multiplier").astype(object)) >> 3) + np.abs(match.const("addend").astype(object))
    return None if int(np.max(half)) < 2**31 else f"the sum reaches {int(np.max(half))}"


NORM_NUMBERS = Constraint(
    "parameters", "M and B are one number or differ along the last axis, and M / 8 + B fits 32 bits", _norm_numbers
)


def _norm_length(match: Match) -> str | None:
    n, epsilon = match.shape("input")[-1], number(match, "epsilon")
    if not 2 <= n <= moves.ROW_LONGEST:
        return f"the axis has {n} values"
    return None if 1 <= epsilon < 2**51 else f"E is {epsilon}"


NORM_LENGTH = Constraint("length", f"rows have 2 to {moves.ROW_LONGEST} values, E is between 1 and 2**51", _norm_length)


def _weights(match: Match) -> str | None:
    n = match.shape("input")[-1]
    weight = int(np.abs(match.const("weight").astype(object)).max())
    distance = 255 + int(s.kind(match, "input") == np.uint8)
    if n > moves.ROW_LONGEST:
        return f"the axis has {n} values"
    if weight * distance >= 2**31:
        return f"a weight is {weight}"
    bias = int(np.abs(match.const("bias").astype(object)).max()) if match.has("bias") else 0
    return None if weight * distance + bias < 2**31 else f"a bias is {bias}"


WEIGHTS = Constraint(
    "product", f"rows have at most {moves.ROW_LONGEST} values, a product and the bias fit 32 bits", _weights
)
