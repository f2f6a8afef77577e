"""Networks in float32 for measuring regions: a detector like SSD, one in two stages like Faster R-CNN, a ResNet-18 for
images, and one that is host work but for scraps. Made with fixed seeds; weights are random, scaled so that activations
keep their size (He).

``python -m benchmarks.dnnl_models NAME FILE`` writes one of them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
SEED = 20

#: Cells of a feature map have boxes of these shapes, as (scale of the map, width over height).
BOXES = ((1.0, 1.0), (1.0, 2.0), (1.0, 0.5), (1.0, 3.0), (1.0, 1.0 / 3.0), (1.4, 1.0))
CLASSES = 20
#: Boxes of a class that suppression leaves, least score, and overlap from which the lower score goes.
KEPT, SCORE, OVERLAP = 10, 0.88, 0.5


@dataclass
class Net:
    """A graph that grows: every method adds nodes and gives the name of their result."""

    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(SEED))
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)

    def add(self, op: str, *inputs: str, **attributes: Any) -> str:
        """A node with one result."""
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], f"{op.lower()}{len(self.nodes)}", **attributes))
        return name

    def const(self, values: NDArray[np.generic]) -> str:
        """A constant."""
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def weights(self, *shape: int, inputs: int) -> str:
        """Random weights of operators that sum ``inputs`` products."""
        return self.const((self.random.standard_normal(shape) * np.sqrt(2.0 / inputs)).astype(np.float32))

    def conv(self, x: str, before: int, after: int, size: int = 3, stride: int = 1, group: int = 1) -> str:
        """A convolution with zeros around and a bias."""
        weights = self.weights(after, before // group, size, size, inputs=before // group * size * size)
        bias = self.const((0.1 * self.random.standard_normal(after)).astype(np.float32))
        pads = [size // 2] * 4
        kernel, strides = [size, size], [stride, stride]
        return self.add("Conv", x, weights, bias, kernel_shape=kernel, strides=strides, pads=pads, group=group)

    def relu(self, x: str) -> str:
        """The part above 0."""
        return self.add("Relu", x)

    def separable(self, x: str, before: int, after: int, stride: int = 1) -> str:
        """A depthwise convolution and one of points."""
        return self.relu(self.conv(self.relu(self.conv(x, before, before, 3, stride, before)), before, after, 1))

    def model(self, name: str, inputs: Mapping[str, Sequence[int]], outputs: Mapping[str, str]) -> onnx.ModelProto:
        """The model; ``outputs``: type by tensor, shapes are inferred."""
        given = [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n, shape in inputs.items()]
        made = [helper.make_tensor_value_info(n, getattr(TensorProto, kind), None) for n, kind in outputs.items()]
        graph = helper.make_graph(self.nodes, name, given, made, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
        model = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
        onnx.checker.check_model(model)
        return model


def detector(size: int = 320, width: int = 32, score: float = SCORE) -> onnx.ModelProto:
    """An SSD-like detector: MobileNetV1's blocks, heads of separable convolutions on four maps, sigmoid scores, boxes
    decoded from priors, and non-max suppression. ``size`` of the image in pixels, a multiple of 32; ``width``: channels
    of the first layer; ``score``: the least that suppression looks at."""
    net = Net()
    x = net.relu(net.conv("image", 3, width, 3, 2))
    channels = width
    maps: list[tuple[str, int, int]] = []
    strides = ((2, 1), (4, 2), (4, 1), (8, 2), (8, 1), (16, 2), *(((16, 1),) * 4), (32, 2), (32, 1))
    for number, (factor, stride) in enumerate(strides):
        x = net.separable(x, channels, factor * width, stride)
        channels = factor * width
        if number == 9:
            maps.append((x, channels, size // 16))
    maps.append((x, channels, size // 32))
    side = size // 32
    for _ in range(2):
        x = net.relu(net.conv(x, channels, 4 * width, 1))
        x = net.separable(x, 4 * width, 8 * width, 2)
        channels, side = 8 * width, (side + 1) // 2
        maps.append((x, channels, side))
    heads = [_heads(net, x, channels, side) for x, channels, side in maps]
    shifts = net.add("Concat", *(head[0] for head in heads), axis=1)
    classes = net.add("Concat", *(head[1] for head in heads), axis=1)
    priors = np.concatenate([_priors(side, 0.15 + 0.2 * n) for n, (_, _, side) in enumerate(maps)])
    boxes = _decoded(net, shifts, priors)
    scores = net.add("Sigmoid", net.add("Transpose", classes, perm=[0, 2, 1]))
    limits = (np.array([KEPT], np.int64), np.array([OVERLAP], np.float32), np.array([score], np.float32))
    picked = net.add("NonMaxSuppression", boxes, scores, *(net.const(value) for value in limits))
    return net.model("detector", {"image": (1, 3, size, size)}, {boxes: "FLOAT", scores: "FLOAT", picked: "INT64"})


def _heads(net: Net, x: str, channels: int, side: int) -> tuple[str, str]:
    """Shifts [1, boxes, 4] and class scores [1, boxes, classes] of a map."""
    found = []
    for values in (4, CLASSES):
        y = net.relu(net.conv(x, channels, channels, 3, 1, channels))
        y = net.add("Transpose", net.conv(y, channels, len(BOXES) * values, 1), perm=[0, 2, 3, 1])
        shape = net.const(np.array([1, side * side * len(BOXES), values], np.int64))
        found.append(net.add("Reshape", y, shape))
    return found[0], found[1]


def _priors(side: int, scale: float) -> NDArray[np.float32]:
    """Boxes of a map as centre y, centre x, height, width in parts of the image: [boxes, 4]."""
    centres = (np.arange(side) + 0.5) / side
    sizes = [(scale * s / np.sqrt(ratio), scale * s * np.sqrt(ratio)) for s, ratio in BOXES]
    rows = [(y, x, height, width) for y in centres for x in centres for height, width in sizes]
    return np.array(rows, np.float32)


def _decoded(net: Net, shifts: str, priors: NDArray[np.float32]) -> str:
    """Corners [1, boxes, 4] as y, x, y, x: centres move by a tenth of the prior, sizes grow by exp of a fifth."""

    def part(first: int) -> str:
        bounds = (net.const(np.array([value], np.int64)) for value in (first, first + 2, 2))
        return net.add("Slice", shifts, *bounds)

    centres, sizes = net.const(priors[None, :, :2]), net.const(priors[None, :, 2:])
    tenth, fifth, half = (net.const(np.array(value, np.float32)) for value in (0.1, 0.2, 0.5))
    moved = net.add("Add", net.add("Mul", net.add("Mul", part(0), tenth), sizes), centres)
    reach = net.add("Mul", net.add("Mul", net.add("Exp", net.add("Mul", part(2), fifth)), sizes), half)
    return net.add("Concat", net.add("Sub", moved, reach), net.add("Add", moved, reach), axis=2)


def two_stage(size: int = 320, width: int = 32, proposals: int = 32, score: float = 0.1) -> onnx.ModelProto:
    """A detector of the R-CNN kind: a backbone like MobileNetV1's, a network that proposes boxes, suppression, pooling
    of the map in each proposal, a head of dense layers for classes and boxes, suppression for each class. ``size`` of
    the image in pixels, a multiple of 16; ``width``: channels of the first layer; ``score``: as for ``detector``."""
    net = Net()
    x, channels = net.relu(net.conv("image", 3, width, 3, 2)), width
    for factor, stride in ((2, 1), (4, 2), (4, 1), (8, 2), (8, 1), (16, 2), (16, 1), (16, 1)):
        x, channels = net.separable(x, channels, factor * width, stride), factor * width
    side = size // 16
    seen = net.relu(net.conv(x, channels, channels))
    count = side * side * len(BOXES)
    rows = [net.add("Transpose", net.conv(seen, channels, len(BOXES) * n, 1), perm=[0, 2, 3, 1]) for n in (4, 1)]
    shifts, objects = (
        net.add("Reshape", row, net.const(np.array([1, count, n], np.int64)))
        for row, n in zip(rows, (4, 1), strict=True)
    )
    boxes = _decoded(net, shifts, _priors(side, 0.2))
    scores = net.add("Sigmoid", net.add("Transpose", objects, perm=[0, 2, 1]))
    most, overlap = net.const(np.array([proposals], np.int64)), net.const(np.array([0.7], np.float32))
    picked = net.add("NonMaxSuppression", boxes, scores, most, overlap)
    number = net.add("Gather", picked, net.const(np.array([2], np.int64)), axis=1)
    index = net.add("Max", net.add("Squeeze", number, net.const(np.array([1], np.int64))), net.const(np.array([0])))
    chosen = net.add("Gather", net.add("Squeeze", boxes, net.const(np.array([0], np.int64))), index, axis=0)
    limits = (net.const(np.array(value, np.float32)) for value in (0.0, 1.0))
    chosen = net.add("Gather", net.add("Clip", chosen, *limits), net.const(np.array([1, 0, 3, 2])), axis=1)
    batch = net.const(np.zeros(proposals, np.int64))
    crops = net.add(
        "RoiAlign", x, chosen, batch, output_height=5, output_width=5, sampling_ratio=2, spatial_scale=float(side)
    )
    y = net.add("Flatten", crops)
    for before, after in ((25 * channels, 16 * width), (16 * width, 16 * width)):
        y = net.relu(
            net.add("Gemm", y, net.weights(before, after, inputs=before), net.const(np.zeros(after, np.float32)))
        )
    moves = net.add("MatMul", y, net.weights(16 * width, 4, inputs=16 * width))
    final = net.add("Add", chosen, net.add("Mul", moves, net.const(np.array(0.05, np.float32))))
    final = net.add("Unsqueeze", final, net.const(np.array([0], np.int64)))
    classes = net.add("Softmax", net.add("MatMul", y, net.weights(16 * width, CLASSES, inputs=16 * width)))
    classes = net.add("Unsqueeze", net.add("Transpose", classes, perm=[1, 0]), net.const(np.array([0], np.int64)))
    last = (np.array([KEPT], np.int64), np.array([OVERLAP], np.float32), np.array([score], np.float32))
    found = net.add("NonMaxSuppression", final, classes, *(net.const(value) for value in last))
    return net.model("two_stage", {"image": (1, 3, size, size)}, {final: "FLOAT", classes: "FLOAT", found: "INT64"})


def resnet18(size: int = 224, width: int = 64) -> onnx.ModelProto:
    """ResNet-18 for images of ``size`` pixels: first layer of 7x7, four stages of two blocks, 1000 classes."""
    net = Net()
    x = net.relu(net.conv("image", 3, width, 7, 2))
    x = net.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    channels = width
    for stage in range(4):
        for block in range(2):
            after, stride = width << stage, 2 if stage and not block else 1
            y = net.conv(net.relu(net.conv(x, channels, after, 3, stride)), after, after)
            y = net.add("Mul", y, net.const(np.array(0.5, np.float32)))
            side = x if channels == after else net.conv(x, channels, after, 1, stride)
            x, channels = net.relu(net.add("Add", y, side)), after
    x = net.add("Flatten", net.add("GlobalAveragePool", x))
    last = net.weights(channels, 1000, inputs=channels)
    return net.model("resnet18", {"image": (1, 3, size, size)}, {net.add("MatMul", x, last): "FLOAT"})


def scraps(count: int = 16, length: int = 256) -> onnx.ModelProto:
    """Sums along a line, which stay on the host, with two small operators between each: more calls of the library than
    work. At the end two layers that are worth one."""
    net = Net()
    x = "line"
    for _ in range(count):
        x = net.add("CumSum", x, net.const(np.array(1, np.int64)))
        scale = net.const(np.full((1, length), 0.1, np.float32))
        x = net.add("Tanh", net.add("Mul", x, scale))
    x = net.relu(net.add("MatMul", x, net.weights(length, 4 * length, inputs=length)))
    return net.model(
        "scraps",
        {"line": (1, length)},
        {net.add("MatMul", x, net.weights(4 * length, length, inputs=4 * length)): "FLOAT"},
    )


#: Everything this file makes, by name.
MADE: Mapping[str, Callable[[], onnx.ModelProto]] = {
    "detector_320": detector,
    "two_stage_320": two_stage,
    "resnet18_224": resnet18,
    "scraps": scraps,
}


def sample(model: onnx.ModelProto) -> dict[str, NDArray[np.float32]]:
    """Inputs of a model, the same ones every time."""
    random = np.random.default_rng(SEED)
    found = {}
    for value in model.graph.input:
        shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        found[value.name] = random.standard_normal(prod(shape)).astype(np.float32).reshape(shape)
    return found


def main(arguments: Sequence[str]) -> int:
    """Write a network."""
    if len(arguments) != 2 or arguments[0] not in MADE:
        sys.stderr.write(f"NAME FILE wanted; names: {', '.join(MADE)}\n")
        return 2
    onnx.save(MADE[arguments[0]](), arguments[1])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
