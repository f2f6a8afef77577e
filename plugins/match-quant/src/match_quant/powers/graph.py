"""Reads the quantised graph: the 8-bit tensors that share their parameters, and their producers and readers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.editor import Editor
from match_core.ir.reader import Quant, Site, clamp_bounds, constant, producer, quant_of, site_of

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_core.contract.passes import PassContext

_EIGHT_BITS = (np.dtype(np.int8), np.dtype(np.uint8))
#: Operators that only move values of their first input: the result has the same scale and zero point.
_MOVES = frozenset(("Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "MaxPool", "Identity", "Slice", "Split"))


@dataclass(slots=True, eq=False)
class Activation:
    """8-bit ``tensors`` with one scale and zero point. ``quant``: lo and hi are the values that occur. ``fixed``: the
    parameters cannot change (inputs and outputs of the graph, unsupported readers). ``from_outside``: holds values
    from the caller. ``limited``: the network clips the values at the upper end, as with ReLU6, so many values lie
    there."""

    tensors: list[gs.Variable]
    quantize: list[gs.Node]
    dequantize: list[gs.Node]
    quant: Quant
    fixed: bool
    from_outside: bool
    limited: bool

    @property
    def name(self) -> str:
        """The first tensor's name."""
        return str(self.tensors[0].name)


class QuantisedGraph:
    """The activations of a graph of QuantizeLinear and DequantizeLinear."""

    def __init__(self, editor: Editor, context: PassContext) -> None:
        self.editor = editor
        self._context = context
        self._of: dict[int, Activation] = {}
        for tensor in editor.graph.tensors().values():
            activation = self._single(tensor)
            if activation is not None:
                self._of[id(tensor)] = activation
        for node in editor.graph.nodes:
            self._join(node)

    def activations(self) -> tuple[Activation, ...]:
        """All of them, in the order of the graph's nodes."""
        ordered = [*self.editor.graph.inputs, *(tensor for node in self.editor.graph.nodes for tensor in node.outputs)]
        found = {id(self._of[id(tensor)]): self._of[id(tensor)] for tensor in ordered if id(tensor) in self._of}
        return tuple(found.values())

    def of(self, tensor: gs.Tensor) -> Activation | None:
        """The activation of an 8-bit tensor."""
        return self._of.get(id(tensor))

    def source(self, tensor: gs.Tensor) -> Activation | None:
        """The activation that a float tensor holds, dequantised and perhaps moved since then."""
        node = producer(tensor)
        while node is not None and _is_move(node):
            node = producer(node.inputs[0])
        return self.of(node.inputs[0]) if node is not None and node.op == "DequantizeLinear" else None

    def site(self, quantize: gs.Node) -> Site | None:
        """The operator that feeds a QuantizeLinear."""
        return site_of(quantize, self.editor.graph.outputs)

    def changes(self, site: Site) -> bool:
        """Whether the arithmetic of the site's operator may change."""
        return self._context.changes(self.editor.origin(site.op))

    def _single(self, tensor: gs.Tensor) -> Activation | None:
        """An 8-bit tensor by itself; None for others."""
        if constant(tensor) is not None or tensor.dtype is None or np.dtype(tensor.dtype) not in _EIGHT_BITS:
            return None
        maker = producer(tensor)
        quantize = [maker] if maker is not None and maker.op == "QuantizeLinear" else []
        dequantize = [node for node in tensor.outputs if node.op == "DequantizeLinear"]
        quants = [quant_of(node, tensor.dtype) for node in (*quantize, *dequantize)]
        known = [quant for quant in quants if quant is not None]
        limits = np.iinfo(tensor.dtype)
        quant = known[0] if known else Quant(1.0, 0, np.dtype(tensor.dtype), int(limits.min), int(limits.max))
        site = self.site(quantize[0]) if quantize else None
        if site is not None:
            quant = site.quant
        graph = self.editor.graph
        ends = any(tensor is end for end in (*graph.inputs, *graph.outputs))
        strange = len(known) < len(quants) or any(not quant.same_values(other) for other in known)
        others = [node for node in tensor.outputs if node.op != "DequantizeLinear" and not _is_move(node)]
        made = maker is None or bool(quantize) or _is_move(maker)
        outside = tensor if not quantize else quantize[0].inputs[0]
        from_outside = any(outside is given for given in graph.inputs)
        fixed = ends or strange or bool(others) or not made
        return Activation([tensor], quantize, dequantize, quant, fixed, from_outside, _is_limited(site))

    def _join(self, node: gs.Node) -> None:
        """A move between 8-bit tensors keeps their parameters; one between a DequantizeLinear and a QuantizeLinear of
        equal parameters goes on doing so."""
        if _is_move(node) and self.of(node.inputs[0]) is not None:
            for output in node.outputs:
                self._merge(self.of(node.inputs[0]), self.of(output))
        elif node.op == "QuantizeLinear":
            site = self.site(node)
            if site is None or site.clamps or not _is_move(site.op):
                return
            before, after = self.source(node.inputs[0]), self.of(node.outputs[0])
            if before is not None and after is not None and before.quant.same_values(after.quant):
                self._merge(before, after)

    def _merge(self, first: Activation | None, second: Activation | None) -> None:
        if first is None or second is None or first is second:
            return
        known = [activation for activation in (first, second) if activation.quantize or activation.dequantize]
        first.fixed |= second.fixed or any(not known[0].quant.same_values(other.quant) for other in known[1:])
        first.from_outside |= second.from_outside
        first.limited |= second.limited
        if known:
            # Results of moves hold the same values as their inputs.
            first.quant = known[0].quant
        first.tensors += second.tensors
        first.quantize += second.quantize
        first.dequantize += second.dequantize
        for tensor in second.tensors:
            self._of[id(tensor)] = first


