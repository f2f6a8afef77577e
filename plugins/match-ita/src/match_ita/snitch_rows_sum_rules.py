"""The limits of sums of rows as named constraints."""

from __future__ import annotations

from math import prod

from match_core import Constraint, Match

from match_ita import snitch_rows_plan as plan
from match_ita import snitch_rows_structures as s
from match_ita.captures import number
from match_ita.snitch_rows_rules import found, inputs_of

TOTAL_FITS = Constraint("product", "the step has an equal form in 32 bits", found(plan.total))
TWO_FITS = Constraint("product", "the step has an equal form in 32 bits", found(plan.two))
THREE_FITS = Constraint("product", "the step has an equal form in 32 bits", found(plan.three))
TOTAL_ADD_FITS = Constraint(
    "product", "both steps have an equal form in 32 bits", found(lambda m: plan.total_add(m, swapped=False))
)
ADD_TOTAL_FITS = Constraint(
    "product", "both steps have an equal form in 32 bits", found(lambda m: plan.total_add(m, swapped=True))
)


def _one_axis(match: Match) -> str | None:
    axes = match.const("axes").reshape(-1)
    return None if axes.size == 1 else f"there are {axes.size} axes"


ONE_AXIS = Constraint("axis", "the sum is along one axis", _one_axis)


def _outermost(match: Match) -> str | None:
    axis = number(match, "axes") % len(match.shape("input"))
    return None if prod(match.shape("input")[:axis]) == 1 else f"the axis is {axis}"


OUTERMOST = Constraint("axis", "the sum is along the outermost axis", _outermost)


def _stacked(match: Match) -> str | None:
    parts = [match.shape(name) for name in inputs_of(match)]
    if any(prod(shape) != prod(s.output_shape(match)) for shape in parts):
        return f"parts are {', '.join('x'.join(map(str, shape)) for shape in parts)}"
    axes = {int(match.node("concat").attrs["axis"]) % len(parts[0]), number(match, "axes") % len(parts[0])}
    return None if axes == {0} else f"they are joined and summed along {sorted(axes)}"


STACKED = Constraint("parts", "parts of the result's size are joined and summed along the first axis", _stacked)


def _residual(match: Match) -> str | None:
    sizes = prod(match.shape("input_b")), prod(s.output_shape(match))
    return None if sizes[0] == sizes[1] else f"it has {sizes[0]} elements"


RESIDUAL = Constraint("shapes", "what is added has the shape of the result", _residual)
