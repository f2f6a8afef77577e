"""Types and small helpers shared by the cycle formulas."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from match_core.patterns.formulas import Timing
from numpy.typing import NDArray

Sizes: TypeAlias = "int | NDArray[np.int64]"
Direction: TypeAlias = Literal["in", "out"]


def as_array(size: Sizes) -> NDArray[np.int64]:
    """``size`` as int64 array, shape () for an int."""
    return np.asarray(size, dtype=np.int64)


def ceil_div(size: Sizes, divisor: int) -> NDArray[np.int64]:
    """``size / divisor`` rounded up."""
    return -(-as_array(size) // divisor)


def is_engine(timing: Timing) -> bool:
    """Whether NE16 and the DMA are counted as the open simulator counts them."""
    return timing["simulator_forms"] == 1
