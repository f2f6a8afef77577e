"""Networks of many equal layers: the second layer is mapped after the first, and the others are divided like it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from match_concurrent.mapping.network import Network, SharedOperator, Source
from match_concurrent.mapping.parts import Division

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from match_concurrent.mapping.costs import ShareCosts
    from match_concurrent.mapping.evaluate import Choice, Evaluation

#: The number of equal layers that are mapped: the first one, which does not follow an equal one, and one that
#: represents all later ones.
KEPT = 2
#: The least number of omitted operators: a network with fewer is searched as a whole.
LEFT_OUT_MIN = 8


@dataclass(frozen=True, slots=True)
class Repeat:
    """From operator ``first`` on, the same sequence of ``period`` operators occurs ``count`` times."""

    first: int
    period: int
    count: int

    @property
    def cut(self) -> int:
        """The first omitted operator."""
        return self.first + KEPT * self.period

    @property
    def end(self) -> int:
        """The first operator after the repeat."""
        return self.first + self.count * self.period

    @property
    def left_out(self) -> int:
        """The number of omitted operators."""
        return self.end - self.cut


def find_repeat(network: Network, costs: ShareCosts) -> Repeat | None:
    """The repeat that omits the most operators, among those with the shortest period; None if there is none."""
    known: dict[Hashable, int] = {}
    found = (_sign(number, operator, costs) for number, operator in enumerate(network.operators))
    signs = np.array([known.setdefault(sign, len(known)) for sign in found], np.int64)
    best: Repeat | None = None
    for period in range(1, len(signs) // (KEPT + 1) + 1):
        for repeat in _runs(signs, period):
            if repeat.left_out > (best.left_out if best is not None else LEFT_OUT_MIN - 1):
                best = repeat
    return best


def _sign(number: int, operator: SharedOperator, costs: ShareCosts) -> Hashable:
    """A key that is equal for operators with the same costs on every unit and with sources at the same distances."""
    offers = tuple(costs.alike(offer) for offer in operator.offers)
    return offers, tuple(number - source.operator for source in operator.sources)


def _runs(signs: NDArray[np.int64], period: int) -> list[Repeat]:
    breaks = np.flatnonzero(signs[period:] != signs[:-period])
    edges = np.concatenate(([-1], breaks, [len(signs) - period]))
    counts = (np.diff(edges) - 1) // period + 1
    return [Repeat(int(edges[n]) + 1, period, int(counts[n])) for n in np.flatnonzero(counts > KEPT)]


def reduced(network: Network, repeat: Repeat) -> Network | None:
    """The network without the omitted operators: readers of the last layer read the last remaining one. None if a later
    operator reads an earlier layer, or a tensor inside an operator."""
    operators = list(network.operators[: repeat.cut])
    for operator in network.operators[repeat.end :]:
        sources = [_source(network, repeat, source) for source in operator.sources]
        if any(source is None for source in sources):
            return None
        operators.append(replace(operator, sources=tuple(source for source in sources if source is not None)))
    return Network(
        network.model,
        network.offered,
        network.cover,
        tuple(operators),
        network.views,
        network.by_region,
        network.tensors,
    )


def _source(network: Network, repeat: Repeat, source: Source) -> Source | None:
    if source.operator < repeat.first:
        return source
    if source.operator >= repeat.end:
        return replace(source, operator=source.operator - repeat.left_out)
    number = source.operator - repeat.left_out
    if number < repeat.cut - repeat.period or source.made != _output(network, source.operator):
        return None
    return replace(source, operator=number, made=_output(network, number))


def _output(network: Network, number: int) -> str:
    name: str = network.cover[network.operators[number].place].candidate.match.output.name
    return name


def expanded(network: Network, repeat: Repeat, small: Evaluation) -> tuple[Choice, tuple[tuple[int, ...], ...]]:
    """The choice for the whole network, with starts as hints: omitted layers are divided like the last remaining layer,
    and start at the same distance from their predecessor."""
    choice: list[Division] = list(small.choice[: repeat.cut])
    starts = list(small.starts[: repeat.cut])
    model = repeat.cut - repeat.period
    later = max(0, min(small.starts[model]) - min(small.starts[model - repeat.period]))
    for number in range(repeat.cut, repeat.end):
        like = model + (number - repeat.first) % repeat.period
        offers = dict(zip(network.operators[like].offers, network.operators[number].offers, strict=True))
        layers = (number - like) // repeat.period
        choice.append(tuple(part._replace(offer=offers[part.offer]) for part in small.choice[like]))
        starts.append(tuple(start + layers * later for start in small.starts[like]))
    choice += small.choice[repeat.cut :]
    behind = repeat.left_out // repeat.period * later
    starts += [tuple(start + behind for start in parts) for parts in small.starts[repeat.cut :]]
    return tuple(choice), tuple(starts)
