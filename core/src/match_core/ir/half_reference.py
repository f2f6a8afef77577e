"""Models with float16 tensors as ONNX Runtime is to run them: float32 operators, every result rounded to float16.

ONNX Runtime has few float16 kernels on the CPU. Between operators without one it keeps float32 values and drops the
roundings that the model asks for, so the reference has to spell them out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    import onnx

_FLOAT, _FLOAT16 = 1, 10  # TensorProto element types


def has_halves(proto: onnx.ModelProto) -> bool:
    """Whether any tensor that the model names or makes by a Cast is float16."""
    graph = proto.graph
    infos = (*graph.input, *graph.output, *graph.value_info)
    if any(info.type.tensor_type.elem_type == _FLOAT16 for info in infos):
        return True
    if any(tensor.data_type == _FLOAT16 for tensor in graph.initializer):
        return True
    return any(
        attribute.name == "to" and attribute.i == _FLOAT16 for node in graph.node for attribute in node.attribute
    )


def rounded_halves(proto: onnx.ModelProto) -> onnx.ModelProto:
    """A copy without local functions in which every operator on float16 tensors is a float32 operator between Casts."""
    import onnx
    from onnx import helper, inliner

    model = onnx.shape_inference.infer_shapes(inliner.inline_local_functions(proto))
    halves = _halves(model.graph)
    nodes: list[onnx.NodeProto] = []
    wide: dict[str, str] = {}
    for node in model.graph.node:
        if node.op_type == "Cast" or not any(name in halves for name in node.input):
            nodes.append(node)
            continue
        changed = onnx.NodeProto()
        changed.CopyFrom(node)
        for position, name in enumerate(node.input):
            if name not in halves:
                continue
            if name not in wide:
                wide[name] = f"{name}/float32"
                nodes.append(helper.make_node("Cast", [name], [wide[name]], to=_FLOAT))
            changed.input[position] = wide[name]
        nodes.append(changed)
        for position, name in enumerate(node.output):
            if name in halves:
                changed.output[position] = f"{name}/exact"
                nodes.append(helper.make_node("Cast", [changed.output[position]], [name], to=_FLOAT16))
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    del model.graph.value_info[:]
    return model


def _halves(graph: onnx.GraphProto) -> frozenset[str]:
    infos: Iterable[onnx.ValueInfoProto] = (*graph.input, *graph.output, *graph.value_info)
    named = {info.name for info in infos if info.type.tensor_type.elem_type == _FLOAT16}
    return frozenset(named | {tensor.name for tensor in graph.initializer if tensor.data_type == _FLOAT16})
