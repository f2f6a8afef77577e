"""Requantisation and tables of 8-bit tensors as the affine functions that they represent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import qualified_op
from match_core.ir.reader import constant
from numpy.typing import NDArray

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: A table counts as a rounded line where no entry is further from it than this, in LSB.
_LINE_ERROR = 0.51


@dataclass(frozen=True, slots=True)
class Affine:
    """y = slope * x + offset before rounding, clipped to [lo, hi]."""

    slope: float
    offset: float
    lo: int = -128
    hi: int = 127

    def after(self, first: Affine) -> Affine:
        """This line applied to the results of ``first``."""
        ends = sorted(self.slope * end + self.offset for end in (first.lo, first.hi))
        lo, hi = max(self.lo, round(ends[0])), min(self.hi, round(ends[1]))
        return Affine(self.slope * first.slope, self.slope * first.offset + self.offset, lo, hi)


IDENTITY = Affine(1.0, 0.0)


def integers(tensor: gs.Tensor) -> NDArray[np.int64] | None:
    """The values of an integer constant."""
    values = constant(tensor)
    return None if values is None else np.asarray(values).astype(np.int64)


def scalar(tensor: gs.Tensor) -> int | None:
    """The value of an integer constant with one element."""
    values = integers(tensor)
    return int(values.reshape(-1)[0]) if values is not None and values.size == 1 else None


def affine_of(node: gs.Node) -> Affine | None:
    """The rising line that a node computes of its first input; None for other nodes and for lines per channel."""
    op = qualified_op(node)
    if op == "match.arith::RequantI8":
        return _requant(node)
    if op == "match.arith::LutI8":
        return _table(node)
    return None


def _requant(node: gs.Node) -> Affine | None:
    multiplier, addend, divisor, lo, hi = (scalar(tensor) for tensor in node.inputs[1:])
    if multiplier is None or addend is None or divisor is None or lo is None or hi is None or multiplier <= 0:
        return None
    return Affine(multiplier / divisor, addend / divisor - 0.5, lo, hi)


def _table(node: gs.Node) -> Affine | None:
    table = integers(node.inputs[1])
    if table is None or np.any(np.diff(table) < 0):
        return None
    lo, hi = int(table[0]), int(table[-1])
    inside = np.flatnonzero((table > lo) & (table < hi))
    if inside.size < 2:
        return None
    x = np.arange(-128, 128)
    slope, offset = np.polyfit(x[inside], table[inside], 1)
    line = Affine(float(slope), float(offset), lo, hi)
    fits = np.abs(np.clip(slope * x + offset, lo, hi) - table) <= _LINE_ERROR
    return line if slope > 0 and bool(np.all(fits)) else None
