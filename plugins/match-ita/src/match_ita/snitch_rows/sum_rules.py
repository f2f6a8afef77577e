"""The limits of sums of rows as named constraints."""

from __future__ import annotations

from math import prod

from match_core import Match
from match_core.patterns.captures import number
from match_core.patterns.rule import rule

from match_ita.snitch_rows import plan
from match_ita.snitch_rows import structures as s
from match_ita.snitch_rows.rules import found, inputs_of

total_fits = found(plan.total, "the step has an equal form in 32 bits")
two_fits = found(plan.two, "the step has an equal form in 32 bits")
three_fits = found(plan.three, "the step has an equal form in 32 bits")
total_add_fits = found(lambda m: plan.total_add(m, swapped=False), "both steps have an equal form in 32 bits")
add_total_fits = found(lambda m: plan.total_add(m, swapped=True), "both steps have an equal form in 32 bits")


@rule("axis", "the sum is along one axis")
def one_axis(match: Match) -> str | None:
    axes = match.const("axes").reshape(-1)
    return None if axes.size == 1 else f"there are {axes.size} axes"


@rule("axis", "the sum is along the outermost axis")
def outermost(match: Match) -> str | None:
    axis = number(match, "axes") % len(match.shape("input"))
    return None if prod(match.shape("input")[:axis]) == 1 else f"the axis is {axis}"


@rule("parts", "parts of the result's size are joined and summed along the first axis")
def stacked(match: Match) -> str | None:
    parts = [match.shape(name) for name in inputs_of(match)]
    if any(prod(shape) != prod(s.output_shape(match)) for shape in parts):
        return f"parts are {', '.join('x'.join(map(str, shape)) for shape in parts)}"
    axes = {int(match.node("concat").attrs["axis"]) % len(parts[0]), number(match, "axes") % len(parts[0])}
    return None if axes == {0} else f"they are joined and summed along {sorted(axes)}"


@rule("shapes", "the addend has the shape of the result")
def residual(match: Match) -> str | None:
    sizes = prod(match.shape("input_b")), prod(s.output_shape(match))
    return None if sizes[0] == sizes[1] else f"it has {sizes[0]} elements"
