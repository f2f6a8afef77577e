"""Packs weights in the order in which the kernels read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.generic]


def block_starts(outputs: int, block: int) -> tuple[int, ...]:
    """First output of every block: blocks of one size, the last of which may overlap the one before it."""
    return tuple(min(first, outputs - block) for first in range(0, outputs, block))


def packed_across(weight: Array, groups: int, block: int) -> Array:
    """[groups * outputs][inputs][taps...] -> [group][block][taps...][input][output of the block]: the weights of a
    block of outputs are contiguous."""
    outputs = weight.shape[0] // groups
    starts = [g * outputs + first for g in range(groups) for first in block_starts(outputs, block)]
    blocks = weight[np.add.outer(starts, np.arange(block))]
    return np.ascontiguousarray(np.moveaxis(blocks, (1, 2), (-1, -2)))


def packed_along(weight: Array) -> Array:
    """[outputs][inputs][taps...] -> [output][taps...][input]: the weights of one output are contiguous."""
    return np.ascontiguousarray(np.moveaxis(weight, 1, -1))
