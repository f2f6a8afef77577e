"""Linear layers that read their input with all bits inverted: -1 - x instead of x, with the same results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import qualified_op
from match_core.ir.editor import Editor
from match_core.ir.reader import constant, optional_input
from match_quant.linear.layers import Ints, LinearLayer, linear_layer, set_requant, set_weight

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: Weights of -128 become 127 instead of 128: what that may cost, in LSB of the reader's result.
_WEIGHT_ERROR_MAX = 0.5
#: Operators that move values and keep them.
_MOVES = frozenset(("Reshape", "Transpose", "Gather"))


@dataclass(frozen=True, slots=True)
class Readers:
    """The linear layers that a tensor reaches, and the Pads on the way."""

    layers: tuple[LinearLayer, ...]
    pads: tuple[gs.Node, ...]

    @property
    def exact(self) -> bool:
        """Whether all weights can be negated in int8."""
        return not any(np.any(layer.weight == -128) for layer in self.layers)


def readers(editor: Editor, x: gs.Tensor) -> Readers | None:
    """The readers of ``x``; None if other operators than linear layers read it, or it is a graph output."""
    layers: list[LinearLayer] = []
    pads: list[gs.Node] = []
    waiting: list[gs.Tensor] = [x]
    while waiting:
        tensor = waiting.pop()
        if any(tensor is output for output in editor.graph.outputs):
            return None
        for node in tensor.outputs:
            op = qualified_op(node)
            if op in _MOVES or (op == "Pad" and _is_plain(node)):
                pads += [node] if op == "Pad" else []
                waiting.append(node.outputs[0])
                continue
            layer = _layer(editor, node)
            if layer is None or node.inputs[0] is not tensor:
                return None
            layers.append(layer)
    found = Readers(tuple(layers), tuple(pads))
    return found if layers and all(_weight_error(layer) <= _WEIGHT_ERROR_MAX for layer in layers) else None


def invert(editor: Editor, found: Readers, usual: int) -> None:
    """Let them read -1 - x. ``usual``: a value that the inverted input often has, at which weights that cannot be
    negated cost nothing."""
    for pad in found.pads:
        given = optional_input(pad, 2)
        value = int(np.asarray(constant(given)).reshape(-1)[0]) if given is not None else 0
        inverted = editor.constant(f"{pad.name}_value", np.array(-1 - value, np.int8))
        pad.inputs = [*pad.inputs[:2], inverted, *pad.inputs[3:]]
    for layer in found.layers:
        negated = np.minimum(-layer.weight, 127)
        lost = (-layer.weight - negated).sum(axis=0)
        addend = layer.addend + layer.multiplier * (lost * usual - layer.weight.sum(axis=0))
        set_weight(editor, layer, negated)
        set_requant(editor, layer, layer.multiplier, addend, layer.shift)


def _layer(editor: Editor, matmul: gs.Node) -> LinearLayer | None:
    """The layer whose product this node is."""
    if qualified_op(matmul) != "MatMulInteger" or len(matmul.outputs[0].outputs) != 1:
        return None
    return linear_layer(matmul.outputs[0].outputs[0], editor.graph.outputs)


def _is_plain(pad: gs.Node) -> bool:
    value = optional_input(pad, 2)
    known = value is None or constant(value) is not None
    return known and pad.attrs.get("mode", "constant") == "constant"


def _weight_error(layer: LinearLayer) -> float:
    """The largest error of a result where weights of -128 are not negated exactly, in LSB."""
    count: Ints = (layer.weight == -128).sum(axis=0)
    return float((255 * count * (layer.multiplier / 2.0**layer.shift)).max(initial=0.0))
