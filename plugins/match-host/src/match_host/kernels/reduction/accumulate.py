"""The accumulator of a reduction: its type, initial value, one step, and the stored result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.element_types import c_type
from match_core.ir.reader import shape_of

from match_host.kernels.code import literal
from match_host.kernels.reduction.pool import highest, lowest
from match_host.kernels.scalar import arithmetic, scalar_type, wide_unsigned

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


@dataclass(frozen=True, slots=True)
class Reduction:
    """``start`` of the accumulator ("0", "1", "low", "high"), one ``step`` over value ``{x}``, and the final
    expression."""

    start: str
    step: str
    finish: str = "acc"


REDUCTIONS = {
    "ReduceSum": Reduction("0", "acc + {x}"),
    "ReduceMean": Reduction("0", "acc + {x}", "acc / {count}"),
    "ReduceProd": Reduction("1", "acc * {x}"),
    "ReduceMax": Reduction("low", "{x} > acc ? {x} : acc"),
    "ReduceMin": Reduction("high", "{x} < acc ? {x} : acc"),
    "ReduceL1": Reduction("0", "acc + {fabs}({x})"),
    "ReduceL2": Reduction("0", "acc + {x} * {x}", "{sqrt}(acc)"),
    "ReduceSumSquare": Reduction("0", "acc + {x} * {x}"),
    "ReduceLogSum": Reduction("0", "acc + {x}", "{log}(acc)"),
}


#: Reductions that also support integers.
INTEGER_REDUCTIONS = (
    "ReduceSum",
    "ReduceMean",
    "ReduceProd",
    "ReduceMax",
    "ReduceMin",
    "ReduceSumSquare",
    "ReduceL1",
    "ReduceL2",
)


#: Reductions that also support truth values: any, all.
BOOLEAN_REDUCTIONS = ("ReduceMax", "ReduceMin")


def computed_type(node: gs.Node, dtype: np.dtype[np.generic]) -> np.dtype[np.generic]:
    """The type of the computation; the root of a sum of squares of integers is a real number."""
    own = arithmetic(dtype)
    return np.dtype(np.float64) if node.op == "ReduceL2" and own.kind in "iu" else own


def _wraps(node: gs.Node, dtype: np.dtype[np.generic]) -> bool:
    return computed_type(node, dtype).kind in "iu" and node.op not in BOOLEAN_REDUCTIONS


def accumulator(node: gs.Node, dtype: np.dtype[np.generic]) -> str:
    """C type of the accumulator: unsigned if integers may wrap around."""
    return wide_unsigned(dtype) if _wraps(node, dtype) else scalar_type(computed_type(node, dtype))


def start(node: gs.Node, dtype: np.dtype[np.generic]) -> str:
    """The initial value of the accumulator; empty for extremes of real numbers, which begin with the first of them: as
    in ONNX Runtime, NaN stays if it is the first."""
    first, own = REDUCTIONS[node.op].start, computed_type(node, dtype)
    if own.kind == "f" and first in ("low", "high") and 0 not in shape_of(node.inputs[0]):
        return ""
    if _wraps(node, dtype):
        return first
    if own.kind == "b":
        return literal(first == "high", own)
    return {"0": literal(0, own), "1": literal(1, own), "low": lowest(own), "high": highest(own)}[first]


def step(node: gs.Node, dtype: np.dtype[np.generic], value: str) -> str:
    """The accumulator after one more value."""
    own = computed_type(node, dtype)
    if own.kind == "b":
        return f"acc {'||' if node.op == 'ReduceMax' else '&&'} ({value})"
    if _wraps(node, dtype):
        wide = wide_unsigned(dtype)
        if node.op == "ReduceL1" and own.kind == "i":
            return f"acc + ({value} < 0 ? 0u - ({wide}){value} : ({wide}){value})"
        return REDUCTIONS[node.op].step.format(x=f"({wide}){value}", fabs="")
    x = f"(double){value}" if own != arithmetic(dtype) else value
    return REDUCTIONS[node.op].step.format(x=x, fabs=_call("fabs", own))


def finish(node: gs.Node, dtype: np.dtype[np.generic], count: str) -> str:
    """The stored result; ``count`` is the number of reduced elements."""
    own = computed_type(node, dtype)
    result = REDUCTIONS[node.op].finish.format(count=count, sqrt=_call("sqrt", own), log=_call("log", own))
    if own != arithmetic(dtype):
        return f"({c_type(dtype)}){result}"
    if not _wraps(node, dtype):
        return result
    result = result.replace("acc", f"({c_type(dtype)})acc")
    return f"({c_type(dtype)})({result})" if "/" in result and dtype.itemsize < 4 else result


def _call(name: str, dtype: np.dtype[np.generic]) -> str:
    return f"{name}f" if dtype.itemsize <= 4 else name
