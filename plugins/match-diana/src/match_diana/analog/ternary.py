"""Weights that are ternary in the source: -a, 0 and a, with one ``a`` for the layer or one for each output channel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Ternary:
    """``weights = cells * size``: cells [K, ...] of -1, 0, 1 and a size for each output channel, at least 1."""

    cells: NDArray[np.int64]
    size: NDArray[np.int64]


def ternary(weights: NDArray[np.int64]) -> Ternary | None:
    """The parts of integer weights [K, ...] whose zero point is subtracted; None where a channel has two sizes of
    weights other than 0. A layer of zeros only is no ternary layer."""
    flat = np.abs(weights).reshape(weights.shape[0], -1)
    size = flat.max(axis=1, initial=0)
    if not size.any() or np.any((flat != 0) & (flat != size[:, None])):
        return None
    return Ternary(np.sign(weights), np.maximum(size, 1))
