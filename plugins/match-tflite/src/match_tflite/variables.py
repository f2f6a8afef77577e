"""Operators of variables that are named by handles."""

from __future__ import annotations

import numpy as np

from match_tflite.call import Call
from match_tflite.faults import damaged
from match_tflite.states import handle_names


def nothing(call: Call) -> None:
    """VAR_HANDLE and CALL_ONCE: the reader has taken what they say."""


def read_variable(call: Call) -> None:
    """READ_VARIABLE: the values that the inference began with, or those assigned since."""
    name, tensor, states = _name(call), call.output(), call.graph.states
    state = states.find(name)
    first = call.graph.file.initial.get(name)
    if first is not None and (first.shape != tensor.shape or first.dtype != tensor.dtype):
        raise damaged(call.where, f"variable {name!r} has shape {list(tensor.shape)[:8]}, its first values another")
    if state is None and not _is_assigned(call, name):
        call.give(call.constant("values", np.zeros(tensor.shape, tensor.dtype) if first is None else first))
        return
    if state is None:
        numbers = [] if first is None else np.unique(first).tolist()
        if len(numbers) > 1 or numbers != [int(number) for number in numbers]:
            raise call.refuse(f"variable {name!r} begins with values that differ or are not integers")
        value = states.begin(name, tensor, int(numbers[0]) if numbers else 0)
    else:
        value = state.value
        if (state.tensor.shape, state.tensor.dtype) != (tensor.shape, tensor.dtype):
            raise damaged(call.where, f"variable {name!r} is read with two shapes or types")
    call.give(call.node("Identity", [value]))


def assign_variable(call: Call) -> None:
    """ASSIGN_VARIABLE (handle, values)."""
    name, tensor, states = _name(call), call.input(1), call.graph.states
    state = states.find(name)
    if state is not None and (state.tensor.shape, state.tensor.dtype) != (tensor.shape, tensor.dtype):
        raise damaged(call.where, f"variable {name!r} of shape {list(state.tensor.shape)[:8]} is assigned another")
    states.assign(name, tensor, call.stored(1))


def _name(call: Call) -> str:
    names = handle_names(call.graph.file)
    if call.index(0) not in names:
        raise damaged(call.where, f"{call.operator.kind} does not read the result of a VAR_HANDLE")
    return names[call.index(0)]


def _is_assigned(call: Call, name: str) -> bool:
    file = call.graph.file
    names = handle_names(file)
    return any(op.kind == "ASSIGN_VARIABLE" and op.inputs and names.get(op.inputs[0]) == name for op in file.operators)