def _is_move(node: gs.Node) -> bool:
    return (
        node.op in _MOVES and (node.domain or "") in ("", "ai.onnx") and (len(node.outputs) == 1 or node.op == "Split")
    )


def _is_limited(site: Site | None) -> bool:
    """Whether an operator cuts off the upper end. Converters leave out a ReLU6 whose range says the same."""
    if site is None:
        return False
    clips = [clamp_bounds(clamp) for clamp in site.clamps]
    low, high = bounds(site.quant)
    return any(clip is not None and clip[1] < np.inf for clip in clips) or (low == 0.0 and round(high, 2) == 6.0)


def bounds(quant: Quant) -> tuple[float, float]:
    """The real values at the ends of what occurs."""
    return (quant.lo - quant.zero) * quant.scale, (quant.hi - quant.zero) * quant.scale


def set_parameters(graph: QuantisedGraph, activation: Activation, quant: Quant) -> None:
    """Give an activation another scale, zero point, and int8. A lower bound of 0 that was the end of the type becomes a
    Relu where the new type goes further down."""
    editor = graph.editor
    scale = editor.constant(f"{activation.name}_scale", np.array(quant.scale, np.float32))
    zero = editor.constant(f"{activation.name}_zero", np.array(quant.zero, quant.dtype))
    rectified = bounds(activation.quant)[0] == 0.0
    for node in (*activation.quantize, *activation.dequantize):
        node.inputs = [node.inputs[0], scale, zero]
    for tensor in activation.tensors:
        tensor.dtype = quant.dtype
    activation.quant = replace(quant, lo=max(quant.lo, quant.zero)) if rectified else quant
    for node in activation.quantize if rectified else ():
        _rectify(graph, node, quant.zero)


def _rectify(graph: QuantisedGraph, quantize: gs.Node, zero: int) -> None:
    """Add a Relu before it, unless the bound exists already. Moved tensors have the bound of their source."""
    site = graph.site(quantize)
    if site is not None and (site.quant.lo >= zero or _is_move(site.op)):
        return
    before = quantize.inputs[0]
    editor, shape = graph.editor, [int(size) for size in before.shape]
    name, origin = f"{quantize.name}_relu", graph.editor.origin(quantize)
    quantize.inputs[0] = editor.node("Relu", [before], before.dtype, shape, name=name, origin=origin)
