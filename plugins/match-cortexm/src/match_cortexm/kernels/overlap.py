"""How far before its input a kernel's result must begin to overwrite it, for windows that slide over values in NHWC."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.unit_api import Overwrite
from match_host.graph import dtype_of
from match_host.kernels.overlap import may_alias

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_host.kernels.window import Window
    from numpy.typing import NDArray


def tile_by_tile(
    source: gs.Tensor, result: gs.Tensor, y: Window, x: Window, inputs: int, outputs: int, positions: int
) -> tuple[Overwrite, ...]:
    """The overlap of a kernel that computes tiles of so many neighbouring positions, one after another: all
    ``outputs`` of a tile while it reads all ``inputs`` of its windows. The last tile of a row may repeat positions."""
    columns = np.minimum(np.arange(0, x.out, positions), max(x.out - positions, 0))
    written = (np.arange(y.out)[:, None] * x.out + columns + min(positions, x.out)) * (outputs * _size(result))
    return _overlap(source, result, written - _first_read(y, x, columns) * (inputs * _size(source)))


def channel_by_channel(
    source: gs.Tensor, result: gs.Tensor, y: Window, x: Window, channels: int, again: int = 0
) -> tuple[Overwrite, ...]:
    """The overlap of a kernel that reads a channel of a window before it writes this channel of the result, position
    after position; ``again``: bytes of a position that it reads after it wrote theirs."""
    columns = np.arange(x.out)
    written, read = np.arange(y.out)[:, None] * x.out + columns, _first_read(y, x, columns)
    # Within a position, a wider result must not overtake what is read.
    more = max(0, _size(result) - _size(source)) * channels + again
    return _overlap(source, result, (written * _size(result) - read * _size(source)) * channels + more)


def _size(tensor: gs.Tensor) -> int:
    return dtype_of(tensor).itemsize


def _first_read(y: Window, x: Window, columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """The first position inside the image of the windows that start at these columns: [rows, columns]."""
    first_row = np.maximum(np.arange(y.out) * y.stride - y.before, 0)
    first: NDArray[np.int64] = first_row[:, None] * x.size + np.maximum(columns * x.stride - x.before, 0)
    return first


def _overlap(source: gs.Tensor, result: gs.Tensor, leads: NDArray[np.int64]) -> tuple[Overwrite, ...]:
    """What a step writes must end before what it reads: no later step reads or writes before."""
    lead = max(0, int(leads.max()))
    return (Overwrite(source.name, result.name, lead),) if may_alias(source, result) else ()
