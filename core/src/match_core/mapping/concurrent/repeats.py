"""Networks of many equal layers: one layer is mapped behind another one, and the others are divided as it is."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from match_core.mapping.concurrent.network import Network, Operator, Source
from match_core.mapping.concurrent.parts import Division

if TYPE_CHECKING:
    from match_core.mapping.concurrent.costs import ShareCosts
    from match_core.mapping.concurrent.evaluate import Choice, Evaluation

#: So many of the equal layers are mapped: the first one, whose beginning is no equal's end, and one that runs as all
#: further ones do.
KEPT = 2
#: Operators that are left out at least: few more are searched as a whole.
LEFT_OUT_MIN = 8


@dataclass(frozen=True, slots=True)
class Repeat:
    """From operator ``first`` on, ``period`` operators come ``count`` times, each time like the one before."""

    first: int
    period: int
    count: int

    @property
    def cut(self) -> int:
        """The first operator that is left out."""
        return self.first + KEPT * self.period

    @property
    def end(self) -> int:
        """The first operator behind all."""
        return self.first + self.count * self.period

    @property
    def left_out(self) -> int:
        """How many operators are."""
        return self.end - self.cut


def find_repeat(network: Network, costs: ShareCosts) -> Repeat | None:
    """The repeat that leaves out most operators, of those with the shortest period; None where there is none."""
    signs = [_sign(number, operator, costs) for number, operator in enumerate(network.operators)]
    best: Repeat | None = None
    for period in range(1, len(signs) // (KEPT + 1) + 1):
        for repeat in _runs(signs, period):
            if repeat.left_out > (best.left_out if best is not None else LEFT_OUT_MIN - 1):
                best = repeat
    return best


def _sign(number: int, operator: Operator, costs: ShareCosts) -> Hashable:
    """Equal for operators that cost the same on every unit and read from operators as far before them."""
    offers = tuple(costs.alike(offer) for offer in operator.offers)
    return offers, tuple(number - source.operator for source in operator.sources)


def _runs(signs: Sequence[Hashable], period: int) -> list[Repeat]:
    found, length = [], 0
    for number in range(period, len(signs) + 1):
        if number < len(signs) and signs[number] == signs[number - period]:
            length += 1
            continue
        count = length // period + 1
        if count > KEPT:
            found.append(Repeat(number - length - period, period, count))
        length = 0
    return found


def reduced(network: Network, repeat: Repeat) -> Network | None:
    """The network without what is left out: what reads the last of the layers reads the last that is kept. None where
    an operator behind them reads a layer before that, or a tensor inside of an operator."""
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
    """The choice for the whole network, and starts as hints: what is left out is divided as the last layer that is
    kept, and each begins as much later than the one before as that one."""
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
