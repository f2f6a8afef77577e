"""Numbers that are not finite: how far apart they are, and a warning where inputs hold them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.generic]


def distances(got: Array, wanted: Array) -> NDArray[np.float64]:
    """Absolute differences of equal shapes: 0 for equal values and for NaN against NaN, infinite for any other value
    against NaN."""
    a, b = got.astype(np.float64), wanted.astype(np.float64)
    with np.errstate(invalid="ignore"):
        found = np.where(a == b, 0.0, np.abs(a - b))
    unequal = np.isnan(a) != np.isnan(b)
    return np.where(unequal, np.inf, np.where(np.isnan(a), 0.0, found))


def largest(values: Array) -> float:
    """The largest magnitude of finite values, 0 if there is none."""
    real = values.astype(np.float64)
    return float(np.max(np.abs(real), where=np.isfinite(real), initial=0.0))


def not_finite(inputs: Mapping[str, Array]) -> tuple[str, ...]:
    """A warning for each input that holds NaN or infinities."""
    found = []
    for name, array in inputs.items():
        real = array.astype(np.float64)
        nans, infinite = int(np.isnan(real).sum()), int(np.isinf(real).sum())
        if nans or infinite:
            found.append(
                f"input {name!r}: {nans} of {array.size} values are NaN and {infinite} infinite; "
                "NaN equals NaN in comparisons, and the order of sums decides where infinities become NaN"
            )
    return tuple(found)
