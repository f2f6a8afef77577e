"""Turns matches of sums along an axis into workloads, alone or with another tensor added after them."""

from __future__ import annotations

from math import prod

from match_core import Axis, Dim, Match, Operand, Workload
from match_core.patterns.captures import number
from match_core.patterns.workloads import Numbers, axis, whole

from match_ita.snitch_rows import plan
from match_ita.snitch_rows import structures as s
from match_ita.snitch_rows.exact import Affine
from match_ita.snitch_rows.workloads import BOTH, clip, elements


def _summed_axes(match: Match) -> tuple[Axis, Axis, Axis, Axis]:
    """Elements outside of the axis of the sum, its length, and a matrix inside of it."""
    shape = match.shape("input")
    summed = number(match, "axes") % len(shape)
    s_size, c_size = s.matrix(shape[summed + 1 :])
    return axis("o", prod(shape[:summed])), axis("n", shape[summed]), axis("s", s_size), axis("c", c_size)


def _scale(chosen: Affine) -> Numbers:
    return (
        ("multiplier", int(chosen.multiplier[0])),
        ("addend", int(chosen.addend[0])),
        ("shift", chosen.shift),
    )


def total(match: Match) -> Workload:
    """A sum along an axis: O, N, S, C."""
    chosen = plan.total(match)
    assert chosen is not None  # a rule says so
    o, n, rows, c = _summed_axes(match)
    operands = (Operand("input", "input", (o, n, rows, c)), Operand("output", "output", (o, rows, c)))
    dims = (Dim("O", o.size), whole("N", n.size), Dim("S", rows.size), Dim("C", c.size))
    return Workload("snitch_sum", dims, operands, 0, arithmetic=(*_scale(chosen), *clip(chosen)))


def three(match: Match) -> Workload:
    """The sum of three tensors, which nobody has to join."""
    chosen = plan.three(match)
    assert chosen is not None  # a rule says so
    arithmetic = (*_scale(chosen), *clip(chosen))
    return elements(match, "snitch_sum_three", arithmetic, (*BOTH, "input_c"))


def _total_add(match: Match, *, swapped: bool) -> Workload:
    steps = plan.total_add(match, swapped=swapped)
    assert steps is not None  # a rule says so
    one, both = steps
    _, n, rows, c = _summed_axes(match)
    operands = (
        Operand("input", "input", (n, rows, c)),
        Operand("input_b", "input", (rows, c)),
        Operand("output", "output", (rows, c)),
    )
    dims = (whole("N", n.size), Dim("S", rows.size), Dim("C", c.size))
    second = (
        ("multiplier_a", both.multiplier_a),
        ("multiplier_b", both.multiplier_b),
        ("add_addend", both.addend),
        ("add_shift", both.shift),
    )
    return Workload("snitch_sum_add", dims, operands, 0, arithmetic=(*_scale(one), *second, *clip(both)))


def total_add(match: Match) -> Workload:
    """A sum along the outermost axis, and another tensor: N, S, C."""
    return _total_add(match, swapped=False)


def add_total(match: Match) -> Workload:
    """The same; the other tensor is the sum's first input."""
    return _total_add(match, swapped=True)
