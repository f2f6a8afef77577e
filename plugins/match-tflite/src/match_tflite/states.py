"""Variables of the network: what an inference leaves for the next one becomes an input and an output.

Variables are tensors that the file marks as variable, or are named by handles (VAR_HANDLE, READ_VARIABLE,
ASSIGN_VARIABLE). A subgraph that runs once (CALL_ONCE) may give the latter their first values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from match_tflite.faults import damaged, unsupported
from match_tflite.model import File, Tensor, TfliteOperator

if TYPE_CHECKING:
    from match_tflite.graph import GraphBuilder

#: Operators that may have no result.
WITHOUT_RESULT = frozenset(("ASSIGN_VARIABLE", "CALL_ONCE"))


@dataclass(slots=True)
class Variable:
    """``tensor``: its type and shape; ``value``: the ONNX name of its current values; ``input`` and ``output``: the
    graph's ends, empty if there is none; ``initial``: the number that all elements have at first."""

    name: str
    tensor: Tensor
    value: str = ""
    input: str = ""
    output: str = ""
    initial: int = 0
    is_changed: bool = False


class States:
    """The variables while operators are translated in order."""

    def __init__(self, graph: GraphBuilder) -> None:
        self._graph = graph
        self._found: dict[int | str, Variable] = {}

    def begin_tensor(self, tensor: Tensor) -> str:
        """The input with the values that a variable tensor has when an inference begins. Before the first, these are
        zeros: of a quantised tensor, its zero point."""
        initial = 0 if tensor.quantisation is None else int(tensor.quantisation.zero_points[0])
        self._found[tensor.index] = Variable(tensor.name, tensor, tensor.name, tensor.name, initial=initial)
        return tensor.name

    def begin(self, name: str, tensor: Tensor, initial: int) -> str:
        """The same for a variable that a handle names; ``tensor``: the one that gets its values."""
        value = self._graph.unique(name)
        self._found[name] = Variable(name, tensor, value, value, initial=initial)
        return value

    def assign(self, key: int | str, tensor: Tensor, value: str) -> None:
        """Give a variable (the number of a tensor, or the name of a handle's variable) new plain values."""
        state = self._found.setdefault(key, Variable(tensor.name, tensor))
        state.value, state.is_changed = value, True

    def find(self, name: str) -> Variable | None:
        """The variable of a handle, if it was read or assigned."""
        return self._found.get(name)

    def inputs(self) -> list[Variable]:
        """The variables that are read before they are changed."""
        return [state for state in self._found.values() if state.input]

    def changed(self) -> list[Variable]:
        """Those of them that change."""
        return [state for state in self.inputs() if state.is_changed]


def variable_name(operator: TfliteOperator) -> str:
    """The name that a VAR_HANDLE gives; handles with one name mean one variable."""
    container, name = (str(operator.options.get(field, "")) for field in ("Container", "SharedName"))
    return f"{container}/{name}" if container else name or "variable"


def handle_names(file: File) -> dict[int, str]:
    """The variable that each handle names, by the handle's tensor."""
    return {op.outputs[0]: variable_name(op) for op in file.operators if op.kind == "VAR_HANDLE"}


def initial_values(file: File, source: str) -> dict[str, NDArray[np.generic]]:
    """The constants that a subgraph assigns to variables. Errors: MATCH-F021 (an operand is missing), MATCH-F022 (it
    computes something)."""
    names, values = handle_names(file), {}
    for operator in file.operators:
        where = f"{source}, a subgraph that runs once"
        if operator.kind == "VAR_HANDLE":
            continue
        if operator.kind != "ASSIGN_VARIABLE":
            raise unsupported(operator.kind, where, "such a subgraph may only assign constants to variables")
        if len(operator.inputs) != 2 or operator.inputs[0] not in names or operator.inputs[1] < 0:
            raise damaged(where, "an assignment has no variable or no value")
        data = file.tensors[operator.inputs[1]].data
        if data is None:
            raise unsupported(operator.kind, where, "the first value of a variable is not a constant")
        values[names[operator.inputs[0]]] = data
    return values
