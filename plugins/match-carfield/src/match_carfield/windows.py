"""What the nodes of spatial operators say about their windows: y first, then x."""

from __future__ import annotations

from match_core import Match

Pair = tuple[int, int]


def _node_name(match: Match) -> str:
    return "conv" if match.has("conv") else "pool"


def _pair(match: Match, attribute: str, default: Pair) -> Pair:
    values = match.node(_node_name(match)).attrs.get(attribute)
    return default if values is None else (int(values[0]), int(values[1]))


def is_global(match: Match) -> bool:
    """Whether the window is the whole input, whatever its size."""
    return match.has("pool") and str(match.node("pool").op).startswith("Global")


def kernel(match: Match) -> Pair:
    """Rows and columns of the window."""
    if match.has("conv"):
        fy, fx = match.shape("weight")[2:]
        return fy, fx
    if is_global(match):
        _, height, width, _ = match.shape("input")
        return height, width
    return _pair(match, "kernel_shape", (1, 1))


def strides(match: Match) -> Pair:
    """Pixels from one window to the next."""
    return _pair(match, "strides", (1, 1))


def dilations(match: Match) -> Pair:
    """Pixels from one tap to the next."""
    return _pair(match, "dilations", (1, 1))


def pads(match: Match) -> tuple[int, int, int, int]:
    """Padding: top, left, bottom, right."""
    values = match.node(_node_name(match)).attrs.get("pads")
    if values is None:
        return (0, 0, 0, 0)
    top, left, bottom, right = (int(value) for value in values)
    return top, left, bottom, right


def groups(match: Match) -> int:
    """Groups of a convolution."""
    return int(match.node("conv").attrs.get("group", 1))
