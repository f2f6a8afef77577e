"""Powers with a known exponent and their roots, without calls if products and square roots suffice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_host.kernels.code import Uses, literal

if TYPE_CHECKING:
    import numpy as np

#: Powers up to this exponent are products.
MOST_FACTORS = 4


def power(value: str, exponent: int, dtype: np.dtype[np.generic], uses: Uses) -> str:
    """C text of a non-negative variable to a positive integer exponent."""
    if exponent <= MOST_FACTORS:
        return " * ".join([value] * exponent)
    uses.include("math.h")
    return f"pow{_suffix(dtype)}({value}, {literal(exponent, dtype)})"


def root(value: str, degree: int, dtype: np.dtype[np.generic], uses: Uses) -> str:
    """C text of the root of this degree of a non-negative value."""
    return broken_power(value, 1 / degree, dtype, uses)


def broken_power(value: str, exponent: float, dtype: np.dtype[np.generic], uses: Uses) -> str:
    """C text of a non-negative variable to any exponent."""
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
