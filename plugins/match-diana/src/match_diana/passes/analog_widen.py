"""Larger scales and zero points of 0, so that values of 8 bits fit the 7 bits of the analog array.

Scales are multiplied by powers of two, so that requantisations by powers of two, which the digital array requires, stay
powers of two. Moves and sums require equal scales of inputs and outputs (the digital array adds without scaling), so
all tensors that such operators connect change together.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil, log2
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.editor import Editor
from match_core.ir.reader import Quant, constant, producer, quant_of, shape_of, site_of

from match_diana.analog import limits

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
        if any(node.op != "DequantizeLinear" for node in each.outputs) or not _is_known(maker):
            return None
        found[id(each)] = each
        waiting += _sources(maker.inputs[0])
        for read in each.outputs:
            waiting += _results(read.outputs[0])
    return tuple(found.values())


def _is_known(quantize: gs.Node) -> bool:
    return quant_of(quantize, np.dtype(np.int8)) is not None


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


def factor_of(tensors: Iterable[gs.Tensor]) -> int:
    """By how much the scale of joined tensors must grow until all of their values fit 7 bits: a power of two. (What
    lies one step above the range is cut.)"""
    reach = max(max(quant.hi - quant.zero, quant.zero - quant.lo) for quant in map(_values, tensors))
    return 1 << max(0, ceil(log2(reach / -limits.INPUT_MIN)))


def widen(editor: Editor, tensor: gs.Tensor, factor: int) -> None:
    """Multiply the scale of a quantised tensor, at its maker and at its readers, and make its zero point 0. A lower end
    that cut off what is negative becomes a Relu."""
    values, maker = _values(tensor), tensor.inputs[0]
    if factor == 1 and values.zero == 0:
        return
    site = site_of(maker, ())
    if values.lo == values.zero and not (site is not None and any(clamp.op == "Relu" for clamp in site.clamps)):
        before = maker.inputs[0]
        name = f"{maker.name}_relu"
        maker.inputs[0] = editor.node(
            "Relu", [before], before.dtype, shape_of(before), name=name, origin=editor.origin(maker)
        )
    for node in (maker, *tensor.outputs):
        scale = np.asarray(node.inputs[1].values)
        zero = editor.constant(f"{node.name}_zero", np.array(0, np.int8))
        node.inputs = [
            node.inputs[0],
            editor.constant(f"{node.name}_scale", scale * scale.dtype.type(factor)),
            zero,
        ]


def _values(tensor: gs.Tensor) -> Quant:
    """Parameters of a quantised tensor, with the range of its values."""
    maker = tensor.inputs[0]
    site = site_of(maker, ())
    quant = site.quant if site is not None else quant_of(maker, np.dtype(np.int8))
    assert quant is not None  # joined() asks for it
    return quant
