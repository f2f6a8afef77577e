"""Made layers for Cortex-M: quantised networks of one layer with random weights, int8 or int16, in QDQ
form."""

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
    dilation: int = 1


@dataclass(frozen=True, slots=True)
class DenseCase:
    """A dense layer."""

    inputs: int
    outputs: int


@dataclass(frozen=True, slots=True)
class OtherCase:
    """``Add`` of two tensors, ``AveragePool`` of whole images, ``MaxPool`` with padding after a convolution, of
    ``taps`` along each axis, ``Tanh`` (a look-up), or ``Softmax``."""

    op: str
    shape: tuple[int, ...]
    taps: int = 3


Case = ConvCase | DenseCase | OtherCase


def _result(case: Case) -> tuple[int, ...]:
    """The shape of the result."""
    if isinstance(case, ConvCase):
        sizes = (case.height + case.pads[0] + case.pads[2], case.width + case.pads[1] + case.pads[3])
        reach = ((taps - 1) * case.dilation + 1 for taps in case.kernel)
        space = ((size - taps) // case.stride + 1 for size, taps in zip(sizes, reach, strict=True))
        return (1, case.outputs, *space)
    if isinstance(case, DenseCase):
        return (1, case.outputs)
    if case.op == "MaxPool":
        return (*case.shape[:2], *((size - case.taps % 2) // 2 + 1 for size in case.shape[2:]))
    return (*case.shape[:2], 1, 1) if case.op == "AveragePool" else case.shape


def model_of(case: Case, seed: int, whole: bool = False, wide: bool = False) -> onnx.ModelProto:
    """The case as a network from ``x`` (and ``x1``) to ``y``; weights are random. ``whole``: the bias is in whole steps
    of the sums, as quantisers write it; ``wide``: activations are int16, and a Relu with quantisers on both sides
    follows a layer of an odd seed."""
    from onnx import TensorProto, helper, numpy_helper

    rng = np.random.default_rng(seed)
    dtype, steps = (np.int16, 256) if wide else (np.int8, 1)
    constants: dict[str, NDArray[np.generic]] = {}
    nodes: list[onnx.NodeProto] = []

    def constant(name: str, values: object, dtype: type[np.generic]) -> str:
        constants[name] = np.asarray(values, dtype)
        return name

    def real(name: str, scale: float, zero: int = -128) -> str:
        scales = [constant(f"{name}_scale", scale / steps, np.float32)]
        scales.append(constant(f"{name}_zero", 0 if wide else zero, dtype))
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
        unit = np.float32(0.02 / steps) * constants["w_scale"].astype(np.float32)
        whole_steps = [constant("bias", np.round(values / unit), np.int32), constant("bias_scale", unit, np.float32)]
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
            dilations=(case.dilation, case.dilation),
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
        if case.op == "MaxPool":
            # In the middle of a network, where channels are last.
            identity = constant(
                "identity", np.eye(shape[1]).reshape(shape[1], shape[1], *[1] * len(shape[2:])), np.float32
            )
            nodes.append(helper.make_node("Conv", [sources[0], identity], ["copy"]))
            scales = [constant("copy_scale", 0.02 / steps, np.float32)]
            scales.append(constant("copy_zero", 0 if wide else -128, dtype))
            nodes.append(helper.make_node("QuantizeLinear", ["copy", *scales], ["copied"]))
            nodes.append(helper.make_node("DequantizeLinear", ["copied", *scales], ["copied_real"]))
            kernel, pads = [case.taps] * len(shape[2:]), [case.taps // 2] * 2 * len(shape[2:])
            strides = [2] * len(kernel)
            node = helper.make_node(
                "MaxPool", ["copied_real"], ["sum"], kernel_shape=kernel, strides=strides, pads=pads
            )
        elif case.op == "AveragePool":
            node = helper.make_node("AveragePool", sources, ["sum"], kernel_shape=shape[2:])
        else:
            node = helper.make_node(case.op, sources, ["sum"])
        reach = 1 / 256 if case.op == "Softmax" else 0.02 if case.op == "MaxPool" else reach
    nodes.append(node)
    ends = [constant("y_scale", reach / steps, np.float32), constant("y_zero", 0 if wide else -128, dtype)]
    result = "sum"
    if wide and seed % 2:
        between = [constant("sum_scale", 1.3 * reach / steps, np.float32), "y_zero"]
        nodes.append(helper.make_node("QuantizeLinear", ["sum", *between], ["sum_stored"]))
        nodes.append(helper.make_node("DequantizeLinear", ["sum_stored", *between], ["sum_real"]))
        nodes.append(helper.make_node("Relu", ["sum_real"], ["active"]))
        result = "active"
    nodes.append(helper.make_node("QuantizeLinear", [result, *ends], ["y"]))
    element = TensorProto.INT16 if wide else TensorProto.INT8
    graph = helper.make_graph(
        nodes,
        "case",
        [helper.make_tensor_value_info(name, element, shape) for name in inputs],
        [helper.make_tensor_value_info("y", element, _result(case))],
        [numpy_helper.from_array(values, name) for name, values in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
