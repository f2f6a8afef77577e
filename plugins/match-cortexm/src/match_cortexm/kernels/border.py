"""Windows that leave the image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from match_host.kernels.window import Window
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Border:
    """``condition``: C text that the window of a tile leaves the image, empty if none does; numbers of tiles and of
    those that do."""

    condition: str
    tiles: int
    outside: int


def border_of(y: Window, x: Window, positions: int = 1, beyond: int = 0) -> Border:
    """The border of tiles of neighbouring positions, which read up to ``beyond`` positions after their last one."""
    checks: list[str] = []
    tiles, inside = 1, 1
    for window, count, more in ((x, positions, beyond), (y, 1, 0)):
        starts, first, last = _starts(window, count, more)
        good = [place for place in starts if first <= place <= last]
        tiles, inside = tiles * len(starts), inside * len(good)
        if len(starts) == 1:
            checks += [] if good else ["true"]
            continue
        checks += [f"{window.name} < {first}"] if first > 0 else []
        checks += [f"{window.name} > {last}"] if last < starts[-1] else []
    condition = "true" if "true" in checks else " || ".join(f"({check})" for check in checks)
    return Border(condition, tiles, tiles - inside)


def _starts(window: Window, count: int, beyond: int) -> tuple[list[int], int, int]:
    """The first positions of tiles of ``count``, and the first and the last one whose window is inside."""
    first = -(-window.before // window.stride)
    last = (window.size - beyond + window.before - window.kernel) // window.stride - (count - 1)
    start = max(window.out - count, 0)
    return [min(place, start) for place in range(0, window.out, count)], first, last


def copied_rows(y: Window, x: Window, positions: int, beyond: int, bytes_: int) -> dict[str, int]:
    """What ``match_cortexm_window`` does for all tiles outside: rows outside, clipped and inside, those of
    windows of which some end behind the image, bytes of both kinds; ``bytes_`` of a position."""
    columns = x.kernel + (positions - 1) * x.stride
    inside, good = [], []
    for window, count, size, more in ((y, 1, y.kernel, 0), (x, positions, columns, beyond)):
        starts, first, last = _starts(window, count, more)
        place = np.array(starts) * window.stride - window.before
        inside.append(np.maximum(np.minimum(place + size, window.size) - np.maximum(place, 0), 0))
        good.append(np.array([first <= start <= last for start in starts]))
    copied = ~(good[0][:, None] & good[1][None, :])
    width = np.broadcast_to(inside[1][None, :], copied.shape)
    rows = np.where(width > 0, inside[0][:, None], 0)
    kept = int((copied * rows * width).sum()) * bytes_
    ends = _starts(x, positions, beyond)[0][-1] * x.stride - x.before + columns > x.size
    return {
        "rows_outside": int((copied * (y.kernel - rows)).sum()),
        "rows_clipped": int((copied * rows * (width < columns)).sum()),
        "rows_inside": int((copied * rows * (width == columns)).sum()),
        "rows_ended": int((copied * rows).sum()) if ends else 0,
        f"copied_bytes{'' if bytes_ % 4 == 0 else '_odd'}": kept,
        "filled_bytes": int(copied.sum()) * y.kernel * columns * bytes_ - kept,
    }


def copied_taps(y: Window, x: Window, positions: int, bytes_: int) -> dict[str, int]:
    """What the function that copies taps does for all tiles: taps inside and outside of the image, bytes of both kinds,
    and the words, halves of words and bytes of those inside; ``bytes_`` of a position."""
    rows, columns = _inside(y, np.arange(y.out)), _inside(x, _columns(x, positions))
    tiles, kept = y.out * -(-x.out // positions), int(rows.sum()) * int(columns.sum())
    filled = tiles * positions * y.kernel * x.kernel - kept
    return {
        "taps_apart": kept,
        "taps_outside": filled,
        f"taps_bytes{'' if bytes_ % 4 == 0 else '_odd'}": kept * bytes_,
        "taps_pieces": kept * (bytes_ // 4 + (bytes_ % 4).bit_count()),
        "taps_filled": filled * bytes_,
    }


def _columns(x: Window, positions: int) -> NDArray[np.int64]:
    """The positions of all tiles, whose last one may repeat some."""
    starts = np.minimum(np.arange(0, x.out, positions), max(x.out - positions, 0))
    return (starts[:, None] + np.arange(positions)).reshape(-1)


def _inside(window: Window, places: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which taps of the windows at these positions are inside the image."""
    taps = places[:, None] * window.stride + np.arange(window.kernel) * window.dilation - window.before
    return (taps >= 0) & (taps < window.size)
