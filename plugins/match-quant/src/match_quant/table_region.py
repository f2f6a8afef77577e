"""Computes a region of element-wise operators for all values of an 8-bit tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.reader import Quant, constant, quant_constant, quant_of
from numpy.typing import NDArray

from match_quant.tables import all_values

if TYPE_CHECKING:
    import onnx
    import onnx_graphsurgeon as gs


def evaluate(
    nodes: Sequence[gs.Node], starts: Sequence[gs.Node], end: gs.Tensor, quant: Quant
) -> NDArray[np.float64] | None:
    """The float tensor ``end`` for every stored value that ``starts`` (DequantizeLinear nodes) read, in order, computed
    in float32 (float16 if the model uses it). None if a result is not a number. ``nodes``: the nodes in between in
    topological order, including QuantizeLinear and DequantizeLinear."""
    x = all_values(quant).astype(starts[0].outputs[0].dtype)
    if any(end is start.outputs[0] for start in starts):
        return x.astype(np.float64)
    from onnx.reference import ReferenceEvaluator

    evaluator = ReferenceEvaluator(_Copy(starts, x).model(nodes, end))
    with np.errstate(all="ignore"):
        (result,) = evaluator.run(None, {"x": x})
    values = np.asarray(result, np.float64).reshape(-1)
    return values if values.size == x.size and not np.any(np.isnan(values)) else None


def constant_of(tensor: gs.Tensor) -> NDArray[np.generic] | None:
    """The values of a constant, dequantised or not; None for computed tensors."""
    stored = quant_constant(tensor)
    return stored.real().astype(tensor.dtype) if stored is not None else constant(tensor)


class _Copy:
    """The region on one axis of 256. Floats hold quantised tensors, which are exact there: infinities and values
    outside 32 bits saturate, and NaN is propagated and found at the end."""

    def __init__(self, starts: Sequence[gs.Node], x: NDArray[np.generic]) -> None:
        import onnx_graphsurgeon as gs

        self._x = gs.Variable("x", dtype=x.dtype, shape=[x.size])
        self._fresh: dict[int, gs.Tensor] = {id(start.outputs[0]): self._x for start in starts}
        self._nodes: list[gs.Node] = []

    def model(self, nodes: Sequence[gs.Node], end: gs.Tensor) -> onnx.ModelProto:
        """The region as a model with input ``x``."""
        import onnx_graphsurgeon as gs
        from match_core.contract.model import IR_VERSION, OPSET

        for node in nodes:
            self._add(node)
        graph = gs.Graph(self._nodes, [self._x], [self._fresh[id(end)]], name="region", opset=OPSET)
        proto: onnx.ModelProto = gs.export_onnx(graph)
        proto.ir_version = IR_VERSION
        return proto

    def _add(self, node: gs.Node) -> None:
        x, y = node.inputs[0], node.outputs[0]
        if node.op == "QuantizeLinear":
            quant = quant_of(node, y.dtype)
            assert quant is not None
            limits = np.iinfo(quant.dtype)
            rounded = self._apply("Round", self._apply("Div", self._tensor(x), quant.scale))
            moved = self._apply("Add", rounded, float(quant.zero))
            self._fresh[id(y)] = self._apply("Clip", moved, float(limits.min), float(limits.max))
        elif node.op == "DequantizeLinear":
            quant = quant_of(node, x.dtype)
            assert quant is not None
            moved = self._apply("Sub", self._tensor(x), float(quant.zero))
            self._fresh[id(y)] = self._apply("Mul", moved, quant.scale)
        else:
            self._fresh[id(y)] = self._call(
                node.op, dict(node.attrs), [self._tensor(given) for given in node.inputs], y.dtype
            )

    def _apply(self, op: str, x: gs.Tensor, *numbers: float) -> gs.Tensor:
        import onnx_graphsurgeon as gs

        first = len(self._nodes)
        constants = [gs.Constant(f"n{first}_{i}", np.array(number, x.dtype)) for i, number in enumerate(numbers)]
        return self._call(op, {}, [x, *constants], x.dtype)

    def _call(self, op: str, attrs: dict[str, object], inputs: list[gs.Tensor], dtype: object) -> gs.Tensor:
        import onnx_graphsurgeon as gs

        name = f"v{len(self._nodes)}"
        result = gs.Variable(name, dtype=dtype, shape=self._x.shape)
        self._nodes.append(gs.Node(op, f"n_{name}", attrs, inputs, [result]))
        return result

    def _tensor(self, tensor: gs.Tensor) -> gs.Tensor:
        import onnx_graphsurgeon as gs

        if tensor.is_empty():
            return gs.Variable.empty()
        if id(tensor) not in self._fresh:
            values = constant_of(tensor)
            assert values is not None
            self._fresh[id(tensor)] = gs.Constant(f"c{len(self._fresh)}", values.reshape(()))
        return self._fresh[id(tensor)]
