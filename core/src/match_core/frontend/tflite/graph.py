"""The ONNX graph under construction: values of TFLite tensors, in the order of axes in which they exist.

TFLite keeps images as NHWC, ONNX as NCHW. A tensor of rank 4 that a convolution or pooling makes is held as NCHW
("planes"), and operators that can work on planes go on with them, so that transpositions stand only where the network
enters, leaves, or changes the meaning of its axes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from match_core.frontend.names import SOURCE
from match_core.frontend.tflite.faults import damaged, unsupported_tensor
from match_core.frontend.tflite.model import File, Tensor
from match_core.frontend.tflite.unique import UniqueNames

if TYPE_CHECKING:
    import onnx

#: Axis of the plain tensor (NHWC) behind each axis of planes (NCHW), and the reverse.
TO_PLANES, FROM_PLANES = (0, 3, 1, 2), (0, 2, 3, 1)


@dataclass(frozen=True, slots=True)
class Value:
    """The ONNX name of a tensor's values, and whether they are planes."""

    name: str
    planes: bool


class GraphBuilder:
    """Nodes and constants so far. ``title``: the operator of the file that new nodes stand for."""

    def __init__(self, file: File, source: str) -> None:
        self.file = file
        self.source = source
        self.title = ""
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: dict[str, onnx.TensorProto] = {}
        #: Values that are known although the file does not hold them.
        self.folded: dict[int, NDArray[np.generic]] = {}
        #: Real values of padded tensors before they are quantised again, which changes nothing.
        self.padded: dict[int, str] = {}
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
        """Say where a tensor's values are. Errors: MATCH-F021 (it has some)."""
        if index in self._values or self.known(index) is not None:
            raise damaged(self.source, f"tensor {self.file.tensors[index].name!r} is computed twice")
        self._values[index] = {value.planes: value.name}

    def values(self) -> list[tuple[int, bool, str]]:
        """All values of tensors: the tensor's number, whether planes, the name."""
        return [(i, planes, name) for i, held in self._values.items() for planes, name in held.items()]

    def value_name(self, index: int, planes: bool) -> str:
        """The name for the values that an operator computes; plain ones have the tensor's name."""
        name = self.file.tensors[index].name
        return self.unique(f"{name}_nchw") if planes else name

    def constant(self, name: str, values: NDArray[np.generic]) -> str:
        """A constant; ``name`` is changed where it is taken. The first that has a constant tensor's name keeps it."""
        import onnx

        if name in self._constants:
            self._constants.remove(name)
        else:
            name = self.unique(name)
        self.initializers[name] = onnx.numpy_helper.from_array(np.ascontiguousarray(values).reshape(values.shape), name)
        return name

    def node(self, op_type: str, inputs: list[str], outputs: list[str], **attributes: Any) -> None:
        """Append a node. ONNX Runtime wants names of nodes to be unique; the operator's is kept as metadata."""
        import onnx

        node = onnx.helper.make_node(op_type, inputs, outputs, name=self._node_names.unique(self.title), **attributes)
        node.metadata_props.add(key=SOURCE, value=self.title)
        self.nodes.append(node)

    def last_node(self) -> onnx.NodeProto | None:
        """The node that was appended last, if it belongs to the operator at hand."""
        last = self.nodes[-1] if self.nodes else None
        mine = last is not None and last.metadata_props[0].value == self.title
        return last if mine else None

    def fresh(self, op_type: str, inputs: list[str], **attributes: Any) -> str:
        """Append a node with one result that gets a name of its own."""
        result = self.unique(f"{self.title}_{op_type.lower()}")
        self.node(op_type, inputs, [result], **attributes)
        return result

    def read(self, index: int, planes: bool = False) -> str:
        """The stored values of a tensor (integers where it is quantised) as planes or plain. Planes need rank 4.

        Errors: MATCH-F021 (nothing has computed it so far).
        """
        tensor = self.file.tensors[index]
        held = self._values.setdefault(index, {}) if index in self._values else self._constant_values(tensor)
        if planes not in held:
            held[planes] = self._turned(tensor, held[not planes], planes)
        return held[planes]

    def read_flat(self, index: int) -> str:
        """The stored values in any shape whose elements are in the plain order."""
        held = self._values.get(index, {})
        if False not in held and True in held and _same_order(self.file.tensors[index]):
            return held[True]
        return self.read(index)

    def _constant_values(self, tensor: Tensor) -> dict[bool, str]:
        values = self.known(tensor.index)
        if values is None:
            raise damaged(self.source, f"tensor {tensor.name!r} is read before anything computes it")
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
        attribute. ``axis``: where its quantised axis is now, None for where the file has it."""
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
