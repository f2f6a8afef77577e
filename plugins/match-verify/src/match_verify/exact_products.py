"""Integer products in ONNX Runtime that are exact on every x86 core.

On cores with AVX2 or AVX-512 but without VNNI, ONNX Runtime multiplies uint8 by int8 with an instruction that adds
pairs of products in 16 bits and saturates (vpmaddubsw): MatMulInteger and QLinearConv of uint8 activations and int8
weights are then wrong, and so is ConvInteger of int8 activations and uint8 weights. Products of other types are exact.
So weights change to the other 8-bit type, with an adjusted zero point, which gives the same sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.inference import inferred
from match_core.load.sound import graphs_of

if TYPE_CHECKING:
    import onnx
    from numpy.typing import NDArray

_HALF = 128


@dataclass(frozen=True, slots=True)
class _Weights:
    """Input positions of an operator's weights and of their zero point, and the type that saturates. ``other``: the
    position of the other factor's zero point if the operator does not support every pair of types; it must have the
    new type of the weights."""

    weights: int
    zero: int
    saturates: type[np.generic] = np.int8
    other: int | None = None


_OPERATORS = {
    ("", "MatMulInteger"): _Weights(1, 3),
    ("", "QLinearMatMul"): _Weights(3, 5),
    ("com.microsoft", "QGemm"): _Weights(3, 5, other=2),
    ("com.microsoft", "QAttention"): _Weights(1, 7),
    ("", "ConvInteger"): _Weights(1, 3, np.uint8),
    ("", "QLinearConv"): _Weights(3, 5, other=2),
}


@lru_cache(maxsize=1)
def saturates() -> bool:
    """Whether this machine's ONNX Runtime computes such products wrongly, tested with one small product."""
    import onnx
    import onnxruntime

    left, right = np.full((1, 64), 255, np.uint8), np.full((64, 16), 127, np.int8)
    node = onnx.helper.make_node("MatMulInteger", ["a", "b"], ["y"])
    ends = [
        onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(values.dtype), values.shape)
        for name, values in (("a", left), ("b", right))
    ]
    result = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.INT32, (1, 16))
    opset = [onnx.helper.make_opsetid("", 21)]
    graph = onnx.helper.make_graph([node], "probe", ends, [result])
    proto = onnx.helper.make_model(graph, opset_imports=opset, ir_version=10)
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    return bool((session.run(None, {"a": left, "b": right})[0] != 255 * 127 * 64).any())


def with_exact_products(proto: onnx.ModelProto) -> onnx.ModelProto:
    """The model itself if this machine multiplies exactly; else an equivalent one without products that saturate: local
    functions inlined, weights of the other 8-bit type. Weights of unknown type do not change."""
    if not saturates() or not _has_products(proto):
        return proto
    import onnx.inliner

    changed = inferred(onnx.inliner.inline_local_functions(proto) if proto.functions else proto)
    if changed is proto:
        changed = type(proto)()
        changed.CopyFrom(proto)
    _Moved(changed.graph).run()
    return changed


def _has_products(proto: onnx.ModelProto) -> bool:
    return any((node.domain, node.op_type) in _OPERATORS for body in graphs_of(proto) for node in body.node)


class _Moved:
    """Changes the types of weights in one graph and those inside of it; ``outer``: the graph that it is in."""

    def __init__(self, graph: onnx.GraphProto, outer: _Moved | None = None, suffix: str = "__moved") -> None:
        self.graph, self.suffix = graph, suffix
        self.constants: dict[str, onnx.TensorProto] = {
            **(outer.constants if outer else {}),
            **{tensor.name: tensor for tensor in graph.initializer},
        }
        self.types: dict[str, int] = {
            **(outer.types if outer else {}),
            **{i.name: i.type.tensor_type.elem_type for i in (*graph.input, *graph.value_info, *graph.output)},
        }
        self.nodes: list[onnx.NodeProto] = []
        self.made: dict[str, str] = {}

    def run(self) -> None:
        """Change the graph."""
        for number, node in enumerate(self.graph.node):
            for attribute in node.attribute:
                for index, inner in enumerate((*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs)):
                    _Moved(inner, self, f"{self.suffix}_{number}_{attribute.name}_{index}").run()
            place = _OPERATORS.get((node.domain, node.op_type))
            if place is not None and len(node.input) > place.weights:
                self._move(node, place)
            self.nodes.append(node)
        del self.graph.node[:]
        self.graph.node.extend(self.nodes)

    def _move(self, node: onnx.NodeProto, place: _Weights) -> None:
        import onnx

        weights = node.input[place.weights]
        zero = node.input[place.zero] if len(node.input) > place.zero else ""
        wrong = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(place.saturates))
        if self._type(weights) != wrong or (zero and self._type(zero) != wrong):
            return
        if place.other is not None and self._is_of(node, place.other, wrong):
            return
        node.input.extend([""] * (place.zero + 1 - len(node.input)))
        node.input[place.weights] = self._moved(weights)
        node.input[place.zero] = self._moved(zero) if zero else self._zero(place.saturates)

    def _is_of(self, node: onnx.NodeProto, place: int, element_type: int) -> bool:
        """Whether an input is absent, has that type, or has an unknown type."""
        name = node.input[place] if len(node.input) > place else ""
        return bool(name) and self._type(name) in (None, element_type)

    def _type(self, name: str) -> int | None:
        return self.constants[name].data_type if name in self.constants else self.types.get(name)

    def _moved(self, name: str) -> str:
        """The tensor in the other 8-bit type, with every value shifted by half of the range."""
        from onnx import numpy_helper

        if name not in self.made:
            self.made[name] = f"{name}{self.suffix}"
            if name in self.constants:
                values = _other(np.asarray(numpy_helper.to_array(self.constants[name])))
                self.graph.initializer.append(numpy_helper.from_array(values, self.made[name]))
            else:
                self._computed(name, self.made[name])
        return self.made[name]

    def _computed(self, name: str, result: str) -> None:
        from onnx import TensorProto, helper, numpy_helper

        signed = self.types[name] == TensorProto.INT8
        step = np.array(_HALF if signed else -_HALF, np.int32)
        self.graph.initializer.append(numpy_helper.from_array(step, f"{result}_step"))
        self.nodes += [
            helper.make_node("Cast", [name], [f"{result}_wide"], to=TensorProto.INT32),
            helper.make_node("Add", [f"{result}_wide", f"{result}_step"], [f"{result}_sum"]),
            helper.make_node("Cast", [f"{result}_sum"], [result], to=TensorProto.UINT8 if signed else TensorProto.INT8),
        ]

    def _zero(self, dtype: type[np.generic]) -> str:
        from onnx import numpy_helper

        name = f"zero_of_{np.dtype(dtype).name}{self.suffix}"
        if name not in self.made:
            self.made[name] = name
            self.graph.initializer.append(numpy_helper.from_array(_other(np.zeros((), dtype)), name))
        return name


def _other(values: NDArray[np.generic]) -> NDArray[np.generic]:
    signed = values.dtype == np.int8
    moved = values.astype(np.int32) + (_HALF if signed else -_HALF)
    return np.asarray(moved, np.uint8 if signed else np.int8)
