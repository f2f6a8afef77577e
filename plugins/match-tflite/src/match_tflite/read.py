"""Reads the bytes of a TFLite file into a ``File``. Any offset, count, index or size in them may be wrong."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from match_tflite.faults import damaged, unsupported_tensor
from match_tflite.model import File, Quantisation, Tensor, TfliteOperator
from match_tflite.operator_options import OPTIONS
from match_tflite.states import WITHOUT_RESULT, initial_values
from match_tflite.unique import UniqueNames

#: Element types by their names in the schema. INT4 is unpacked into int8.
_TYPES = {
    "FLOAT32": np.float32,
    "FLOAT16": np.float16,
    "FLOAT64": np.float64,
    "INT4": np.int8,
    "INT8": np.int8,
    "INT16": np.int16,
    "INT32": np.int32,
    "INT64": np.int64,
    "UINT8": np.uint8,
    "UINT16": np.uint16,
    "UINT32": np.uint32,
    "UINT64": np.uint64,
    "BOOL": np.bool_,
    "RESOURCE": np.void,
}
#: Element types that can have a scale.
_QUANTISED = frozenset((np.dtype(np.int8), np.dtype(np.uint8), np.dtype(np.int16), np.dtype(np.int32)))
#: Tables may be shared, but their total size is limited to this multiple of the file's size.
_EXPANSION = 16
#: The largest accepted size: ONNX and memory plans count in 64 bits.
_LARGEST_SIZE = 1 << 40


def read_file(content: bytes, source: str) -> File:
    """The first subgraph of a file, with the values that variables begin with.

    Errors: ModelError MATCH-F021 (the file contradicts itself), MATCH-F023 (a tensor whose type has no counterpart in
    ONNX, or a sparse tensor).
    """
    with _guarded(content, source):
        return _Reader(content, source).file()


@contextmanager
def _guarded(content: bytes, source: str) -> Iterator[None]:
    """Convert the exceptions that the format's package raises for offsets outside the file."""
    try:
        yield
    except (struct.error, IndexError, TypeError, ValueError, OverflowError, AssertionError) as error:
        raise damaged(source, f"an offset or a count points outside its {len(content)} bytes") from error


