"""The bytes of a bundle of constants, in the pieces that a schedule's kernel calls work on (see schedule/bundle.py)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from match_core.schedule.bundle import pieces
from match_core.schedule.geometry import round_up

if TYPE_CHECKING:
    from match_core.schedule.loops import TileLoop
    from match_core.schedule.workload import Operand


def bundle_bytes(
    operand: Operand, packed: Mapping[str, NDArray[np.generic]], loops: Sequence[TileLoop]
) -> NDArray[np.uint8]:
    """One array (bytes): for every piece of the first axis the parts, then what fills it up to the bundle's bytes per
    index. ``packed``: the arrays by field. ValueError where one has not the bytes that the bundle says."""
    axis, width = operand.axes[0], operand.axes[1].size
    stored = round_up(axis.size, axis.round_up)
    rows = [_rows(packed[part.field], part.field, part.bytes_per_index, axis.size, stored) for part in operand.parts]
    rows.append(np.zeros((stored, width - sum(row.shape[1] for row in rows)), dtype=np.uint8))
    made = []
    for first, length in pieces(axis.terms[0][0], axis.size, loops):
        end = first + round_up(length, axis.round_up)
        made += [row[first:end].reshape(-1) for row in rows]
    return np.concatenate(made)


def _rows(array: NDArray[np.generic], field: str, width: int, size: int, stored: int) -> NDArray[np.uint8]:
    """The array's bytes, a row per index, zeros behind the last one up to ``stored``."""
    content = np.frombuffer(np.ascontiguousarray(array).tobytes(), dtype=np.uint8)
    given, rest = divmod(content.size, width)
    if rest or not size <= given <= stored:
        raise ValueError(f"constant {field} has {content.size} bytes, its axes say {size} times {width}")
    return np.concatenate([content.reshape(given, width), np.zeros((stored - given, width), dtype=np.uint8)])
