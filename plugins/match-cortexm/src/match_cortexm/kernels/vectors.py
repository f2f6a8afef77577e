"""C text of operators on four float32 numbers: the functions of ``match_cortexm_float.h``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import qualified_op
from match_core.ir.topology import is_constant
from match_host.graph import dtype_of, values_of
from match_host.kernels.code import literal

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: Prefixes of the functions, and of those that do the same in scalar code; values of a vector.
PREFIX, SCALAR, LANES = "match_cortexm_v_", "match_cortexm_s_", 4
VECTOR = f"{PREFIX}t"
#: Operators of two values, and all that vectors compute.
_PAIRS = {"Add": "add", "Sub": "sub", "Mul": "mul"}
TAKEN = (*_PAIRS, "Relu", "Clip")


def load(place: str, lanes: int) -> str:
    """C text of the values from a place on."""
    return f"{PREFIX}load(&{place})" if lanes == LANES else f"{PREFIX}load_some(&{place}, {lanes})"


def store(place: str, value: str, lanes: int) -> str:
    """The statement that stores values from a place on."""
    if lanes == LANES:
        return f"{PREFIX}store(&{place}, {value});"
    return f"{PREFIX}store_some(&{place}, {value}, {lanes});"


def taken(node: gs.Node) -> bool:
    """Whether vectors compute the operator of float32 values."""
    tensors = [tensor for tensor in node.inputs if not tensor.is_empty()]
    if qualified_op(node) not in TAKEN or any(dtype_of(tensor) != np.float32 for tensor in tensors):
        return False
    return node.op != "Clip" or all(_uniform(tensor) is not None for tensor in tensors[1:])


def _uniform(tensor: gs.Tensor) -> float | None:
    """The value of a constant with one value."""
    values = values_of(tensor).reshape(-1) if is_constant(tensor) else np.zeros(0)
    return float(values[0]) if values.size and bool((values == values[0]).all()) else None


def _limits(node: gs.Node) -> tuple[str, str]:
    """The literals of Clip's limits; an omitted one is the largest finite number."""
    largest = float(np.finfo(np.float32).max)
    given = [*(None if tensor.is_empty() else _uniform(tensor) for tensor in node.inputs[1:]), None, None]
    low, high = (end if value is None else value for value, end in zip(given, (-largest, largest), strict=False))
    return literal(low, np.dtype(np.float32)), literal(high, np.dtype(np.float32))


def operator(node: gs.Node, known: Mapping[str, str], operand: Callable[[gs.Tensor], str]) -> str:
    """C text of one operator on vectors: ``known`` by the names of tensors; else one number, or ``operand``."""
    first, *others = node.inputs
    if node.op == "Clip":
        low, high = _limits(node)
        return f"{PREFIX}at_most({PREFIX}at_least({_value(first, known, operand)}, {low}), {high})"
    if node.op == "Relu":
        return f"{PREFIX}at_least({_value(first, known, operand)}, 0.0f)"
    values = (_value(tensor, known, operand) for tensor in (first, *others))
    return f"{PREFIX}{_PAIRS[node.op]}({', '.join(values)})"


def _value(tensor: gs.Tensor, known: Mapping[str, str], operand: Callable[[gs.Tensor], str]) -> str:
    if tensor.name in known:
        return known[tensor.name]
    value = _uniform(tensor)
    return operand(tensor) if value is None else f"{PREFIX}all({literal(value, np.dtype(np.float32))})"
