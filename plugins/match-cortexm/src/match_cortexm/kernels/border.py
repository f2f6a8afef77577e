"""Windows that leave the image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_host.kernels.window import Window


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
        first = -(-window.before // window.stride)
        last = (window.size - more + window.before - window.kernel) // window.stride - (count - 1)
        start = max(window.out - count, 0)
        starts = [min(place, start) for place in range(0, window.out, count)]
        good = [place for place in starts if first <= place <= last]
        tiles, inside = tiles * len(starts), inside * len(good)
        if len(starts) == 1:
            checks += [] if good else ["true"]
            continue
        checks += [f"{window.name} < {first}"] if first > 0 else []
        checks += [f"{window.name} > {last}"] if last < start else []
    condition = "true" if "true" in checks else " || ".join(f"({check})" for check in checks)
    return Border(condition, tiles, tiles - inside)
