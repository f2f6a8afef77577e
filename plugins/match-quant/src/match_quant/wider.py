"""Which layers lose most in 8 bits, and which of them stay in float."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from match_core.contract.errors import UsageError
from match_verify.noise import noise_of

from match_quant.losses import Outputs, scores_of, worst_db
from match_quant.static import Quantiser, Row, Scheme, quantised_operators

if TYPE_CHECKING:
    import onnx
    from match_core.contract.observe import Watch

#: Samples for each measurement, those on which the network in 8 bits is worst; every layer runs them all.
SAMPLES = 8
#: Layers that may stay in float: so many that lose most, and the readers of their results.
_WORST = 8
#: Operators that belong to the layer whose result they read, if nothing else reads it.
_FOLLOWERS = frozenset(
    [
        *("Relu", "Clip", "LeakyRelu", "MaxPool", "Flatten", "Reshape", "Transpose", "Squeeze", "Unsqueeze"),
        *("Identity", "BatchNormalization", "DepthToSpace", "SpaceToDepth"),
    ]
)


@dataclass(frozen=True, slots=True)
class Layer:
    """``nodes``: an operator and what follows it, such as an activation function. ``readers``: positions of the layers
    that read its results."""

    nodes: tuple[str, ...]
    readers: tuple[int, ...]

    @property
    def title(self) -> str:
        """The name of the operator."""
        return self.nodes[0]


@dataclass(frozen=True, slots=True)
class LayerLoss:
    """``sqnr_db``: signal to quantisation noise of the outputs. Of a layer that loses: if it alone is in 8 bits. Of a
    layer that stays in float: with it, and those before it in the list, in float, and all else in 8 bits."""

    nodes: tuple[str, ...]
    sqnr_db: float

    def as_json(self) -> dict[str, object]:
        """The entry of ``match quantize --json``."""
        return {"nodes": list(self.nodes), "sqnr_db": self.sqnr_db}


def layers_of(network: onnx.ModelProto) -> tuple[Layer, ...]:
    """The layers that the quantiser quantises, in the order of the file."""
    known, graph = frozenset(quantised_operators()), network.graph
    outputs = {tensor.name for tensor in graph.output}
    readers: dict[str, int] = {}
    for node in graph.node:
        for name in set(node.input):
            readers[name] = readers.get(name, 0) + 1
    groups: list[list[str]] = []
    made: dict[str, int] = {}  # tensor -> its layer
    reads: list[set[int]] = []
    for node in graph.node:
        before = [made[name] for name in node.input if name in made]
        own = [name for name in node.input if name in made and readers[name] == 1 and name not in outputs]
        if node.op_type in _FOLLOWERS and len(before) == 1 and own:
            place = before[0]
            groups[place].append(node.name)
        elif node.op_type in known:
            place = len(groups)
            groups.append([node.name])
            reads.append(set(before))
        else:
            continue
        made.update((name, place) for name in node.output if name)
    return tuple(
        Layer(tuple(names), tuple(reader for reader, sources in enumerate(reads) if index in sources))
        for index, names in enumerate(groups)
    )


class Trials:
    """Measures the outputs (before Softmax) with some layers in float, on the ``SAMPLES`` of ``rows`` that lose most in
    8 bits."""

    def __init__(self, quantiser: Quantiser, scheme: Scheme, rows: Sequence[Row], watch: Watch) -> None:
        self.layers = layers_of(quantiser.network)
        self._quantiser, self._scheme, self._watch = quantiser, scheme, watch
        before, after = scores_of(quantiser.network, rows), scores_of(quantiser.quantised(scheme), rows)
        noise = [max(_noise(ratio) for ratio in ratios) for ratios in _by_sample(before, after)]
        worst = sorted(sorted(range(len(rows)), key=lambda index: (-noise[index], index))[:SAMPLES])
        self._rows = [rows[index] for index in worst]
        self._before = {name: values[worst] for name, values in before.items()}
        #: Of these samples, with all layers in 8 bits.
        self.sqnr_db = worst_db(self._before, {name: values[worst] for name, values in after.items()})
        self._done = 0

    def losses(self) -> tuple[LayerLoss, ...]:
        """Every layer in 8 bits alone: the one that loses most first. Layers that lose nothing are left out."""
        every = range(len(self.layers))
        ratios = [self._db({other for other in every if other != index}) for index in every]
        found = [LayerLoss(layer.nodes, db) for layer, db in zip(self.layers, ratios, strict=True)]
        return tuple(sorted((loss for loss in found if loss.sqnr_db != math.inf), key=lambda loss: loss.sqnr_db))

    def chosen(self, losses: Sequence[LayerLoss], count: int, named: Sequence[LayerLoss]) -> tuple[LayerLoss, ...]:
        """The ``named`` layers, and up to ``count`` more that stay in float. Each step adds the layer, or the layer and
        the readers of its result, that removes most noise for each layer in float; it ends where nothing helps."""
        place = {layer.nodes: index for index, layer in enumerate(self.layers)}
        worst = [place[loss.nodes] for loss in losses[:_WORST]]
        sets = [frozenset((index,)) for index in sorted({*worst, *(r for i in worst for r in self.layers[i].readers)})]
        sets += [frozenset((index, *self.layers[index].readers)) for index in sorted(worst)]
        found, taken = list(named), [place[loss.nodes] for loss in named]
        now, most = _noise(named[-1].sqnr_db if named else self.sqnr_db), len(taken) + count
        while len(taken) < most:
            options = [more for each in sets if 0 < len(more := each.difference(taken)) <= most - len(taken)]
            ratios = [self._db({*taken, *more}) for more in options]
            gains = [((now - _noise(db)) / len(more), db, more) for db, more in zip(ratios, options, strict=True)]
            gain, ratio, best = max(gains, key=lambda entry: entry[0], default=(0.0, 0.0, frozenset[int]()))
            if gain <= 0:
                break
            taken += sorted(best)
            found += [LayerLoss(self.layers[index].nodes, ratio) for index in sorted(best)]
            now = _noise(ratio)
        return tuple(found)

    def with_nodes(self, names: Sequence[str], source: str) -> tuple[LayerLoss, ...]:
        """The layers of these nodes stay in float. UsageError MATCH-U039 for a name that no layer has."""
        places: list[int] = []
        for name in names:
            place = next((index for index, layer in enumerate(self.layers) if name in layer.nodes), None)
            if place is None:
                raise self._unknown(name, source)
            places += [] if place in places else [place]
        return tuple(
            LayerLoss(self.layers[place].nodes, self._db(places[: index + 1])) for index, place in enumerate(places)
        )

    def _db(self, in_float: Collection[int]) -> float:
        self._done += 1
        self._watch.progress({"measured": self._done, "layers": len(self.layers)})
        names = {name for index in in_float for name in self.layers[index].nodes}
        return worst_db(self._before, scores_of(self._quantiser.quantised(self._scheme, names), self._rows))

    def _unknown(self, name: str, source: str) -> UsageError:
        known = [node for layer in self.layers for node in layer.nodes]
        close = get_close_matches(name, known, n=1) or known[:1]
        return UsageError(
            code="MATCH-U039",
            what=f"no layer has the node {name!r}",
            where=f"{source}, option --wider",
            why=f"the network has {len(self.layers)} layers of {len(known)} nodes, after constants and normalisations "
            "are folded",
            help=tuple(self._suggestions(close)),
        )

    def _suggestions(self, close: Sequence[str]) -> Iterator[str]:
        yield from (f"did you mean --wider {name}?" for name in close)
        yield "omit --wider: the command names the layers that lose most"


def _by_sample(before: Outputs, after: Outputs) -> Iterator[list[float]]:
    """Of each sample, the ratio of every output in dB."""
    for index in range(len(next(iter(before.values())))):
        yield [noise_of(before[name][index], after[name][index]).sqnr_db for name in before]


def _noise(decibels: float) -> float:
    """Noise over signal."""
    return 0.0 if decibels == math.inf else math.inf if decibels == -math.inf else 10 ** (-decibels / 10)
