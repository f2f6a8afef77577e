"""From the bytes of a TFLite file to an ONNX model that means the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.frontend.tflite.call import Call
from match_core.frontend.tflite.faults import damaged, not_installed, unsupported
from match_core.frontend.tflite.graph import TO_PLANES, GraphBuilder, Value
from match_core.frontend.tflite.model import Tensor
from match_core.ir.model import IR_VERSION, OPSET

if TYPE_CHECKING:
    import onnx

#: Bytes 4 to 7 of every TFLite file: the identifier of its schema.
_IDENTIFIER = b"TFL3"


def is_tflite(content: bytes) -> bool:
    """Whether the bytes say of themselves that they are a TFLite file."""
    return content[4:8] == _IDENTIFIER


def tflite_to_onnx(content: bytes, source: str) -> onnx.ModelProto:
    """The main subgraph as ONNX. Graph inputs and outputs keep TFLite's names, shapes (images: NHWC) and types. Nodes
    are called as the first result of the operator that they stand for; their metadata tell it.

    Errors: ModelError MATCH-F020 (the package tflite is not installed), MATCH-F021 (damaged), MATCH-F022 (an operator
    that is not translated), MATCH-F023 (a tensor that has no counterpart).
    """
    try:
        import tflite  # noqa: F401
    except ImportError as error:
        raise not_installed() from error
    from match_core.frontend.tflite.read import read_file

    file = read_file(content, source)
    graph = GraphBuilder(file, source)
    for index in file.inputs:
        graph.define(index, Value(file.tensors[index].name, planes=False))
    _translate(graph)
    return _model(graph, [_output(graph, index) for index in file.outputs])


def _translate(graph: GraphBuilder) -> None:
    from match_core.frontend.tflite.operators import OPERATORS

    for operator in graph.file.operators:
        graph.title = graph.file.tensors[operator.outputs[0]].name
        call = Call(graph, operator)
        if operator.kind not in OPERATORS:
            raise unsupported(operator.kind, call.where, f"{len(OPERATORS)} operators are known, it is none of them")
        OPERATORS[operator.kind](call)


def _output(graph: GraphBuilder, index: int) -> onnx.ValueInfoProto:
    """A graph output of its own for a tensor, also where it is an input or a constant."""
    tensor = graph.file.tensors[index]
    graph.title = tensor.name
    name = graph.read(index)
    given = index in graph.file.inputs or graph.known(index) is not None
    if given or graph.file.outputs.count(index) > 1 or name != tensor.name:
        name, inner = graph.unique(f"{tensor.name}_output"), name
        graph.node("Identity", [inner], [name])
    return _info(tensor, name)


def _model(graph: GraphBuilder, outputs: list[onnx.ValueInfoProto]) -> onnx.ModelProto:
    import onnx

    if len(set(graph.file.inputs)) != len(graph.file.inputs):
        raise damaged(graph.source, "a tensor is an input twice")
    inputs = [_info(graph.file.tensors[index], graph.file.tensors[index].name) for index in graph.file.inputs]
    ends = {value.name for value in (*inputs, *outputs)}
    made = {name for node in graph.nodes for name in node.output}
    inner = [info for info in _inner(graph) if info.name in made - ends]
    constants = list(graph.initializers.values())
    proto = onnx.helper.make_graph(graph.nodes, "tflite", inputs, outputs, constants, value_info=inner)
    opset = [onnx.helper.make_opsetid("", OPSET)]
    return onnx.helper.make_model(proto, opset_imports=opset, ir_version=IR_VERSION, producer_name="TFLite")


def _inner(graph: GraphBuilder) -> list[onnx.ValueInfoProto]:
    """Types and shapes that the file states for what operators compute: inference must agree with them."""
    return [_info(graph.file.tensors[i], name, planes) for i, planes, name in graph.values()]


def _info(tensor: Tensor, name: str, planes: bool = False) -> onnx.ValueInfoProto:
    import onnx

    shape = [tensor.shape[axis] for axis in TO_PLANES] if planes else list(tensor.shape)
    return onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(tensor.dtype), shape)
