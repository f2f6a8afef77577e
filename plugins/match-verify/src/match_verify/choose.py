"""Chooses which layers stay exact, so that outputs keep a signal to quantisation noise ratio (``--max-loss``).

A layer may have every arithmetic that lossy passes give it, none of it, or, where several passes change it one after
another, that of the first ones only: its *levels*. The noise of each level is measured with everything else exact, its
cycles are those of a program in which all layers have that level. Starting with the fastest levels, the layer that
removes the most noise for a cycle changes next, until the measured outputs are close enough; then changes that are not
needed are taken back, the most expensive first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from match_core.contract.exactness import ExactChoice

from match_verify.judge import AccuracyError
from match_verify.layers import Recorder, layer_nodes
from match_verify.meaning import meanings
from match_verify.noise import Array, Noise, noise_of
from match_verify.reference import ReferenceRunner
from match_verify.verify import inputs_of

if TYPE_CHECKING:
    from match_core.contract.exactness import Exact, ExactRequest
    from match_core.contract.model import Model

#: Samples that are measured: every trial runs them all.
SAMPLES = 8
#: A level: names of the passes that leave a layer alone; None for all of them.
Level = tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class _Layer:
    """By level: the ratio of noise to signal that the layer adds to the outputs, and its modelled cycles."""

    nodes: tuple[str, ...]
    noise: tuple[float, ...]
    cycles: tuple[float, ...]


def choose(request: ExactRequest) -> ExactChoice:
    """The choice. AccuracyError MATCH-V002 if the limit is not reached with all layers exact either."""
    trials = _Trials(request)
    limit = 10 ** (-request.max_loss_db / 10)
    lossy = trials.noise(())
    if lossy <= limit:
        return _choice(request, trials, (), [], {}, lossy)
    everything = tuple(name for nodes in trials.layers for name in nodes)
    exact = trials.noise(everything)
    if exact > limit:
        raise _out_of_reach(request, exact)
    layers = _measured(trials, everything, exact)
    level = dict.fromkeys(range(len(layers)), 0)
    reached, changed = lossy, []
    while reached > limit:
        index, level[index] = _next(layers, level)
        changed.append(index)
        reached = trials.noise(_names(trials, layers, level))
    for index in sorted(set(changed), key=lambda i: layers[i].cycles[0] - layers[i].cycles[level[i]]):
        for before in range(level[index]):
            tried = {**level, index: before}
            noise = trials.noise(_names(trials, layers, tried))
            if noise <= limit:
                level, reached = tried, noise
                break
    return _choice(request, trials, _names(trials, layers, level), layers, level, reached)


class _Trials:
    """Transforms and measures with sets of exact nodes."""

    def __init__(self, request: ExactRequest) -> None:
        recorder = Recorder()
        self._request = request
        model = request.transform((), [recorder])
        original = recorder.original or model
        self.layers = layer_nodes(original)
        #: From the fastest level to the exact one; passes are left out from the last to the first.
        passes = tuple(recorder.change)
        self.levels: tuple[Level, ...] = (*(passes[len(passes) - n :] for n in range(max(1, len(passes)))), None)
        self._meanings = meanings(request.source, model)
        self._inputs = {name: array[:SAMPLES] for name, array in inputs_of(model, request.samples).items()}
        self._wanted = self._outputs(original)

    def noise(self, exact: Exact) -> float:
        """Noise over signal of the output that is furthest away."""
        found = self._outputs(self._request.transform(exact, []))
        ratios = [0.0]
        for name, wanted in self._wanted.items():
            total = sum((noise_of(a, b) for a, b in zip(wanted, found[name], strict=True)), Noise())
            ratios.append(total.noise / total.signal if total.signal > 0 else math.inf if total.noise > 0 else 0.0)
        return max(ratios)

    def cycles(self, level: Level) -> list[float]:
        """Modelled cycles of every layer if all have this level; a step of several layers is shared among them."""
        owner = {name: index for index, nodes in enumerate(self.layers) for name in nodes}
        found = [0.0] * len(self.layers)
        for origin, cycles in self._request.cycles(self.exact(dict.fromkeys(range(len(self.layers)), level))):
            owners = {owner[name] for name in origin if name in owner}
            for index in owners:
                found[index] += cycles / len(owners)
        return found

    def exact(self, levels: Mapping[int, Level]) -> Exact:
        """The names for layers of these levels."""
        names: list[str] = []
        for index, level in levels.items():
            for node in self.layers[index]:
                names += [node] if level is None else [f"{item}:{node}" for item in level]
        return tuple(names)

    def _outputs(self, model: Model) -> dict[str, list[Array]]:
        runner = ReferenceRunner(model)
        samples = len(next(iter(self._inputs.values()))) if self._inputs else 1
        found: dict[str, list[Array]] = {}
        for index in range(samples):
            results = runner.run({name: array[index] for name, array in self._inputs.items()})
            for name, meaning in self._meanings.items():
                if not meaning.labels:
                    found.setdefault(name, []).append(meaning.real(results[name]))
        return found


def _measured(trials: _Trials, everything: Exact, exact: float) -> list[_Layer]:
    cycles = [trials.cycles(level) for level in trials.levels]
    layers = []
    for index, nodes in enumerate(trials.layers):
        rest = tuple(name for name in everything if name not in nodes)
        noise = [max(0.0, trials.noise((*rest, *trials.exact({index: level}))) - exact) for level in trials.levels[:-1]]
        layers.append(_Layer(nodes, (*noise, 0.0), tuple(row[index] for row in cycles)))
    return layers


def _next(layers: Sequence[_Layer], level: Mapping[int, int]) -> tuple[int, int]:
    """The layer and its level that removes the most noise for each cycle that it adds."""
    found: list[tuple[float, int, int]] = []
    for index, layer in enumerate(layers):
        now = level[index]
        for other in range(now + 1, len(layer.noise)):
            removed = layer.noise[now] - layer.noise[other]
            if removed > 0 or other == len(layer.noise) - 1:
                found.append((removed / max(1.0, layer.cycles[other] - layer.cycles[now]), -index, -other))
    _, index, other = max(found)
    return -index, -other


def _names(trials: _Trials, layers: Sequence[_Layer], level: Mapping[int, int]) -> Exact:
    return trials.exact({index: trials.levels[at] for index, at in level.items() if at > 0})


def _choice(
    request: ExactRequest,
    trials: _Trials,
    names: Exact,
    layers: Sequence[_Layer],
    level: Mapping[int, int],
    reached: float,
) -> ExactChoice:
    rows = [
        {
            "nodes": list(layer.nodes),
            "exact": level[index] == len(trials.levels) - 1,
            "without_passes": list(trials.levels[level[index]] or ()),
            "sqnr_db": _decibels(layer.noise[0]),
            "cycles": round(layer.cycles[0]),
            "cycles_chosen": round(layer.cycles[level[index]]),
            "cycles_exact": round(layer.cycles[-1]),
        }
        for index, layer in enumerate(layers)
        if layer.noise[0] > 0
    ]
    kept = sum(at > 0 for at in level.values())
    notes = [
        f"{kept} of {len(trials.layers)} layers keep exact arithmetic in whole or in part: the outputs have "
        f"{_decibels(reached):.1f} dB, at least {request.max_loss_db:g} dB are required"
    ]
    for index, at in level.items():
        layer, left_out = layers[index], trials.levels[at]
        if at > 0:
            what = "exact arithmetic" if left_out is None else f"without {' and '.join(left_out)}"
            more = f"{layer.cycles[at] - layer.cycles[0]:+,.0f} modelled cycles"
            alone = f"its fastest arithmetic alone would leave {_decibels(layer.noise[0]):.1f} dB"
            notes.append(f"{', '.join(layer.nodes)}: {what}, {more}; {alone}")
    document = {
        "limit_db": request.max_loss_db,
        "sqnr_db": _decibels(reached),
        "exact": list(names),
        "layers": rows,
    }
    return ExactChoice(names, tuple(notes), document)


def _out_of_reach(request: ExactRequest, exact: float) -> AccuracyError:
    best = math.floor(10 * _decibels(exact)) / 10
    return AccuracyError(
        code="MATCH-V002",
        what="no choice of exact layers loses as little as that",
        where=request.source.source or request.source.name,
        why=f"with exact arithmetic everywhere the outputs have {best:.1f} dB, {request.max_loss_db:g} dB are required",
        help=(f"allow more noise: --max-loss {best:.1f}", "see the noise of each layer: match verify --layers"),
    )


def _decibels(ratio: float) -> float:
    return math.inf if ratio == 0 else -math.inf if ratio == math.inf else -10 * math.log10(ratio)
