"""Small networks of many kinds, made with fixed seeds, for the table of networks and targets (``benchmarks.breadth``).

Most are float networks that ONNX Runtime's static quantiser makes 8 bits wide, as users would; the others are written
as exporters and converters write them. ``python -m benchmarks.breadth_models NAME FILE`` writes one.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

SEED = 21
#: Samples that set the ranges of tensors.
SAMPLES = 4
Build = Callable[["Graph"], str]


class Graph:
    """Builds a float network node by node."""

    def __init__(self, shape: Sequence[int], opset: int) -> None:
        self.random = np.random.default_rng(SEED)
        self.shape, self.opset = tuple(shape), opset
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, values: NDArray[np.generic]) -> str:
        """A constant's name."""
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(values, name))
        return name

    def weights(self, *shape: int) -> str:
        """Normally distributed, smaller the more of them are summed."""
        scale = float(np.prod(shape[1:])) ** -0.5 if len(shape) > 1 else 0.1
        return self.constant((self.random.standard_normal(shape) * scale).astype(np.float32))

    def node(self, operator: str, *inputs: str, outputs: int = 1, **attributes: object) -> str:
        """A node named after its operator; its first result's name."""
        name = f"{operator.lower()}_{len(self.nodes)}"
        made = [name, *(f"{name}_{index}" for index in range(1, outputs))]
        self.nodes.append(helper.make_node(operator, list(inputs), made, name, **attributes))
        return name

    def conv(self, x: str, ins: int, outs: int, kernel: Sequence[int], relu: bool = True, **attributes: object) -> str:
        """A convolution that keeps sizes, and Relu."""
        pads = [size // 2 for size in kernel] * 2
        group = int(str(attributes.get("group", 1)))
        weights, bias = self.weights(outs, ins // group, *kernel), self.weights(outs)
        result = self.node("Conv", x, weights, bias, **{"pads": pads, "kernel_shape": list(kernel), **attributes})
        return self.node("Relu", result) if relu else result

    def model(self, result: str) -> onnx.ModelProto:
        """The network with this result."""
        graph = helper.make_graph(
            self.nodes,
            "net",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)],
            [helper.make_tensor_value_info(result, TensorProto.FLOAT, None)],
            self.constants,
        )
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=9)
        return onnx.shape_inference.infer_shapes(made)


def _plain(graph: Graph) -> str:
    """Convolutions, an addition, pooling, a dense layer."""
    channels = graph.shape[1]
    x = graph.conv("x", channels, 16, (3, 3))
    y = graph.conv(x, 16, 16, (3, 3), relu=False)
    x = graph.node("Relu", graph.node("Add", x, y))
    x = graph.node("Flatten", graph.node("GlobalAveragePool", x))
    return graph.node("Gemm", x, graph.weights(10, 16), graph.weights(10), transB=1)


def _transposed(graph: Graph) -> str:
    x = graph.conv("x", 8, 16, (3, 3))
    weights = graph.weights(16, 8, 2, 2)
    return graph.node("ConvTranspose", x, weights, graph.weights(8), strides=[2, 2], kernel_shape=[2, 2])


def _volume(graph: Graph) -> str:
    return graph.conv(graph.conv("x", 4, 8, (3, 3, 3)), 8, 8, (3, 3, 3))


def _signal(graph: Graph) -> str:
    x = graph.conv("x", 8, 16, (9,))
    return graph.conv(graph.node("MaxPool", x, kernel_shape=[2], strides=[2]), 16, 16, (5,))


def _joined(graph: Graph) -> str:
    """A convolution directly behind a Concat of two."""
    x = graph.conv("x", 8, 16, (3, 3))
    both = graph.node("Concat", graph.conv(x, 16, 8, (1, 1)), graph.conv(x, 16, 8, (3, 3)), axis=1)
    return graph.conv(both, 16, 16, (3, 3))


def _activated(operator: str) -> Build:
    def build(graph: Graph) -> str:
        x = graph.conv("x", 8, 16, (3, 3), relu=False)
        return graph.conv(_activation(graph, operator, x), 16, 16, (3, 3), relu=False)

    return build


def _activation(graph: Graph, operator: str, x: str) -> str:
    return graph.node("Mul", x, graph.node("Sigmoid", x)) if operator == "SiLU" else graph.node(operator, x)


