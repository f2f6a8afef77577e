"""The bytes of a bundle of constants, in the pieces that a schedule's kernel calls use (see patterns/bundle.py)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from match_core.contract.geometry import round_up
from match_core.patterns.bundle import pieces

if TYPE_CHECKING:
    from match_core.contract.loops import TileLoop
    from match_core.contract.workload import BundlePart, Operand


def bundle_bytes(
    operand: Operand, packed: Mapping[str, NDArray[np.generic]], loops: Sequence[TileLoop]
) -> NDArray[np.uint8]:
    """One array (bytes): for every piece of the first axis its parts, then padding up to the bundle's bytes per index.
    ``packed``: the arrays by field. ValueError if an array does not have the size that the bundle states."""
    axis, width = operand.axes[0], operand.axes[1].size
    stored = round_up(axis.size, axis.round_up)
    contents = [(part, _content(packed[part.field], part, axis.size, stored)) for part in operand.parts]
    unused = width - sum(part.bytes_per_index for part in operand.parts)
    made = []
    for first, length in pieces(axis.terms[0][0], axis.size, loops):
        indices = round_up(length, axis.round_up)
        for part, content in contents:
            begin, end = (index * part.bits_per_index // 8 for index in (first, first + indices))
            piece = content[begin:end]
            made += [piece, np.zeros(indices * part.bytes_per_index - piece.size, dtype=np.uint8)]
        made.append(np.zeros(indices * unused, dtype=np.uint8))
    return np.concatenate(made)


def _content(array: NDArray[np.generic], part: BundlePart, size: int, stored: int) -> NDArray[np.uint8]:
    """The bytes of ``stored`` indices: those of the array, which has ``size`` or more, followed by zeros."""
    content = np.frombuffer(np.ascontiguousarray(array).tobytes(), dtype=np.uint8)
    least, most = (-(-indices * part.bits_per_index // 8) for indices in (size, stored))
    if not least <= content.size <= most:
        raise ValueError(f"constant {part.field} has {content.size} bytes, its axes require {least} to {most}")
    return np.concatenate([content, np.zeros(most - content.size, dtype=np.uint8)])
