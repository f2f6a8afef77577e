"""Prepares models with narrow tensors for ONNX Runtime: float32 operators, every result rounded to its type, and inputs
and outputs of types that numpy supports.

ONNX Runtime has few float16 and bfloat16 kernels on the CPU, and none of narrower types. Between operators without one
it keeps float32 values and omits the roundings that the model requires, so the reference makes them explicit.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    import onnx

_FLOAT, _FLOAT16 = 1, 10  # TensorProto element types
#: Operators that read or write codes by design.
_TYPED = frozenset(("Cast", "QuantizeLinear", "DequantizeLinear", "BitCast"))


@lru_cache(maxsize=1)
def _carriers() -> Mapping[int, int]:
    """The standard's element types that numpy lacks, each with a type that holds all of its values."""
    from onnx import TensorProto

    named = dict(TensorProto.DataType.items())
    result = {}
    for name, number in named.items():
        if name.startswith(("BFLOAT", "FLOAT8", "FLOAT6", "FLOAT4")):
            result[number] = TensorProto.FLOAT
        elif name in ("INT4", "INT2", "UINT4", "UINT2"):
            result[number] = TensorProto.UINT8 if name.startswith("U") else TensorProto.INT8
    return result


def _rounded_types() -> frozenset[int]:
    """float16 and all narrower or less precise types."""
    return frozenset({_FLOAT16, *(number for number, carrier in _carriers().items() if carrier == _FLOAT)})


def has_narrow(proto: onnx.ModelProto) -> bool:
    """Whether any declared tensor or any result of a Cast has one of these types."""
    graph, types = proto.graph, _rounded_types()
    infos = (*graph.input, *graph.output, *graph.value_info)
    if any(info.type.tensor_type.elem_type in types for info in infos):
        return True
    if any(tensor.data_type in types for tensor in graph.initializer):
        return True
    return any(attribute.name == "to" and attribute.i in types for node in graph.node for attribute in node.attribute)


def rounded_narrow(proto: onnx.ModelProto) -> onnx.ModelProto:
    """A copy without local functions in which every operator on such tensors is a float32 operator between Casts."""
    import onnx
    from onnx import helper, inliner

    model = onnx.shape_inference.infer_shapes(inliner.inline_local_functions(proto))
    narrow = _narrow(model.graph)
    nodes: list[onnx.NodeProto] = []
    wide: dict[str, str] = {}
    for node in model.graph.node:
        if node.op_type in _TYPED or not any(name in narrow for name in (*node.input, *node.output)):
            nodes.append(node)
            continue
        changed = onnx.NodeProto()
        changed.CopyFrom(node)
        for position, name in enumerate(node.input):
            if name not in narrow:
                continue
            if name not in wide:
                wide[name] = f"{name}/float32"
                nodes.append(helper.make_node("Cast", [name], [wide[name]], to=_FLOAT))
            changed.input[position] = wide[name]
        nodes.append(changed)
        for position, name in enumerate(node.output):
            if name in narrow:
                changed.output[position] = f"{name}/exact"
                nodes.append(helper.make_node("Cast", [changed.output[position]], [name], to=narrow[name]))
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    del model.graph.value_info[:]
    return model


def _narrow(graph: onnx.GraphProto) -> Mapping[str, int]:
    """Tensors of these types: types by name."""
    types = _rounded_types()
    infos: Iterable[onnx.ValueInfoProto] = (*graph.input, *graph.output, *graph.value_info)
    named = {info.name: int(info.type.tensor_type.elem_type) for info in infos}
    named |= {tensor.name: int(tensor.data_type) for tensor in graph.initializer}
    return {name: kind for name, kind in named.items() if kind in types}


def with_numpy_ends(proto: onnx.ModelProto) -> tuple[onnx.ModelProto, Mapping[str, np.dtype[np.generic]]]:
    """A copy whose inputs and outputs have types that numpy supports, and the original types of the changed ones by
    name. A Cast follows each changed input and precedes each changed output."""
    import onnx
    from onnx import helper

    carriers, model = _carriers(), onnx.ModelProto()
    model.CopyFrom(proto)
    constants = {tensor.name for tensor in proto.graph.initializer}
    stated: dict[str, np.dtype[np.generic]] = {}
    renamed: dict[str, str] = {}
    before: list[onnx.NodeProto] = []
    after: list[onnx.NodeProto] = []
    inputs = {value.name for value in model.graph.input}
    for value in (*model.graph.input, *model.graph.output):
        tensor = value.type.tensor_type
        if tensor.elem_type not in carriers or value.name in constants:
            continue
        stated[value.name] = np.dtype(helper.tensor_dtype_to_np_dtype(tensor.elem_type))
        renamed[value.name] = f"{value.name}/code"
        if value.name in inputs:
            before.append(helper.make_node("Cast", [value.name], [renamed[value.name]], to=tensor.elem_type))
        else:
            after.append(helper.make_node("Cast", [renamed[value.name]], [value.name], to=carriers[tensor.elem_type]))
        tensor.elem_type = carriers[tensor.elem_type]
    for node in model.graph.node:
        for names in (node.input, node.output):
            for position, name in enumerate(names):
                names[position] = renamed.get(name, name)
    for info in model.graph.value_info:
        info.name = renamed.get(info.name, info.name)
    nodes = [*before, *model.graph.node, *after]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    return model, stated
