"""Results that differ from the references and are right: each class has a precise rule (docs/fuzzing.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

from tests.conformance.suite import Array
from tests.fuzz.mutate import graphs

_NARROW = tuple(
    value for name, value in TensorProto.DataType.items() if name.startswith(("FLOAT8", "FLOAT6", "FLOAT4"))
)
#: A magnitude above this share of a type's largest number: sums of a few such numbers overflow in some order only.
NEAR = 2.0**-8


def explanation(path: Path, feeds: Sequence[Mapping[str, Array]]) -> str:
    """The class of a model whose results differ; empty if it is none. ``feeds``: the inputs of each sample."""
    import onnx.inliner

    model = onnx.load(path)
    if model.functions:
        model = onnx.inliner.inline_local_functions(model)
    rules = {"lengths": _lengths, "narrow zero points": _narrow_zero_points, "negative alpha of Celu": _negative_alpha}
    for name, rule in rules.items():
        if rule(model):
            return name
    return "overflow" if _near_overflow(model, feeds) else ""


def _lengths(model: onnx.ModelProto) -> bool:
    """A recurrent layer with lengths per sample: the standard's evaluator ignores them."""
    return any(
        node.op_type in ("RNN", "GRU", "LSTM") and len(node.input) > 4 and bool(node.input[4])
        for graph in graphs(model)
        for node in graph.node
    )


def _negative_alpha(model: onnx.ModelProto) -> bool:
    """A Celu with a negative alpha: the standard's formula and its function body differ. ONNX Runtime and match compute
    the body, the evaluator the formula."""
    return any(
        attribute.f < 0
        for graph in graphs(model)
        for node in graph.node
        for attribute in node.attribute
        if node.op_type == "Celu" and attribute.name == "alpha"
    )


def _narrow_zero_points(model: onnx.ModelProto) -> bool:
    """A zero point of a narrow floating-point type that is not the constant 0: the standard's formula has it, both
    references leave it out."""
    constants = {t.name: t for t in model.graph.initializer}
    kinds = {value.name: value.type.tensor_type.elem_type for value in (*model.graph.input, *model.graph.value_info)}
    for graph in graphs(model):
        for node in graph.node:
            if node.op_type in ("QuantizeLinear", "DequantizeLinear") and len(node.input) > 2 and node.input[2]:
                name = node.input[2]
                tensor = constants.get(name)
                if (tensor.data_type if tensor is not None else kinds.get(name, 0)) in _NARROW and (
                    tensor is None or bool(np.any(numpy_helper.to_array(tensor).astype(np.float32)))
                ):
                    return True
    return False


def _near_overflow(model: onnx.ModelProto, feeds: Sequence[Mapping[str, Array]]) -> bool:
    """A constant, an attribute or a result of any node is near the end of its type's range or infinite, and no constant
    is NaN."""
    import onnxruntime

    numbers = [numpy_helper.to_array(tensor) for tensor in model.graph.initializer]
    numbers += [np.float32(value) for value in _attributes(model)]
    if any(_real(array) and np.isnan(array.astype(np.float64)).any() for array in numbers):
        return False
    if any(_large(array) for array in numbers) or _large_bias(model):
        return True
    known = {value.name for value in model.graph.output}
    added = [name for node in model.graph.node for name in node.output if name and name not in known]
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in dict.fromkeys(added))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        given = {value.name for value in session.get_inputs()}
        for feed in feeds:
            found = session.run(None, {name: array for name, array in feed.items() if name in given})
            if any(_large(np.asarray(array)) for array in found):
                return True
    except Exception:  # of any type: ONNX Runtime cannot show the results, so nothing is explained
        return False
    return False


def _large_bias(model: onnx.ModelProto) -> bool:
    """A quantised layer has a bias that leaves its sums no room in 32 bits: match computes the sum, others wrap."""
    constants = {t.name: t for t in model.graph.initializer}
    biases = [
        constants[node.input[8]]
        for graph in graphs(model)
        for node in graph.node
        if node.op_type == "QLinearConv" and len(node.input) > 8 and node.input[8] in constants
    ]
    return any(np.abs(numpy_helper.to_array(bias).astype(np.int64)).max(initial=0) >= 1 << 30 for bias in biases)


def _attributes(model: onnx.ModelProto) -> Iterator[float]:
    for graph in graphs(model):
        for node in graph.node:
            for attribute in node.attribute:
                yield from (*([attribute.f] if attribute.type == attribute.FLOAT else []), *attribute.floats)


def _real(array: Array) -> bool:
    return array.dtype.kind == "f"


def _large(array: Array) -> bool:
    if not _real(array) or not array.size:
        return False
    sizes = np.abs(array[~np.isnan(array)])
    return bool(sizes.size) and float(sizes.max()) >= NEAR * float(np.finfo(array.dtype).max)


def output_steps(model: onnx.ModelProto) -> dict[str, float]:
    """The scale of each output that a DequantizeLinear with one constant scale returns: results of integer arithmetic
    may differ by one such step, as integer outputs may by one."""
    constants = {t.name: t for t in model.graph.initializer}
    found = {}
    for node in model.graph.node:
        scale = constants.get(node.input[1]) if node.op_type == "DequantizeLinear" and len(node.input) > 1 else None
        if scale is not None and np.prod(scale.dims) == 1 and scale.data_location != TensorProto.EXTERNAL:
            found[node.output[0]] = float(numpy_helper.to_array(scale).reshape(-1)[0])
    return {value.name: found[value.name] for value in model.graph.output if value.name in found}
