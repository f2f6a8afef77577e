"""Scales twice as large, so that values of 8 bits fit the 7 bits of the analog array.

Operators that pass values on, and sums, want equal scales of what they read and make (the digital array adds without
scaling), so all tensors that such operators join are changed together.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.editor import Editor
from match_core.transforms.quant import constant, producer, quant_of, site_of

from match_diana import analog_limits as limits

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: Operators that keep scales: sums, and those that move or select values.
_KEEPING = frozenset(
    (
        *("Add", "Sum", "Sub", "MaxPool", "Relu", "Clip", "Max", "Min", "Identity"),
        *("Concat", "Split", "Slice", "Pad", "Gather"),
        *("Reshape", "Transpose", "Flatten", "Squeeze", "Unsqueeze"),
    )
)


def joined(tensor: gs.Tensor, outputs: Iterable[gs.Tensor]) -> tuple[gs.Tensor, ...] | None:
    """All quantised tensors whose scale must change with that of ``tensor``; None where one of them is fixed: a graph
    input or output, or read by something else than DequantizeLinear."""
    fixed = {id(output) for output in outputs}
    found: dict[int, gs.Tensor] = {}
    waiting = [tensor]
    while waiting:
        each = waiting.pop()
        if id(each) in found:
            continue
        maker = producer(each)
        if maker is None or maker.op != "QuantizeLinear" or id(each) in fixed or each.dtype != np.int8:
            return None
        if any(node.op != "DequantizeLinear" for node in each.outputs) or not _plain(maker):
            return None
        found[id(each)] = each
        waiting += _sources(maker.inputs[0])
        for read in each.outputs:
            waiting += _results(read.outputs[0])
    return tuple(found.values())


def _plain(quantize: gs.Node) -> bool:
    quant = quant_of(quantize, np.dtype(np.int8))
    return quant is not None and quant.zero == 0


def _sources(tensor: gs.Tensor) -> list[gs.Tensor]:
    """Quantised tensors of which a float tensor keeps the scale. (Constants that are quantised have no scale to
    keep.)"""
    node = producer(tensor)
    if node is None:
        return []
    if node.op == "DequantizeLinear":
        return [] if constant(node.inputs[0]) is not None else [node.inputs[0]]
    return [source for part in node.inputs for source in _sources(part)] if node.op in _KEEPING else []


def _results(tensor: gs.Tensor) -> list[gs.Tensor]:
    """Quantised tensors that keep the scale of a float tensor."""
    found: list[gs.Tensor] = []
    for node in tensor.outputs:
        if node.op == "QuantizeLinear":
            found += [node.outputs[0]] if node.inputs[0] is tensor else []
        elif node.op in _KEEPING:
            found += [result for output in node.outputs for result in _results(output)]
            found += [source for part in node.inputs if part is not tensor for source in _sources(part)]
    return found


def is_narrow(tensor: gs.Tensor) -> bool:
    """Whether the values of a quantised tensor are known to have 7 bits."""
    maker = producer(tensor)
    site = site_of(maker, ()) if maker is not None and maker.op == "QuantizeLinear" else None
    return site is not None and site.quant.lo >= limits.INPUT_MIN and site.quant.hi <= limits.INPUT_MAX


def widen(editor: Editor, tensor: gs.Tensor) -> None:
    """Double the scale of a quantised tensor, at its maker and at its readers."""
    for node in (tensor.inputs[0], *tensor.outputs):
        scale = np.asarray(node.inputs[1].values)
        node.inputs[1] = editor.constant(f"{node.name}_scale", scale * scale.dtype.type(2))
