"""Products of real activations with quantised weights keep the weights quantised, so that a kernel reads few bits.

``MatMul(x, DequantizeLinear(w))`` becomes ``match.weights::MatMul(x, w, scale, zero)`` if the weights have scales per
block of the sum, or at most 4 bits. Expanded to float32, weights of 4 bits would take 8 times the memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import Model
from match_core.contract.passes import Pass, PassContext, Phase
from match_core.ir.editor import Editor
from match_core.ir.reader import constant, constant_input, optional_input, producer, shape_of
from numpy.typing import NDArray

if TYPE_CHECKING:
    import onnx
    import onnx_graphsurgeon as gs

PRODUCT = "match.weights::MatMul"
#: Most steps between the smallest and the largest value of weights without blocks: 4 bits.
_FEW_STEPS = 15

_BODY = """<domain: "match.weights", opset_import: ["" : 21]>
MatMul <block_size> (x, w, scale, zero) => (y) {
    real = DequantizeLinear <axis: int = 0, block_size: int = @block_size> (w, scale, zero)
    y = MatMul (x, real)
}"""


@lru_cache(maxsize=1)
def _function() -> onnx.FunctionProto:
    import onnx.parser

    return onnx.parser.parse_function(_BODY)


@dataclass(frozen=True, slots=True)
class BlockWeights:
    """Weights [K, N] with ``scale`` and ``zero`` [blocks of ``size`` along K, N]."""

    values: NDArray[np.generic]
    scale: NDArray[np.generic]
    zero: NDArray[np.generic]
    size: int
    nodes: tuple[gs.Node, ...]


def run(model: Model, context: PassContext) -> Model:
    """Replace the products of all floats that no accelerator computes."""
    editor = Editor(model)
    editor.define([_function()])
    others = [unit for unit in context.units if unit.name != context.soc.host]
    elsewhere = {name for unit in others for name in unit.spatial_types}
    found = False
    for node in list(editor.graph.nodes):
        if node.op not in ("MatMul", "Gemm") or node.domain not in (None, "", "ai.onnx"):
            continue
        dtype = np.dtype(node.outputs[0].dtype).name
        if dtype in ("float16", "float32") and dtype not in elsewhere and _is_plain(node):
            weights = block_weights(node.inputs[1], bool(node.op == "Gemm" and node.attrs.get("transB", 0)))
            if weights is not None:
                _replace(editor, node, weights)
                found = True
    return editor.finish() if found else model


def _is_plain(node: gs.Node) -> bool:
    """Whether a Gemm has no factors and no transposed input."""
    attrs = node.attrs if node.op == "Gemm" else {}
    return (attrs.get("alpha", 1.0), attrs.get("beta", 1.0), attrs.get("transA", 0)) == (1.0, 1.0, 0)


def block_weights(tensor: gs.Tensor, transposed: bool = False) -> BlockWeights | None:
    """The weights if ``tensor`` is a dequantised constant matrix, perhaps transposed, with a scale for each block along
    the sum; or for each column or the matrix, if its values have at most 4 bits. ``transposed``: [N, K]."""
    nodes: tuple[gs.Node, ...] = ()
    node = producer(tensor)
    if node is not None and node.op == "Transpose" and len(shape_of(tensor)) == 2:
        turned = list(node.attrs.get("perm", (1, 0))) == [1, 0]
        nodes, transposed, node = (node,), transposed != turned, producer(node.inputs[0])
    if node is None or node.op != "DequantizeLinear" or node.domain not in (None, "", "ai.onnx"):
        return None
    values, scale = constant(node.inputs[0]), constant(node.inputs[1])
    if values is None or scale is None or values.ndim != 2 or values.dtype.name not in ("int8", "uint8"):
        return None
    given = constant_input(node, 2)
    if (given is None) != (optional_input(node, 2) is None) or (given is not None and given.size != scale.size):
        return None
    zero = np.zeros(scale.shape, values.dtype) if given is None else given.astype(values.dtype).reshape(scale.shape)
    size = int(node.attrs.get("block_size", 0))
    along = int(transposed)  # the axis of the sum
    if size and int(node.attrs.get("axis", 1)) % 2 != along:
        return None
    if not size:
        if int(values.max(initial=0)) - int(values.min(initial=0)) > _FEW_STEPS:
            return None
        if scale.size > 1 and int(node.attrs.get("axis", 1)) % 2 == along:
            return None  # a scale for each element of the sum
        size = values.shape[along]
        shape = tuple(1 if axis == along else values.shape[axis] for axis in (0, 1))
        scale, zero = (np.broadcast_to(a.reshape(-1), (shape[1 - along],)).reshape(shape) for a in (scale, zero))
    if transposed:
        values, scale, zero = values.T, scale.T, zero.T
    if scale.shape != (-(-values.shape[0] // size), values.shape[1]):
        return None
    return BlockWeights(values, scale, zero, size, (node, *nodes))


def _replace(editor: Editor, node: gs.Node, weights: BlockWeights) -> None:
    origin, y = editor.origin(*weights.nodes, node), node.outputs[0]
    parts = {"values": weights.values, "scale": weights.scale, "zero": weights.zero}
    constants = [editor.constant(f"{node.name}_{name}", np.ascontiguousarray(part)) for name, part in parts.items()]
    attrs = {"block_size": weights.size}
    inputs = [node.inputs[0], *constants]
    new = editor.node(PRODUCT, inputs, y.dtype, shape_of(y), name=node.name, origin=origin, attrs=attrs)
    addend = optional_input(node, 2)
    if addend is not None:
        name = f"{node.name}_bias"
        new = editor.node("Add", [new, addend], y.dtype, shape_of(y), name=name, origin=editor.origin(node))
    editor.replace(y, new)


PACKED_WEIGHTS = Pass(
    "packed_weights",
    Phase.INTEGER,
    run,
    "weights of few bits, or with a scale per block, stay quantised in products of real activations",
    before=("dequantise_constants",),
    after=("integerise",),
    exact=False,  # a runtime may sum products in another order
)
