"""The limits of kernels that only move values as named constraints."""

from __future__ import annotations

from math import prod

from match_core import Constraint, Match

from match_ita import snitch_rows_moves as moves


def _moves(match: Match) -> str | None:
    return None if moves.copied(match) is not None else "it does not"


KEEPS_ROWS = Constraint("order", "the last axis stays the last, and up to five axes change places", _moves)


def _turned(match: Match) -> str | None:
    return None if moves.turned(match) is not None else "it does not"


TURNS = Constraint("order", "the last axis moves by one group of axes", _turned)


def _sliced(match: Match) -> str | None:
    return None if moves.sliced(match) is not None else "it does not"


SLICES = Constraint("slice", "steps are positive and up to five axes are left", _sliced)


def _axis_zero(match: Match) -> str | None:
    axis = int(match.node("gather").attrs.get("axis", 0))
    return None if axis == 0 or prod(match.shape("input")[:axis]) == 1 else f"the axis is {axis}"


FIRST_AXIS = Constraint("axis", "rows are chosen along the first axis", _axis_zero)


def _indices(match: Match) -> str | None:
    index = match.const("index")
    rows = match.shape("input")[int(match.node("gather").attrs.get("axis", 0))]
    inside = index.size > 0 and int(index.min()) >= -rows and int(index.max()) < rows
    return None if inside else "an index is outside"


INDICES = Constraint("indices", "there are indices, and all are inside", _indices)


def _affine(match: Match) -> str | None:
    return None if moves.windows_of(match) is not None else "they are not"


WINDOWS = Constraint("windows", "indices are t * stride + k * dilation", _affine)


def _padding(match: Match) -> str | None:
    return None if moves.padding(match) is not None else "it is not"


ONE_PADDED = Constraint("padding", "padding is constant and along one axis", _padding)


def _outermost(match: Match) -> str | None:
    found = moves.padding(match)
    return None if found is None or found.outer == 1 else f"there are {found.outer} blocks of rows"


OUTERMOST_PADDED = Constraint("rows", "the axis is the outermost one", _outermost)
