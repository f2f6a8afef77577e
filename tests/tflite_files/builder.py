"""Small TFLite files, written with the builder of the package ``flatbuffers``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import flatbuffers
import numpy as np
import tflite
from numpy.typing import NDArray

Options = tuple[str, Mapping[str, int | float | bool | str]]

_TYPES = {
    "float32": tflite.TensorType.FLOAT32,
    "float16": tflite.TensorType.FLOAT16,
    "int8": tflite.TensorType.INT8,
    "uint8": tflite.TensorType.UINT8,
    "int16": tflite.TensorType.INT16,
    "int32": tflite.TensorType.INT32,
    "int64": tflite.TensorType.INT64,
    "bool": tflite.TensorType.BOOL,
    "resource": tflite.TensorType.RESOURCE,
}


class TfliteBuilder:
    """Collects tensors (by number) and operators, and writes them as the main subgraph."""

    def __init__(self, main: TfliteBuilder | None = None) -> None:
        """``main``: the builder of the file, for another subgraph without inputs and outputs."""
        self.builder = flatbuffers.Builder(1024) if main is None else main.builder
        self.buffers: list[bytes] = [b""] if main is None else main.buffers
        self.tensors: list[Callable[[], int]] = []
        self.codes: list[str] = [] if main is None else main.codes
        self.operators: list[Callable[[], int]] = []
        self.inner: list[TfliteBuilder] = []
        if main is not None:
            main.inner.append(self)

    def tensor(
        self,
        name: str,
        shape: tuple[int, ...],
        dtype: str = "float32",
        scale: float | list[float] | None = None,
        zero: int | list[int] = 0,
        axis: int = 0,
        data: bytes = b"",
        element: int | None = None,
        variable: bool = False,
    ) -> int:
        """A tensor; ``data`` makes it a constant, ``element`` another TensorType than that of ``dtype``."""
        if data:
            self.buffers.append(data)
        buffer = len(self.buffers) - 1 if data else 0

        def write() -> int:
            b = self.builder
            label, sizes = b.CreateString(name), b.CreateNumpyVector(np.array(shape, np.int32))
            quantisation = None
            if scale is not None:
                scales = b.CreateNumpyVector(np.atleast_1d(np.array(scale, np.float32)))
                zeros = b.CreateNumpyVector(np.atleast_1d(np.array(zero, np.int64)))
                tflite.QuantizationParametersStart(b)
                tflite.QuantizationParametersAddScale(b, scales)
                tflite.QuantizationParametersAddZeroPoint(b, zeros)
                tflite.QuantizationParametersAddQuantizedDimension(b, axis)
                quantisation = tflite.QuantizationParametersEnd(b)
            tflite.TensorStart(b)
            tflite.TensorAddShape(b, sizes)
            tflite.TensorAddType(b, _TYPES[dtype] if element is None else element)
            tflite.TensorAddBuffer(b, buffer)
            tflite.TensorAddName(b, label)
            tflite.TensorAddIsVariable(b, variable)
            if quantisation is not None:
                tflite.TensorAddQuantization(b, quantisation)
            return int(tflite.TensorEnd(b))

        self.tensors.append(write)
        return len(self.tensors) - 1

    def constant(self, name: str, values: NDArray[Any], **quantisation: Any) -> int:
        """A tensor whose values the file holds."""
        return self.tensor(name, values.shape, values.dtype.name, data=values.tobytes(), **quantisation)

    def operator(self, kind: str, inputs: list[int], outputs: list[int], options: Options | None = None) -> None:
        """An operator; a kind that the schema does not have is a custom one."""
        if kind not in self.codes:
            self.codes.append(kind)
        code = self.codes.index(kind)

        def write() -> int:
            b = self.builder
            reads = b.CreateNumpyVector(np.array(inputs, np.int32))
            writes = b.CreateNumpyVector(np.array(outputs, np.int32))
            table = None if options is None else self._options(*options)
            tflite.OperatorStart(b)
            tflite.OperatorAddOpcodeIndex(b, code)
            tflite.OperatorAddInputs(b, reads)
            tflite.OperatorAddOutputs(b, writes)
            if options is not None and table is not None:
                tflite.OperatorAddBuiltinOptionsType(b, getattr(tflite.BuiltinOptions, options[0]))
                tflite.OperatorAddBuiltinOptions(b, table)
            return int(tflite.OperatorEnd(b))

        self.operators.append(write)

    def content(self, inputs: list[int], outputs: list[int]) -> bytes:
        """The file. A builder writes one."""
        b = self.builder
        graphs = [self._graph(inputs, outputs), *(inner._graph([], []) for inner in self.inner)]
        buffers = [self._buffer(data) for data in self.buffers]
        codes = [self._code(kind) for kind in self.codes]
        vectors = [self._vector(graphs), self._vector(codes), self._vector(buffers)]
        tflite.ModelStart(b)
        tflite.ModelAddVersion(b, 3)
        tflite.ModelAddOperatorCodes(b, vectors[1])
        tflite.ModelAddSubgraphs(b, vectors[0])
        tflite.ModelAddBuffers(b, vectors[2])
        b.Finish(tflite.ModelEnd(b), file_identifier=b"TFL3")
        return bytes(b.Output())

    def _graph(self, inputs: list[int], outputs: list[int]) -> int:
        b = self.builder
        tensors, operators = [write() for write in self.tensors], [write() for write in self.operators]
        reads, writes = (b.CreateNumpyVector(np.array(ends, np.int32)) for ends in (inputs, outputs))
        vectors = [self._vector(tensors), self._vector(operators)]
        tflite.SubGraphStart(b)
        tflite.SubGraphAddTensors(b, vectors[0])
        tflite.SubGraphAddInputs(b, reads)
        tflite.SubGraphAddOutputs(b, writes)
        tflite.SubGraphAddOperators(b, vectors[1])
        return int(tflite.SubGraphEnd(b))

    def _options(self, name: str, fields: Mapping[str, int | float | bool | str]) -> int:
        fields = {k: self.builder.CreateString(v) if isinstance(v, str) else v for k, v in fields.items()}
        getattr(tflite, f"{name}Start")(self.builder)
        for field, value in fields.items():
            getattr(tflite, f"{name}Add{field}")(self.builder, value)
        return int(getattr(tflite, f"{name}End")(self.builder))

    def _buffer(self, data: bytes) -> int:
        vector = self.builder.CreateByteVector(data) if data else None
        tflite.BufferStart(self.builder)
        if vector is not None:
            tflite.BufferAddData(self.builder, vector)
        return int(tflite.BufferEnd(self.builder))

    def _code(self, kind: str) -> int:
        b = self.builder
        number = getattr(tflite.BuiltinOperator, kind, None)
        custom = None if number is not None else b.CreateString(kind)
        number = tflite.BuiltinOperator.CUSTOM if number is None else number
        tflite.OperatorCodeStart(b)
        tflite.OperatorCodeAddDeprecatedBuiltinCode(b, min(number, 127))
        tflite.OperatorCodeAddBuiltinCode(b, number)
        if custom is not None:
            tflite.OperatorCodeAddCustomCode(b, custom)
        return int(tflite.OperatorCodeEnd(b))

    def _vector(self, offsets: list[int]) -> int:
        self.builder.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            self.builder.PrependUOffsetTRelative(offset)
        return int(self.builder.EndVector())


CONV: dict[str, int | float | bool] = {"StrideH": 1, "StrideW": 1, "DilationHFactor": 1, "DilationWFactor": 1}
POOL: dict[str, int | float | bool] = {"StrideH": 2, "StrideW": 2, "FilterHeight": 2, "FilterWidth": 2}
SAME, VALID = 0, 1
RELU, RELU6 = 1, 3


def quantised_network(seed: int = 7) -> bytes:
    """An int8 network of 8 x 6 images of 3 channels, as MLPerf Tiny's are: convolution by channel, depthwise, padding,
    residual addition, poolings, dense layer, softmax."""
    random = np.random.default_rng(seed)
    b = TfliteBuilder()

    def weights(name: str, shape: tuple[int, ...], axis: int, image: float) -> tuple[int, int]:
        count = shape[axis]
        scales = [float(s) for s in random.uniform(0.004, 0.012, count)]
        w = b.constant(
            name, random.integers(-127, 128, shape).astype(np.int8), scale=scales, zero=[0] * count, axis=axis
        )
        biases = [image * s for s in scales]
        values = random.integers(-2000, 2000, count).astype(np.int32)
        return w, b.constant(f"{name}_bias", values, scale=biases, zero=[0] * count, axis=0)

    x = b.tensor("image", (1, 8, 6, 3), "int8", scale=0.02, zero=-5)
    first = b.tensor("stem/Relu;stem/Conv2D", (1, 8, 6, 8), "int8", scale=0.03, zero=-128)
    conv = {**CONV, "Padding": SAME, "FusedActivationFunction": RELU}
    b.operator("CONV_2D", [x, *weights("stem", (8, 3, 3, 3), 0, 0.02)], [first], ("Conv2DOptions", conv))
    second = b.tensor("depthwise/Relu6", (1, 8, 6, 8), "int8", scale=6 / 255, zero=-128)
    depthwise = {**CONV, "Padding": SAME, "FusedActivationFunction": RELU6, "DepthMultiplier": 1}
    operands = weights("depthwise", (1, 3, 3, 8), 3, 0.03)
    b.operator("DEPTHWISE_CONV_2D", [first, *operands], [second], ("DepthwiseConv2DOptions", depthwise))
    total = b.tensor("add", (1, 8, 6, 8), "int8", scale=0.05, zero=-100)
    b.operator("ADD", [second, first], [total], ("AddOptions", {"FusedActivationFunction": 0}))
    amounts = b.constant("amounts", np.array([[0, 0], [0, 1], [0, 1], [0, 0]], np.int32))
    padded = b.tensor("pad", (1, 9, 7, 8), "int8", scale=0.05, zero=-100)
    b.operator("PAD", [total, amounts], [padded])
    third = b.tensor("down", (1, 4, 3, 12), "int8", scale=0.06, zero=3)
    strided = {**CONV, "Padding": VALID, "StrideH": 2, "StrideW": 2}
    b.operator("CONV_2D", [padded, *weights("down", (12, 3, 3, 8), 0, 0.05)], [third], ("Conv2DOptions", strided))
    fourth = b.tensor("pool", (1, 2, 1, 12), "int8", scale=0.06, zero=3)
    b.operator("MAX_POOL_2D", [third], [fourth], ("Pool2DOptions", {**POOL, "Padding": VALID}))
    flat = b.tensor("flat", (1, 24), "int8", scale=0.06, zero=3)
    shape = b.constant("shape", np.array([1, 24], np.int32))
    b.operator("RESHAPE", [fourth, shape], [flat])
    logits = b.tensor("logits", (1, 10), "int8", scale=0.1, zero=10)
    dense = weights("dense", (10, 24), 0, 0.06)
    b.operator("FULLY_CONNECTED", [flat, *dense], [logits], ("FullyConnectedOptions", {}))
    result = b.tensor("probabilities", (1, 10), "int8", scale=1 / 256, zero=-128)
    b.operator("SOFTMAX", [logits], [result], ("SoftmaxOptions", {"Beta": 1.0}))
    return b.content([x], [result])


def one_operator(kind: str, shape: tuple[int, ...] = (1, 4), **tensor: Any) -> bytes:
    """x -> operator without options -> y of the same shape."""
    b = TfliteBuilder()
    x, y = b.tensor("x", shape, **tensor), b.tensor("y", shape)
    b.operator(kind, [x], [y])
    return b.content([x], [y])


def saved(path: Path, content: bytes) -> Path:
    """The file at ``path``."""
    path.write_bytes(content)
    return path


def quantised_operators() -> bytes:
    """An int8 image that many operators read, each with a result of its own."""
    b = TfliteBuilder()
    x = b.tensor("x", (1, 6, 6, 8), "int8", scale=0.05, zero=4)
    results: list[int] = []

    def add(
        kind: str,
        inputs: list[int],
        shape: tuple[int, ...] = (1, 6, 6, 8),
        options: Options | None = None,
        scale: float = 0.05,
        zero: int = 4,
    ) -> int:
        results.append(b.tensor(kind.lower(), shape, "int8", scale=scale, zero=zero))
        b.operator(kind, inputs, [results[-1]], options)
        return results[-1]

    def numbers(name: str, values: list[int] | list[list[int]]) -> int:
        return b.constant(name, np.array(values, np.int32))

    share = add("LOGISTIC", [x], scale=1 / 256, zero=-128)
    bent = add("TANH", [x], scale=1 / 128, zero=0)
    add("HARD_SWISH", [x])
    add("RELU6", [x], scale=6 / 255, zero=-128)
    add("LEAKY_RELU", [x], options=("LeakyReluOptions", {"Alpha": 0.1}))
    add("ELU", [x])
    add("MUL", [x, share], options=("MulOptions", {}))
    add("SUB", [x, bent], options=("SubOptions", {}))
    add("MAXIMUM", [x, bent])
    add("SQUARED_DIFFERENCE", [x, bent], scale=0.2)
    add("SOFTMAX", [x], scale=1 / 256, zero=-128, options=("SoftmaxOptions", {"Beta": 1.0}))
    add("CONCATENATION", [x, bent], (1, 6, 6, 16), ("ConcatenationOptions", {"Axis": 3}))
    add("BATCH_MATMUL", [x, bent], (1, 6, 6, 6), ("BatchMatMulOptions", {"AdjX": False, "AdjY": True}))
    add("MEAN", [x, numbers("axes", [1, 2])], (1, 8), ("ReducerOptions", {"KeepDims": False}))
    add("AVERAGE_POOL_2D", [x], (1, 3, 3, 8), ("Pool2DOptions", {**POOL, "Padding": VALID}))
    size = numbers("size", [12, 12])
    add("RESIZE_NEAREST_NEIGHBOR", [x, size], (1, 12, 12, 8), ("ResizeNearestNeighborOptions", {}))
    add("PAD", [x, numbers("amounts", [[0, 0], [1, 1], [2, 0], [0, 0]])], (1, 8, 8, 8))
    add("SLICE", [x, numbers("begin", [0, 1, 1, 0]), numbers("sizes", [1, 3, 3, 8])], (1, 3, 3, 8))
    add("GATHER", [x, numbers("rows", [2, 0])], (1, 2, 6, 8), ("GatherOptions", {"Axis": 1}))
    return b.content([x], results)
