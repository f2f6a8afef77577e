"""Sizes that a model computes: where all inputs are static, so are they. Exporters write ``Shape -> Gather -> Concat ->
Reshape`` chains that inference alone does not always see through."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import onnx

#: Larger values are weights, not sizes.
_MAX_ELEMENTS = 4096
_NEVER = frozenset(
    ("RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Multinomial", "Bernoulli")
)


def fold_shapes(proto: onnx.ModelProto) -> onnx.ModelProto | None:
    """The model with small computed constants in place of the nodes that compute them; None where there are none.

    ``proto`` has inferred shapes. Nodes that compute graph outputs stay.
    """
    import onnx

    folding = _Folding(proto)
    kept = [node for node in proto.graph.node if not folding.fold(node)]
    if len(kept) == len(proto.graph.node):
        return None
    result = onnx.ModelProto()
    result.CopyFrom(proto)
    del result.graph.node[:]
    result.graph.node.extend(kept)
    used = {name for node in kept for name in node.input}
    result.graph.initializer.extend(
        onnx.numpy_helper.from_array(np.array(values, order="C"), name)
        for name, values in folding.found.items()
        if name in used
    )
    return result


class _Folding:
    """``found``: the values computed so far, by tensor name."""

    def __init__(self, proto: onnx.ModelProto) -> None:
        import onnx

        self._opsets = list(proto.opset_import)
        self._outputs = {value.name for value in proto.graph.output}
        self._known: dict[str, NDArray[np.generic]] = {
            tensor.name: onnx.numpy_helper.to_array(tensor)
            for tensor in proto.graph.initializer
            if int(np.prod(tensor.dims, dtype=np.int64)) <= _MAX_ELEMENTS
        }
        self._sizes = {
            value.name: [dim.dim_value for dim in value.type.tensor_type.shape.dim]
            for value in (*proto.graph.input, *proto.graph.value_info)
            if value.type.tensor_type.HasField("shape")
            and all(dim.HasField("dim_value") for dim in value.type.tensor_type.shape.dim)
        }
        self.found: dict[str, NDArray[np.generic]] = {}

    def fold(self, node: onnx.NodeProto) -> bool:
        """Whether the node's results are now known."""
        if node.domain not in ("", "ai.onnx") or node.op_type in _NEVER or set(node.output) & self._outputs:
            return False
        results = self._evaluate(node)
        if results is None or any(values.size > _MAX_ELEMENTS for values in results):
            return False
        values = dict(zip(node.output, results, strict=False))
        self._known.update(values)
        self.found.update(values)
        return True

    def _evaluate(self, node: onnx.NodeProto) -> list[NDArray[np.generic]] | None:
        import onnx
        from onnx.reference import ReferenceEvaluator

        feeds = {}
        if node.op_type in ("Shape", "Size") and node.input[0] in self._sizes:
            feeds = {node.input[0]: np.broadcast_to(np.float32(0), self._sizes[node.input[0]])}
        elif all(name in self._known for name in node.input if name):
            feeds = {name: self._known[name] for name in node.input if name}
        elif node.op_type != "Constant":
            return None
        inputs = [_typed(name, values) for name, values in feeds.items()]
        outputs = [onnx.ValueInfoProto(name=name) for name in node.output if name]
        graph = onnx.helper.make_graph([node], "node", inputs, outputs)
        try:
            model = onnx.helper.make_model(graph, opset_imports=self._opsets)
            return [np.asarray(values) for values in ReferenceEvaluator(model).run(None, feeds)]
        except (NotImplementedError, RuntimeError, TypeError, ValueError, IndexError):
            return None  # nothing is lost: the size stays unknown, and is reported with the node


def _typed(name: str, values: NDArray[np.generic]) -> onnx.ValueInfoProto:
    import onnx

    element = onnx.helper.np_dtype_to_tensor_dtype(values.dtype)
    return onnx.helper.make_tensor_value_info(name, element, values.shape)
