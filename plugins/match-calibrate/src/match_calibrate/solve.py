"""Non-negative least squares by the active-set method of Lawson and Hanson (Solving Least Squares Problems, 1974,
chapter 23), for problems of some ten unknowns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
_TOLERANCE = 1e-10
_ROUNDS_PER_UNKNOWN = 5


def non_negative(matrix: Array, wanted: Array) -> Array:
    """The x >= 0, float64 (n,), with the smallest \\|matrix x - wanted\\|; matrix is (m, n), wanted (m,)."""
    count = matrix.shape[1]
    scale = np.linalg.norm(matrix, axis=0)
    scale[scale == 0] = 1.0
    columns = matrix / scale
    x, free = np.zeros(count), np.zeros(count, dtype=bool)
    for _ in range(_ROUNDS_PER_UNKNOWN * count):
        slope = columns.T @ (wanted - columns @ x)
        slope[free] = -np.inf
        if free.all() or slope.max() <= _TOLERANCE * max(1.0, float(np.linalg.norm(wanted))):
            break
        free[int(slope.argmax())] = True
        x = _feasible(columns, wanted, x, free)
    return np.asarray(x / scale, dtype=np.float64)


def _feasible(columns: Array, wanted: Array, x: Array, free: NDArray[np.bool_]) -> Array:
    """The least squares solution of the free unknowns; those that would fall below zero on the way to it are fixed at
    zero, in ``free`` too."""
    while True:
        trial = np.zeros_like(x)
        trial[free] = np.linalg.lstsq(columns[:, free], wanted, rcond=None)[0]
        below = free & (trial <= 0)
        if not below.any():
            return trial
        gap = x[below] - trial[below]
        step = float(np.min(np.divide(x[below], gap, out=np.zeros_like(gap), where=gap > 0)))
        x = np.where(free, x + step * (trial - x), 0.0)
        free &= ~(below & (x <= _TOLERANCE))
        x = np.where(free, x, 0.0)
