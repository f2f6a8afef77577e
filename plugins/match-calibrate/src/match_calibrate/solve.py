"""Non-negative least squares by the active-set method of Lawson and Hanson (Solving Least Squares Problems, 1974,
chapter 23), for problems of some ten unknowns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
_TOLERANCE = 1e-10
_ROUNDS_PER_UNKNOWN = 5
#: Columns of length 1 whose Gram matrix has a smaller eigenvalue count as dependent: half of float64's digits are left.
_DEPENDENT = 1e-8


def non_negative(matrix: Array, wanted: Array, likely: NDArray[np.bool_] | None = None) -> Array:
    """The x >= 0, float64 (n,), with the smallest \\|matrix x - wanted\\|; matrix is (m, n), wanted (m,).
    ``likely``, (n,): unknowns that are probably above zero, for speed."""
    count = matrix.shape[1]
    scale = np.linalg.norm(matrix, axis=0)
    scale[scale == 0] = 1.0
    columns = matrix / scale
    gram, aimed = columns.T @ columns, columns.T @ wanted
    x, free = np.zeros(count), np.zeros(count, dtype=bool) if likely is None else likely.copy()
    if free.any():
        x = _feasible(gram, aimed, x, free)
    for _ in range(_ROUNDS_PER_UNKNOWN * count):
        slope = aimed - gram @ x
        slope[free] = -np.inf
        if free.all() or slope.max() <= _TOLERANCE * max(1.0, float(np.linalg.norm(wanted))):
            break
        free[int(slope.argmax())] = True
        x = _feasible(gram, aimed, x, free)
    return np.asarray(x / scale, dtype=np.float64)


def _feasible(gram: Array, aimed: Array, x: Array, free: NDArray[np.bool_]) -> Array:
    """The least squares solution of the free unknowns; those that would fall below zero on the way to it are fixed at
    zero, in ``free`` too. ``gram``, ``aimed``: of the normal equations."""
    while True:
        trial = np.zeros_like(x)
        trial[free] = _least_squares(gram[np.ix_(free, free)], aimed[free])
        below = free & (trial <= 0)
        if not below.any():
            return trial
        gap = x[below] - trial[below]
        step = float(np.min(np.divide(x[below], gap, out=np.zeros_like(gap), where=gap > 0)))
        x = np.where(free, x + step * (trial - x), 0.0)
        free &= ~(below & (x <= _TOLERANCE))
        x = np.where(free, x, 0.0)


def _least_squares(gram: Array, aimed: Array) -> Array:
    """The solution of the normal equations; the shortest one if columns depend on each other."""
    try:
        np.linalg.cholesky(gram - _DEPENDENT * np.eye(len(gram)))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(gram, aimed, rcond=None)[0], dtype=np.float64)
    return np.asarray(np.linalg.solve(gram, aimed), dtype=np.float64)
