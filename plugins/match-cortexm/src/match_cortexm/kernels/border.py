"""Windows that leave the image."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_host.kernels.window import Window


def border_condition(y: Window, x: Window, positions: int = 1, beyond: int = 0) -> str:
    """C condition that the window of a tile of neighbouring positions leaves the image, or that it reads up to
    ``beyond`` positions after its last one where there are none."""
    checks = []
    for window, count, more in ((x, positions, beyond), (y, 1, 0)):
        first = -(-window.before // window.stride)
        last = (window.size - more + window.before - window.kernel) // window.stride - (count - 1)
        start = window.out - count
        if start <= 0:  # a single tile
            checks += ["true"] if first > 0 or last < 0 else []
            continue
        checks += [f"{window.name} < {first}"] if first > 0 else []
        checks += [f"{window.name} > {last}"] if last < start else []
    if "true" in checks:
        return "true"
    return " || ".join(f"({check})" for check in checks)
