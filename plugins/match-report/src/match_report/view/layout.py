"""Places the nodes of a network: rows from inputs to outputs, few crossings, straight chains.

Sugiyama, Tagawa, Toda, "Methods for visual understanding of hierarchical system structures", 1981: rows by longest
path, long edges through one bend per row, orders by barycentres; then columns by least squares in every row.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

Edge = tuple[int, int]
#: Passes over all rows, down and up.
_SWEEPS = 20
#: Width and weight of a bend, which takes less room than a node and gives way to it.
_BEND_WIDTH, _BEND_WEIGHT = 0.3, 0.25
#: Weight of a piece of an edge by the number of its ends that are bends: chains and long edges are straight, other
#: edges need not be. In a chain a node is the only consumer of its only producer.
_PULL, _CHAIN_PULL = (1.0, 0.1, 4.0), 8.0
#: Edges that cross more rows than this are drawn straight: bends would cost too much.
_LONGEST = 60


@dataclass(frozen=True, slots=True)
class Layout:
    """``nodes``: (column, row) by node; a node is one column wide, and columns may be fractions; ``edges``: the points
    on each edge's curve, from node to node."""

    nodes: Mapping[int, tuple[float, int]]
    edges: Sequence[tuple[tuple[float, int], ...]]


@dataclass
class _Grid:
    """Rows of items: numbers below ``nodes`` are nodes, the others bends of edges."""

    rows: list[list[int]]
    above: dict[int, list[int]]
    below: dict[int, list[int]]
    bends: list[tuple[int, ...]]
    nodes: int


def layered_layout(nodes: Sequence[int], edges: Sequence[Edge], inputs: Collection[int]) -> Layout:
    """Place ``nodes`` (any numbers); ``edges`` are pairs of them, from producer to consumer, without cycles. Nodes
    that do not depend on ``inputs`` are placed directly above their first consumer."""
    number = {node: place for place, node in enumerate(nodes)}
    pairs = [(number[a], number[b]) for a, b in edges]
    grid = _grid(_rows(len(nodes), pairs, {number[node] for node in inputs}), pairs)
    _order(grid)
    columns = _columns(grid)
    left = min(columns.values(), default=0.0)
    place = {item: (round(columns[item] - left, 3), row) for row, items in enumerate(grid.rows) for item in items}
    routes = [tuple(place[item] for item in (a, *grid.bends[edge], b)) for edge, (a, b) in enumerate(pairs)]
    return Layout({node: place[number[node]] for node in nodes}, routes)


def _rows(count: int, edges: Sequence[Edge], inputs: Collection[int]) -> list[int]:
    """The row of every node: below all of its producers, by the longest path."""
    after: list[list[int]] = [[] for _ in range(count)]
    before: list[list[int]] = [[] for _ in range(count)]
    for a, b in edges:
        after[a].append(b)
        before[b].append(a)
    order = _topological(before, after)
    row, fed = [0] * count, [node in inputs for node in range(count)]
    for node in order:
        row[node] = max((row[other] + 1 for other in before[node]), default=0)
        fed[node] = fed[node] or any(fed[other] for other in before[node])
    for node in reversed(order):
        if after[node] and not (fed[node] and before[node]):
            row[node] = min(row[other] for other in after[node]) - 1
    return row


def _topological(before: Sequence[Sequence[int]], after: Sequence[Sequence[int]]) -> list[int]:
    left = [len(producers) for producers in before]
    order = [node for node, producers in enumerate(left) if not producers]
    for node in order:  # grows while it is read
        for other in after[node]:
            left[other] -= 1
            if not left[other]:
                order.append(other)
    return order


def _grid(row: Sequence[int], edges: Sequence[Edge]) -> _Grid:
    """Rows of nodes in their order, with a bend in every row that an edge crosses."""
    rows: list[list[int]] = [[] for _ in range(max(row, default=-1) + 1)]
    for node, place in enumerate(row):
        rows[place].append(node)
    grid = _Grid(rows, {}, {}, [], len(row))
    items = len(row)
    for a, b in edges:
        length = row[b] - row[a] - 1
        bends = tuple(range(items, items + length)) if length <= _LONGEST else ()
        items += len(bends)
        for place, bend in enumerate(bends):
            rows[row[a] + 1 + place].append(bend)
        path = (a, *bends, b)
        for upper, lower in pairwise(path):
            grid.below.setdefault(upper, []).append(lower)
            grid.above.setdefault(lower, []).append(upper)
        grid.bends.append(bends)
    return grid


def _order(grid: _Grid) -> None:
    """Sort every row by the mean position of its neighbours in the row before it, alternately down and up."""
    place: dict[int, float] = {}
    for items in grid.rows:
        place.update({item: float(number) for number, item in enumerate(items)})
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        neighbours = grid.above if down else grid.below
        for items in grid.rows if down else reversed(grid.rows):
            items.sort(key=lambda item: _mean(neighbours.get(item, ()), place, place[item]))
            place.update({item: float(number) for number, item in enumerate(items)})


def _columns(grid: _Grid) -> dict[int, float]:
    """A column for every item, as close to its neighbours' columns as the row allows."""
    column: dict[int, float] = {}
    for items in grid.rows:
        column.update(_spread(items, dict.fromkeys(items, 0.0), grid.nodes))
    for sweep in range(_SWEEPS):
        for items in grid.rows if sweep % 2 == 0 else reversed(grid.rows):
            wanted = {}
            for item in items:
                both = (*grid.above.get(item, ()), *grid.below.get(item, ()))
                wanted[item] = _pulled(item, both, column, grid)
            column.update(_spread(items, wanted, grid.nodes))
    return column


def _mean(items: Sequence[int], place: Mapping[int, float], default: float) -> float:
    return sum(place[item] for item in items) / len(items) if items else default


def _pulled(item: int, neighbours: Sequence[int], column: Mapping[int, float], grid: _Grid) -> float:
    """The weighted mean of the neighbours' columns; the item's own column if it has none."""
    total = weight = 0.0
    for other in neighbours:
        pull = _CHAIN_PULL if _in_chain(item, other, grid) else _PULL[(item >= grid.nodes) + (other >= grid.nodes)]
        total += pull * column[other]
        weight += pull
    return total / weight if weight else column[item]


def _in_chain(item: int, other: int, grid: _Grid) -> bool:
    down = other in grid.below.get(item, ())
    upper, lower = (item, other) if down else (other, item)
    return max(item, other) < grid.nodes and len(grid.below[upper]) == 1 and len(grid.above[lower]) == 1


def _spread(items: Sequence[int], wanted: Mapping[int, float], nodes: int) -> dict[int, float]:
    """The columns closest to the wanted ones (weighted least squares) that keep the order and the required distances:
    isotonic regression after subtracting these distances, solved by pooling adjacent violators."""
    start, room = {}, 0.0
    for item in items:
        start[item] = room
        room += 1.0 if item < nodes else _BEND_WIDTH
    pools: list[tuple[float, float, list[int]]] = []
    for item in items:
        half = 0.5 if item < nodes else _BEND_WIDTH / 2
        mean, weight, members = wanted[item] - half - start[item], 1.0 if item < nodes else _BEND_WEIGHT, [item]
        while pools and pools[-1][0] >= mean:
            other, other_weight, others = pools.pop()
            mean = (mean * weight + other * other_weight) / (weight + other_weight)
            weight, members = weight + other_weight, others + members
        pools.append((mean, weight, members))
    spread = {}
    for mean, _, members in pools:
        for item in members:
            spread[item] = mean + start[item] + (0.5 if item < nodes else _BEND_WIDTH / 2)
    return spread
