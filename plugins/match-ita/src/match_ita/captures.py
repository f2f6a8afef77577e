"""Values that all patterns read from matches: sizes, permutations and padding."""

from __future__ import annotations

from math import prod

from match_core import Match


def rows_of(shape: tuple[int, ...]) -> int:
    """Rows of a tensor whose last axis are columns."""
    return prod(shape[:-1])


def turns_matrix(match: Match) -> bool:
    """Whether a permutation swaps the last two axes and leaves the others."""
    order = [int(axis) for axis in match.node("turn").attrs["perm"]]
    rank = len(order)
    return rank >= 2 and order == [*range(rank - 2), rank - 1, rank - 2]


def padding(match: Match) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """Pad's amounts before and after each axis, and its value. Amounts without axes; (-1,) where it has axes or is
    computed."""
    inputs = match.node("pad").inputs
    amounts = getattr(inputs[1], "values", None)
    named = [tensor for tensor in inputs[2:] if not tensor.is_empty()]
    if amounts is None or len(named) > 1 or any(not hasattr(tensor, "values") for tensor in named):
        return (-1,), (-1,), 0
    rank = len(match.output.shape)
    flat = [int(amount) for amount in amounts]
    return tuple(flat[:rank]), tuple(flat[rank:]), int(named[0].values.reshape(-1)[0]) if named else 0


def columns_filled(match: Match) -> int | None:
    """The number of zeros that a Pad appends to the last axis; None if it does anything else."""
    before, behind, value = padding(match)
    if before == (-1,) or any(before) or any(behind[:-1]) or value or behind[-1] < 0:
        return None
    return behind[-1]
