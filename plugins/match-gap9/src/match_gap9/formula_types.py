"""Types and small helpers shared by the cycle formulas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Sizes: TypeAlias = "int | NDArray[np.int64]"
Timing: TypeAlias = Mapping[str, int]
Direction: TypeAlias = Literal["in", "out"]


def as_array(size: Sizes) -> NDArray[np.int64]:
    """``size`` as int64 array, shape () for an int."""
    return np.asarray(size, dtype=np.int64)


def ceil_div(size: Sizes, divisor: int) -> NDArray[np.int64]:
    """``size / divisor`` rounded up."""
    return -(-as_array(size) // divisor)


def is_engine(timing: Timing) -> bool:
    """Whether the figures belong to the ``engine`` preset, whose NE16 and DMA formulas differ in form."""
    return timing["dma_setup_cycles"] == 0
