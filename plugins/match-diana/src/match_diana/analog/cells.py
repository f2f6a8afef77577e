"""The layout of weights and of the parameters after the converters in L2 (sheet 5.3; DORY and HTVM, analog weight
encoder).

The array has a row for each input channel and filter tap, a column for each output channel, and two bits a cell. Rows
are stored last first; the sign with which a cell is stored depends on its column and on its block of 64 stored rows,
as the array is wired.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from match_diana.analog.arithmetic import Norm
from match_diana.analog.limits import padded

_ROWS, _COLUMNS, _ROW_BLOCK = 288, 128, 64
#: Blocks of rows in which even columns are stored with their own sign, and the last one in which odd columns are not.
_EVEN_KEPT = range(6, 12)
_ODD_FLIPPED_TO = 8


def pack_cells(cells: NDArray[np.generic]) -> NDArray[np.uint8]:
    """The bytes of one group's cells, [K, C, FY, FX] of -1, 0, 1: for each stored row the bits of the cells that are 1,
    then those of the cells that are -1, 32 columns in a little-endian word, the first column its highest bit."""
    rows = cells.astype(np.int8).transpose(1, 2, 3, 0).reshape(-1, cells.shape[0])
    wide = np.zeros((padded(rows.shape[0], _ROWS), padded(rows.shape[1], _COLUMNS)), np.int8)
    wide[: rows.shape[0], : rows.shape[1]] = rows
    stored = wide[::-1] * _signs(*wide.shape)
    planes = np.stack([stored == 1, stored == -1], axis=1)
    return np.packbits(planes, axis=2).reshape(-1, 4)[:, ::-1].reshape(-1)


def _signs(rows: int, columns: int) -> NDArray[np.int8]:
    """1 or -1 for each stored cell."""
    block, odd = np.arange(rows)[:, None] // _ROW_BLOCK, np.arange(columns)[None, :] % 2 == 1
    flipped = np.where(odd, block <= _ODD_FLIPPED_TO, ~np.isin(block, list(_EVEN_KEPT)))
    return np.where(flipped, -1, 1).astype(np.int8)


def pack_norm(norm: Norm) -> NDArray[np.uint8]:
    """The multipliers, then the addends, each a little-endian word, as DORY prints them after the weights."""
    return np.concatenate([norm.multiplier, norm.addend]).astype("<i4").view(np.uint8)
