"""Converts the bytes of a TFLite file to an equivalent ONNX model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.model import IR_VERSION, OPSET
from match_core.load.states import KEY

from match_tflite.call import Call
from match_tflite.faults import damaged, not_installed, unsupported
from match_tflite.graph import TO_PLANES, GraphBuilder, Value
from match_tflite.model import Tensor
from match_tflite.states import Variable

if TYPE_CHECKING:
    import onnx


def tflite_to_onnx(content: bytes, source: str) -> onnx.ModelProto:
    """The main subgraph as ONNX. Graph inputs and outputs keep TFLite's names, shapes (images: NHWC) and types. Nodes
    are named after the first result of the operator that they implement; their metadata records the operator.

    Errors: ModelError MATCH-F020 (the package tflite is not installed), MATCH-F021 (damaged), MATCH-F022 (an operator
    that is not supported), MATCH-F023 (a tensor without a counterpart in ONNX).
    """
    try:
        import tflite  # noqa: F401
    except ImportError as error:
        raise not_installed() from error
    from match_tflite.read import read_file

    file = read_file(content, source)
    graph = GraphBuilder(file, source)
    for index in file.inputs:
        if file.tensors[index].is_handle:
            raise damaged(source, f"its input {file.tensors[index].name!r} names a variable")
        graph.define(index, Value(file.tensors[index].name, planes=False))
    _translate(graph)
    outputs = [_output(graph, index) for index in file.outputs]
    return _model(graph, [*outputs, *(_state_output(graph, state) for state in graph.states.changed())])


def _translate(graph: GraphBuilder) -> None:
    from match_tflite.int16 import INT16, is_int16
    from match_tflite.operators import OPERATORS

    for operator in graph.file.operators:
        graph.title = graph.file.tensors[operator.outputs[0]].name if operator.outputs else operator.kind
        call = Call(graph, operator)
        if operator.kind not in OPERATORS:
            raise unsupported(operator.kind, call.where, f"it is not one of the {len(OPERATORS)} supported operators")
        if not (is_int16(call) and INT16[operator.kind](call)):
            OPERATORS[operator.kind](call)


def _output(graph: GraphBuilder, index: int) -> onnx.ValueInfoProto:
    """A separate graph output for a tensor, even if it is an input or a constant."""
    tensor = graph.file.tensors[index]
    graph.title = tensor.name
    name = graph.read(index)
    given = index in graph.file.inputs or graph.known(index) is not None
    if given or graph.file.outputs.count(index) > 1 or name != tensor.name:
        name, inner = graph.unique(f"{tensor.name}_output"), name
        graph.node("Identity", [inner], [name])
    return _info(tensor, name)


def _state_output(graph: GraphBuilder, state: Variable) -> onnx.ValueInfoProto:
    """The state after an inference, as an output."""
    graph.title = state.name
    state.output = graph.unique(f"{state.name}_next")
    graph.node("Identity", [state.value], [state.output])
    return _info(state.tensor, state.output)


def _model(graph: GraphBuilder, outputs: list[onnx.ValueInfoProto]) -> onnx.ModelProto:
    import onnx

    if len(set(graph.file.inputs)) != len(graph.file.inputs):
        raise damaged(graph.source, "one tensor is two inputs of the graph")
    inputs = [_info(graph.file.tensors[index], graph.file.tensors[index].name) for index in graph.file.inputs]
    inputs += [_info(state.tensor, state.input) for state in graph.states.inputs()]
    ends = {value.name for value in (*inputs, *outputs)}
    made = {name for node in graph.nodes for name in node.output}
    inner = [info for info in _inner(graph) if info.name in made - ends]
    constants = list(graph.initializers.values())
    proto = onnx.helper.make_graph(graph.nodes, "tflite", inputs, outputs, constants, value_info=inner)
    opset = [onnx.helper.make_opsetid("", OPSET)]
    model = onnx.helper.make_model(proto, opset_imports=opset, ir_version=IR_VERSION, producer_name="TFLite")
    for state in graph.states.changed():
        model.metadata_props.add(key=f"{KEY}{state.input}", value=f"{state.initial} {state.output}")
    return model


def _inner(graph: GraphBuilder) -> list[onnx.ValueInfoProto]:
    """Types and shapes that the file states for results of operators: inference must agree with them."""
    return [_info(graph.file.tensors[i], name, planes) for i, planes, name in graph.values()]


def _info(tensor: Tensor, name: str, planes: bool = False) -> onnx.ValueInfoProto:
    import onnx

    shape = [tensor.shape[axis] for axis in TO_PLANES] if planes else list(tensor.shape)
    return onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(tensor.dtype), shape)
