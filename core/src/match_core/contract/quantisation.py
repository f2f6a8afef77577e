"""Real values of the 8-bit tensors at a program's inputs and outputs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike, NDArray


@dataclass(frozen=True, slots=True)
class Quantisation:
    """real = (stored - zero) * scale, for a whole tensor."""

    scale: float
    zero: int

    def stored(self, values: NDArray[np.generic], dtype: DTypeLike) -> NDArray[np.generic]:
        """Floats as integers, as QuantizeLinear computes them (float32, half to even, saturating), NaN as zero."""
        limits = np.iinfo(np.dtype(dtype))
        with np.errstate(over="ignore"):
            steps = np.rint(values.astype(np.float32) / np.float32(self.scale))
        steps = np.nan_to_num(steps, nan=0.0, posinf=np.inf, neginf=-np.inf)
        return np.asarray(np.clip(steps + self.zero, limits.min, limits.max), dtype)

    def real(self, stored: NDArray[np.generic]) -> NDArray[np.float32]:
        """Integers as floats, as DequantizeLinear computes them."""
        return np.asarray((stored.astype(np.int32) - self.zero).astype(np.float32) * np.float32(self.scale), np.float32)

    def as_json(self) -> dict[str, object]:
        """The entry in JSON documents."""
        return {"scale": self.scale, "zero_point": self.zero}

    def __str__(self) -> str:
        return f"scale {np.float32(self.scale)!s}, zero point {self.zero}"
