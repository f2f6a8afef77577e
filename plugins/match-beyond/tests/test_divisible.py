"""Operators on some of their rows, run by ONNX Runtime, compute these rows of what the whole operator computes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
import onnx_graphsurgeon as gs
import onnxruntime
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from match_beyond.divisible import divided, pointwise, rule_of, turned_axes
from match_beyond.rows import Rows, row_axis
from onnx import helper, numpy_helper

Array = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(3)


def floats(*shape: int) -> Array:
    return RANDOM.uniform(-2, 2, shape).astype(np.float32)


def bytes_of(*shape: int) -> Array:
    return RANDOM.integers(-9, 9, shape).astype(np.int8)


def floats_of(*values: float) -> Array:
    return np.asarray(values, np.float32)


def integers(*values: int) -> Array:
    return np.asarray(values, np.int64)


@dataclass(frozen=True)
class Case:
    """An operator with its inputs; ``constant``: positions of those that are; ``axis``: of rows of input and result,
    where it is not ``row_axis``."""

    op: str
    inputs: tuple[Array | None, ...]
    constant: tuple[int, ...] = ()
    attributes: dict[str, Any] = field(default_factory=dict)
    axis: int | None = None

    @property
    def fed(self) -> tuple[int, ...]:
        return tuple(n for n, values in enumerate(self.inputs) if values is not None and n not in self.constant)


PICTURE, SEQUENCE = (1, 9, 6, 4), (1, 7, 8)
POOL = {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 0]}
PADS = integers(0, 2, 1, 0, 0, 1, 0, 3)
DIVISIBLE = {
    "Relu": Case("Relu", (floats(*PICTURE),)),
    "Sigmoid of a sequence": Case("Sigmoid", (floats(*SEQUENCE),)),
    "Add": Case("Add", (floats(*PICTURE), floats(*PICTURE))),
    "Mul by channel": Case("Mul", (floats(*PICTURE), floats(4)), (1,)),
    "Clip": Case("Clip", (floats(*PICTURE), np.float32(-1), np.float32(1)), (1, 2)),
    "PRelu": Case("PRelu", (floats(*PICTURE), floats(1, 1, 4)), (1,)),
    "QuantizeLinear": Case("QuantizeLinear", (floats(*PICTURE), np.float32(0.1), np.int8(3)), (1, 2)),
    "QuantizeLinear of planes": Case("QuantizeLinear", (floats(*PICTURE), np.float32(0.1), np.int8(3)), (1, 2), {}, 2),
    "DequantizeLinear by channel": Case(
        "DequantizeLinear", (bytes_of(*PICTURE), floats(4), np.zeros(4, np.int8)), (1, 2), {"axis": 3}
    ),
    "Pad": Case("Pad", (floats(*PICTURE), PADS), (1,)),
    "Pad of a sequence": Case("Pad", (floats(*SEQUENCE), integers(0, 1, 0, 0, 2, 0)), (1,)),
    "Slice of channels": Case("Slice", (floats(*PICTURE), *map(integers, (1, 3, 3))), (1, 2, 3)),
    "Slice of rows": Case("Slice", (floats(*PICTURE), *map(integers, (2, 8, 1))), (1, 2, 3)),
    "Slice from the end": Case(
        "Slice", (floats(*PICTURE), integers(-8, 1), integers(9, 5), integers(-3, 2), integers(3, 2)), (1, 2, 3, 4)
    ),
    "Resize": Case(
        "Resize",
        (floats(*PICTURE), None, floats_of(1, 2, 2, 1)),
        (2,),
        {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
    ),
    "Resize of planes": Case("Resize", (floats(*PICTURE), None, floats_of(1, 1, 2, 3)), (2,), {"mode": "linear"}),
    "Concat": Case("Concat", (floats(*PICTURE), floats(1, 9, 6, 2)), (), {"axis": -1}),
    "Softmax": Case("Softmax", (floats(*SEQUENCE),), (), {"axis": -1}),
    "LayerNormalization": Case("LayerNormalization", (floats(*SEQUENCE), floats(8), floats(8)), (1, 2)),
    "MatMul": Case("MatMul", (floats(*SEQUENCE), floats(8, 5)), (1,)),
    "MatMulInteger": Case("MatMulInteger", (bytes_of(*SEQUENCE), bytes_of(8, 5), np.int8(2)), (1, 2)),
    "MatMul of heads": Case("MatMul", (floats(1, 4, 7, 8), floats(1, 4, 8, 5))),
    "MatMulInteger of heads": Case("MatMulInteger", (bytes_of(4, 7, 8), bytes_of(4, 8, 5), np.int8(2)), (2,)),
    "Gemm": Case("Gemm", (floats(7, 8), floats(5, 8), floats(5)), (1, 2), {"transB": 1}),
    "MaxPool of planes": Case("MaxPool", (floats(*PICTURE),), (), POOL),
    "AveragePool of planes": Case("AveragePool", (floats(*PICTURE),), (), POOL),
    "GlobalAveragePool": Case("GlobalAveragePool", (floats(*PICTURE),)),
    "Reshape": Case("Reshape", (floats(*SEQUENCE), integers(7, 2, 4)), (1,)),
    "Flatten": Case("Flatten", (floats(*SEQUENCE),), (), {"axis": 2}),
    "Transpose within rows": Case("Transpose", (floats(*PICTURE),), (), {"perm": [0, 1, 3, 2]}),
}
WHOLE = {
    "Mul by row": Case("Mul", (floats(*PICTURE), floats(9, 1, 1)), (1,)),
    "Add of a row": Case("Add", (floats(*PICTURE), floats(1, 1, 6, 4))),
    "Add of fewer axes": Case("Add", (floats(*PICTURE), floats(9, 6, 4))),
    "QuantizeLinear by row": Case("QuantizeLinear", (floats(*PICTURE), floats(9)), (1,), {"axis": 1}),
    "scale at run time": Case("QuantizeLinear", (floats(*PICTURE), floats(1))),
    "Pad by reflection": Case("Pad", (floats(*PICTURE), PADS), (1,), {"mode": "reflect"}),
    "Slice backwards": Case(
        "Slice", (floats(*PICTURE), integers(8), integers(0), integers(1), integers(-1)), (1, 2, 3, 4)
    ),
    "Resize between rows": Case("Resize", (floats(*PICTURE), None, floats_of(1, 2, 1, 1)), (2,), {"mode": "linear"}),
    "Concat of rows": Case("Concat", (floats(*PICTURE), floats(1, 9, 6, 4)), (), {"axis": 1}),
    "Concat with a constant": Case("Concat", (floats(*PICTURE), floats(*PICTURE)), (1,), {"axis": 3}),
    "Softmax over rows": Case("Softmax", (floats(*SEQUENCE),), (), {"axis": 1}),
    "MatMul of constant heads": Case("MatMul", (floats(1, 4, 7, 8), floats(1, 4, 8, 5)), (1,)),
    "zero point at run time": Case("MatMulInteger", (bytes_of(1, 8), bytes_of(8, 5), np.int8(2)), (1,)),
    "MatMul of two": Case("MatMul", (floats(*SEQUENCE), floats(1, 8, 5))),
    "zero points by row": Case("MatMulInteger", (bytes_of(7, 8), bytes_of(8, 5), bytes_of(7)), (1, 2)),
    "Gemm of columns": Case("Gemm", (floats(8, 7), floats(8, 5)), (1,), {"transA": 1}),
    "Gemm with a matrix": Case("Gemm", (floats(7, 8), floats(8, 5), floats(7, 5)), (1, 2)),
    "Conv of planes": Case("Conv", (floats(*PICTURE), floats(5, 9, 1, 1)), (1,), {"kernel_shape": [1, 1]}),
    "Transpose": Case("Transpose", (floats(*PICTURE),), (), {"perm": [0, 2, 3, 1]}),
    "Reshape of rows": Case("Reshape", (floats(*SEQUENCE), integers(14, 4)), (1,)),
}


def model(case: Case, inputs: tuple[Array | None, ...], attributes: dict[str, Any]) -> onnx.ModelProto:
    names = [f"i{n}" if values is not None else "" for n, values in enumerate(inputs)]
    node = helper.make_node(case.op, names, ["y"], "node", **attributes)
    ends = [
        helper.make_tensor_value_info(names[n], helper.np_dtype_to_tensor_dtype(values.dtype), values.shape)
        for n in case.fed
        if (values := inputs[n]) is not None
    ]
    constants = [numpy_helper.from_array(values, names[n]) for n in case.constant if (values := inputs[n]) is not None]
    graph = helper.make_graph([node], "g", ends, [onnx.ValueInfoProto(name="y")], constants)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    return onnx.shape_inference.infer_shapes(made)


def result(made: onnx.ModelProto, case: Case, inputs: tuple[Array | None, ...]) -> Array:
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    values: Array = session.run(None, {f"i{n}": inputs[n] for n in case.fed})[0]
    return values


def node_of(case: Case) -> tuple[gs.Node, dict[str, int]]:
    (node,) = gs.import_onnx(model(case, case.inputs, case.attributes)).nodes
    tensors = [tensor.name for tensor in (*node.inputs, *node.outputs)]
    return node, {} if case.axis is None else dict.fromkeys(tensors, case.axis)


@pytest.mark.parametrize("name", DIVISIBLE)
@given(data=st.data())
def test_a_part_computes_rows_of_the_whole(name: str, data: st.DataObject) -> None:
    case = DIVISIBLE[name]
    node, axes = node_of(case)
    rule = rule_of(node, axes)
    assert rule is not None
    axis = row_axis(node.outputs[0]) if case.axis is None else case.axis
    size = int(node.outputs[0].shape[axis])
    first = data.draw(st.integers(0, size - 1))
    cut = rule.cut(Rows(first, data.draw(st.integers(first + 1, size))))
    assume(cut.read.count > 0)  # stripes within the padding alone are not made
    attributes, constants = divided(node, cut, axis)
    inputs = list(case.inputs)
    for n in case.fed:
        values = inputs[n]
        assert values is not None
        along = row_axis(node.inputs[n]) if case.axis is None else case.axis
        inputs[n] = np.take(values, np.arange(cut.read.first, cut.read.end), along)
    for n, values in constants.items():
        inputs[n] = values
    whole = result(model(case, case.inputs, case.attributes), case, case.inputs)
    part = result(model(case, tuple(inputs), attributes), case, tuple(inputs))
    rows = np.take(whole, np.arange(cut.made.first, cut.made.end), axis)
    np.testing.assert_allclose(part, rows, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", WHOLE)
def test_what_mixes_rows_is_not_divided(name: str) -> None:
    node, axes = node_of(WHOLE[name])
    assert rule_of(node, axes) is None


def nodes(*steps: tuple[str, dict[str, Any]]) -> list[gs.Node]:
    """A chain of operators on a picture of floats in NCHW."""
    made, names = [], ["x", *(f"t{n}" for n in range(len(steps)))]
    for n, (op, attributes) in enumerate(steps):
        made.append(helper.make_node(op, [names[n]], [names[n + 1]], f"node{n}", **attributes))
    ends = [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, PICTURE)]
    graph = helper.make_graph(made, "g", ends, [onnx.ValueInfoProto(name=names[-1])])
    inferred = onnx.shape_inference.infer_shapes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]))
    return list(gs.import_onnx(inferred).nodes)


TURN: tuple[str, dict[str, Any]] = ("Transpose", {"perm": [0, 2, 3, 1]})
Steps = tuple[tuple[str, dict[str, Any]], ...]


@pytest.mark.parametrize(
    ("steps", "turned"),
    [
        ((TURN,), {"x": 2}),
        ((("Relu", {}), ("Neg", {}), TURN, ("Relu", {})), {"x": 2, "t0": 2, "t1": 2}),
        ((("Softmax", {"axis": 2}), TURN), {}),
        ((("Transpose", {"perm": [0, 1, 3, 2]}),), {}),
        ((("Relu", {}),), {}),
    ],
)
def test_rows_of_a_picture_that_is_turned_are_inside_of_its_planes(steps: Steps, turned: dict[str, int]) -> None:
    chain = nodes(*steps)
    assert turned_axes(chain) == turned
    if turned:
        assert all(rule_of(node, turned) is not None for node in chain)


def test_pointwise_operators_read_one_tensor() -> None:
    found = {name for name, case in DIVISIBLE.items() if pointwise([node_of(case)[0]])}
    assert {"Relu", "QuantizeLinear", "Mul by channel"} < found
    assert found.isdisjoint(("Add", "Softmax", "Pad", "MatMul", "Concat"))
