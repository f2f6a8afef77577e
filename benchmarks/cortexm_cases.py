"""Made layers for Cortex-M: quantised networks of one layer with random weights, int8, in QDQ form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import onnx
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class ConvCase:
    """A convolution of an image, NCHW."""

    inputs: int
    height: int
    width: int
    outputs: int
    kernel: tuple[int, int]
    stride: int = 1
    pads: tuple[int, int, int, int] = (0, 0, 0, 0)
    groups: int = 1


@dataclass(frozen=True, slots=True)
class DenseCase:
    """A dense layer."""

    inputs: int
    outputs: int


@dataclass(frozen=True, slots=True)
class OtherCase:
    """``Add`` of two tensors, ``AveragePool`` of whole images, or ``Softmax``."""

    op: str
    shape: tuple[int, ...]


Case = ConvCase | DenseCase | OtherCase
_SAME = (1, 1, 1, 1)
#: For fitting; the networks of MLPerf Tiny have other sizes.
CASES: tuple[Case, ...] = (
    ConvCase(8, 20, 20, 8, (3, 3), 1, _SAME),
    ConvCase(8, 22, 22, 24, (3, 3), 1),
    ConvCase(12, 14, 14, 20, (3, 3), 1, _SAME),
    ConvCase(40, 9, 9, 24, (3, 3), 1, _SAME),
    ConvCase(24, 18, 18, 16, (3, 3), 2, _SAME),
    ConvCase(3, 40, 40, 12, (3, 3), 1, _SAME),
    ConvCase(3, 41, 41, 8, (3, 3), 2, (0, 0, 1, 1)),
    ConvCase(4, 30, 12, 16, (5, 3), 1, (2, 1, 2, 1)),
    ConvCase(1, 40, 12, 32, (8, 4), 2, (3, 1, 3, 1)),
    ConvCase(1, 28, 28, 16, (5, 5), 1, (2, 2, 2, 2)),
    ConvCase(20, 21, 3, 20, (1, 1)),
    ConvCase(12, 25, 25, 12, (1, 1)),
    ConvCase(48, 13, 11, 40, (1, 1)),
    ConvCase(96, 7, 7, 64, (1, 1)),
    ConvCase(160, 4, 4, 192, (1, 1)),
    ConvCase(24, 16, 16, 32, (1, 1), 2),
    ConvCase(12, 21, 21, 12, (3, 3), 1, _SAME, 12),
    ConvCase(48, 12, 12, 48, (3, 3), 1, _SAME, 48),
    ConvCase(24, 19, 19, 24, (3, 3), 2, (0, 0, 1, 1), 24),
    ConvCase(160, 5, 5, 160, (3, 3), 1, _SAME, 160),
    ConvCase(96, 20, 4, 96, (3, 3), 1, _SAME, 96),
    ConvCase(32, 14, 14, 32, (3, 3), 1, (0, 0, 0, 0), 32),
    ConvCase(200, 4, 4, 200, (3, 3), 2, _SAME, 200),
    ConvCase(24, 15, 15, 24, (2, 2), 1, (0, 0, 0, 0), 24),
    ConvCase(16, 14, 14, 16, (5, 3), 1, (2, 1, 2, 1), 16),
    DenseCase(400, 96),
    DenseCase(96, 160),
    DenseCase(48, 12),
    DenseCase(20, 100),
    DenseCase(300, 7),
    OtherCase("Add", (1, 24, 12, 12)),
    OtherCase("Add", (1, 10, 30, 30)),
    OtherCase("Add", (1, 40, 5, 5)),
    OtherCase("AveragePool", (1, 48, 6, 6)),
    OtherCase("AveragePool", (1, 96, 20, 4)),
    OtherCase("Softmax", (1, 20)),
    OtherCase("Softmax", (1, 6)),
)


def _result(case: Case) -> tuple[int, ...]:
    """The shape of the result."""
    if isinstance(case, ConvCase):
        sizes = (case.height + case.pads[0] + case.pads[2], case.width + case.pads[1] + case.pads[3])
        space = ((size - taps) // case.stride + 1 for size, taps in zip(sizes, case.kernel, strict=True))
        return (1, case.outputs, *space)
    if isinstance(case, DenseCase):
        return (1, case.outputs)
    return (*case.shape[:2], 1, 1) if case.op == "AveragePool" else case.shape


def model_of(case: Case, seed: int, whole: bool = False) -> onnx.ModelProto:
    """The case as a network from ``x`` (and ``x1``) to ``y``; weights are random. ``whole``: the bias is in whole steps
    of the sums, as quantisers write it."""
    from onnx import TensorProto, helper, numpy_helper

    rng = np.random.default_rng(seed)
    constants: dict[str, NDArray[np.generic]] = {}
    nodes: list[onnx.NodeProto] = []

    def constant(name: str, values: object, dtype: type[np.generic]) -> str:
        constants[name] = np.asarray(values, dtype)
        return name

    def real(name: str, scale: float, zero: int = -128) -> str:
        scales = [constant(f"{name}_scale", scale, np.float32), constant(f"{name}_zero", zero, np.int8)]
        nodes.append(helper.make_node("DequantizeLinear", [name, *scales], [f"{name}_real"]))
        return f"{name}_real"

    def weights(shape: tuple[int, ...]) -> str:
        constant("w", rng.integers(-127, 128, shape), np.int8)
        scales = [
            constant("w_scale", rng.uniform(0.001, 0.004, shape[0]), np.float32),
            constant("w_zero", np.zeros(shape[0]), np.int8),
        ]
        nodes.append(helper.make_node("DequantizeLinear", ["w", *scales], ["w_real"], axis=0))
        return "w_real"

    def bias_of(values: NDArray[np.float64]) -> str:
        if not whole:
            return constant("bias", values, np.float32)
        steps = np.float32(0.02) * constants["w_scale"].astype(np.float32)
        whole_steps = [constant("bias", np.round(values / steps), np.int32), constant("bias_scale", steps, np.float32)]
        nodes.append(helper.make_node("DequantizeLinear", whole_steps, ["bias_real"], axis=0))
        return "bias_real"

    inputs = ["x"]
    if isinstance(case, ConvCase):
        shape: tuple[int, ...] = (1, case.inputs, case.height, case.width)
        size = (case.outputs, case.inputs // case.groups, *case.kernel)
        bias = rng.normal(0, 1, case.outputs)
        node = helper.make_node(
            "Conv",
            [real("x", 0.02), weights(size), bias_of(bias)],
            ["sum"],
            pads=case.pads,
            strides=(case.stride, case.stride),
            group=case.groups,
        )
        reach = float(np.sqrt(np.prod(size[1:]))) * 0.01
    elif isinstance(case, DenseCase):
        shape, reach = (1, case.inputs), float(np.sqrt(case.inputs)) * 0.01
        bias = rng.normal(0, 1, case.outputs)
        inner = [real("x", 0.02), weights((case.outputs, case.inputs)), bias_of(bias)]
        node = helper.make_node("Gemm", inner, ["sum"], transB=1)
    else:
        shape, reach = case.shape, 0.03
        sources = [real("x", 0.02)]
        if case.op == "Add":
            inputs.append("x1")
            sources.append(real("x1", 0.013, 3))
        if case.op == "AveragePool":
            node = helper.make_node("AveragePool", sources, ["sum"], kernel_shape=shape[2:])
        else:
            node = helper.make_node(case.op, sources, ["sum"])
        reach = 1 / 256 if case.op == "Softmax" else reach
    nodes.append(node)
    ends = [constant("y_scale", reach, np.float32), constant("y_zero", -128, np.int8)]
    nodes.append(helper.make_node("QuantizeLinear", ["sum", *ends], ["y"]))
    graph = helper.make_graph(
        nodes,
        "case",
        [helper.make_tensor_value_info(name, TensorProto.INT8, shape) for name in inputs],
        [helper.make_tensor_value_info("y", TensorProto.INT8, _result(case))],
        [numpy_helper.from_array(values, name) for name, values in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
