"""Integers in a float tensor, represented by a tensor of an integer type.

A value is ``tensor * multiplier + addend (+ another of these)``: factors and offsets after a convolution or a sum of
two tensors are recorded separately, so that a requantisation can include them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.editor import Editor
from match_core.ir.reader import DType, shape_of
from numpy.typing import DTypeLike, NDArray

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

Ints = NDArray[np.int64]

EIGHT_BITS = (np.dtype(np.uint8), np.dtype(np.int8))
#: Bound of sums and products: int64 holds them and one more addend.
LIMIT = 1 << 62


@dataclass(frozen=True, slots=True)
class Integers:
    """``lo`` and ``hi`` bound the tensor; multiplier and addend broadcast to its shape. ``other`` is the second tensor
    of a sum (of the same shape, without addend and without a third)."""

    tensor: gs.Variable
    lo: int
    hi: int
    multiplier: Ints = field(default_factory=lambda: np.array(1, np.int64))
    addend: Ints = field(default_factory=lambda: np.array(0, np.int64))
    other: Integers | None = None
    #: Names of the source nodes whose work is recorded here.
    origin: tuple[str, ...] = ()

    @property
    def dtype(self) -> DType:
        """The tensor's type."""
        dtype: DType = np.dtype(self.tensor.dtype)
        return dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The tensor's shape."""
        return shape_of(self.tensor)

    @property
    def is_plain(self) -> bool:
        """Whether the tensor itself is the value."""
        return self.other is None and bool(np.all(self.multiplier == 1)) and not np.any(self.addend)

    def bounds(self) -> tuple[int, int]:
        """Bounds of the value, in Python's integers."""
        low, high = scaled_bounds(self.lo, self.hi, self.multiplier)
        low, high = low + int(self.addend.min()), high + int(self.addend.max())
        if self.other is not None:
            more = self.other.bounds()
            low, high = low + more[0], high + more[1]
        return low, high

    def scaled(self, factor: Ints) -> Integers | None:
        """The value times a factor that broadcasts to its shape; None if it would exceed 62 bits."""
        other = self.other.scaled(factor) if self.other is not None else None
        if self.other is not None and other is None:
            return None
        largest = int(np.abs(factor).max(initial=0))
        if max(int(np.abs(self.multiplier).max()), int(np.abs(self.addend).max())) * largest >= LIMIT:
            return None
        result = replace(self, multiplier=self.multiplier * factor, addend=self.addend * factor, other=other)
        return result if _fits(result) else None

    def moved(self, offset: Ints) -> Integers | None:
        """The value plus an offset that broadcasts to its shape; None if it would exceed 62 bits."""
        if max(int(np.abs(self.addend).max()), int(np.abs(offset).max(initial=0))) >= LIMIT:
            return None
        result = replace(self, addend=self.addend + offset)
        return result if _fits(result) else None


def _fits(value: Integers) -> bool:
    return max(map(abs, value.bounds())) < LIMIT


def scaled_bounds(lo: int, hi: int, factor: Ints) -> tuple[int, int]:
    """Bounds of x * factor for x in [lo, hi]."""
    ends = [end * int(f) for end in (lo, hi) for f in (factor.min(), factor.max())]
    return min(ends), max(ends)


def smallest_type(lo: int, hi: int) -> DType:
    """The first of uint8, int8, int32, int64 that holds the range."""
    for dtype in (*EIGHT_BITS, np.dtype(np.int32)):
        limits = np.iinfo(dtype)
        if int(limits.min) <= lo and hi <= int(limits.max):
            return dtype
    return np.dtype(np.int64)


def cast(editor: Editor, tensor: gs.Variable, dtype: DTypeLike, name: str, origin: tuple[str, ...]) -> gs.Variable:
    """The tensor as another type."""
    import onnx

    wanted = np.dtype(dtype)
    if np.dtype(tensor.dtype) == wanted:
        return tensor
    to = int(onnx.helper.np_dtype_to_tensor_dtype(wanted))
    return editor.node("Cast", [tensor], wanted, shape_of(tensor), name=name, origin=origin, attrs={"to": to})


def plain(editor: Editor, value: Integers, name: str, origin: tuple[str, ...]) -> Integers:
    """The same value as one tensor: compute the recorded factors and offsets, in int32 if every step fits, else
    int64."""
    if value.is_plain:
        return value
    origin = tuple(dict.fromkeys((*value.origin, *origin)))
    steps = [(value.lo, value.hi), scaled_bounds(value.lo, value.hi, value.multiplier), value.bounds()]
    if value.other is not None:
        steps += [(value.other.lo, value.other.hi), value.other.bounds()]
        more = value.other.bounds()
        steps.append((steps[1][0] + more[0], steps[1][1] + more[1]))
    lo, hi = min(step[0] for step in steps), max(step[1] for step in steps)
    dtype = np.dtype(np.int32) if smallest_type(lo, hi).itemsize < 8 else np.dtype(np.int64)
    result = _scaled(editor, value, dtype, name, origin)
    if value.other is not None:
        second = _scaled(editor, value.other, dtype, f"{name}_second", origin)
        result = editor.node("Add", [result, second], dtype, value.shape, name=f"{name}_sum", origin=origin)
    if np.any(value.addend):
        offset = editor.constant(f"{name}_addend", value.addend.astype(dtype))
        result = editor.node("Add", [result, offset], dtype, value.shape, name=f"{name}_moved", origin=origin)
    return Integers(result, *value.bounds())


def _scaled(editor: Editor, value: Integers, dtype: DType, name: str, origin: tuple[str, ...]) -> gs.Variable:
    wide = cast(editor, value.tensor, dtype, f"{name}_wide", origin)
    if np.all(value.multiplier == 1):
        return wide
    factor = editor.constant(f"{name}_factor", value.multiplier.astype(dtype))
    return editor.node("Mul", [wide, factor], dtype, value.shape, name=f"{name}_scaled", origin=origin)
