"""Where the accuracy falls: the noise of each layer's result, in the integer graph against the original model.

The passes up to the first that changes arithmetic keep real values, so the graph before that pass is the original, with
a QuantizeLinear behind every quantised layer. Source names tell which node of the integer graph computes the result of
such a QuantizeLinear; later passes may give it another scale and zero point, which are read before its node disappears.
Results that operators of a unit's own domain make or read have a meaning that only the unit's package knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.passes import Phase
from match_core.ir.reader import WITH_INT16, Quant, producer, quant_of, shape_of
from match_core.ir.topology import Topology
from match_core.pipeline import pass_context, transform

from match_verify.noise import Array, Noise, noise_of
from match_verify.reference import ReferenceRunner

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_core.contract.hardware import Soc
    from match_core.contract.model import Model
    from match_core.contract.passes import Pass
    from match_core.deploy.compile_options import CompileOptions
    from match_core.plugin.facade import Plugins

#: Samples that are compared: all results of all layers are kept for each.
SAMPLES = 16
#: Domains of operators that are not one unit's own.
_SHARED_DOMAINS = ("match.arith", "match.nhwc", "match.form")
_QUANTISERS = ("QuantizeLinear", "DequantizeLinear")


@dataclass(frozen=True, slots=True)
class LayerNoise:
    """The result of the source ``nodes`` (quantisers left out), with all noise of the layers before it. ``drop_db``:
    by how much the ratio is below the lowest of the layers that it reads, None where those have no noise."""

    nodes: tuple[str, ...]
    sqnr_db: float
    drop_db: float | None

    @property
    def title(self) -> str:
        """The source names in one text."""
        return ", ".join(self.nodes)

    def as_json(self) -> dict[str, object]:
        """The entry of ``match verify --json``."""
        return {"nodes": list(self.nodes), "sqnr_db": self.sqnr_db, "drop_db": self.drop_db}


@dataclass(frozen=True, slots=True)
class _Pair:
    """A result in the original (``wanted``: tensor and parameters, None for floats) and in the integer graph."""

    nodes: tuple[str, ...]
    wanted: gs.Tensor
    wanted_quant: Quant | None
    found: gs.Tensor
    found_quant: Quant | None


class Recorder:
    """Observes passes: the ``original``, the last graph before arithmetic changes, and the latest parameters of every
    QuantizeLinear, by node name; and the lossy passes that did ``change`` the model, by name."""

    def __init__(self) -> None:
        self.original: Model | None = None
        self.quants: dict[str, Quant] = {}
        self.change: dict[str, Pass] = {}

    def before_pass(self, item: Pass, model: Model) -> None:
        """Nothing to do."""

    def after_pass(self, item: Pass, before: Model, after: Model) -> None:
        """Keep what is there now."""
        lost = item.phase == Phase.INTEGER and _quantisers(after) < _quantisers(before)
        if self.original is None and (item.lossy or lost):
            self.original = before
            self._record(before)
        self._record(after)
        if item.lossy and after is not before:
            self.change[item.name] = item

    def _record(self, model: Model) -> None:
        for node in model.graph.nodes:
            if node.op == "QuantizeLinear" and (quant := quant_of(node, node.outputs[0].dtype, WITH_INT16)) is not None:
                self.quants[node.name] = quant


def recorded(source: Model, soc: Soc, options: CompileOptions, plugins: Plugins) -> tuple[Recorder, Model]:
    """The integer graph of a loaded model once more, and what was recorded while it was made."""
    recorder = Recorder()
    context = pass_context(options, soc, plugins.units_of(soc))
    return recorder, transform(source, context, plugins, options, [recorder])


def layer_noise(recorder: Recorder, model: Model, inputs: Mapping[str, Array]) -> tuple[LayerNoise, ...]:
    """Every layer whose result the original and the integer graph have, in order, over the first ``SAMPLES``
    samples."""
    original = recorder.original
    if original is None:
        return ()
    pairs = tuple(_pairs(original, model, recorder.quants))
    samples = min(SAMPLES, *(len(array) for array in inputs.values())) if inputs else 1
    wanted = ReferenceRunner(original, [pair.wanted.name for pair in pairs])
    found = ReferenceRunner(model, [pair.found.name for pair in pairs])
    total = [Noise()] * len(pairs)
    for index in range(samples):
        given = {name: array[index] for name, array in inputs.items()}
        results = wanted.run(given), found.run(given)
        for at, pair in enumerate(pairs):
            reals = _real(results[0][pair.wanted.name], pair.wanted_quant)
            other = _real(results[1][pair.found.name], pair.found_quant)
            total[at] = total[at] + _aligned_noise(reals, other)
    ratios = {id(pair.wanted): noise.sqnr_db for pair, noise in zip(pairs, total, strict=True)}
    return tuple(
        LayerNoise(pair.nodes, noise.sqnr_db, _drop(_before(pair.wanted, ratios), noise.sqnr_db))
        for pair, noise in zip(pairs, total, strict=True)
        if noise.signal > 0 or noise.noise > 0
    )


def layer_nodes(original: Model) -> tuple[tuple[str, ...], ...]:
    """The source nodes of every layer that a QuantizeLinear ends, in order, each node in one layer."""
    seen: set[str] = set()
    found: list[tuple[str, ...]] = []
    for node in Topology.of(original.graph).nodes:
        if node.op == "QuantizeLinear" and producer(node.inputs[0]) is not None:
            names = tuple(name for name in _layer(original, node) if name not in seen)
            seen.update(names)
            found += [names] if names else []
    return tuple(found)


def fallen(layers: tuple[LayerNoise, ...], limit_db: float) -> LayerNoise | None:
    """The first layer below the limit; without one, the layer with the largest drop. None without layers."""
    below = next((layer for layer in layers if layer.sqnr_db < limit_db), None)
    return below or max(layers, key=lambda layer: layer.drop_db or 0.0, default=None)


def _quantisers(model: Model) -> int:
    return sum(node.op == "QuantizeLinear" for node in model.graph.nodes)


def _pairs(original: Model, model: Model, quants: Mapping[str, Quant]) -> Iterator[_Pair]:
    makers = {tensor.name: node for node in Topology.of(model.graph).nodes for tensor in node.outputs}
    behind = [(node, frozenset(model.origin([node]))) for node in Topology.of(model.graph).nodes]
    ordered = Topology.of(original.graph).nodes
    last: dict[str, str] = {}  # node of the integer graph -> the last QuantizeLinear of the original that it does
    doing: dict[str, gs.Node] = {}
    for quantize in (node for node in ordered if node.op == "QuantizeLinear"):
        names = frozenset(original.origin([quantize]))
        for node, origin in behind:
            if names <= origin and _is_result(node, quantize.outputs[0]):
                last[node.name] = quantize.name
    for node, _ in behind:
        if node.name in last:
            doing[last[node.name]] = node
    for node in ordered:
        output = node.outputs[0]
        if node.op == "QuantizeLinear":
            quant = quant_of(node, output.dtype, WITH_INT16)
            if node.name not in doing or quant is None or node.name not in quants:
                continue
            found = doing[node.name].outputs[0]
            stored = quants[node.name].shifted(np.dtype(found.dtype))
            yield _Pair(_layer(original, node), output, quant, found, stored)
        elif node.op != "DequantizeLinear" and output.name in makers and _is_float(output):
            found = makers[output.name].outputs[0]
            if _is_float(found) and shape_of(found) == shape_of(output):
                yield _Pair(original.origin([node]), output, None, found, None)


def _layer(original: Model, quantize: gs.Node) -> tuple[str, ...]:
    """Source nodes of what a QuantizeLinear rounds: back to the next quantised tensors."""
    behind: list[gs.Node] = []
    at = producer(quantize.inputs[0])
    while at is not None and at.op not in _QUANTISERS:
        behind.insert(0, at)
        at = producer(at.inputs[0]) if len(at.outputs[0].outputs) == 1 and at.inputs else None
    return original.origin(behind or [quantize])


def _is_result(node: gs.Node, wanted: gs.Tensor) -> bool:
    """Whether it makes 8 bits of as many elements, for operators that everybody knows."""
    output = node.outputs[0] if len(node.outputs) == 1 else None
    if output is None or not all(_is_known(each) for each in (node, *output.outputs)):
        return False
    if output.dtype is None or np.dtype(output.dtype) not in (np.dtype(np.int8), np.dtype(np.uint8)):
        return False
    return sorted(size for size in shape_of(output) if size > 1) == sorted(s for s in shape_of(wanted) if s > 1)


def _is_known(node: gs.Node) -> bool:
    domain = node.domain or ""
    return not domain.startswith("match.") or domain in _SHARED_DOMAINS


def _is_float(tensor: gs.Tensor) -> bool:
    return tensor.dtype is not None and "float" in np.dtype(tensor.dtype).name


def _before(tensor: gs.Tensor, ratios: Mapping[int, float]) -> float:
    """The lowest ratio of the nearest results that a result depends on; infinite if there are none."""
    found, waiting, seen = float("inf"), list(tensor.inputs), set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        for source in node.inputs:
            if id(source) in ratios:
                found = min(found, ratios[id(source)])
            else:
                waiting += source.inputs
    return found


def _drop(before: float, after: float) -> float | None:
    return None if before == float("inf") else max(0.0, before - after)


def _real(values: Array, quant: Quant | None) -> Array:
    return values if quant is None else (values.astype(np.float64) - quant.zero) * quant.scale


def _aligned_noise(wanted: Array, found: Array) -> Noise:
    """Units may have other orders of the axes: of those that give the same shape, the one with the least noise."""
    if wanted.ndim != found.ndim or wanted.ndim < 3:
        return noise_of(wanted, found.reshape(wanted.shape))
    orders = [order for order in permutations(range(found.ndim)) if _shape(found, order) == wanted.shape]
    return min((noise_of(wanted, found.transpose(order)) for order in orders), key=lambda noise: noise.noise)


def _shape(array: Array, order: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(array.shape[axis] for axis in order)
