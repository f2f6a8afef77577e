"""Quantised operators of ``com.microsoft`` through the compiler: the program repeats the integer graph bit for bit, and
lies within a step of what ONNX Runtime computes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from match_core.ir.qoperator import expand
from match_verify.reference import ReferenceRunner
from match_verify.verify import VerifyRequest, verify_model
from numpy.typing import NDArray

from tests.base_packages import base_plugins

Array = NDArray[np.generic]
RNG = np.random.default_rng(41)
SCALES = {"sx": 0.02, "sy": 0.03, "sz": 0.04}


def u8(*shape: int) -> Array:
    return RNG.integers(0, 256, shape).astype(np.uint8)


#: name -> (inputs of the node, shape of x, of y, shape of the result, attributes)
CASES: dict[str, tuple[str, tuple[int, ...], tuple[int, ...], tuple[int, ...], dict[str, object]]] = {
    "QLinearAdd": ("x sx zx y sy zy sz zz", (2, 3, 4), (4,), (2, 3, 4), {}),
    "QLinearMul": ("x sx zx y sy zy sz zz", (2, 3, 4), (2, 3, 4), (2, 3, 4), {}),
    "QLinearSigmoid": ("x sx zx sz zz", (2, 8), (1,), (2, 8), {}),
    "QLinearLeakyRelu": ("x sx zx sz zz", (2, 8), (1,), (2, 8), {"alpha": 0.1}),
    "QLinearConcat": ("sz zz x sx zx y sy zy", (2, 3), (2, 5), (2, 8), {"axis": 1}),
    "QLinearAveragePool": (
        "x sx zx sz zz",
        (1, 3, 6, 6),
        (1,),
        (1, 3, 3, 3),
        {"kernel_shape": [2, 2], "strides": [2, 2]},
    ),
    "QLinearGlobalAveragePool": ("x sx zx sz zz", (1, 3, 6, 6), (1,), (1, 3, 1, 1), {}),
    "QLinearSoftmax": ("x sx zx sz zz", (2, 10), (1,), (2, 10), {"axis": -1, "opset": 13}),
    "QLinearWhere": ("c x sx zx y sy zy sz zz", (2, 6), (2, 6), (2, 6), {}),
}


def model_of(
    op: str, inputs: str, shapes: dict[str, tuple[int, ...]], attributes: dict[str, object]
) -> onnx.ModelProto:
    helper = onnx.helper
    names = inputs.split()
    constants = [helper.make_tensor(name, onnx.TensorProto.FLOAT, [], [scale]) for name, scale in SCALES.items()]
    zeros = {"zx": 120, "zy": 131, "zz": 0 if op in ("QLinearSigmoid", "QLinearSoftmax") else 125}
    constants += [helper.make_tensor(name, onnx.TensorProto.UINT8, [], [value]) for name, value in zeros.items()]
    if op in ("QLinearSigmoid", "QLinearSoftmax"):
        constants[2] = helper.make_tensor("sz", onnx.TensorProto.FLOAT, [], [1 / 256])
    kinds = {"x": onnx.TensorProto.UINT8, "y": onnx.TensorProto.UINT8, "c": onnx.TensorProto.BOOL}
    given = [helper.make_tensor_value_info(name, kinds[name], shapes[name]) for name in names if name in kinds]
    result = helper.make_tensor_value_info("result", onnx.TensorProto.UINT8, shapes["result"])
    node = helper.make_node(op, names, ["result"], "op", domain="com.microsoft", **attributes)
    graph = helper.make_graph([node], "g", given, [result], [c for c in constants if c.name in names])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


@pytest.mark.parametrize("op", CASES)
def test_program_of_a_quantised_operator(op: str, tmp_path: Path) -> None:
    inputs, x, y, result, attributes = CASES[op]
    path = tmp_path / "model.onnx"
    onnx.save(model_of(op, inputs, {"x": x, "y": y, "c": x, "result": result}, attributes), path)
    arrays = {"x": u8(3, *x), "y": u8(3, *y), "c": RNG.integers(0, 2, (3, *x)).astype(bool)}
    request = VerifyRequest(path, "host", arrays=arrays)
    (check,) = verify_model(request, base_plugins()).outputs
    assert check.bit_exact
    assert check.max_abs_lsb <= 1


@pytest.mark.parametrize(("axes", "keep"), [([2], 1), ([0, 1], 0), (None, 1)])
def test_mean_of_quantised_values(axes: list[int] | None, keep: int) -> None:
    """ONNX Runtime has no kernel of QLinearReduceMean on the CPU: its expansion against the definition."""
    attributes: dict[str, object] = {"keepdims": keep} | ({} if axes is None else {"axes": axes})
    x = u8(2, 3, 8)
    over = tuple(axes) if axes is not None else None
    mean = (0.02 * (x.astype(np.float64) - 120)).mean(axis=over, keepdims=bool(keep))
    wanted = np.clip(np.rint(mean / 0.04) + 125, 0, 255)
    model = model_of("QLinearReduceMean", "x sx zx sz zz", {"x": x.shape, "result": mean.shape}, attributes)
    constants = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    expansion = expand(model.graph.node[0], constants)
    assert expansion is not None
    del model.graph.node[:]
    model.graph.node.extend(expansion.nodes)
    model.graph.initializer.extend(expansion.initializers)
    model.opset_import[0].version = 21
    found = ReferenceRunner(model).run({"x": x})["result"]
    assert found.shape == wanted.shape
    assert np.abs(found.astype(np.float64) - wanted).max() <= 1
