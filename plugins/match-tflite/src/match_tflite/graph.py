"""The ONNX graph under construction: values of TFLite tensors, with the order of axes of each.

TFLite stores images as NHWC, ONNX as NCHW. Results of rank 4 of convolutions and poolings are NCHW ("planes").
Operators that can work on planes read them directly, so transpositions occur only at inputs, at outputs, and where the
meaning of axes changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from match_core.load.names import SOURCE
from numpy.typing import NDArray

from match_tflite.faults import damaged, unsupported_tensor
from match_tflite.model import File, Tensor
from match_tflite.states import States
from match_tflite.unique import UniqueNames

if TYPE_CHECKING:
    import onnx

#: The axis of the plain tensor (NHWC) for each axis of planes (NCHW), and the reverse.
TO_PLANES, FROM_PLANES = (0, 3, 1, 2), (0, 2, 3, 1)


@dataclass(frozen=True, slots=True)
class Value:
    """The ONNX name of a tensor's values, and whether they are planes."""

    name: str
    planes: bool


class GraphBuilder:
    """Nodes and constants so far. ``title``: the operator of the file that new nodes implement."""

    def __init__(self, file: File, source: str) -> None:
        self.file = file
        self.source = source
        self.title = ""
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: dict[str, onnx.TensorProto] = {}
        #: Known values that are not in the file.
        self.folded: dict[int, NDArray[np.generic]] = {}
        #: Real values of padded tensors before they are quantised again, which does not change them.
        self.padded: dict[int, str] = {}
        self.states = States(self)
        self._node_names = UniqueNames()
        self._values: dict[int, dict[bool, str]] = {}
        self._parameters: dict[int, list[str]] = {}
        self._constants = {tensor.name for tensor in file.tensors if tensor.data is not None}
        self._value_names = UniqueNames(tensor.name for tensor in file.tensors)

    def unique(self, name: str) -> str:
        """A name that no other value has."""
        return self._value_names.unique(name)

    def known(self, index: int) -> NDArray[np.generic] | None:
        """The values of a tensor that does not depend on inputs; plain."""
        return self.folded[index] if index in self.folded else self.file.tensors[index].data

    def is_planes(self, index: int) -> bool:
        """Whether a tensor exists as planes only."""
        return set(self._values.get(index, {})) == {True}

    def define(self, index: int, value: Value) -> None:
        """Set a tensor's values. Errors: MATCH-F021 (it has some already)."""
        if index in self._values or self.known(index) is not None:
            raise damaged(self.source, f"tensor {self.file.tensors[index].name!r} is computed twice")
        self._values[index] = {value.planes: value.name}

    def change(self, index: int, name: str) -> None:
        """Give a variable tensor new plain values."""
        self.states.assign(index, self.file.tensors[index], name)
        self._values[index] = {False: name}

    def values(self) -> list[tuple[int, bool, str]]:
        """All values: the tensor's number, whether they are planes, the name."""
        return [(i, planes, name) for i, held in self._values.items() for planes, name in held.items()]

    def value_name(self, index: int, planes: bool) -> str:
        """The name for the values that an operator computes; plain ones have the tensor's name."""
        name = self.file.tensors[index].name
        return self.unique(f"{name}_nchw") if planes else name

    def constant(self, name: str, values: NDArray[np.generic]) -> str:
        """A constant; ``name`` changes if it is already used. The first constant with a tensor's name keeps it."""
        import onnx

        if name in self._constants:
            self._constants.remove(name)
        else:
            name = self.unique(name)
        self.initializers[name] = onnx.numpy_helper.from_array(np.ascontiguousarray(values).reshape(values.shape), name)
        return name

    def node(self, op_type: str, inputs: list[str], outputs: list[str], **attributes: Any) -> None:
        """Append a node. ONNX Runtime requires unique names of nodes; the operator's name is stored as metadata."""
        import onnx

        node = onnx.helper.make_node(op_type, inputs, outputs, name=self._node_names.unique(self.title), **attributes)
        node.metadata_props.add(key=SOURCE, value=self.title)
        self.nodes.append(node)

    def last_node(self) -> onnx.NodeProto | None:
        """The last node, if it belongs to the current operator."""
        last = self.nodes[-1] if self.nodes else None
        mine = last is not None and last.metadata_props[0].value == self.title
        return last if mine else None

    def fresh(self, op_type: str, inputs: list[str], **attributes: Any) -> str:
        """Append a node with one result under a new name."""
        result = self.unique(f"{self.title}_{op_type.lower()}")
        self.node(op_type, inputs, [result], **attributes)
        return result

    def read(self, index: int, planes: bool = False) -> str:
        """The stored values of a tensor (integers if it is quantised) as planes or plain. Planes require rank 4.

        Errors: MATCH-F021 (no operator has computed it yet).
        """
        tensor = self.file.tensors[index]
        held = self._values.setdefault(index, {}) if index in self._values else self._constant_values(tensor)
        if planes not in held:
            held[planes] = self._turned(tensor, held[not planes], planes)
        return held[planes]

    def read_flat(self, index: int) -> str:
        """The stored values in any shape with the plain order of elements."""
        held = self._values.get(index, {})
        if False not in held and True in held and _same_order(self.file.tensors[index]):
            return held[True]
        return self.read(index)

    def _constant_values(self, tensor: Tensor) -> dict[bool, str]:
        if tensor.variable and tensor.index not in self.file.inputs:
            self._values[tensor.index] = {False: self.states.begin_tensor(tensor)}
            return self._values[tensor.index]
        values = self.known(tensor.index)
        if values is None:
            raise damaged(self.source, f"tensor {tensor.name!r} is read before an operator computes it")
        self._values[tensor.index] = {False: self.constant(tensor.name, values)}
        return self._values[tensor.index]

    def _turned(self, tensor: Tensor, name: str, planes: bool) -> str:
        """The same values in the other order of axes."""
        if tensor.rank != 4:
            raise damaged(self.source, f"tensor {tensor.name!r} of shape {list(tensor.shape)[:8]} is read as an image")
        order = TO_PLANES if planes else FROM_PLANES
        values = self.known(tensor.index)
        if values is not None:
            return self.constant(f"{tensor.name}_nchw", values.transpose(TO_PLANES))
        result = self.value_name(tensor.index, planes)
        if _same_order(tensor):
            shape = [tensor.shape[axis] for axis in TO_PLANES] if planes else list(tensor.shape)
            self.reshape(name, shape, result)
        else:
            self.node("Transpose", [name], [result], perm=list(order))
        return result

    def reshape(self, name: str, shape: list[int], result: str | None = None) -> str:
        """The same elements in another shape."""
        result = result or self.unique(f"{self.title}_reshape")
        sizes = self.constant(f"{result}_shape", np.array(shape, np.int64))
        empty = {"allowzero": 1} if 0 in shape else {}
        self.node("Reshape", [name, sizes], [result], **empty)
        return result

    def parameters(self, tensor: Tensor, axis: int | None) -> tuple[list[str], dict[str, int]]:
        """Scale and zero point of a quantised tensor as inputs of QuantizeLinear or DequantizeLinear, and its axis
        attribute. ``axis``: the current position of its quantised axis, None for its position in the file."""
        quantisation = tensor.quantisation
        if quantisation is None:
            raise unsupported_tensor(f"{self.source}, tensor {tensor.name!r}", f"{tensor.dtype.name} without a scale")
        shape = () if quantisation.per_tensor else (-1,)
        names = [f"{tensor.name}/scale", f"{tensor.name}/zero_point"]
        arrays = [quantisation.scales.reshape(shape), quantisation.zero_points.astype(tensor.dtype).reshape(shape)]
        key = self._parameters.get(tensor.index)
        if key is None:
            key = [self.constant(name, array) for name, array in zip(names, arrays, strict=True)]
            self._parameters[tensor.index] = key
        place = quantisation.axis if axis is None else axis
        # ONNX has no zero points for int32.
        return key[: 1 if tensor.dtype == np.int32 else 2], {} if quantisation.per_tensor else {"axis": place}


def _same_order(tensor: Tensor) -> bool:
    """Whether NHWC and NCHW have the same bytes."""
    return tensor.rank == 4 and (tensor.shape[3] == 1 or tensor.shape[1] * tensor.shape[2] == 1)