class _Reader:
    def __init__(self, content: bytes, source: str) -> None:
        import tflite

        self.schema = tflite
        self.content = content
        self.source = source
        self.left_bytes = _EXPANSION * len(content)
        self.types = _members(tflite.TensorType)
        self.kinds = _members(tflite.BuiltinOperator)

    def file(self) -> File:
        model = self.schema.Model.GetRootAs(self.content, 0)
        if not model.SubgraphsLength():
            raise damaged(self.source, "it has no subgraph")
        kinds = [self._kind(model.OperatorCodes(i)) for i in self._count(model.OperatorCodesLength())]
        main = self._subgraph(model, 0, kinds)
        if not main.outputs:
            raise damaged(self.source, "it has no output")
        initial: dict[str, NDArray[np.generic]] = {}
        for index in {int(op.options.get("InitSubgraphIndex", 0)) for op in main.operators if op.kind == "CALL_ONCE"}:
            if not 0 < index < model.SubgraphsLength():
                raise damaged(self.source, f"it runs subgraph {index} of {model.SubgraphsLength()} once")
            initial.update(initial_values(self._subgraph(model, index, kinds), self.source))
        return replace(main, initial=initial)

    def _subgraph(self, model: Any, index: int, kinds: list[str]) -> File:
        graph = model.Subgraphs(index)
        names = UniqueNames()
        tensors = tuple(self._tensor(model, graph.Tensors(i), i, names) for i in self._count(graph.TensorsLength()))
        operators = tuple(
            self._operator(graph.Operators(i), kinds, len(tensors)) for i in self._count(graph.OperatorsLength())
        )
        inputs = self._indices(graph.InputsLength, graph.InputsAsNumpy, 0, len(tensors))
        outputs = self._indices(graph.OutputsLength, graph.OutputsAsNumpy, 0, len(tensors))
        return File(tensors, operators, inputs, outputs)

    def _count(self, length: int, item_bytes: int = 4) -> range:
        """The positions of a vector whose items take ``item_bytes`` or more."""
        self._spend(length * item_bytes)
        return range(length)

    def _spend(self, size_bytes: int) -> None:
        self.left_bytes -= size_bytes
        if self.left_bytes < 0:
            raise damaged(self.source, f"its vectors take more than {_EXPANSION} times its {len(self.content)} bytes")

    def _text(self, raw: bytes | None) -> str:
        self._spend(len(raw or b""))
        return (raw or b"").decode("utf-8", errors="replace").replace("\0", "")

    def _indices(
        self, length: Callable[[], int], values: Callable[[], Any], lowest: int, tensors: int
    ) -> tuple[int, ...]:
        if not len(self._count(length())):
            return ()
        indices = tuple(int(index) for index in values())
        wrong = [index for index in indices if not lowest <= index < tensors]
        if wrong:
            raise damaged(self.source, f"it refers to tensor {wrong[0]} of {tensors}")
        return indices

    def _kind(self, code: Any) -> str:
        # Files from before 2020 have only the older, 8-bit field; newer ones have both.
        number = max(code.BuiltinCode(), code.DeprecatedBuiltinCode())
        if self.kinds.get(number) == "CUSTOM":
            return f"CUSTOM {self._text(code.CustomCode())}"
        return self.kinds.get(number, f"number {number}")

    def _operator(self, operator: Any, kinds: list[str], tensors: int) -> TfliteOperator:
        index = operator.OpcodeIndex()
        if not 0 <= index < len(kinds):
            raise damaged(self.source, f"it refers to operator code {index} of {len(kinds)}")
        outputs = self._indices(operator.OutputsLength, operator.OutputsAsNumpy, 0, tensors)
        if not outputs and kinds[index] not in WITHOUT_RESULT:
            raise damaged(self.source, f"an operator {kinds[index]} has no output")
        inputs = self._indices(operator.InputsLength, operator.InputsAsNumpy, -1, tensors)
        return TfliteOperator(kinds[index], inputs, outputs, self._options(operator, kinds[index]))

    def _options(self, operator: Any, kind: str) -> dict[str, int | float | str]:
        table = operator.BuiltinOptions()
        if kind not in OPTIONS or table is None:
            return {}
        name, fields = OPTIONS[kind]
        if operator.BuiltinOptionsType() != getattr(self.schema.BuiltinOptions, name):
            raise damaged(self.source, f"an operator {kind} has the options of another operator")
        options = getattr(self.schema, name)()
        options.Init(table.Bytes, table.Pos)
        values = {field: getattr(options, field)() for field in fields}
        texts = {field: self._text(value) for field, value in values.items() if value is None or type(value) is bytes}
        return {**values, **texts}

    def _tensor(self, model: Any, table: Any, index: int, names: UniqueNames) -> Tensor:
        name = names.unique(self._text(table.Name()) or f"tensor_{index}")
        where = f"{self.source}, tensor {name!r}"
        kind = self.types.get(table.Type(), f"number {table.Type()}")
        if kind not in _TYPES:
            raise unsupported_tensor(where, f"its elements are {kind}", "remove text from the network")
        if table.Sparsity() is not None:
            raise unsupported_tensor(where, "its values are stored sparsely", "convert the network without sparsity")
        shape = self._shape(table, where)
        dtype: np.dtype[Any] = np.dtype(_TYPES[kind])
        data = self._data(model, table.Buffer(), shape, kind, where)
        quantisation = self._quantisation(table.Quantization(), shape, dtype, where)
        return Tensor(index, name, shape, dtype, data, quantisation, bool(table.IsVariable()) and data is None)

    def _shape(self, table: Any, where: str) -> tuple[int, ...]:
        if not len(self._count(table.ShapeLength())):
            return ()
        shape = tuple(int(size) for size in table.ShapeAsNumpy())
        size = 1
        for length in shape:
            size *= length
            if length < 0 or size > _LARGEST_SIZE:
                raise unsupported_tensor(
                    where, f"its shape is {list(shape)[:8]}", "convert the network with fixed sizes"
                )
        return shape

    def _data(
        self, model: Any, index: int, shape: tuple[int, ...], kind: str, where: str
    ) -> NDArray[np.generic] | None:
        if not 0 <= index < model.BuffersLength():
            raise damaged(self.source, f"it refers to buffer {index} of {model.BuffersLength()}")
        buffer = model.Buffers(index)
        if buffer.Offset() > 1:  # files above 2 GB store values after the tables; 0 and 1 mean that this file does not
            start, length = int(buffer.Offset()), int(buffer.Size())
            if start + length > len(self.content):
                raise damaged(where, f"its values lie in bytes {start} to {start + length} of {len(self.content)}")
            raw = self.content[start : start + length]
        elif buffer.DataLength():
            raw = buffer.DataAsNumpy().tobytes()
        else:
            return None
        self._spend(len(raw))
        elements = int(np.prod(shape, dtype=np.int64))
        wanted = -(-elements // 2) if kind == "INT4" else elements * np.dtype(_TYPES[kind]).itemsize
        if wanted != len(raw):
            raise damaged(where, f"it has {len(raw)} bytes, but shape {list(shape)[:8]} of {kind} takes {wanted}")
        if kind == "INT4":
            return _nibbles(raw, elements).reshape(shape)
        stored = np.dtype(_TYPES[kind])
        return np.frombuffer(raw, stored.newbyteorder("<")).astype(stored).reshape(shape)

    def _quantisation(
        self, table: Any, shape: tuple[int, ...], dtype: np.dtype[Any], where: str
    ) -> Quantisation | None:
        if table is None or dtype not in _QUANTISED or not len(self._count(table.ScaleLength())):
            return None
        scales = np.array(table.ScaleAsNumpy(), np.float32)
        zeros = np.zeros(1, np.int64)
        if len(self._count(table.ZeroPointLength(), item_bytes=8)):
            zeros = np.array(table.ZeroPointAsNumpy(), np.int64)
        axis = table.QuantizedDimension()
        if (scales == scales[0]).all() and (zeros == zeros[0]).all():
            scales, zeros = scales[:1], zeros[:1]  # old converters repeat the pair of a tensor for each channel
        axis = _axis_of(axis, shape, scales.size)
        slices = shape[axis] if 0 <= axis < len(shape) else 1
        if scales.size not in (1, slices) or zeros.size not in (1, scales.size):
            raise damaged(
                where, f"it has {scales.size} scales and {zeros.size} zero points for {slices} slices along axis {axis}"
            )
        limits = np.iinfo(dtype)
        if not (np.isfinite(scales) & (scales > 0)).all() or not ((zeros >= limits.min) & (zeros <= limits.max)).all():
            raise damaged(where, "a scale is not positive, or a zero point is outside its type")
        return Quantisation(scales, np.broadcast_to(zeros, scales.shape).copy(), axis)


def _axis_of(stated: int, shape: tuple[int, ...], scales: int) -> int:
    """The axis of several scales. Old converters omit it, which means 0: then it is the one whose size is the number of
    scales; the last of filters [1, height, width, channels], else the first."""
    if scales == 1 or (0 <= stated < len(shape) and shape[stated] == scales):
        return stated
    found = [axis for axis, size in enumerate(shape) if size == scales]
    return stated if not found else found[-1] if len(shape) == 4 and shape[0] == 1 else found[0]


def _members(enumeration: Any) -> dict[int, str]:
    return {number: name for name, number in vars(enumeration).items() if not name.startswith("_")}


def _nibbles(raw: bytes, count: int) -> NDArray[np.generic]:
    """Two signed values per byte, the lower four bits first."""
    packed = np.frombuffer(raw, np.int8)
    low, high = (packed << 4).astype(np.int8) >> 4, packed >> 4
    return np.stack((low, high), axis=1).reshape(-1)[:count]
