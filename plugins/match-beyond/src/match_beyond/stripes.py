"""The rows that each stripe of a run of layers reads, computes and contributes to tensors outside of the run.

A stripe is computed from the run's results backwards: each layer computes the rows that later layers of the same stripe
read. Rows at the border of two stripes are computed twice (recomputed halos), or, of tensors that are ``kept``, copied
from the stripe before, so that layers compute new rows only. A tensor that is read outside of the run is assembled from
parts without overlap: a stripe contributes the rows from the end of the stripe before.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from match_beyond.rows import Cut, Rows

if TYPE_CHECKING:
    from match_beyond.network import Network

Array = NDArray[np.int64]
#: The first row where a stripe has none.
NO_ROW = 1 << 40


@dataclass(frozen=True)
class Extents:
    """Rows [first, end) of every tensor in every stripe, and of the parts that stripes contribute, as arrays with the
    stripes of all numbers of stripes one after another. ``made``: of results of the run, the first row that is
    computed; those before are kept. A stripe without rows of a tensor ends where it begins, or before. ``starts``:
    where each number begins; ``legal``: whether each one is possible."""

    first: Mapping[str, Array]
    end: Mapping[str, Array]
    made: Mapping[str, Array]
    part_first: Mapping[str, Array]
    part_end: Mapping[str, Array]
    starts: Array
    legal: NDArray[np.bool_]


@dataclass(frozen=True)
class Stripe:
    """``rows`` of every tensor that exist in this stripe (of tensors outside of the run: that it reads); ``kept``: the
    first of them, if they are copied from the stripe before; ``cuts`` of the nodes that compute rows, by name;
    ``parts``: rows that it contributes to tensors that are read outside."""

    rows: Mapping[str, Rows]
    kept: Mapping[str, Rows]
    cuts: Mapping[str, Cut]
    parts: Mapping[str, Rows]


def crossing_of(network: Network, first: int, end: int) -> tuple[str, ...]:
    """The tensors made by layers [first, end) that others, or the caller, read."""
    made = (name for layer in network.layers[first:end] for name in layer.makes)
    return tuple(name for name in made if network.last.get(name, -1) >= end)


def extents_of(
    network: Network, first: int, end: int, counts: Sequence[int], kept: Container[str] = ()
) -> Extents | None:
    """The rows of layers [first, end), all of which can be divided, in each of these numbers of stripes; ``kept``:
    results that are read inside of the run only. None if the last layer's result is not read outside, another layer's
    result is not read at all, rows of a result that is read outside are not contiguous, or a view is not of a tensor
    inside of the run alone."""
    layers, crossing = network.layers[first:end], crossing_of(network, first, end)
    inner = {name for layer in layers for name in layer.makes}.difference(crossing)
    if any(layer.view and not inner.issuperset((*layer.reads, *layer.makes)) for layer in layers):
        return None
    if layers[-1].makes[0] not in crossing or not network.axes.keys().isdisjoint(crossing):
        return None
    number = np.concatenate([np.arange(count) for count in counts])
    total = np.repeat(np.asarray(counts, np.int64), counts)
    starts = np.cumsum(np.asarray([0, *counts[:-1]], np.int64))
    begins, ended = number == 0, number == total - 1
    low: dict[str, Array] = {}
    high: dict[str, Array] = {}
    part_first: dict[str, Array] = {}
    part_end: dict[str, Array] = {}
    made: dict[str, Array] = {}
    wrong = np.zeros(number.size, np.bool_)
    for layer in reversed(layers):
        for step in reversed(layer.steps):
            name, rule = step.result, step.rule
            if name in crossing:
                size = network.height(name)
                last = np.where(ended, size, high[name] if name in high else size * (number + 1) // total)
                start = np.where(begins, 0, np.concatenate(([0], last[:-1])))
                part_first[name], part_end[name] = start, last
                wrong |= (last <= start) | (last > size)
                low[name] = np.minimum(start, low[name]) if name in low else start
                high[name] = np.maximum(last, high[name]) if name in high else last
            if name not in low:
                return None
            low[name], high[name] = low[name] // rule.times * rule.times, -(-high[name] // rule.times) * rule.times
            made[name] = low[name]
            if name in kept:
                # Rows stay while a later stripe reads them, whether or not this one does. Copies: others share arrays.
                low[name], high[name] = low[name].copy(), high[name].copy()
                for start, count in zip(starts, counts, strict=True):
                    own = slice(start, start + count)
                    high[name][own] = np.maximum.accumulate(high[name][own])
                    low[name][own] = np.minimum.accumulate(low[name][own][::-1])[::-1]
                low[name] = np.minimum(low[name], high[name])
                before = np.where(begins, 0, np.concatenate(([0], high[name][:-1])))
                made[name] = np.maximum(low[name], before)
            if rule.times > 1:
                read_low, read_high = made[name] // rule.times, high[name] // rule.times
            else:
                read_low = np.maximum(made[name] * rule.stride - rule.pad, 0)
                read_high = np.minimum((high[name] - 1) * rule.stride + rule.span - rule.pad, rule.size)
            idle = made[name] >= high[name]
            wrong |= (read_high <= read_low) & ~idle
            read_low, read_high = np.where(idle, NO_ROW, read_low), np.where(idle, 0, read_high)
            for source in step.inputs:
                low[source] = np.minimum(read_low, low[source]) if source in low else read_low
                high[source] = np.maximum(read_high, high[source]) if source in high else read_high
    return Extents(low, high, made, part_first, part_end, starts, ~np.logical_or.reduceat(wrong, starts))


def stripes_of(network: Network, first: int, end: int, count: int, kept: Container[str] = ()) -> tuple[Stripe, ...]:
    """The stripes of layers [first, end), which are legal."""
    found = extents_of(network, first, end, (count,), kept)
    assert found is not None and found.legal[0]
    stripes = []
    for number in range(count):

        def rows(low: Mapping[str, Array], high: Mapping[str, Array], number: int = number) -> dict[str, Rows]:
            pairs = {name: (int(low[name][number]), int(high[name][number])) for name in low if name in high}
            return {name: Rows(*pair) for name, pair in pairs.items() if pair[0] < pair[1]}

        made = rows(found.made, found.end)
        steps = (step for layer in network.layers[first:end] for step in layer.steps if step.result in made)
        cuts = {step.node: step.rule.cut(made[step.result]) for step in steps}
        again = rows(found.first, found.made)
        stripes.append(Stripe(rows(found.first, found.end), again, cuts, rows(found.part_first, found.part_end)))
    return tuple(stripes)
