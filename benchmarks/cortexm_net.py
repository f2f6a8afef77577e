"""A network that a program writes node by node, in float32 or float16, or quantised to int8 or int16."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Operators that sum what they read, and shares of zeros in it.
SUMS = ("Conv", "Gemm", "MatMul", "AveragePool")
ZEROS = (0.0, 0.5, 0.2, 0.7, 0.4, 0.9, 0.1, 0.6, 0.3, 0.8)
#: Layers of a network, and bytes of its inputs.
LAYERS, MOST_BYTES = 28, 400_000


@dataclass
class Net:
    """A network that grows. ``quantised``: inputs and results of layers are int8, or int16 if ``wide``; others are
    float32, or float16 if ``wide``."""

    rng: np.random.Generator
    quantised: bool
    wide: bool = False
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)
    inputs: list[onnx.ValueInfoProto] = field(default_factory=list)
    outputs: list[onnx.ValueInfoProto] = field(default_factory=list)
    bytes_: int = 0
    #: Inputs of which some is 0, beside those of products, and inputs that are positive.
    rectified: set[str] = field(default_factory=set)
    positive: set[str] = field(default_factory=set)

    def between(self, low: int, high: int) -> int:
        """A random number, both ends included."""
        return int(self.rng.integers(low, high + 1))

    @property
    def halves(self) -> bool:
        """Whether numbers are float16."""
        return self.wide and not self.quantised

    def constant(self, values: object, dtype: object = None) -> str:
        """The name of a new constant, of real numbers if there is no type."""
        name, dtype = f"c{len(self.constants)}", dtype or (np.float16 if self.halves else np.float32)
        self.constants.append(numpy_helper.from_array(np.asarray(values, dtype), name))  # type: ignore[arg-type]  # any dtype
        return name

    def add(self, op: str, *sources: str, **attributes: object) -> str:
        """The name of the result of a new node."""
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(sources), [name], **attributes))
        return name

    @property
    def dtype(self) -> np.dtype[np.signedinteger]:
        """The type of quantised activations."""
        return np.dtype(np.int16 if self.wide else np.int8)

    @property
    def element(self) -> int:
        """The ONNX type of activations."""
        if self.quantised:
            return TensorProto.INT16 if self.wide else TensorProto.INT8
        return TensorProto.FLOAT16 if self.wide else TensorProto.FLOAT

    def ends(self, scale: float, low: int, high: int) -> tuple[str, str]:
        """Constants of a quantisation with this scale in int8, and a zero point between ``low`` and ``high``; int16 has
        256 times the steps and none."""
        zero = self.between(low, high)
        return self.constant(scale / 256 if self.wide else scale), self.constant(0 if self.wide else zero, self.dtype)

    def source(self, *shape: int, zero: int = 20, scale: float | None = None) -> str:
        """A new input, as real numbers. ``zero``: the zero point of bytes, at most, and at least if it is negative;
        ``scale``: of bytes, None: a random one."""
        name = f"x{len(self.inputs)}"
        self.inputs.append(helper.make_tensor_value_info(name, self.element, shape))
        self.bytes_ += int(np.prod(shape)) * (self.dtype.itemsize if self.quantised or self.wide else 4)
        if not self.quantised:
            return name
        return self.add("DequantizeLinear", name, *self.ends(scale or self.rng.uniform(0.01, 0.03), -zero, zero))

    def real(self, name: str, scale: object, zero: object, **attributes: object) -> str:
        """What quantised values mean."""
        return self.add("DequantizeLinear", name, self.constant(scale), self.constant(zero, np.int8), **attributes)

    def weight(self, *shape: int) -> str:
        """A weight whose first axis is its outputs."""
        if not self.quantised:
            return self.constant(self.rng.normal(0, 0.3, shape))
        values = self.constant(self.rng.integers(-127, 128, shape), np.int8)
        scales = self.rng.uniform(0.001, 0.004, shape[0])
        return self.real(values, scales, np.zeros(shape[0]), axis=0)

    def between_layers(self, name: str) -> str:
        """Quantised networks quantise here."""
        if not self.quantised:
            return name
        ends = self.ends(0.03, -128, 20)
        return self.add("DequantizeLinear", self.add("QuantizeLinear", name, *ends), *ends)

    def result(self, name: str, reach: float = 3.0, unsigned: bool = False) -> None:
        """Ends a layer; ``reach``: the largest value to expect; ``unsigned``: as uint8, in quantised networks."""
        element = self.element
        if self.quantised and self.wide:
            name = self.add("QuantizeLinear", name, *self.ends(reach / 128, 0, 0))
        elif self.quantised:
            element = TensorProto.UINT8 if unsigned else TensorProto.INT8
            zero = self.constant(self.between(-128, 20) + 128 * unsigned, np.uint8 if unsigned else np.int8)
            name = self.add("QuantizeLinear", name, self.constant(reach / 128), zero)
        self.outputs.append(helper.make_tensor_value_info(name, element, None))

    def model(self) -> onnx.ModelProto:
        """The network."""
        graph = helper.make_graph(self.nodes, "made", self.inputs, self.outputs, self.constants)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
        return onnx.shape_inference.infer_shapes(made)

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """A random sample. What products and averages read has none to nine tenths of zeros, as after a Relu: on cores
        without an FPU, a zero takes half the instructions of other numbers. One number of a line is larger than all
        others where a softmax reads them, as attention has it: how many of its results are 0 depends on that."""
        made: dict[str, NDArray[np.generic]] = {}
        softmaxes = {node.input[0] for node in self.nodes if node.op_type == "Softmax"}
        peaked = {node.input[0] for node in self.nodes if node.output[0] in softmaxes}
        summed = {node.input[0] for node in self.nodes if node.op_type in SUMS} | self.rectified
        for value in self.inputs:
            kind = value.type.tensor_type
            shape = [1, *(axis.dim_value for axis in kind.shape.dim)]
            if kind.elem_type in (TensorProto.INT8, TensorProto.INT16):
                limits = np.iinfo(self.dtype)
                whole = self.rng.integers(limits.min, limits.max + 1, shape, self.dtype)
                if value.name in peaked:
                    whole = np.minimum(whole, 0).astype(self.dtype)
                    whole[..., 0] = limits.max
                made[value.name] = whole
            elif kind.elem_type == TensorProto.INT64:  # places in a table
                made[value.name] = self.rng.integers(0, 4, shape)
            else:
                numbers = self.rng.normal(0, 1, shape)
                if value.name in summed:
                    numbers = np.maximum(numbers - np.quantile(numbers, ZEROS[len(made) % len(ZEROS)]), 0)
                numbers = np.abs(numbers) if value.name in self.positive else numbers
                made[value.name] = numbers.astype(np.float16 if self.wide else np.float32)
        return made


def some_channels(net: Net) -> int:
    """Powers of two in half of the layers, as in many networks."""
    return int(2 ** net.between(3, 6)) if net.between(0, 1) else 4 * net.between(1, 12)


def some_image(net: Net, most: int = 48) -> tuple[int, int, int, int]:
    size = net.between(5, 24)
    return 1, 4 * net.between(1, most // 4), size, size + net.between(-3, 3)


def some_rows(net: Net) -> tuple[int, int]:
    """Rows and columns: in a quarter of the layers one short row, as of classifiers."""
    return (1, net.between(2, 12)) if net.between(0, 3) == 0 else (net.between(1, 40), net.between(6, 160))


def middle(net: Net, channels: int, height: int, width: int) -> str:
    """An image in the middle of a network, where channels are last."""
    first = net.between(1, 4)
    y = net.add("Conv", net.source(1, first, height, width), net.weight(channels, first, 1, 1))
    return net.between_layers(y)


def networks_of(net: Net, kinds: Mapping[str, Callable[[Net], None]], rounds: int) -> Iterator[Net]:
    """Networks of these kinds of layers."""
    for _ in range(rounds):
        for make in kinds.values():
            if len(net.outputs) >= LAYERS or net.bytes_ >= MOST_BYTES:
                yield net
                net = Net(net.rng, net.quantised, net.wide)
            make(net)
    yield net
