"""The translation of one operator: its tensors as ONNX values, and the destination of its results.

Arithmetic on quantised tensors has the form of ONNX: DequantizeLinear before the operator, QuantizeLinear after it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from match_core.contract.errors import ModelError
from numpy.typing import NDArray

from match_tflite.faults import damaged, unsupported, unsupported_tensor
from match_tflite.graph import TO_PLANES, GraphBuilder, Value
from match_tflite.model import Tensor, TfliteOperator

#: Values of ActivationFunctionType.
_NONE, _RELU, _RELU_N1_TO_1, _RELU6, _TANH = range(5)


class Call:
    """One operator of the file. Positions count its inputs and outputs."""

    def __init__(self, graph: GraphBuilder, operator: TfliteOperator) -> None:
        self.graph = graph
        self.operator = operator

    @property
    def where(self) -> str:
        """The operator's place for messages: its first result, because TFLite's operators have no names."""
        return f"{self.graph.source}, operator of {self.graph.title!r}"

    @property
    def input_count(self) -> int:
        """The number of inputs, including omitted ones."""
        return len(self.operator.inputs)

    @property
    def output_count(self) -> int:
        """The number of results."""
        return len(self.operator.outputs)

    def has(self, position: int) -> bool:
        """Whether the input exists."""
        return position < len(self.operator.inputs) and self.operator.inputs[position] >= 0

    def index(self, position: int) -> int:
        """The number of an input's tensor. Errors: MATCH-F021 (it is omitted)."""
        if not self.has(position):
            raise damaged(self.where, f"{self.operator.kind} has no input {position}")
        return self.operator.inputs[position]

    def input(self, position: int) -> Tensor:
        """The tensor of an input."""
        return self._valued(self.graph.file.tensors[self.index(position)])

    def output(self, position: int = 0) -> Tensor:
        """The tensor of a result."""
        if position >= len(self.operator.outputs):
            raise damaged(self.where, f"{self.operator.kind} has no output {position}")
        return self._valued(self.graph.file.tensors[self.operator.outputs[position]])

    def _valued(self, tensor: Tensor) -> Tensor:
        if tensor.is_handle:
            raise damaged(self.where, f"{self.operator.kind} computes with {tensor.name!r}, which names a variable")
        return tensor

    def option(self, name: str, default: int | None = None) -> int:
        """A field of the options; ``default`` if the file has no options."""
        value = self.operator.options.get(name, default)
        if value is None:
            raise damaged(self.where, f"{self.operator.kind} has no options")
        return int(value)

    def number(self, name: str) -> float:
        """A field of the options that is a float."""
        if name not in self.operator.options:
            raise damaged(self.where, f"{self.operator.kind} has no options")
        return float(self.operator.options[name])

    def refuse(self, why: str, *help_lines: str) -> ModelError:
        """MATCH-F022 for this operator."""
        return unsupported(self.operator.kind, self.where, why, *help_lines)

    def constant_of(self, position: int, what: str) -> NDArray[np.generic]:
        """The values of an input that must not depend on the network's inputs. Errors: MATCH-F022 (it does)."""
        values = self.graph.known(self.index(position))
        if values is None:
            raise self.refuse(f"its {what} are not constant", f"convert with constant {what}")
        return values

    def integers(self, position: int, what: str) -> list[int]:
        """The same as a list of integers. Errors: MATCH-F021 (they are not integers)."""
        values = self.constant_of(position, what)
        if values.dtype.kind not in "iu":
            raise damaged(self.where, f"its {what} are {values.dtype.name}")
        return [int(value) for value in values.reshape(-1)]

    def is_planes(self, position: int) -> bool:
        """Whether the input exists as NCHW only."""
        return self.graph.is_planes(self.index(position))

    def stored(self, position: int, planes: bool = False) -> str:
        """The stored values of the input: integers if it is quantised."""
        return self.graph.read(self.index(position), planes)

    def real(self, position: int, planes: bool = False) -> str:
        """The input as real numbers."""
        return self.dequantised(self.stored(position, planes), self.input(position), planes)

    def dequantised(self, name: str, tensor: Tensor, planes: bool = False) -> str:
        """The real numbers that the stored values of a tensor represent."""
        if tensor.index in self.graph.folded or tensor.quantisation is None:
            return name
        axis = TO_PLANES.index(tensor.quantisation.axis) if planes and not tensor.quantisation.per_tensor else None
        parameters, attributes = self.graph.parameters(tensor, axis)
        return self.graph.fresh("DequantizeLinear", [name, *parameters], **attributes)

    def weights(self, position: int, order: tuple[int, ...] | None = None, channel: int | None = None) -> str:
        """The input as real numbers, its axes in another order (None: unchanged). float16 constants of an operator
        on float32 become float32. ``channel``: the axis to which several scales belong if their number fits, as
        TFLite's kernels read them whatever axis the file states."""
        tensor, values = self.input(position), self.graph.known(self.index(position))
        if order is None:
            order = tuple(range(tensor.rank))
        if len(order) != tensor.rank:
            raise damaged(self.where, f"weights {tensor.name!r} have shape {list(tensor.shape)[:8]}")
        moved = order != tuple(range(tensor.rank))
        if values is None:
            name = self.real(position)
            return self.graph.fresh("Transpose", [name], perm=list(order)) if moved else name
        if values.dtype == np.float16 and self.output().dtype != np.float16:
            values = values.astype(np.float32)
        name = self.graph.constant(f"{tensor.name}_weights" if moved else tensor.name, values.transpose(order))
        if tensor.index in self.graph.folded or tensor.quantisation is None:
            return name
        place = tensor.quantisation.axis
        if channel is not None and tensor.shape[channel] == tensor.quantisation.scales.size:
            place = channel
        axis = None if tensor.quantisation.per_tensor else order.index(place)
        parameters, attributes = self.graph.parameters(tensor, axis)
        return self.graph.fresh("DequantizeLinear", [name, *parameters], **attributes)

    def scale(self, position: int) -> float:
        """The scale of a quantised input. Errors: MATCH-F022 (it has none, or several)."""
        quantisation = self.input(position).quantisation
        if quantisation is None or not quantisation.per_tensor:
            raise self.refuse(f"input {self.input(position).name!r} does not have one scale")
        return float(quantisation.scales[0])

    def zero_point(self, position: int) -> str:
        """The zero point of a quantised input as a constant of its type."""
        tensor = self.input(position)
        zero = 0 if tensor.quantisation is None else tensor.quantisation.zero_points[0]
        return self.constant("zero_point", np.array(zero, tensor.dtype))

    def turned_weights(self, position: int) -> str:
        """Constant weights [rows, columns] as stored, transposed."""
        tensor = self.input(position)
        return self.graph.constant(f"{tensor.name}_transposed", self.constant_of(position, "weights").T)

    def fold(self, values: NDArray[np.generic]) -> None:
        """Define the result as a constant. Errors: MATCH-F021 (it has another shape)."""
        tensor = self.output()
        if values.shape != tensor.shape:
            raise damaged(
                self.where, f"its values have shape {list(values.shape)[:8]}, its result {list(tensor.shape)[:8]}"
            )
        self.graph.folded[tensor.index] = values

    def reshaped(self, name: str, size: int, position: int = 0) -> str:
        """``size`` values in the shape of a result. Errors: MATCH-F021 (it has another number)."""
        tensor = self.output(position)
        if size != tensor.size:
            raise damaged(self.where, f"its {size} values do not fill a result of {tensor.size} elements")
        return self.graph.reshape(name, list(tensor.shape))

    def node(self, op_type: str, inputs: list[str], **attributes: Any) -> str:
        """Append a node; returns the name of its result."""
        return self.graph.fresh(op_type, inputs, **attributes)

    def constant(self, what: str, values: NDArray[np.generic]) -> str:
        """A constant of this operator."""
        return self.graph.constant(f"{self.graph.title}_{what}", values)

    def float_constant(self, what: str, value: float) -> str:
        """A float scalar."""
        return self.constant(what, np.array(value, np.float32))

    def give(self, name: str, planes: bool = False, position: int = 0) -> None:
        """Use ``name``, the last node's result, as the stored values of a result."""
        tensor = self.output(position)
        if planes and tensor.rank != 4:
            raise damaged(self.where, f"{self.operator.kind} computes an image, but its result has {tensor.rank} axes")
        result = self.graph.value_name(tensor.index, planes)
        last = self.graph.last_node()
        if last is not None and list(last.output) == [name]:
            last.output[0] = result
        else:
            self.graph.node("Identity", [name], [result])
        self.graph.define(tensor.index, Value(result, planes))

    def give_real(self, name: str, planes: bool = False, position: int = 0) -> None:
        """Use ``name`` as the real numbers of a result, and quantise them if the result is quantised."""
        self.give(self.quantised(name, self.output(position), planes), planes, position)

    def quantised(self, name: str, tensor: Tensor, planes: bool = False) -> str:
        """Real numbers as the tensor stores them."""
        if tensor.quantisation is None:
            return name
        if tensor.dtype == np.int32:
            place = f"{self.graph.source}, tensor {tensor.name!r}"
            raise unsupported_tensor(
                place,
                f"an operator computes it as {tensor.dtype.name} with {tensor.quantisation.scales.size} scales",
            )
        axis = TO_PLANES.index(tensor.quantisation.axis) if planes and not tensor.quantisation.per_tensor else None
        parameters, attributes = self.graph.parameters(tensor, axis)
        return self.graph.fresh("QuantizeLinear", [name, *parameters], **attributes)

    def activated(self, name: str) -> str:
        """The fused activation function on real numbers."""
        function = self.option("FusedActivationFunction", _NONE)
        if function == _NONE:
            return name
        if function == _RELU:
            return self.node("Relu", [name])
        if function == _RELU6:
            return self.clipped(name, 0.0, 6.0)
        if function == _RELU_N1_TO_1:
            return self.clipped(name, -1.0, 1.0)
        if function == _TANH:
            return self.node("Tanh", [name])
        raise self.refuse(f"its fused activation function is number {function}")

    def clipped(self, name: str, lowest: float, highest: float) -> str:
        """Real numbers clipped to both bounds."""
        return self.node("Clip", [name, self.float_constant("lowest", lowest), self.float_constant("highest", highest)])

    def same_values(self, positions: range | None = None) -> bool:
        """Whether equal stored values of these inputs (None: the first) and of all results mean equal reals."""
        inputs = [self.input(position) for position in positions or range(1)]
        tensors = [*inputs, *(self.output(position) for position in range(self.output_count))]
        first = tensors[0]
        return all(
            t.dtype == first.dtype
            and (t.quantisation is None if first.quantisation is None else first.quantisation.same_as(t.quantisation))
            for t in tensors
        )

    def moved(self, position: int, planes: bool = False) -> tuple[str, bool]:
        """An input whose values only move: stored values if the results have the same quantisation (True), else
        reals."""
        same = self.same_values(range(position, position + 1))
        return (self.stored(position, planes) if same else self.real(position, planes)), same

    def give_moved(self, name: str, same: bool, planes: bool = False, position: int = 0) -> None:
        """The counterpart of ``moved`` for a result."""
        if same:
            self.give(name, planes, position)
        else:
            self.give_real(name, planes, position)


def axis_of(call: Call, axis: int, rank: int) -> int:
    """A non-negative axis. Errors: MATCH-F021 (there is no such axis)."""
    if not -rank <= axis < rank:
        raise damaged(call.where, f"{call.operator.kind} uses axis {axis} of a tensor with {rank} axes")
    return axis % rank