def _squeezed(graph: Graph) -> str:
    """Squeeze and excite."""
    x = graph.conv("x", 8, 16, (3, 3))
    scale = graph.conv(graph.node("GlobalAveragePool", x), 16, 4, (1, 1))
    scale = graph.node("Sigmoid", graph.conv(scale, 4, 16, (1, 1), relu=False))
    return graph.conv(graph.node("Mul", x, scale), 16, 16, (1, 1))


def _legacy(graph: Graph) -> str:
    """Layer normalisation and GELU in elementary operators."""
    x = graph.node("MatMul", "x", graph.weights(32, 64))
    centred = graph.node("Sub", x, graph.node("ReduceMean", x, axes=[-1]))
    two, half, one = (graph.constant(np.float32(value)) for value in (2, 0.5, 1))
    variance = graph.node("ReduceMean", graph.node("Pow", centred, two), axes=[-1])
    root = graph.node("Sqrt", graph.node("Add", variance, graph.constant(np.float32(1e-5))))
    scaled = graph.node("Mul", graph.node("Div", centred, root), graph.weights(64))
    x = graph.node("MatMul", graph.node("Add", scaled, graph.weights(64)), graph.weights(64, 64))
    inner = graph.node("Erf", graph.node("Div", x, graph.constant(np.float32(np.sqrt(2)))))
    x = graph.node("Mul", graph.node("Mul", x, graph.node("Add", inner, one)), half)
    return graph.node("MatMul", x, graph.weights(64, 32))


def _dense(graph: Graph) -> str:
    x = graph.node("Relu", graph.node("MatMul", "x", graph.weights(64, 64)))
    return graph.node("MatMul", x, graph.weights(64, 64))


def float_network(build: Build, shape: Sequence[int], opset: int = 17) -> onnx.ModelProto:
    """The network before quantisation."""
    graph = Graph(shape, opset)
    return graph.model(build(graph))


def quantised(
    build: Build, shape: Sequence[int], *, opset: int = 17, unsigned: bool = False, per_channel: bool = True
) -> onnx.ModelProto:
    """8-bit QDQ by ONNX Runtime; ``unsigned``: weights and activations uint8 with zero points."""
    from onnxruntime.quantization import QuantFormat, QuantType, quantize_static

    random = np.random.default_rng(SEED)
    rows = iter([{"x": random.standard_normal(shape).astype(np.float32)} for _ in range(SAMPLES)])
    kind = QuantType.QUInt8 if unsigned else QuantType.QInt8
    with tempfile.TemporaryDirectory(prefix="breadth-") as folder:
        source, result = Path(folder, "source.onnx"), Path(folder, "result.onnx")
        onnx.save(float_network(build, shape, opset), str(source))
        quantize_static(
            str(source),
            str(result),
            _Reader(rows),
            quant_format=QuantFormat.QDQ,
            per_channel=per_channel and not unsigned,
            activation_type=kind,
            weight_type=kind,
        )
        return onnx.load(str(result))


class _Reader:
    """Samples one at a time, through the quantiser's interface."""

    def __init__(self, rows: Iterator[object]) -> None:
        self.rows = rows

    def get_next(self) -> object:
        """The next one; None after the last."""
        return next(self.rows, None)


