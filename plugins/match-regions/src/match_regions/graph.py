"""A region as JSON text: the format of libraries that build their own program when they are loaded.

The document is strict JSON in ASCII with one tensor and one node per line::

    {"format":"match.region","version":1,
    "tensors":[
    {"kind":"input","index":0,"type":1,"shape":[1,3,8,8]},
    ...],
    "nodes":[
    {"op":"match.nhwc::Conv","inputs":[0,1,-1],"outputs":[2],"attributes":{"group":1,"strides":[1,1]}},
    ...]}

``tensors``: a tensor's number is its position. ``kind`` is ``input``, ``constant``, ``output`` or ``inner``; ``index``
counts within the kind, so that ``input`` 2 is the third pointer that run receives and ``constant`` 2 the third entry of
the table of constants. An output that is also read inside is an ``output``. ``type``: number of the element type
in ONNX (TensorProto.DataType), ``shape``: sizes, first axis outermost.

``nodes``: in topological order. ``op`` is the operator's name, ``domain::Op`` outside ONNX's own domain; ``inputs``
and ``outputs`` are numbers of tensors, -1 for an absent optional one; ``attributes`` by name, sorted: numbers,
texts, lists of these, and small tensors as ``{"type":1,"shape":[2],"values":[1.5,2.0]}``. JSON has no infinities and no
NaN: such a number is the object ``{"float":"inf"}``, ``{"float":"-inf"}`` or ``{"float":"nan"}``.

The text contains no names of the model, and the same region gives the same bytes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import qualified_op
from numpy.typing import NDArray

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_core.contract.region import Region

FORMAT = "match.region"
VERSION = 1
#: The most elements of a tensor in an attribute; larger tensors belong in the table of constants.
ATTRIBUTE_ELEMENTS_MAX = 1024


def json_graph(region: Region, constants: Sequence[gs.Constant] | None = None) -> bytes:
    """The region as JSON. ``constants``: the order of the table of constants, None for that of the region; it must
    contain each constant of the region and may contain others.

    Raises ValueError for a constant that is not in the table, an attribute that is a graph or a large tensor, and a
    tensor without a static shape.
    """
    table = region.constants if constants is None else tuple(constants)
    known = {tensor.name for tensor in table}
    if missing := [index for index, tensor in enumerate(region.constants) if tensor.name not in known]:
        raise ValueError(f"constants {missing} of the region are not in the table")
    lines: list[str] = []
    numbers: dict[str, int] = {}

    def add(kind: str, index: int, tensor: gs.Tensor) -> None:
        numbers[tensor.name] = len(lines)
        entry = {"kind": kind, "index": index, "type": _element_type(tensor.dtype), "shape": _shape(tensor)}
        lines.append(_text(entry))

    for index, tensor in enumerate(region.inputs):
        add("input", index, tensor)
    for index, tensor in enumerate(table):
        add("constant", index, tensor)
    leaving = {tensor.name: index for index, tensor in enumerate(region.outputs)}
    inner = 0
    for node in region.nodes:
        for tensor in node.outputs:
            if tensor.is_empty():
                continue
            if tensor.name in leaving:
                add("output", leaving[tensor.name], tensor)
            else:
                add("inner", inner, tensor)
                inner += 1
    nodes = [_node(node, numbers) for node in region.nodes]
    head = f'{{"format":{json.dumps(FORMAT)},"version":{VERSION},'
    text = f'{head}\n"tensors":[\n{_lines(lines)}],\n"nodes":[\n{_lines(nodes)}]}}\n'
    return text.encode("ascii")


def _lines(entries: Sequence[str]) -> str:
    return ",\n".join(entries)


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def _node(node: gs.Node, numbers: Mapping[str, int]) -> str:
    def number(tensor: gs.Tensor) -> int:
        return -1 if tensor.is_empty() else numbers[tensor.name]

    op = qualified_op(node)
    return _text(
        {
            "op": op,
            "inputs": [number(tensor) for tensor in node.inputs],
            "outputs": [number(tensor) for tensor in node.outputs],
            "attributes": {name: _attribute(op, name, node.attrs[name]) for name in sorted(node.attrs)},
        }
    )


def _attribute(op: str, name: str, value: object) -> object:
    """The value as JSON; bool becomes 0 or 1, as in ONNX."""
    if isinstance(value, bool | np.bool_ | int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return _number(float(value))
    if isinstance(value, bytes):
        return value.decode("utf-8")
    if isinstance(value, str):
        return value
    values = value if isinstance(value, np.ndarray) else getattr(value, "values", None)
    if isinstance(values, np.ndarray):
        return _tensor(op, name, values)
    if isinstance(value, list | tuple):
        return [_attribute(op, name, item) for item in value]
    raise ValueError(f"attribute {name} of {op} is of type {type(value).__name__}, which the format does not support")


def _tensor(op: str, name: str, values: NDArray[np.generic]) -> object:
    if values.size > ATTRIBUTE_ELEMENTS_MAX:
        raise ValueError(
            f"attribute {name} of {op} has {values.size} elements; the format supports {ATTRIBUTE_ELEMENTS_MAX}"
        )
    flat = [_attribute(op, name, item) for item in values.reshape(-1)]
    return {"type": _element_type(values.dtype), "shape": [int(size) for size in values.shape], "values": flat}


def _number(value: float) -> object:
    if math.isfinite(value):
        return value
    return {"float": "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"}


def _element_type(dtype: object) -> int:
    from onnx import helper

    return int(helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))  # type: ignore[call-overload]  # any dtype-like


def _shape(tensor: gs.Tensor) -> list[int]:
    if tensor.shape is None or not all(isinstance(size, int | np.integer) and size >= 0 for size in tensor.shape):
        raise ValueError("a tensor of the region has no static shape")
    return [int(size) for size in tensor.shape]
