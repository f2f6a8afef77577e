"""The rows that each stripe of a run of layers reads, computes and contributes to tensors outside of the run.

A stripe is computed from the run's results backwards: each layer computes the rows that later layers of the same stripe
read, so rows at the border of two stripes are computed twice (recomputed halos). A tensor that is read outside of the
run is assembled from parts without overlap: a stripe contributes the rows from the end of the stripe before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from match_beyond.rows import Cut, Rows

if TYPE_CHECKING:
    from match_beyond.network import Layer, Network


@dataclass(frozen=True)
class Stripe:
    """``rows`` of every tensor that exist in this stripe (of tensors outside of the run: that it reads); ``cuts`` of
    the nodes by name; ``parts``: rows that it contributes to tensors that are read outside."""

    rows: Mapping[str, Rows]
    cuts: Mapping[str, Cut]
    parts: Mapping[str, Rows]


def stripes_of(network: Network, first: int, end: int, count: int) -> tuple[Stripe, ...] | None:
    """The stripes of layers [first, end); None if they cannot be divided so."""
    layers = network.layers[first:end]
    if not all(layer.steps for layer in layers):
        return None
    crossing = crossing_of(network, first, end)
    result = layers[-1].makes[0]
    if result not in crossing or network.height(result) < count:
        return None
    found: list[Stripe] = []
    done = dict.fromkeys(crossing, 0)
    for number in range(count):
        stripe = _stripe(network, layers, crossing, done, number, count)
        if stripe is None:
            return None
        found.append(stripe)
        done = {name: rows.end for name, rows in stripe.parts.items()}
    return tuple(found)


def crossing_of(network: Network, first: int, end: int) -> tuple[str, ...]:
    """The tensors made by layers [first, end) that others, or the caller, read."""
    made = (name for layer in network.layers[first:end] for name in layer.makes)
    return tuple(name for name in made if network.last.get(name, -1) >= end)


def _stripe(
    network: Network,
    layers: Sequence[Layer],
    crossing: Sequence[str],
    done: Mapping[str, int],
    number: int,
    count: int,
) -> Stripe | None:
    want: dict[str, Rows] = {}
    cuts: dict[str, Cut] = {}
    parts: dict[str, Rows] = {}
    ended = number == count - 1
    for layer in reversed(layers):
        for step in reversed(layer.steps):
            name = step.result
            inner = want.get(name)
            if name in crossing:
                size = network.height(name)
                last = inner.end if inner is not None else size * (number + 1) // count
                parts[name] = part = Rows(done[name], size if ended else max(last, done[name] + 1))
                if part.count < 1 or part.end > size:
                    return None
                inner = want[name] = part.joined(inner)
            if inner is None:
                return None
            made = cuts[step.node] = step.rule.cut(inner)
            if made.read.end <= made.read.first:
                return None
            want[name] = made.made
            for source in step.inputs:
                want[source] = made.read.joined(want.get(source))
    return Stripe(want, cuts, parts)
