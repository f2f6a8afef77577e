"""What the cost models are fitted to: operators alone and in pairs, in sizes that networks have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from match_dnnl.sample_models import Writer

if TYPE_CHECKING:
    import onnx

Sizes = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """A network of an operator or a few. ``build`` writes nodes and gives the name of the result; ``layers``: how many
    operators with work it has, and so often it counts."""

    name: str
    inputs: tuple[tuple[str, Sizes], ...]
    output: Sizes
    build: Callable[[Writer], str]
    layers: int = 1

    def model(self) -> onnx.ModelProto:
        """The network, whose result is ``y``."""
        writer = Writer()
        made = writer.model(self.name, dict(self.inputs), self.output, self.build(writer))
        for node in made.graph.node:
            node.output[:] = ["y" if name == made.graph.output[0].name else name for name in node.output]
        made.graph.output[0].name = "y"
        return made

    def counts(self) -> Mapping[str, float]:
        """What the cost model counts in it."""
        import onnx
        import onnx_graphsurgeon as gs
        from match_dnnl.claims import REGION
        from match_dnnl.cost import work

        graph = gs.import_onnx(onnx.shape_inference.infer_shapes(self.model()))
        assert REGION.search is not None
        (match,) = REGION.search(graph)
        return work(REGION.workload(match))


def _conv(
    name: str,
    channels: int,
    outputs: int,
    side: int,
    kernel: int,
    group: int = 1,
    behind: str = "",
    stride: int = 1,
) -> Case:
    def build(writer: Writer) -> str:
        weights = [writer.weights(outputs, channels // group, kernel, kernel), writer.weights(outputs)]
        result = writer.node("Conv", ["x", *weights], pads=[kernel // 2] * 4, group=group, strides=[stride] * 2)
        return writer.node(behind, [result]) if behind else result

    results = -(-side // stride)
    return Case(name, (("x", (1, channels, side, side)),), (1, outputs, results, results), build)


def _product(name: str, rows: int, inputs: int, outputs: int) -> Case:
    def build(writer: Writer) -> str:
        return writer.node(
            "Add", [writer.node("MatMul", ["x", writer.weights(inputs, outputs)]), writer.weights(outputs)]
        )

    return Case(name, (("x", (rows, inputs)),), (rows, outputs), build)


def _one(name: str, op: str, source: Sizes, result: Sizes, **attributes: Any) -> Case:
    return Case(name, (("x", source),), result, lambda writer: writer.node(op, ["x"], **attributes))


def _blocks(name: str, channels: int, side: int, count: int = 3) -> Case:
    """Residual blocks one after another."""

    def build(writer: Writer) -> str:
        x = "x"
        for _ in range(count):
            weights = [[writer.weights(channels, channels, 3, 3), writer.weights(channels)] for _ in range(2)]
            first = writer.node("Relu", [writer.node("Conv", [x, *weights[0]], pads=[1] * 4)])
            x = writer.node("Relu", [writer.node("Add", [writer.node("Conv", [first, *weights[1]], pads=[1] * 4), x])])
        return x

    return Case(name, (("x", (1, channels, side, side)),), (1, channels, side, side), build, 2 * count)


def _separables(name: str, channels: int, side: int, width: int = 0, count: int = 4, points: bool = True) -> Case:
    """Depthwise convolutions, each with one of points behind it, or with none."""

    def build(writer: Writer) -> str:
        x = "x"
        for _ in range(count):
            for kernel, group in ((3, channels), (1, 1))[: 1 + points]:
                weights = [writer.weights(channels, channels // group, kernel, kernel), writer.weights(channels)]
                x = writer.node("Relu", [writer.node("Conv", [x, *weights], pads=[kernel // 2] * 4, group=group)])
        return x

    image = (1, channels, side, width or side)
    return Case(name, (("x", image),), image, build, (1 + points) * count)


_IMAGE = (1, 64, 28, 28)

CASES = (
    _conv("conv_first", 3, 16, 64, 3),
    _conv("conv_small", 16, 16, 16, 3),
    _conv("conv_wide", 64, 64, 28, 3, behind="Relu"),
    _conv("conv_deep", 256, 256, 14, 3),
    _conv("conv_point", 64, 256, 28, 1, behind="HardSwish"),
    _conv("conv_depthwise", 64, 64, 28, 3, 64, "Relu"),
    _conv("conv_point_small", 16, 32, 24, 1, behind="Relu"),
    _conv("conv_depthwise_small", 16, 16, 24, 3, 16, "Relu"),
    _conv("conv_point_middle", 64, 64, 11, 1, behind="Relu"),
    _conv("conv_depthwise_middle", 64, 64, 11, 3, 64, "Relu"),
    _conv("conv_strided", 64, 64, 28, 3, behind="Relu", stride=2),
    _conv("conv_first_strided", 3, 8, 96, 3, behind="Relu", stride=2),
    _conv("conv_depthwise_strided", 64, 64, 28, 3, 64, "Relu", stride=2),
    _separables("separable_8_48", 8, 48),
    _separables("separable_16_40", 16, 40),
    _separables("separable_24_32", 24, 32),
    _separables("separable_32_24", 32, 24),
    _separables("separable_64_11", 64, 11),
    _separables("separable_128_6", 128, 6),
    _separables("separable_256_3", 256, 3),
    _separables("separable_64_25_5", 64, 25, 5),
    _separables("depthwise_8_48", 8, 48, points=False),
    _separables("depthwise_16_40", 16, 40, points=False),
    _separables("depthwise_64_28", 64, 28, points=False),
    _separables("depthwise_64_25_5", 64, 25, 5, points=False),
    _separables("depthwise_256_3", 256, 3, points=False),
    _blocks("residual_16_32", 16, 32),
    _blocks("residual_64_8", 64, 8),
    _blocks("residual_64_28", 64, 28, 1),
    _conv("conv_groups", 64, 64, 28, 3, 4),
    _product("product_row", 1, 512, 512),
    _product("product_rows", 128, 256, 256),
    _product("product_wide", 128, 128, 512),
    _product("product_narrow", 128, 512, 128),
    _product("product_small", 4, 16, 8),
    _one("relu", "Relu", _IMAGE, _IMAGE),
    _one("relu_small", "Relu", (1, 64), (1, 64)),
    _one("sigmoid", "Sigmoid", _IMAGE, _IMAGE),
    Case("add", (("x", _IMAGE), ("z", _IMAGE)), _IMAGE, lambda writer: writer.node("Add", ["x", "z"])),
    _one("max_pool", "MaxPool", _IMAGE, (1, 64, 14, 14), kernel_shape=[2, 2], strides=[2, 2]),
    _one("mean_all", "AveragePool", _IMAGE, (1, 64, 1, 1), kernel_shape=[28, 28]),
    _one("softmax", "Softmax", (128, 128), (128, 128), axis=-1),
    _one("softmax_small", "Softmax", (1, 10), (1, 10), axis=-1),
    Case(
        "layer_norm",
        (("x", (128, 256)),),
        (128, 256),
        lambda writer: writer.node("LayerNormalization", ["x", writer.weights(256), writer.weights(256)]),
    ),
)
