"""Small networks with layers that units run in another form: batches, transposed, volume and sequence convolutions,
unsigned weights, moves between quantisers and layers. Made from a seed, and quantised by ONNX Runtime."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

from tests.graph_parts import GraphParts


class Float(GraphParts):
    """A float network in the making: every method adds a layer and returns the name of its result."""

    def node(self, op: str, inputs: Sequence[str], **attrs: object) -> str:
        name = f"{op}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [f"{name}_out"], name=name, **attrs))
        return f"{name}_out"

    def layer(self, op: str, x: str, *shape: int, relu: bool = True, **attrs: object) -> str:
        """Conv, ConvTranspose or Gemm (transB) with random weights of this shape and a bias."""
        outputs = shape[1] if op == "ConvTranspose" else shape[0]
        spread = np.sqrt(2 / np.prod(shape[1:]))
        inputs = [
            x,
            self.constant(self.random.normal(0, spread, shape)),
            self.constant(self.random.normal(0, 0.1, outputs)),
        ]
        result = self.node(op, inputs, **attrs)
        return self.node("Relu", [result]) if relu else result

    def save(self, path: Path, shape: Sequence[int], result: str) -> Path:
        ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("x", shape), (result, None))]
        graph = helper.make_graph(self.nodes, "net", ends[:1], ends[1:], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        onnx.save(onnx.shape_inference.infer_shapes(model), path)
        return path


class _Samples(CalibrationDataReader):
    def __init__(self, shape: Sequence[int]) -> None:
        random = np.random.default_rng(1)
        self._samples = iter([{"x": random.standard_normal(shape).astype(np.float32)} for _ in range(3)])

    def get_next(self) -> dict[str, NDArray[np.float32]] | None:
        return next(self._samples, None)


def quantised(
    path: Path,
    shape: Sequence[int],
    form: str = "QDQ",
    unsigned_weights: bool = False,
    bits: int = 8,
    **options: object,
) -> Path:
    """The float network quantised, beside it. ``form``: "QDQ" with int8 per channel, or "QOperator" with uint8;
    ``bits`` of activations."""
    result = path.with_name(f"{path.stem}_{form.lower()}{bits if bits > 8 else ''}.onnx")
    unsigned = form == "QOperator" or unsigned_weights
    quantize_static(
        path,
        result,
        _Samples(shape),
        quant_format=QuantFormat[form],
        activation_type=QuantType.QInt16 if bits > 8 else QuantType.QUInt8 if unsigned else QuantType.QInt8,
        weight_type=QuantType.QUInt8 if unsigned_weights else QuantType.QInt8,
        per_channel=not unsigned,
        extra_options={"ActivationSymmetric": bits > 8, **options},
    )
    return result


def with_batch(path: Path, batch: int) -> Path:
    """The same network with this many samples, beside it."""
    model = onnx.load(path)
    del model.graph.value_info[:]
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim[0].dim_value = batch
    result = path.with_name(f"{path.stem}_{batch}.onnx")
    onnx.save(model, result)
    return result


CLASSES = (1, 3, 8, 8)


def classifier(path: Path) -> Path:
    """Convolution, depthwise and pointwise convolution, addition, both poolings, dense layer, softmax."""
    net = Float(0)
    a = net.layer("Conv", "x", 16, 3, 3, 3, pads=[1] * 4)
    b = net.layer("Conv", a, 16, 1, 3, 3, pads=[1] * 4, group=16)
    c = net.node("Relu", [net.node("Add", [a, net.layer("Conv", b, 16, 16, 1, 1, relu=False)])])
    d = net.node("MaxPool", [c], kernel_shape=[2, 2], strides=[2, 2])
    e = net.node("GlobalAveragePool", [net.layer("Conv", d, 24, 16, 3, 3, pads=[1] * 4)])
    f = net.layer("Gemm", net.node("Flatten", [e]), 10, 24, relu=False, transB=1)
    return net.save(path, CLASSES, net.node("Softmax", [f]))


KEYWORD, PHOTO = (1, 1, 49, 10), (1, 3, 32, 32)


def keywords(path: Path, channels: int = 64, blocks: int = 4) -> Path:
    """The layers of MLPerf Tiny's DS-CNN: a convolution, pairs of depthwise and pointwise ones, the mean, a dense
    layer."""
    net = Float(3)
    x = net.layer("Conv", "x", channels, 1, 10, 4, pads=[4, 1, 5, 1], strides=[2, 2])
    for _ in range(blocks):
        x = net.layer("Conv", x, channels, 1, 3, 3, pads=[1] * 4, group=channels)
        x = net.layer("Conv", x, channels, channels, 1, 1)
    x = net.node("Flatten", [net.node("GlobalAveragePool", [x])])
    return net.save(path, KEYWORD, net.layer("Gemm", x, 12, channels, relu=False, transB=1))


def photos(path: Path, channels: int = 16) -> Path:
    """The layers of MLPerf Tiny's ResNet8: three blocks of two convolutions and a sum, the mean, a dense layer."""
    net = Float(5)
    x = net.layer("Conv", "x", channels, 3, 3, 3, pads=[1] * 4)
    for inputs, outputs in ((channels, channels), (channels, 2 * channels), (2 * channels, 4 * channels)):
        step = [1 if inputs == outputs else 2] * 2
        y = net.layer("Conv", x, outputs, inputs, 3, 3, pads=[1] * 4, strides=step)
        y = net.layer("Conv", y, outputs, outputs, 3, 3, pads=[1] * 4, relu=False)
        x = x if inputs == outputs else net.layer("Conv", x, outputs, inputs, 1, 1, strides=step, relu=False)
        x = net.node("Relu", [net.node("Add", [x, y])])
    x = net.node("Flatten", [net.node("GlobalAveragePool", [x])])
    return net.save(path, PHOTO, net.layer("Gemm", x, 10, 4 * channels, relu=False, transB=1))


