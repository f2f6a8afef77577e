"""Writes the body of one node as plain operators of the default domain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import onnx

Array = NDArray[np.generic]


class UnknownFormError(Exception):
    """No body can be written: the node's form is not supported, or too little is known about its inputs."""


class Writer:
    """Builds the body of ``node``. ``types`` and ``values`` hold what is known about tensors, by name. The body's
    inputs are ``in0``, ``in1``, ...; tensors are names, "" for none."""

    def __init__(
        self,
        node: onnx.NodeProto,
        types: Mapping[str, onnx.TypeProto],
        values: Mapping[str, Array],
        opset: int,
        weights: Mapping[str, onnx.TensorProto],
    ) -> None:
        self.node = node
        self.nodes: list[onnx.NodeProto] = []
        self.outputs: dict[int, str] = {}
        self._types = types
        self._values = values
        self._opset = opset
        self._weights = weights

    # ---- reading the node -----------------------------------------------------------------------------------------

    def input(self, position: int) -> str:
        """The input at that position, "" if there is none."""
        there = position < len(self.node.input) and self.node.input[position]
        return f"in{position}" if there else ""

    def wants(self, position: int) -> bool:
        """Whether the node has a result at that position."""
        return position < len(self.node.output) and bool(self.node.output[position])

    def value(self, position: int) -> Array | None:
        """The values of an input; None if they are not known."""
        return self._values.get(self.node.input[position]) if self.input(position) else None

    def weight(self, position: int) -> Array:
        """The values of an input that must be an initialiser."""
        import onnx

        tensor = self._weights.get(self.node.input[position]) if self.input(position) else None
        if tensor is None:
            raise UnknownFormError(f"input {position} is not an initialiser")
        return onnx.numpy_helper.to_array(tensor)

    def shape(self, position: int) -> tuple[int, ...]:
        """The static shape of an input."""
        tensor = self._tensor(position)
        if not tensor.HasField("shape") or not all(dim.HasField("dim_value") for dim in tensor.shape.dim):
            raise UnknownFormError(f"the shape of input {position} is not known")
        return tuple(dim.dim_value for dim in tensor.shape.dim)

    def rank(self, position: int) -> int:
        """The number of axes of an input."""
        tensor = self._tensor(position)
        if not tensor.HasField("shape"):
            raise UnknownFormError(f"the rank of input {position} is not known")
        return len(tensor.shape.dim)

    def element(self, position: int) -> int:
        """The ONNX element type of an input."""
        return int(self._tensor(position).elem_type)

    def dtype(self, position: int) -> np.dtype[np.generic]:
        """The element type of an input."""
        import onnx

        return np.dtype(onnx.helper.tensor_dtype_to_np_dtype(self.element(position)))

    def _tensor(self, position: int) -> onnx.TypeProto.Tensor:
        kind = self._types.get(self.node.input[position]) if self.input(position) else None
        if kind is None or not kind.tensor_type.elem_type:
            raise UnknownFormError(f"the type of input {position} is not known")
        return kind.tensor_type

    def attribute(self, name: str, default: Any) -> Any:
        """An attribute's value or the default; strings as ``str``."""
        import onnx

        for attribute in self.node.attribute:
            if attribute.name == name:
                value = onnx.helper.get_attribute_value(attribute)
                return value.decode() if isinstance(value, bytes) else value
        return default

    # ---- writing the body -----------------------------------------------------------------------------------------

    def emit(self, op: str, *inputs: str, **attributes: object) -> str:
        """Add a node; returns its only result."""
        return self.several(op, inputs, 1, **attributes)[0]

    def several(self, op: str, inputs: Sequence[str], count: int, **attributes: object) -> list[str]:
        """Add a node; returns its results."""
        import onnx

        number = len(self.nodes)
        names = [f"t{number}_{index}" for index in range(count)]
        given: dict[str, Any] = {key: value for key, value in attributes.items() if value is not None}
        self.nodes.append(onnx.helper.make_node(op, list(inputs), names, f"{op}_{number}", **given))
        return names

    def constant(self, values: object, dtype: object) -> str:
        """A constant tensor."""
        import onnx

        array = np.asarray(values).astype(np.dtype(dtype))  # type: ignore[call-overload]  # any dtype
        return self.emit("Constant", value=onnx.numpy_helper.from_array(array))

    def like(self, values: object, position: int = 0) -> str:
        """A constant of the element type of an input."""
        return self.constant(values, self.dtype(position))

    def axes(self, *axes: int) -> str:
        """A constant list of axes or sizes."""
        return self.constant(np.array(axes, np.int64), np.int64)

    def result(self, position: int, name: str) -> None:
        """Set the node's result at that position."""
        self.outputs[position] = name

    def function(self) -> onnx.FunctionProto:
        """The finished body."""
        import onnx

        first = self.outputs[min(self.outputs)]
        outputs = [self.outputs.get(position, first) for position in range(len(self.node.output))]
        unique = [  # a function's outputs need distinct names
            self.emit("Identity", name) if name in outputs[:place] or name.startswith("in") else name
            for place, name in enumerate(outputs)
        ]
        inputs = [f"in{position}" for position in range(len(self.node.input))]
        opsets = [onnx.helper.make_opsetid("", self._opset)]
        return onnx.helper.make_function("match.written", self.node.op_type, inputs, unique, self.nodes, opsets)
