"""Finds a program that fits: of a model with layers in stripes, by choices for several sizes of memory, compiled and
compared; or of lighter candidates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from match_core.contract.fitting import Fit

from match_beyond.choice import Chooser
from match_beyond.constants import least_constants
from match_beyond.lighter import fits_with_lighter
from match_beyond.network import Network
from match_beyond.parts import assigned
from match_beyond.rewrite import rewritten
from match_beyond.stripes import extents_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from match_core.contract.fitting import FitRequest
    from match_core.contract.hardware import Link
    from match_core.contract.model import Model

    from match_beyond.choice import Choice

    _Kind = Callable[[Network, Link | None, bool], Chooser]

#: The parts of the home memory that constants, and copies that run ahead, get in one attempt after another; and the
#: parts for gaps between tensors alone, where constants are in another memory and nothing is copied. They are negative
#: where stripes of tensors share bytes, which estimates do not know.
RESERVES = (1 / 6, 1 / 3, 1 / 12, 1 / 2, 2 / 3, 5 / 6)
GAPS = (-1 / 3, -1 / 6, -1 / 12, -1 / 24, 0.0, 1 / 48, 1 / 24, 1 / 12, 1 / 6, 1 / 3)
#: Results with fewer rows may have none away from the borders.
BORDERS = 3
#: How many programs that fit are compared, with the store and without, with kept rows and without.
COMPARED = 2
#: Programs that take so many times their estimate are not counted: constants have too little memory (an estimate).
STARVED = 2
#: Then programs with a little more and less for constants than the best are, by these parts of the home memory.
STEPS = (1 / 12, 1 / 24)
#: If no program fits, these parts of the home memory are left, until one does.
FINE = tuple(part / 48 for part in range(1, 48))


def fit(request: FitRequest, kind: _Kind = Chooser) -> Fit | None:
    """A model that fits: in stripes, or, where the request excludes these, the same one with lighter candidates; or a
    lower bound of the memory that the network requires. ``kind`` makes the chooser."""
    soc = request.soc
    network = Network.of(request.model, request.mapping, request.overlaps)
    bound, reason = least_bytes(request, network)
    home = soc.memory(soc.home).size_bytes
    if bound > home:
        return Fit(None, reason)
    if request.divisible:
        return Fit(_divided(request, network, kind), reason)
    return Fit(request.model if fits_with_lighter(request) else None, reason)


@dataclass(frozen=True)
class _Made:
    """A program that fits: its cycles, its choice, who made it and with what reserve, and its model."""

    cycles: int
    choice: Choice
    chooser: Chooser
    reserve: float
    model: Model


@dataclass
class _Comparison:
    """Programs of the choices that were tried, and those that fit."""

    request: FitRequest
    network: Network
    tried: set[Choice] = field(default_factory=set)
    fitting: list[_Made] = field(default_factory=list)

    @property
    def best(self) -> _Made | None:
        """The fastest; of equal ones the first."""
        return min(self.fitting, key=lambda made: made.cycles, default=None)

    def attempt(self, chooser: Chooser, reserve: float) -> None:
        """Make the program of a choice that may be faster than the best."""
        home = self.request.soc.memory(self.request.soc.home).size_bytes
        free = home - sum(self.network.sizes[name] for name in self.network.ends)
        choice = chooser.choose(int(free * (1 - reserve)))
        if choice is None or choice in self.tried or (self.best is not None and choice.cycles >= self.best.cycles):
            return
        self.tried.add(choice)
        model = rewritten(self.request.model, self.network, choice)
        cycles = self.request.attempt(model, assigned(model, self.request.soc.host))
        if cycles is not None:
            self.fitting.append(_Made(cycles, choice, chooser, reserve, model))


def _divided(request: FitRequest, network: Network, kind: _Kind) -> Model | None:
    """The model with layers in stripes whose program has the fewest cycles of those that were made and fit."""
    soc = request.soc
    reserves, steps = (GAPS, ()) if soc.mapped and soc.swap_link is None else (RESERVES, STEPS)
    made = _Comparison(request, network)
    # The estimates of a choice know no constants, and what copies by units take. Tensors in the store leave less of the
    # link to constants, so a program without such tensors may end earlier although its estimate is higher; so may one
    # without rows that are kept.
    for link, keep in dict.fromkeys((link, keep) for link in (soc.swap_link, None) for keep in (True, False)):
        if made.best is not None:
            away = made.best.choice.away
            kept = any(choice.keeps for choice in made.tried) and (link is not None or not away)
            if not (away if keep else kept):
                continue
        chooser, before = kind(network, link, keep), len(made.fitting)
        for reserve in reserves:
            if sum(one.cycles < STARVED * one.choice.cycles for one in made.fitting[before:]) < COMPARED:
                made.attempt(chooser, reserve)
        for step in steps:
            if (best := made.best) is not None and best.chooser is chooser:
                for reserve in (best.reserve - step, best.reserve + step):
                    made.attempt(chooser, reserve)
    if made.best is None and steps:
        chooser = kind(network, soc.swap_link, True)
        for reserve in reversed(FINE):  # those that leave most to constants first
            if made.best is None:
                made.attempt(chooser, reserve)
    return None if made.best is None else made.best.model


def least_bytes(request: FitRequest, network: Network) -> tuple[int, str]:
    """A lower bound of the home memory in which any program can run whose tasks compute whole rows, and why: constants,
    the caller's inputs and outputs, the rows that some layer reads for one row of its result, and that row (if the
    request excludes stripes, its whole tensors). Tensors count only where no memory behind the home memory has room for
    them."""
    constants = least_constants(request)
    weights = f"constants need at least {constants} bytes" if constants else ""
    if request.soc.overflow is not None:
        return constants, weights
    callers = sum(network.sizes[name] for name in network.ends)
    ends, most, where = {network.whose(name) for name in network.ends}, 0, ""
    for position, layer in enumerate(network.layers):
        names = dict.fromkeys((*layer.reads, *layer.makes))
        steps = layer.steps if request.divisible else ()
        found = extents_of(network, position, position + 1, (1,)) if steps else None
        inner = bool(steps) and (layer.view or not network.axes.keys().isdisjoint(layer.makes))
        divided = inner or (found is not None and found.legal[0])
        apart: dict[str, int] = {}
        for name in names:
            size = _row(network, position, name) if divided else network.sizes[name]
            apart[network.whose(name)] = max(size, apart.get(network.whose(name), 0))
        need = sum(size for name, size in apart.items() if name not in ends)
        need -= min(need // 2, network.saved_bytes(position, names))
        if need > most:
            most, where = need, ", ".join(repr(node.name) for node in layer.nodes)
    alone = f"{where} alone needs {most} bytes, " if where else ""
    reasons = f"{alone}graph inputs and outputs need {callers} bytes", weights
    return callers + most + constants, ", ".join(reason for reason in reasons if reason)


def _row(network: Network, position: int, name: str) -> int:
    """Bytes of the rows of a tensor that a row of the layer's result requires, one away from the borders."""
    layer = network.layers[position]
    result = layer.makes[0]
    if name == result:
        return network.row_bytes(name)
    rows = 1
    for step in reversed(layer.steps):
        if step.rule.times == 1 and network.height(result) >= BORDERS:
            rows = min(step.rule.size, (rows - 1) * step.rule.stride + step.rule.span)
    return rows * network.row_bytes(name)
