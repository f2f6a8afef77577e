"""The constants of a share: slices of the whole operator's constants."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from match_core.contract.geometry import far_sizes, round_up

if TYPE_CHECKING:
    from match_core.contract.candidate import Share
    from match_core.contract.workload import Operand


def sliced(packed: Mapping[str, NDArray[np.generic]], share: Share) -> dict[str, NDArray[np.generic]]:
    """The packed arrays of the whole operator, by field, cut to the share; arrays that the share does not cut are
    unchanged. ValueError if a slice is not a whole number of bytes."""
    found = dict(packed)
    for operand in share.whole.operands:
        number = _axis_of(operand, share.dim)
        if operand.role != "constant" or number is None:
            continue
        sizes = far_sizes(operand)
        if operand.parts:
            for part in operand.parts:
                found[part.field] = _slice(packed[part.field], operand, number, 1, part.bits_per_index, share)
        else:
            bits = prod(sizes[number + 1 :]) * operand.element_bits
            found[operand.name] = _slice(packed[operand.name], operand, number, prod(sizes[:number]), bits, share)
    return found


def _axis_of(operand: Operand, dim: str) -> int | None:
    """The number of the axis that the dimension cuts."""
    return next((n for n, axis in enumerate(operand.axes) if any(name == dim for name, _ in axis.terms)), None)


def _slice(
    array: NDArray[np.generic], operand: Operand, number: int, rows: int, bits: int, share: Share
) -> NDArray[np.generic]:
    """``rows``: how often the axis is repeated; ``bits`` of one of its indices. Padding at the end of a packed array
    goes to the share that reaches the end."""
    axis = operand.axes[number]
    content = np.frombuffer(np.ascontiguousarray(array).tobytes(), dtype=np.uint8)
    end = share.first + round_up(share.size, axis.round_up)
    if share.first * bits % 8 or (end < axis.size and end * bits % 8) or content.size % rows:
        raise ValueError(f"constant {operand.name}: {share.dim} {share.first} to {end} is not a whole number of bytes")
    table = content.reshape(rows, -1)
    part = np.ascontiguousarray(table[:, share.first * bits // 8 : -(-end * bits // 8)])
    return part.reshape(-1).view(array.dtype) if part.size % array.dtype.itemsize == 0 else part.reshape(-1)
