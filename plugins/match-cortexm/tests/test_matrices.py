"""Transpositions and products of computed matrices: which ones the kernels take, and their bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx_graphsurgeon as gs
import pytest
from match_core.contract.runner import Place
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_cortexm.kernels.transpose import Matrices, matrices_of
from match_verify.verify import VerifyRequest, verify_model
from onnx import TensorProto, helper

from benchmarks.cortexm_made import KINDS
from benchmarks.cortexm_net import Net

from .test_kernels import TARGETS, emulator, needs_emulator

#: Shape, order of the axes, element type.
TRANSPOSED = (
    ((1, 9, 10, 11), (0, 2, 3, 1), TensorProto.INT8),
    ((1, 9, 10, 12), (0, 3, 1, 2), TensorProto.INT8),
    ((1, 3, 9, 7), (0, 2, 3, 1), TensorProto.UINT8),
    ((4, 16, 12), (0, 2, 1), TensorProto.INT8),
    ((1, 5, 9, 7), (0, 2, 3, 1), TensorProto.INT16),
    ((2, 9, 6), (0, 2, 1), TensorProto.FLOAT16),
    ((2, 9371), (1, 0), TensorProto.UINT16),
    ((2, 5, 7), (0, 2, 1), TensorProto.FLOAT),
    ((13, 5), (1, 0), TensorProto.INT64),
)


def _transposes() -> onnx.ModelProto:
    nodes, inputs, outputs = [], [], []
    for number, (shape, order, element) in enumerate(TRANSPOSED):
        nodes.append(helper.make_node("Transpose", [f"x{number}"], [f"y{number}"], perm=order))
        inputs.append(helper.make_tensor_value_info(f"x{number}", element, shape))
        outputs.append(helper.make_tensor_value_info(f"y{number}", element, [shape[axis] for axis in order]))
    graph = helper.make_graph(nodes, "transposes", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def _matmuls() -> onnx.ModelProto:
    net = Net(np.random.default_rng(3), True)
    KINDS["product"](net)
    for heads, rows, depth, columns in ((1, 1, 1, 1), (2, 1, 5, 3), (1, 3, 17, 1)):
        sources = net.source(1, heads, rows, depth), net.source(1, heads, depth, columns)
        net.result(net.add("MatMul", *sources))
    return net.model()


def _roundings() -> onnx.ModelProto:
    """A convolution whose requantisation rounds twice, as TFLite does: first half up, then halves away from zero."""
    net = Net(np.random.default_rng(4), True)
    net.inputs.append(helper.make_tensor_value_info("x0", TensorProto.INT8, (1, 8, 6, 6)))
    weight = net.constant(net.rng.integers(-127, 128, (8, 8, 3, 3)), np.int8)
    value = net.add("ConvInteger", "x0", weight, net.constant(-128, np.int8), pads=[1] * 4)
    value = net.add("Add", value, net.constant(net.rng.integers(-9999, 9999, (1, 8, 1, 1)), np.int32))
    factor = net.constant(net.rng.integers(1 << 30, 1 << 31, (1, 8, 1, 1)), np.int64)
    value = net.add("Mul", net.add("Cast", value, to=TensorProto.INT64), factor)
    for low, high, divisor in ((1 - (1 << 30), 1 << 30, 1 << 31), (-256, 256, 512)):
        negative = net.add("Less", value, net.constant(0, np.int64))
        half = net.add("Where", negative, net.constant(low, np.int64), net.constant(high, np.int64))
        value = net.add("Div", net.add("Add", value, half), net.constant(divisor, np.int64))
    value = net.add("Add", value, net.constant(4, np.int64))
    value = net.add("Clip", value, *(net.constant(limit, np.int64) for limit in (-128, 127)))
    net.outputs.append(
        helper.make_tensor_value_info(net.add("Cast", value, to=TensorProto.INT8), TensorProto.INT8, None)
    )
    return net.model()


def _patterns(model: onnx.ModelProto, target: str, folder: Path) -> set[str]:
    path = folder / "model.onnx"
    onnx.save(model, path)
    request = CompileRequest(model=path, target=target, output=folder / "out", cache=False)
    tasks = compile_model(request, Plugins.load()).compilation.program.tasks
    return {task.assignment.candidate.pattern.name for task in tasks}


def _verified(folder: Path, target: str, place: Place | None = None) -> bool:
    request = VerifyRequest(
        model=folder / "model.onnx", target=target, sanitize=place is None, place=place, cache=False
    )
    return verify_model(request, Plugins.load()).ok


@pytest.mark.parametrize("target", TARGETS)
def test_transpositions(target, tmp_path):
    found = _patterns(_transposes(), target, tmp_path)
    assert "cortexm_transpose" in found
    # Some of a few hundred instructions take fewer with the host's loops.
    assert found <= {"cortexm_transpose", "host_transpose", "host_offset_u8_to_i8", "host_offset_i8_to_u8"}
    assert _verified(tmp_path, target)


@pytest.mark.parametrize("target", ["stm32l4r5", "corstone300", "rp2040"])
def test_products_of_computed_matrices(target, tmp_path):
    assert "cortexm_matmul" in _patterns(_matmuls(), target, tmp_path)
    assert _verified(tmp_path, target)


@pytest.mark.parametrize("target", TARGETS)
def test_roundings_by_sign_run_on_the_kernels(target, tmp_path):
    found = _patterns(_roundings(), target, tmp_path)
    assert "cortexm_add" in found and not {"host_product_region", "host_conv_integer"} & found
    assert _verified(tmp_path, target)


@needs_emulator
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("model", [_transposes, _matmuls])
def test_on_the_emulator(model, target, tmp_path):
    onnx.save(model(), tmp_path / "model.onnx")
    assert _verified(tmp_path, target, emulator())


def _node(shape: tuple[int, ...], order: tuple[int, ...], dtype: object = np.int8) -> gs.Node:
    out = tuple(shape[axis] for axis in order)
    tensors = [gs.Variable(name, dtype, dims) for name, dims in (("x", shape), ("y", out))]
    return gs.Node("Transpose", "t", {"perm": list(order)}, tensors[:1], tensors[1:])


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (_node((1, 3, 4, 5), (0, 2, 3, 1)), Matrices(1, 3, 20)),
        (_node((2, 4, 5, 3), (0, 3, 1, 2)), Matrices(2, 20, 3)),
        (_node((6, 7), (1, 0)), Matrices(1, 6, 7)),
        (_node((1, 3, 4, 5), (0, 2, 1, 3)), "axes are moved in runs"),
        (_node((3, 4, 5), (2, 1, 0)), "axes are moved in runs"),
        (_node((3, 4), (1, 0), np.float16), Matrices(1, 3, 4)),
        (_node((3, 4), (1, 0), np.complex128), "elements are complex128"),
    ],
)
def test_which_transpositions_are_taken(node, expected):
    found = matrices_of(node)
    assert found == expected if isinstance(expected, Matrices) else str(found).startswith(expected)


@pytest.mark.parametrize(
    ("target", "element", "columns", "own"),
    [
        ("rp2040", TensorProto.INT16, 168, False),
        ("rp2040", TensorProto.INT8, 169, True),
        ("cortex_m3_mps2", TensorProto.INT8, 169, True),
        ("cortex_m3_mps2", TensorProto.INT16, 169, False),
        ("stm32l4r5", TensorProto.INT16, 169, True),
    ],
)
def test_cores_leave_what_their_instructions_do_not_move_to_the_host(target, element, columns, own, tmp_path):
    """Halfwords are packed by the DSP extension; bytes move on all cores, one by one where words are not aligned."""
    shapes = (("x", (32, columns)), ("y", (columns, 32)))
    x, y = (helper.make_tensor_value_info(name, element, shape) for name, shape in shapes)
    path = tmp_path / "net.onnx"
    graph = helper.make_graph([helper.make_node("Transpose", ["x"], ["y"], perm=[1, 0])], "net", [x], [y])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), path)
    request = CompileRequest(model=path, target=target, output=tmp_path / "out", cache=False)
    tasks = compile_model(request, Plugins.load()).compilation.program.tasks
    assert ["cortexm" in task.assignment.candidate.pattern.name for task in tasks] == [own]