PICTURE = (1, 3, 8, 8)


def decoder(path: Path) -> Path:
    """Down, up again by two transposed convolutions, with a connection around them."""
    net = Float(1)
    a = net.layer("Conv", "x", 16, 3, 3, 3, pads=[1] * 4, strides=[2, 2])
    b = net.layer("Conv", a, 16, 16, 3, 3, pads=[1] * 4, strides=[2, 2])
    c = net.layer("ConvTranspose", b, 16, 16, 3, 3, strides=[2, 2], pads=[1] * 4, output_padding=[1, 1])
    d = net.layer("Conv", net.node("Concat", [a, c], axis=1), 16, 32, 3, 3, pads=[1] * 4)
    return net.save(path, PICTURE, net.layer("ConvTranspose", d, 16, 4, 2, 2, relu=False, strides=[2, 2]))


VOLUME = (1, 4, 4, 6, 6)


def volume(path: Path) -> Path:
    """Two convolutions with three spatial axes and the mean over them."""
    net = Float(2)
    a = net.layer("Conv", "x", 16, 4, 3, 3, 3, pads=[1] * 6)
    b = net.layer("Conv", a, 16, 16, 3, 3, 3, pads=[1] * 6, strides=[2, 2, 2])
    return net.save(path, VOLUME, net.node("GlobalAveragePool", [b]))


SEQUENCE = (1, 8, 32)


def sequence(path: Path) -> Path:
    """Plain, depthwise and dilated convolutions with one spatial axis, and poolings."""
    net = Float(3)
    a = net.layer("Conv", "x", 16, 8, 3, pads=[1, 1])
    b = net.layer("Conv", a, 16, 1, 3, pads=[1, 1], group=16)
    c = net.layer("Conv", b, 16, 16, 3, pads=[8, 0], dilations=[4])
    d = net.layer("Conv", c, 16, 1, 3, pads=[2, 2], dilations=[2], group=16)
    e = net.node("GlobalAveragePool", [net.node("MaxPool", [d], kernel_shape=[2], strides=[2])])
    return net.save(path, SEQUENCE, net.layer("Gemm", net.node("Flatten", [e]), 5, 16, relu=False, transB=1))


