"""Tiles for units, and divisions of operators."""

from __future__ import annotations

from itertools import product

import hypothesis.strategies as st
from hypothesis import given
from match_concurrent.mapping.parts import Cuttable, Part, counts_that_end_together, cut, division_of

PRICES = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9)), min_size=1, max_size=3)


@given(prices=PRICES, tiles=st.integers(1, 9))
def test_no_other_counts_end_earlier(prices: list[tuple[int, int]], tiles: int) -> None:
    costs = [lambda count, p=price: p[0] + p[1] * count if count else 0 for price in prices]
    counts = counts_that_end_together(costs, tiles)
    assert sum(counts) == tiles
    assert min(counts) >= 0
    ends = [
        max(cost(count) for cost, count in zip(costs, other, strict=True))
        for other in product(range(tiles + 1), repeat=len(prices))
        if sum(other) == tiles
    ]
    assert max(cost(count) for cost, count in zip(costs, counts, strict=True)) == min(ends)


@given(tables=st.lists(st.lists(st.integers(0, 30), min_size=8, max_size=8), min_size=1, max_size=3))
def test_all_tiles_are_given_away_though_costs_fall(tables: list[list[int]]) -> None:
    costs = [lambda count, t=table: t[count] for table in tables]
    counts = counts_that_end_together(costs, 7)
    assert sum(counts) == 7
    assert min(counts) >= 0


@given(
    counts=st.lists(st.integers(0, 5), min_size=2, max_size=3).filter(any),
    step=st.integers(1, 4),
    missing=st.integers(0, 3),
    pieces=st.integers(1, 4),
)
def test_parts_follow_each_other(counts: list[int], step: int, missing: int, pieces: int) -> None:
    size = sum(counts) * step - min(missing, step - 1)
    division = division_of([Cuttable(n, f"d{n}", step) for n in range(len(counts))], counts, step, size)
    if len(division) == 1:
        assert not division[0].dim
        return
    parts = [piece for part in division for piece in cut(part, pieces, step)]
    reached = 0
    for part in parts:
        assert part.first == reached
        assert part.first % step == 0
        assert part.size > 0
        reached += part.size
    assert reached == size
    assert len(parts) <= pieces * len(division)


def test_a_cut_is_about_even() -> None:
    assert [piece.size for piece in cut(Part(0, "y", 4, 10), 3, 1)] == [3, 3, 4]
    assert [piece.size for piece in cut(Part(0, "y", 0, 10), 3, 4)] == [4, 4, 2]
