"""Powers by a known exponent and their roots, without calls where products and square roots do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.host.kernels.code import Uses, literal

if TYPE_CHECKING:
    import numpy as np

#: Up to this exponent a power is written as a product.
MOST_FACTORS = 4


def power(value: str, exponent: int, dtype: np.dtype[np.generic], uses: Uses) -> str:
    """C text of a variable that is not negative to a positive exponent."""
    if exponent <= MOST_FACTORS:
        return " * ".join([value] * exponent)
    uses.include("math.h")
    return f"pow{_suffix(dtype)}({value}, {literal(exponent, dtype)})"


def root(value: str, degree: int, dtype: np.dtype[np.generic], uses: Uses) -> str:
    """C text of the root of this degree of a value that is not negative."""
    return broken_power(value, 1 / degree, dtype, uses)


def broken_power(value: str, exponent: float, dtype: np.dtype[np.generic], uses: Uses) -> str:
    """C text of a variable that is not negative to any exponent."""
    uses.include("math.h")
    square = f"sqrt{_suffix(dtype)}"
    if exponent == 1:
        return value
    if exponent == 0.5:
        return f"{square}({value})"
    if exponent == 0.25:
        return f"{square}({square}({value}))"
    if exponent == 0.75:
        return f"{square}({value}) * {square}({square}({value}))"
    return f"pow{_suffix(dtype)}({value}, {literal(exponent, dtype)})"


def _suffix(dtype: np.dtype[np.generic]) -> str:
    return "f" if dtype.itemsize <= 4 else ""
