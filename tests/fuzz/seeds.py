"""The models that are mutated: small ones of several operators made here, and the node tests of the standard."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tests.conformance.suite import node_cases
from tests.fuzz.networks import NETWORKS

_OPSET = 17
Nodes = list[onnx.NodeProto]


def _constants(seed: int, **shapes: tuple[int, ...]) -> list[onnx.TensorProto]:
    random = np.random.default_rng(seed)
    return [
        numpy_helper.from_array(random.normal(size=shape).astype(np.float32), name) for name, shape in shapes.items()
    ]


def _model(
    nodes: Nodes,
    constants: list[onnx.TensorProto],
    shapes: tuple[tuple[int, ...], tuple[int, ...]],
    kind: int = TensorProto.FLOAT,
    functions: tuple[onnx.FunctionProto, ...] = (),
) -> onnx.ModelProto:
    values = [helper.make_tensor_value_info(n, kind, s) for n, s in zip(("x", "y"), shapes, strict=True)]
    graph = helper.make_graph(nodes, "seed", values[:1], values[1:], constants)
    domains = {"": _OPSET, **{function.domain: 1 for function in functions}}
    opsets = [helper.make_opsetid(name, version) for name, version in domains.items()]
    return helper.make_model(graph, opset_imports=opsets, functions=functions, ir_version=9)


def _convolutions() -> onnx.ModelProto:
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], "conv", pads=[1, 1, 1, 1], kernel_shape=[3, 3]),
        helper.make_node("Relu", ["c"], ["r"], "relu"),
        helper.make_node("MaxPool", ["r"], ["p"], "pool", kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1),
        helper.make_node("GlobalAveragePool", ["p"], ["g"], "mean"),
        helper.make_node("Flatten", ["g"], ["f"], "flatten"),
        helper.make_node("Gemm", ["f", "d", "e"], ["y"], "dense", transB=1, alpha=0.5),
    ]
    return _model(nodes, _constants(1, w=(4, 2, 3, 3), b=(4,), d=(5, 4), e=(5,)), ((1, 2, 6, 6), (1, 5)))


def _quantised() -> onnx.ModelProto:
    random = np.random.default_rng(2)
    values: dict[str, np.ndarray] = {
        "s": np.float32(0.05),
        "z": np.int8(-3),
        "w": random.integers(-127, 128, (4, 2, 3, 3)).astype(np.int8),
        "ws": random.uniform(0.01, 0.02, 4).astype(np.float32),
        "wz": np.zeros(4, np.int8),
        "b": random.integers(-500, 500, 4).astype(np.int32),
        "bs": (random.uniform(0.01, 0.02, 4) * 0.05).astype(np.float32),
        "bz": np.zeros(4, np.int32),
        "os": np.float32(0.1),
        "oz": np.int8(4),
    }
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "s", "z"], ["xf"], "in"),
        helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wf"], "weights", axis=0),
        helper.make_node("DequantizeLinear", ["b", "bs", "bz"], ["bf"], "bias", axis=0),
        helper.make_node("Conv", ["xf", "wf", "bf"], ["c"], "conv", pads=[1, 1, 1, 1], strides=[2, 2], group=1),
        helper.make_node("QuantizeLinear", ["c", "os", "oz"], ["q"], "out"),
        helper.make_node("DequantizeLinear", ["q", "os", "oz"], ["qf"], "again"),
        helper.make_node("HardSwish", ["qf"], ["h"], "swish"),
        helper.make_node("QuantizeLinear", ["h", "os", "oz"], ["y"], "last"),
    ]
    constants = [numpy_helper.from_array(np.asarray(value), name) for name, value in values.items()]
    return _model(nodes, constants, ((1, 2, 6, 6), (1, 4, 3, 3)), TensorProto.INT8)


def _attention() -> onnx.ModelProto:
    nodes = [
        helper.make_node("LayerNormalization", ["x", "g", "b"], ["n"], "norm", axis=-1, epsilon=1e-5),
        helper.make_node("MatMul", ["n", "q"], ["a"], "query"),
        helper.make_node("Transpose", ["a"], ["t"], "transpose", perm=[0, 2, 1]),
        helper.make_node("MatMul", ["a", "t"], ["m"], "scores"),
        helper.make_node("Softmax", ["m"], ["s"], "softmax", axis=-1),
        helper.make_node("MatMul", ["s", "n"], ["o"], "mix"),
        helper.make_node("Add", ["o", "x"], ["y"], "residual"),
    ]
    return _model(nodes, _constants(3, g=(8,), b=(8,), q=(8, 8)), ((1, 4, 8), (1, 4, 8)))


def _shapes() -> onnx.ModelProto:
    ints = {"starts": [0, 1], "ends": [4, 5], "axes": [1, 2], "to": [1, 4, 4], "pads": [0, 1, 0, 0, 1, 0], "i": [1, 0]}
    constants = [numpy_helper.from_array(np.array(values, np.int64), name) for name, values in ints.items()]
    nodes = [
        helper.make_node("Slice", ["x", "starts", "ends", "axes"], ["a"], "slice"),
        helper.make_node("Reshape", ["a", "to"], ["r"], "reshape", allowzero=0),
        helper.make_node("Pad", ["r", "pads"], ["p"], "pad", mode="reflect"),
        helper.make_node("Split", ["p"], ["s", "t"], "split", axis=1),
        helper.make_node("Concat", ["t", "s"], ["c"], "concat", axis=2),
        helper.make_node("Gather", ["c", "i"], ["g"], "gather", axis=1),
        helper.make_node("ReduceMean", ["g"], ["y"], "mean", axes=[2], keepdims=0),
    ]
    return _model(nodes, constants, ((1, 4, 6), (1, 2)))


def _recurrent() -> onnx.ModelProto:
    nodes = [
        helper.make_node("LSTM", ["x", "w", "r", "b"], ["", "h"], "lstm", hidden_size=3, direction="forward"),
        helper.make_node("Squeeze", ["h"], ["y"], "squeeze"),
    ]
    return _model(nodes, _constants(4, w=(1, 12, 2), r=(1, 12, 3), b=(1, 24)), ((4, 1, 2), (3,)))


def _branch(name: str, op: str) -> onnx.GraphProto:
    value = helper.make_tensor_value_info(name, TensorProto.FLOAT, (1, 4))
    return helper.make_graph([helper.make_node(op, ["x"], [name], f"inner_{op}")], name, [], [value])


def _control() -> onnx.ModelProto:
    given = [helper.make_tensor_value_info(n, t, s) for n, t, s in (("i", 7, ()), ("on", 9, ()), ("state", 1, (1, 4)))]
    nodes = [
        helper.make_node("Identity", ["on"], ["on_out"], "go"),
        helper.make_node("Mul", ["state", "k"], ["next"], "step"),
    ]
    wanted = [helper.make_tensor_value_info(n, t, s) for n, t, s in (("on_out", 9, ()), ("next", 1, (1, 4)))]
    body = helper.make_graph(nodes, "body", given, wanted)
    state = [helper.make_tensor_value_info(name, 1, (4,)) for name in ("sum", "row", "sum_out", "row_out")]
    scan = [
        helper.make_node("Add", ["sum", "row"], ["sum_out"], "sum"),
        helper.make_node("Relu", ["row"], ["row_out"], "row"),
    ]
    rows = helper.make_graph(scan, "rows", state[:2], state[2:])
    branches = {"then_branch": _branch("a", "Relu"), "else_branch": _branch("b", "Neg")}
    constants = [
        numpy_helper.from_array(np.array(True), "yes"),
        numpy_helper.from_array(np.array(3, np.int64), "trips"),
        *_constants(5, k=(1, 4), start=(4,)),
    ]
    outer = [
        helper.make_node("If", ["yes"], ["c"], "if", **branches),
        helper.make_node("Loop", ["trips", "yes", "c"], ["d"], "loop", body=body),
        helper.make_node("Scan", ["start", "d"], ["total", "y"], "scan", body=rows, num_scan_inputs=1),
    ]
    return _model(outer, constants, ((1, 4), (1, 4)))


def _functions() -> onnx.ModelProto:
    inner = [
        helper.make_node("Constant", [], ["half"], "half", value=numpy_helper.from_array(np.array([0.5], np.float32))),
        helper.make_node("Mul", ["v", "half"], ["m"], "scale"),
        helper.make_node("LeakyRelu", ["m"], ["r"], "leaky", alpha=0.2),
    ]
    opsets = [helper.make_opsetid("", _OPSET)]
    made = helper.make_function("own", "Half", ["v"], ["r"], inner, opsets)
    nodes = [
        helper.make_node("Half", ["x"], ["h"], "first", domain="own"),
        helper.make_node("Half", ["h"], ["y"], "second", domain="own"),
    ]
    return _model(nodes, [], ((1, 4), (1, 4)), functions=(made,))


MADE: dict[str, Callable[[], onnx.ModelProto]] = {
    "convolutions": _convolutions,
    "quantised": _quantised,
    "attention": _attention,
    "shapes": _shapes,
    "recurrent": _recurrent,
    "control": _control,
    "functions": _functions,
    **NETWORKS,
}


@lru_cache(maxsize=1)
def made_seeds() -> tuple[tuple[str, bytes], ...]:
    """The models made here, by name."""
    return tuple((name, make().SerializeToString(deterministic=True)) for name, make in MADE.items())


@lru_cache(maxsize=1)
def all_seeds() -> tuple[tuple[str, bytes], ...]:
    """The models made here and the static node tests of the standard."""
    found = ((case.name, case.model) for case in node_cases() if not case.left_out)
    return (*made_seeds(), *((name, model.SerializeToString(deterministic=True)) for name, model in found))
