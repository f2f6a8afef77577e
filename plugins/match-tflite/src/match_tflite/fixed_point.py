"""TFLite's integer arithmetic as standard ONNX operators on int64: exact in ONNX Runtime and in C.

Scales are multipliers ``m * 2^(shift - 31)`` with m of 31 bits. The kernels round the product with m to the nearest, ties
upwards, and then the shift to the right to the nearest, ties away from zero; sums of 64 bits use 15 bits of m and
round once, ties upwards (the functions MultiplyByQuantizedMultiplier of TFLite's reference kernels).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from match_tflite.call import Call

Ints = NDArray[np.int64]


def quantised_multiplier(real: float) -> tuple[int, int]:
    """(m, shift) with real = m * 2^(shift - 31) and m in [2^30, 2^31), or (0, 0) below 2^-32."""
    if real == 0.0:
        return 0, 0
    fraction, shift = np.frexp(real)
    m = int(np.floor(abs(fraction) * (1 << 31) + 0.5)) * (1 if fraction > 0 else -1)
    if abs(m) == 1 << 31:
        m, shift = m // 2, shift + 1
    return (0, 0) if shift < -31 else (m, int(shift))


class Fixed:
    """Writes integer nodes of one operator. All values are names of int64 tensors."""

    def __init__(self, call: Call) -> None:
        self.call = call

    def number(self, values: int | Ints) -> str:
        """A constant."""
        return self.call.constant("number", np.asarray(values, np.int64))

    def wide(self, name: str) -> str:
        """Stored integers as int64."""
        return self.call.node("Cast", [name], to=7)

    def node(self, op: str, a: str, b: str | int | Ints) -> str:
        """A function of two tensors."""
        return self.call.node(op, [a, b if isinstance(b, str) else self.number(b)])

    def halves(self, name: str, divisor: int | Ints) -> str:
        """floor(a / divisor) for positive divisors."""
        if isinstance(divisor, int) and divisor == 1:
            return name
        rest = self.node("Mod", name, divisor)
        return self.node("Div", self.node("Sub", name, rest), divisor)

    def clipped(self, name: str, lowest: int, highest: int) -> str:
        """Clipped to both bounds."""
        return self.call.node("Clip", [name, self.number(lowest), self.number(highest)])

    def narrow(self, name: str, dtype: np.dtype[np.generic] | type[np.generic]) -> str:
        """Saturated to an integer type."""
        import onnx

        limits = np.iinfo(dtype)
        kept = self.clipped(name, int(limits.min), int(limits.max))
        return self.call.node("Cast", [kept], to=int(onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))))

    def scaled(self, name: str, reals: float | NDArray[np.float64]) -> str:
        """Sums of 32 bits times real factors, which broadcast."""
        return self._rounded(name, *self._multipliers(reals))

    def _rounded(self, name: str, m: Ints, shift: Ints) -> str:
        product = self.node("Mul", name, m << np.maximum(shift, 0))
        high = self.halves(self.node("Add", product, 1 << 30), 1 << 31)
        right = np.maximum(-shift, 0)
        if not right.any():
            return high
        below = self.call.node("Cast", [self.node("Less", high, 0)], to=7)
        if not right.all():
            below = self.node("Mul", below, (right > 0).astype(np.int64))
        rounded = self.node("Add", self.node("Sub", high, below), (1 << right) >> 1)
        return self.halves(rounded, 1 << right)

    def scaled_wide(self, name: str, reals: float | NDArray[np.float64]) -> str:
        """Sums of 64 bits times real factors, which broadcast."""
        m, shift = self._multipliers(reals)
        short = np.where(m < 0x7FFF0000, (m + (1 << 15)) >> 16, 0x7FFF)
        total = 15 - shift
        product = self.node("Mul", name, short)
        return self.halves(self.node("Add", product, (1 << total) >> 1), 1 << total)

    def divided(self, name: str, real: float, count: int) -> str:
        """Sums times a real factor, divided by a count, as TFLite's mean combines both in one multiplier."""
        m, shift = quantised_multiplier(real)
        bits = min(count.bit_length() - 1, 32, 31 + shift)
        return self._rounded(name, np.int64((m << bits) // count), np.int64(shift - bits))

    @staticmethod
    def _multipliers(reals: float | NDArray[np.float64]) -> tuple[Ints, Ints]:
        array = np.asarray(reals, np.float64)
        pairs = [quantised_multiplier(float(real)) for real in array.reshape(-1)]
        m, shift = (np.array(column, np.int64).reshape(array.shape) for column in zip(*pairs, strict=True))
        return m, shift
