"""A deep network of one stored layer: copies of it behind each other, with weights of their own from a seed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

#: Matrices of weights have more values than this; tables and scales, which stay as they are, have fewer.
LARGE = 1000


def stack(model: onnx.ModelProto, copies: int, seed: int = 0) -> onnx.ModelProto:
    """``copies`` of a network with one input and one output of the same shape and type. The rows of int8 matrices are
    shuffled in each copy, so that no two have the same constants."""
    random = np.random.default_rng(seed)
    graph = model.graph
    begin, end = graph.input[0].name, graph.output[0].name
    nodes, constants = [], []
    for number in range(copies):
        names = {"": "", begin: begin if number == 0 else f"{end}_{number - 1}"}
        if number == copies - 1:
            names[end] = end
        for constant in graph.initializer:
            values = numpy_helper.to_array(constant)
            if values.dtype == np.int8 and values.ndim == 2 and values.size > LARGE:
                values = random.permutation(values, axis=0)
            constants.append(numpy_helper.from_array(values, f"{constant.name}_{number}"))
        for node in graph.node:
            copy = onnx.NodeProto()
            copy.CopyFrom(node)
            copy.name = f"{node.name}_{number}"
            copy.input[:] = [names.get(name, f"{name}_{number}") for name in node.input]
            copy.output[:] = [names.get(name, f"{name}_{number}") for name in node.output]
            nodes.append(copy)
    result = onnx.ModelProto()
    result.CopyFrom(model)
    for field, items in (("node", nodes), ("initializer", constants), ("value_info", [])):
        result.graph.ClearField(field)
        getattr(result.graph, field).extend(items)
    return result


def write_stack(layer: Path, copies: int, folder: Path) -> Path:
    """Write ``stack`` of a stored layer to ``folder``/model.onnx; returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(stack(onnx.load(layer), copies), folder / "model.onnx")
    return folder
