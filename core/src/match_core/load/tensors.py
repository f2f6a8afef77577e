"""Tensors of the imported graph: element types as numpy types, and tensors without elements as constants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import onnx
    import onnx_graphsurgeon as gs


def import_graph(proto: onnx.ModelProto) -> gs.Graph:
    """The proto as a graph whose tensors have numpy's element types."""
    import onnx_graphsurgeon as gs
    from onnx_graphsurgeon.logger import G_LOGGER

    severity = G_LOGGER.severity
    G_LOGGER.severity = G_LOGGER.ERROR  # it warns about the types that are set here
    try:
        graph = gs.import_onnx(proto)
        _set_types(graph)
    finally:
        G_LOGGER.severity = severity
    return graph


def _set_types(graph: gs.Graph) -> None:
    """Replace element types that numpy lacks (bfloat16, the kinds of float8, integers of 2 and 4 bits) with the types
    of ml_dtypes, as onnx does (in place)."""
    import onnx
    import onnx_graphsurgeon as gs

    for tensor in graph.tensors().values():
        if isinstance(tensor, gs.Constant):
            if isinstance(tensor.dtype, int):
                tensor.values = np.asarray(tensor.values)  # loads them, with their type
        elif isinstance(tensor.dtype, int):
            tensor.dtype = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(tensor.dtype))


def empty_inputs(proto: onnx.ModelProto) -> None:
    """Replace graph inputs without elements with constants, so that shapes that depend on them are known (in
    place)."""
    import onnx

    constants = {tensor.name for tensor in proto.graph.initializer}
    renamed = {}
    for value in proto.graph.input:
        tensor = value.type.tensor_type
        empty = any(dim.HasField("dim_value") and dim.dim_value == 0 for dim in tensor.shape.dim)
        if value.name in constants or not empty or not all(dim.HasField("dim_value") for dim in tensor.shape.dim):
            continue
        renamed[value.name] = f"{value.name}_empty"
        proto.graph.initializer.append(
            onnx.TensorProto(
                name=renamed[value.name],
                data_type=tensor.elem_type,
                dims=[dim.dim_value for dim in tensor.shape.dim],
                raw_data=b"",
            )
        )
    rename_reads(proto.graph, renamed)


def rename_reads(graph: onnx.GraphProto, renamed: Mapping[str, str]) -> None:
    """Rename inputs of nodes, including nodes of subgraphs (in place)."""
    for node in graph.node:
        for position, name in enumerate(node.input):
            node.input[position] = renamed.get(name, name)
        for attribute in node.attribute:
            for inner in (*((attribute.g,) if attribute.HasField("g") else ()), *attribute.graphs):
                rename_reads(inner, renamed)


#: The number of outputs of recurrent layers.
_RECURRENT = {"RNN": 2, "GRU": 2, "LSTM": 3}


def name_outputs(proto: onnx.ModelProto) -> None:
    """Name the outputs of recurrent layers that a model omits: the kernels store the state there (in place)."""
    for node in proto.graph.node:
        if node.domain in ("", "ai.onnx") and node.op_type in _RECURRENT:
            node.output.extend([""] * (_RECURRENT[node.op_type] - len(node.output)))
            for position, name in enumerate(node.output):
                node.output[position] = name or f"{node.name}/output_{position}"


def empty_constants(graph: gs.Graph) -> None:
    """Replace tensors without elements with constants, so that they need no kernel and no buffer (in place). A graph
    output becomes a copy of the constant."""
    import onnx_graphsurgeon as gs

    outputs = {id(tensor) for tensor in graph.outputs}
    names = {*graph.tensors(), *(node.name for node in graph.nodes)}

    def fresh(name: str) -> str:
        while name in names:
            name += "_"
        names.add(name)
        return name

    for tensor in list(graph.tensors().values()):
        if isinstance(tensor, gs.Constant) or not tensor.shape or 0 not in tensor.shape:
            continue
        constant = gs.Constant(fresh(f"{tensor.name}_empty"), np.zeros(tensor.shape, tensor.dtype))
        if id(tensor) in outputs:
            for producer in list(tensor.inputs):
                place = next(i for i, made in enumerate(producer.outputs) if made is tensor)
                producer.outputs[place] = gs.Variable(fresh(f"{tensor.name}_unread"), tensor.dtype, tensor.shape)
            graph.nodes.append(gs.Node("Identity", fresh(f"{tensor.name}_copy"), {}, [constant], [tensor]))
        for consumer in list(tensor.outputs):
            for position, read in enumerate(consumer.inputs):
                if read is tensor:
                    consumer.inputs[position] = constant
