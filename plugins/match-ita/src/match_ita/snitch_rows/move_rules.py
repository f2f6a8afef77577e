"""The limits of kernels that only move values as named constraints."""

from __future__ import annotations

from math import prod

from match_core import Match
from match_core.patterns.rule import rule

from match_ita.snitch_rows import moves


@rule("order", "the last axis stays last, and at most five axes are permuted")
def keeps_rows(match: Match) -> str | None:
    return None if moves.copied(match) is not None else "it does not"


@rule("order", "the last axis moves by one group of axes")
def turns(match: Match) -> str | None:
    return None if moves.turned(match) is not None else "it does not"


@rule("slice", "steps are positive and at most five axes remain")
def slices(match: Match) -> str | None:
    return None if moves.sliced(match) is not None else "it does not"


@rule("axis", "rows are chosen along the first axis")
def first_axis(match: Match) -> str | None:
    axis = int(match.node("gather").attrs.get("axis", 0))
    return None if axis == 0 or prod(match.shape("input")[:axis]) == 1 else f"the axis is {axis}"


@rule("indices", "indices exist and lie inside the axis")
def indices(match: Match) -> str | None:
    index = match.const("index")
    rows = match.shape("input")[int(match.node("gather").attrs.get("axis", 0))]
    inside = index.size > 0 and int(index.min()) >= -rows and int(index.max()) < rows
    return None if inside else "an index is outside"


@rule("windows", "indices are t * stride + k * dilation")
def windows(match: Match) -> str | None:
    return None if moves.windows_of(match) is not None else "they are not"


@rule("padding", "padding is constant and along one axis")
def one_padded(match: Match) -> str | None:
    return None if moves.padding(match) is not None else "it is not"


@rule("rows", "the axis is the outermost one")
def outermost_padded(match: Match) -> str | None:
    found = moves.padding(match)
    return None if found is None or found.outer == 1 else f"there are {found.outer} blocks of rows"
