"""The limits of the kernels for rows and elements as named constraints."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np
from match_core import Constraint, Match
from match_core.patterns.captures import is_type, number, there
from match_core.patterns.rule import rule
from match_core.patterns.rules_requant import per_tensor
from match_core.patterns.rules_tensors import types_are

from match_ita.snitch_rows import moves, plan
from match_ita.snitch_rows import structures as s

_INPUTS = ("input", "input_a", "input_b", "input_c")


def inputs_of(match: Match) -> tuple[str, ...]:
    """The captured activations."""
    return there(match, *_INPUTS)


byte_elements = types_are(
    "inputs and result are 8 bits wide", "int8", "uint8", of=_INPUTS, result=True, name="elements"
)
signed = types_are("inputs are int8", "int8", of=_INPUTS, name="signs")


@rule("inputs", "all joined tensors are captured")
def all_inputs(match: Match) -> str | None:
    count = len(match.node("concat").inputs)
    return None if count == len(inputs_of(match)) else f"there are {count}"


@rule("shift", "requantisation divides by a power of two")
def shift(match: Match) -> str | None:
    names = [name for name in ("divisor", "sum_divisor", "second_divisor") if match.has(name)]
    for name in names:
        divisor = number(match, name)
        if divisor < 1 or divisor & (divisor - 1):
            return f"a divisor is {divisor}"
    return None


@rule("shapes", "inputs have the shape of the result")
def same_shapes(match: Match) -> str | None:
    shapes = [match.shape(name) for name in ("input_a", "input_b") if match.has(name)]
    wrong = [shape for shape in shapes if shape != s.output_shape(match)]
    return None if not wrong else f"an input is {'x'.join(map(str, wrong[0]))}"


def _names(match: Match, prefixes: tuple[str, ...]) -> tuple[str, ...]:
    ends = ("multiplier", "multiplier_a", "multiplier_b", "addend")
    return tuple(prefix + name for prefix in prefixes for name in ends if match.has(prefix + name))


every_scale = per_tensor()
sum_scales = per_tensor("sum_", "those of the sum are per tensor")


@rule("channels", "multipliers and addends differ only along the last axis")
def per_channel(match: Match) -> str | None:
    wrong = [name for name in _names(match, ("", "second_")) if s.spread(match, name) == 0]
    return None if not wrong else f"{wrong[0]} is {'x'.join(map(str, match.const(wrong[0]).shape))}"


@rule("addends", "there is one multiplier, and one addend per element")
def for_each(match: Match) -> str | None:
    if match.const("multiplier").size != 1:
        return "multipliers differ"
    return None if match.const("addend").size == prod(s.output_shape(match)) else "the addend has another shape"


@rule("bounds", "all steps have the same bounds")
def one_clip(match: Match) -> str | None:
    pairs = {
        (number(match, prefix + "low"), number(match, prefix + "high"))
        for prefix in ("", "sum_", "second_")
        if match.has(prefix + "low")
    }
    return None if len(pairs) == 1 else f"they are {sorted(pairs)}"


def found(choose: Callable[[Match], object], description: str) -> Constraint:
    """Whether a form that the kernels have was found."""
    return rule("product", description)(lambda match: None if choose(match) is not None else "it does not")


requant_fits = found(plan.requant, "x * M + B fits 32 bits, or 63 with M of 32 bits for a shift of at least 32")
add_fits = found(plan.add, "the sum fits 32 bits, or 63 with factors of 32 for a shift of 32")
twice_fits = found(plan.requant_twice, "both steps have an equal form in 32 bits")
add_requant_fits = found(plan.add_requant, "both steps have an equal form in 32 bits")
add_twice_fits = found(plan.add_requant_twice, "all steps have an equal form in 32 bits")
each_fits = found(plan.requant_narrow, "there is an equal form in 32 bits")


@rule("parameters", "M and B are one number or differ along the last axis, and M / 8 + B fits 32 bits")
def norm_numbers(match: Match) -> str | None:
    for name in ("multiplier", "addend"):
        values = match.const(name)
        if s.spread(match, name) == 0:
            return f"{name} is {'x'.join(map(str, values.shape))}"
        if int(np.abs(values.astype(object)).max()) >= 2**31:
            return f"{name} reaches {int(np.abs(values.astype(object)).max())}"
    half = (np.abs(match.const("multiplier").astype(object)) >> 3) + np.abs(match.const("addend").astype(object))
    return None if int(np.max(half)) < 2**31 else f"the sum reaches {int(np.max(half))}"


@rule("length", f"rows have 2 to {moves.ROW_LONGEST} values, E is between 1 and 2**51")
def norm_length(match: Match) -> str | None:
    n, epsilon = match.shape("input")[-1], number(match, "epsilon")
    if not 2 <= n <= moves.ROW_LONGEST:
        return f"the axis has {n} values"
    return None if 1 <= epsilon < 2**51 else f"E is {epsilon}"


@rule("product", f"rows have at most {moves.ROW_LONGEST} values, a product and the bias fit 32 bits")
def weights(match: Match) -> str | None:
    n = match.shape("input")[-1]
    weight = int(np.abs(match.const("weight").astype(object)).max())
    distance = 255 + int(is_type(match, "input", "uint8"))
    if n > moves.ROW_LONGEST:
        return f"the axis has {n} values"
    if weight * distance >= 2**31:
        return f"a weight is {weight}"
    bias = int(np.abs(match.const("bias").astype(object)).max()) if match.has("bias") else 0
    return None if weight * distance + bias < 2**31 else f"a bias is {bias}"