def integers(path: Path) -> Path:
    """ConvInteger with requantisation in elementary operators, twice."""
    net, current = Float(4), "x"
    for inputs, outputs in ((4, 16), (16, 8)):
        weight = net.constant(net.random.integers(-127, 128, (outputs, inputs, 3, 3)), np.int8)
        total = net.node("ConvInteger", [current, weight], pads=[1] * 4)
        bias = net.constant(net.random.integers(-900, 900, (1, outputs, 1, 1)), np.int32)
        wide = net.node("Cast", [net.node("Add", [total, bias])], to=TensorProto.DOUBLE)
        factor, half = net.constant(21.0, np.float64), net.constant(4096.0, np.float64)
        scaled = net.node("Add", [net.node("Mul", [wide, factor]), half])
        floor = net.node("Floor", [net.node("Div", [scaled, net.constant(8192.0, np.float64)])])
        clipped = net.node("Clip", [floor, net.constant(-128.0, np.float64), net.constant(127.0, np.float64)])
        current = net.node("Cast", [clipped], to=TensorProto.INT8)
    ends = [helper.make_tensor_value_info(n, TensorProto.INT8, [1, c, 6, 6]) for n, c in (("x", 4), (current, 8))]
    graph = helper.make_graph(net.nodes, "net", ends[:1], ends[1:], net.constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path


#: What stands between DequantizeLinear and the layer, or (``after_...``) between the layer and QuantizeLinear.
MOVES: dict[str, Callable[[Float, str, str], str]] = {
    "slice": lambda n, x, y: n.node("Slice", [x, *(n.constant([v], np.int64) for v in (1, 7, 1))]),
    "pad": lambda n, x, y: n.node("Pad", [x, n.constant([0, 0, 1, 0, 0, 0, 2, 1], np.int64), n.constant(0.5)]),
    "split": lambda n, x, y: _halves_swapped(n, x),
    "concat": lambda n, x, y: n.node("Concat", [x, y], axis=1),
    "resize": lambda n, x, y: n.node("Resize", [x, "", n.constant([1, 1, 2, 2])], mode="nearest"),
    "transpose": lambda n, x, y: n.node("Transpose", [x], perm=[0, 1, 3, 2]),
    "reshape": lambda n, x, y: n.node("Reshape", [x, n.constant([1, 8, 4, 16], np.int64)]),
    "maximum": lambda n, x, y: n.node("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2]),
    "after_maximum": lambda n, x, y: n.node("Relu", [n.node("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2])]),
    "after_concat": lambda n, x, y: n.node("Concat", [n.node("Relu", [x]), y], axis=1),
}


def _halves_swapped(net: Float, x: str) -> str:
    sizes = net.constant([4, 4], np.int64)
    net.nodes.append(helper.make_node("Split", [x, sizes], ["first", "second"], name="split", axis=1))
    return net.node("Concat", ["second", "first"], axis=1)


def moved(path: Path, move: str, scales: tuple[float, float] = (0.0625, 0.0625)) -> Path:
    """Two quantised inputs, a move, a 3x3 convolution and one QuantizeLinear, written without a quantiser."""
    net = Float(5)
    zero, one = net.constant(120, np.uint8), net.constant(0, np.int8)
    a, b = (net.node("DequantizeLinear", [n, net.constant(s), zero]) for n, s in zip("xy", scales, strict=True))

    def layer(x: str, inputs: int) -> str:
        weight = net.constant(net.random.integers(-127, 128, (16, inputs, 3, 3)), np.int8)
        given = net.node("DequantizeLinear", [weight, net.constant(0.01), one])
        return net.node("Conv", [x, given], pads=[1] * 4)

    if move.startswith("after_"):
        result = MOVES[move](net, layer(a, 8), layer(b, 8))
    else:
        result = layer(MOVES[move](net, a, b), {"slice": 6, "concat": 16}.get(move, 8))
    result = net.node("QuantizeLinear", [result, net.constant(0.5), net.constant(90, np.uint8)])
    used = {name for node in net.nodes for name in node.input}
    while unread := [n for n in net.nodes if not set(n.output) & used and result not in n.output]:
        net.nodes = [node for node in net.nodes if node not in unread]
        used = {name for node in net.nodes for name in node.input}
    inputs = [helper.make_tensor_value_info(n, TensorProto.UINT8, [1, 8, 8, 8]) for n in "xy" if n in used]
    outputs = [helper.make_tensor_value_info(result, TensorProto.UINT8, None)]
    graph = helper.make_graph(net.nodes, "net", inputs, outputs, net.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.save(onnx.shape_inference.infer_shapes(model), path)
    return path