def dynamic() -> onnx.ModelProto:
    """ConvInteger and MatMulInteger behind DynamicQuantizeLinear."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    with tempfile.TemporaryDirectory(prefix="breadth-") as folder:
        source, result = Path(folder, "source.onnx"), Path(folder, "result.onnx")
        onnx.save(float_network(_plain, (1, 8, 16, 16)), str(source))
        quantize_dynamic(str(source), str(result), weight_type=QuantType.QUInt8)
        return onnx.load(str(result))


def integer() -> onnx.ModelProto:
    """ConvInteger with requantisation in elementary integer operators, as QuantLib writes them."""
    random, make = np.random.default_rng(SEED), helper.make_node
    weights = random.integers(-127, 128, (16, 8, 3, 3)).astype(np.int8)
    given = {"w": weights, "m": np.int32(37), "d": np.int32(1 << 15), "lo": np.int32(0), "hi": np.int32(255)}
    nodes = [
        make("ConvInteger", ["x", "w"], ["sums"], "conv", pads=[1, 1, 1, 1]),
        make("Max", ["sums", "lo"], ["positive"], "relu"),
        make("Mul", ["positive", "m"], ["scaled"], "mul"),
        make("Div", ["scaled", "d"], ["shifted"], "div"),
        make("Min", ["shifted", "hi"], ["bounded"], "min"),
        make("Cast", ["bounded"], ["y"], "cast", to=TensorProto.UINT8),
    ]
    ends = (("x", [1, 8, 16, 16]), ("y", [1, 16, 16, 16]))
    inputs, outputs = ([helper.make_tensor_value_info(name, TensorProto.UINT8, shape)] for name, shape in ends)
    constants = [numpy_helper.from_array(np.asarray(values), name) for name, values in given.items()]
    graph = helper.make_graph(nodes, "net", inputs, outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def blocked(bits: str = "INT4") -> onnx.ModelProto:
    """A quantised dense layer whose weights have 4 bits and one scale for each 16 rows."""
    random, make = np.random.default_rng(SEED), helper.make_node
    kind = getattr(TensorProto, bits)
    lowest = 0 if bits.startswith("U") else -8
    weights = helper.make_tensor("w", kind, (64, 32), random.integers(lowest, lowest + 16, 64 * 32).tolist())
    scales = numpy_helper.from_array(random.uniform(0.01, 0.05, (4, 32)).astype(np.float32), "ws")
    numbers = {"s": np.float32(0.02), "z": np.int8(0), "os": np.float32(0.1)}
    nodes = [
        make("QuantizeLinear", ["x", "s", "z"], ["xq"], "x_quantize"),
        make("DequantizeLinear", ["xq", "s", "z"], ["xd"], "x_dequantize"),
        make("DequantizeLinear", ["w", "ws"], ["wd"], "w_dequantize", axis=0, block_size=16),
        make("MatMul", ["xd", "wd"], ["sums"], "matmul"),
        make("QuantizeLinear", ["sums", "os", "z"], ["yq"], "y_quantize"),
        make("DequantizeLinear", ["yq", "os", "z"], ["y"], "y_dequantize"),
    ]
    constants = [weights, scales, *(numpy_helper.from_array(np.asarray(v), name) for name, v in numbers.items())]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [8, 64])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [8, 32])]
    graph = helper.make_graph(nodes, "net", inputs, outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


_IMAGE = (1, 8, 16, 16)
#: Every network by name: a function that makes it.
MADE: Mapping[str, partial[onnx.ModelProto]] = {
    "float": partial(float_network, _plain, _IMAGE),
    "batch 1": partial(quantised, _plain, _IMAGE),
    **{f"batch {size}": partial(quantised, _plain, (size, *_IMAGE[1:])) for size in (2, 4, 16)},
    "ConvTranspose": partial(quantised, _transposed, _IMAGE),
    "Conv3d": partial(quantised, _volume, (1, 4, 8, 8, 8)),
    "conv1d": partial(quantised, _signal, (1, 8, 128)),
    "uint8 weights": partial(quantised, _plain, _IMAGE, unsigned=True),
    "conv behind Concat": partial(quantised, _joined, _IMAGE),
    **{
        name: partial(quantised, _activated(operator), _IMAGE)
        for name, operator in (
            *(("hard-swish", "HardSwish"), ("sigmoid", "Sigmoid"), ("tanh", "Tanh"), ("SiLU", "SiLU")),
            ("leaky ReLU", "LeakyRelu"),
        )
    },
    "squeeze and excite": partial(quantised, _squeezed, _IMAGE),
    "int4 weights, blocks": partial(blocked),
    "uint4 weights, blocks": partial(blocked, "UINT4"),
    "ConvInteger, dynamic": partial(dynamic),
    "ConvInteger, integer": partial(integer),
    "legacy LayerNorm, GELU": partial(quantised, _legacy, (1, 16, 32), opset=13),
    "dense, batch 8": partial(quantised, _dense, (8, 64)),
}
#: Those that are quantised, before that.
FLOATS: Mapping[str, partial[onnx.ModelProto]] = {
    f"{name}, float32": partial(float_network, *made.args, **made.keywords)
    for name, made in MADE.items()
    if made.func is quantised and "unsigned" not in made.keywords
}


def write(folder: Path) -> dict[str, Path]:
    """Write all of them; their paths by name."""
    paths = {}
    for name, make in MADE.items():
        path = folder / f"{''.join(c if c.isalnum() else '_' for c in name)}.onnx"
        onnx.save(make(), str(path))
        paths[name] = path
    return paths


if __name__ == "__main__":
    onnx.save(MADE[sys.argv[1]](), sys.argv[2])
