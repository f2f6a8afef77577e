"""Folds a Pad before a convolution or pooling into that operator's padding."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import Model
from match_core.contract.passes import Pass, PassContext, Phase
from match_core.ir.editor import Editor
from match_core.ir.reader import constant, optional_input, producer

from match_quant.operators import has_operator

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def run(model: Model, context: PassContext) -> Model:
    """Fold pads with the value that the operator itself pads with, also through a DequantizeLinear."""
    if not has_operator(model, "Pad"):
        return model
    editor = Editor(model)
    for node in list(editor.graph.nodes):
        pad = producer(node.inputs[0]) if node.inputs else None
        if pad is None or pad.op != "Pad" or "pads" not in node.attrs or (node.domain or "") not in ("", "ai.onnx"):
            continue
        amounts = _spatial_amounts(pad)
        if amounts is None or not _same_value(node, pad):
            continue
        pads = [int(own) + more for own, more in zip(node.attrs["pads"], amounts, strict=True)]
        kernel = [*node.attrs["kernel_shape"]] * 2
        if node.op != "Conv" and any(p >= k for p, k in zip(pads, kernel, strict=True)):
            continue  # a pooling window must not lie completely in the padding
        node.attrs["pads"] = pads
        if node.op == "AveragePool":
            node.attrs["count_include_pad"] = 1
        node.inputs[0] = pad.inputs[0]
        editor.add_origin(node, pad)
    return editor.finish()


def _spatial_amounts(pad: gs.Node) -> list[int] | None:
    """Begins, then ends, of the spatial axes; None if other axes are padded, or amounts are negative or unknown."""
    if pad.attrs.get("mode", "constant") != "constant":
        return None
    given = constant(pad.inputs[1])
    axes_tensor = optional_input(pad, 3)
    axes_values = constant(axes_tensor) if axes_tensor is not None else np.arange(len(pad.inputs[0].shape))
    if given is None or axes_values is None:
        return None
    rank = len(pad.inputs[0].shape)
    begins, ends = [0] * rank, [0] * rank
    half = given.size // 2
    for position, axis in enumerate(np.asarray(axes_values).reshape(-1).tolist()):
        begins[int(axis) % rank] = int(np.asarray(given).reshape(-1)[position])
        ends[int(axis) % rank] = int(np.asarray(given).reshape(-1)[half + position])
    if any(begins[:2] + ends[:2]) or min(begins + ends) < 0:
        return None
    return begins[2:] + ends[2:]


def _same_value(node: gs.Node, pad: gs.Node) -> bool:
    """Whether the operator pads with the value that the Pad writes."""
    tensor = optional_input(pad, 2)
    values = constant(tensor) if tensor is not None else np.zeros(1)
    if values is None:
        return False
    value = float(np.asarray(values, np.float64).reshape(-1)[0])
    if node.op == "Conv":
        return value == 0.0
    if node.op == "MaxPool":
        return value == -np.inf
    # The Pad's zeros count. A pool without its own padding can be set to count padded elements.
    counts = node.attrs.get("count_include_pad", 0) or not any(node.attrs["pads"])
    return node.op == "AveragePool" and value == 0.0 and bool(counts) and not node.attrs.get("ceil_mode", 0)


FOLD_PADDING = Pass(
    "fold_padding",
    Phase.FLOAT,
    run,
    "a Pad becomes the padding of the convolution or pooling after it",
    exact=False,
    optional=True,
)
