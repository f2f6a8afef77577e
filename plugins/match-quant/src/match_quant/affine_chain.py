"""Chains of multiplications and additions with constants on one quantised tensor, possibly quantised in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.reader import Quant, Site, is_private, producer, shape_of, site_of
from numpy.typing import NDArray

from match_quant.integer_graph import IntegerGraph
from match_quant.real_constant import real_constant

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

Ints = NDArray[np.int64]
Reals = NDArray[np.float64]

_OPERATORS = ("Mul", "Div", "Add", "Sub")


@dataclass(frozen=True, slots=True)
class ChainStep:
    """``x op values``, or ``values op x`` if ``swapped`` (Sub only)."""

    node: gs.Node
    values: Reals
    swapped: bool

    def apply(self, x: NDArray[np.floating], values: NDArray[np.floating]) -> NDArray[np.floating]:
        """The result in the type of the operands."""
        if self.node.op == "Mul":
            return np.asarray(x * values)
        if self.node.op == "Div":
            return np.asarray(x / values)
        if self.node.op == "Add":
            return np.asarray(x + values)
        return np.asarray(values - x if self.swapped else x - values)


@dataclass(frozen=True, slots=True)
class Stage:
    """Steps and the quantisation after them: ``result`` as the integer graph stores it. ``nodes``: all of its nodes."""

    steps: tuple[ChainStep, ...]
    result: Quant
    nodes: tuple[gs.Node, ...]

    @property
    def clamps(self) -> bool:
        """Whether it saturates on purpose: a Relu or Clip, or a range that ends at zero (an exporter may have dropped a
        Relu because QuantizeLinear does the same)."""
        limits = np.iinfo(self.result.dtype)
        bounds = (self.result.lo, self.result.hi)
        return bounds != (limits.min, limits.max) or self.result.zero in bounds


@dataclass(frozen=True, slots=True)
class Rows:
    """The distinct combinations of constants: ``values`` (R, K) has a column for each step, ``index`` the row of each
    element of ``shape``, which broadcasts to the tensor."""

    values: Reals
    index: Ints
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AffineChain:
    """``stages`` on the integer tensor ``x`` with parameters ``quant`` (``lo``/``hi``: the values that can occur)."""

    x: gs.Variable
    quant: Quant
    stages: tuple[Stage, ...]
    nodes: tuple[gs.Node, ...]

    @property
    def steps(self) -> tuple[ChainStep, ...]:
        """All steps, first to last."""
        return tuple(step for stage in self.stages for step in stage.steps)

    def rows(self) -> Rows:
        """The constants that apply to each element of the tensor."""
        rank = len(shape_of(self.x))
        shape = np.broadcast_shapes((1,) * rank, *(step.values.shape for step in self.steps))
        columns = np.stack([np.broadcast_to(step.values, shape).reshape(-1) for step in self.steps], axis=1)
        values, index = np.unique(columns, axis=0, return_inverse=True)
        return Rows(values, index.reshape(-1).astype(np.int64), shape)

    def inputs(self) -> Ints:
        """The stored values that ``x`` can have, as (1, N)."""
        return np.arange(self.quant.lo, self.quant.hi + 1, dtype=np.int64)[None, :]

    def composed(self, values: Reals) -> tuple[Reals, Reals]:
        """Multiplier and offset (R,) from stored values of ``x`` to stored results, without rounding in between."""
        multiplier = np.full(len(values), self.quant.scale)
        offset = np.full(len(values), -self.quant.scale * self.quant.zero)
        for step, column in zip(self.steps, values.T, strict=True):
            if step.node.op in ("Mul", "Div"):
                multiplier, offset = step.apply(multiplier, column), step.apply(offset, column)
            else:
                multiplier = -multiplier if step.swapped else multiplier
                offset = step.apply(offset, column)
        result = self.stages[-1].result
        return multiplier / result.scale, offset / result.scale + result.zero

    def evaluate(self, values: Reals) -> tuple[Ints, NDArray[np.bool_]]:
        """For every input (R, N): the stored result that the original computes in float32, and whether a quantisation
        before the last one saturates."""
        real = (self.inputs() - self.quant.zero).astype(np.float32) * np.float32(self.quant.scale)
        saturated = np.zeros((len(values), real.shape[1]), bool)
        columns = iter(values.T.astype(np.float32))
        stored = np.zeros(saturated.shape, np.int64)
        for stage in self.stages:
            for step in stage.steps:
                real = step.apply(real, next(columns)[:, None])
            result = stage.result
            rounded = np.rint(np.clip(real / np.float32(result.scale), -1e9, 1e9)).astype(np.int64) + result.zero
            stored = np.clip(rounded, result.lo, result.hi)
            if stage is not self.stages[-1]:
                saturated |= stored != rounded
            real = (stored - result.zero).astype(np.float32) * np.float32(result.scale)
        return stored, saturated


def chains_of(graph: IntegerGraph, site: Site) -> tuple[AffineChain, ...]:
    """The chains that end at the site, longest first: each omits the first stage of the chain before it. Chains with
    scalar constants only are omitted."""
    chains: list[AffineChain] = []
    later: tuple[Stage, ...] = ()
    nodes: tuple[gs.Node, ...] = ()
    current: Site | None = site
    while current is not None:
        found = _stage(graph, current)
        if found is None:
            break
        stage, dequantize = found
        source = graph.source(dequantize.outputs[0])
        if source is None or shape_of(source[0]) != site.real_shape:
            break
        later, nodes = (stage, *later), (dequantize, *stage.nodes, *nodes)
        chain = AffineChain(source[0], source[1], later, nodes)
        if any(step.values.size > 1 for step in chain.steps):
            chains.insert(0, chain)
        current = _site_before(graph, dequantize)
    return tuple(chains)


def _site_before(graph: IntegerGraph, dequantize: gs.Node) -> Site | None:
    """The site whose result only this DequantizeLinear reads, once."""
    quantize = producer(dequantize.inputs[0])
    outputs = graph.editor.graph.outputs
    private = is_private(dequantize.inputs[0], outputs) and is_private(dequantize.outputs[0], outputs)
    if quantize is None or quantize.op != "QuantizeLinear" or not private:
        return None
    before = site_of(quantize, outputs)
    known = graph.lookup(quantize.outputs[0])
    return before if known is not None and known is not quantize.outputs[0] else None


def _stage(graph: IntegerGraph, site: Site) -> tuple[Stage, gs.Node] | None:
    """The affine operators of the site and the DequantizeLinear that they read."""
    steps: list[ChainStep] = []
    node: gs.Node | None = site.op
    while node is not None and node.op in _OPERATORS:
        found = _step(node, site.real_shape)
        if found is None:
            return None
        tensor, step = found
        steps.insert(0, step)
        node = producer(tensor)
        if node is not None and node.op != "DequantizeLinear" and not is_private(tensor, graph.editor.graph.outputs):
            return None
    if node is None or node.op != "DequantizeLinear" or not steps:
        return None
    nodes = (*(step.node for step in steps), *site.clamps, site.quantize)
    return Stage(tuple(steps), graph.stored(site.quant), nodes), node


def _step(node: gs.Node, shape: Sequence[int]) -> tuple[gs.Tensor, ChainStep] | None:
    """The tensor that the operator changes, and how; None without finite constants that broadcast to ``shape``."""
    for position in (1, 0):
        values = real_constant(node.inputs[position])
        tensor = node.inputs[1 - position]
        if values is None or tensor.shape is None or shape_of(tensor) != tuple(shape):
            continue
        swapped = position == 0 and node.op in ("Sub", "Div")
        usable = (
            bool(np.all(np.isfinite(values))) and values.size > 0 and not (node.op == "Div" and np.any(values == 0))
        )
        if not usable or (swapped and node.op == "Div") or values.ndim > len(shape):
            return None
        if np.broadcast_shapes(values.shape, tuple(shape)) != tuple(shape):
            return None
        return tensor, ChainStep(node, values, swapped)
    return None
