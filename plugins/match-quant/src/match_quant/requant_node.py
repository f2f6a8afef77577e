"""The Requant node in the graph, and the expectation of its result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.editor import Editor
from match_core.ir.reader import DType, Quant, shape_of
from numpy.typing import NDArray

from match_quant.expectation import Expectation, clipped
from match_quant.requant import Requant, Target

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

Ints = NDArray[np.int64]


def append_requant(
    editor: Editor,
    x: gs.Variable,
    multiplier: Ints,
    addend: Ints,
    shift: int,
    quant: Quant,
    *,
    name: str,
    origin: Sequence[str],
) -> gs.Variable:
    """Append Requant with the bounds of ``quant`` (the result as stored). ``multiplier`` and ``addend`` broadcast to
    ``x``."""
    scalars = (("divisor", 1 << shift), ("lo", quant.lo), ("hi", quant.hi))
    inputs = [
        x,
        editor.constant(f"{name}_multiplier", multiplier),
        editor.constant(f"{name}_addend", addend),
        *(editor.constant(f"{name}_{hint}", np.array(value, np.int64)) for hint, value in scalars),
    ]
    return editor.node(typed("Requant", quant.dtype), inputs, quant.dtype, shape_of(x), name=name, origin=origin)


def typed(operator: str, dtype: DType) -> str:
    """The operator of ``match.arith`` whose results have this type."""
    return f"match.arith::{operator}{'U' if dtype.kind == 'u' else 'I'}{8 * dtype.itemsize}"


def per_channel(values: NDArray[np.int64], shape: tuple[int, ...]) -> NDArray[np.int64]:
    """The values in shape () if all channels agree, else in ``shape`` with -1 for the channels."""
    if values.size and np.all(values == values.flat[0]):
        return np.array(values.flat[0], np.int64)
    return values.reshape(shape)


def requantised(target: Target, requant: Requant, axis: int) -> Expectation:
    """The expectation of the result of a requantisation. Its bounds hold for the integers and for the real-valued
    rounding."""
    lo, hi = (
        (
            np.clip((acc * requant.multiplier + requant.addend) >> requant.shift, target.lo, target.hi),
            np.clip(np.floor(acc * target.multiplier + target.offset + 0.5), target.lo, target.hi).astype(np.int64),
        )
        for acc in (target.acc_min, target.acc_max)
    )
    mean = target.multiplier * target.acc_mean + target.offset
    ends = (*lo, *hi)  # multipliers may be negative
    return clipped(
        mean, np.abs(target.multiplier) * target.acc_sd, np.minimum.reduce(ends), np.maximum.reduce(ends), axis
    )
