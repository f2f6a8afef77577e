"""Sliding windows of convolutions and pooling along one spatial axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from match_host.graph import integers, text

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: Names of the spatial axes, last one innermost.
SPATIAL = ("z", "y", "x")


@dataclass(frozen=True, slots=True)
class Window:
    """Output position o and tap k read input position ``o * stride + k * dilation - before``, which is padding if it
    is outside [0, size). ``after`` is the padding after the input. All values are in elements."""

    name: str
    size: int
    out: int
    kernel: int
    stride: int
    dilation: int
    before: int
    after: int

    @property
    def leaves_before(self) -> bool:
        """Whether some tap lies before the input."""
        return self.before > 0

    @property
    def leaves_after(self) -> bool:
        """Whether some tap lies after the input."""
        return (self.out - 1) * self.stride + (self.kernel - 1) * self.dilation - self.before >= self.size

    @property
    def leaves(self) -> bool:
        """Whether taps must be checked."""
        return self.leaves_before or self.leaves_after

    def terms(self, stride: int) -> tuple[tuple[str, int], ...]:
        """Terms of the input's element index along this axis, given the axis' element stride."""
        if self.leaves:
            return ((f"i{self.name}", stride),)
        return (
            (self.name if self.out > 1 else "", self.stride * stride),
            (f"k{self.name}" if self.kernel > 1 else "", self.dilation * stride),
        )

    @property
    def offset(self) -> int:
        """Constant part of the input position if taps are not checked (negative padding crops)."""
        return 0 if self.leaves else -self.before

    @property
    def position(self) -> tuple[tuple[tuple[str, int], ...], int]:
        """Terms and constant of the input position of a tap."""
        outer = self.name if self.out > 1 else ""
        return ((outer, self.stride), (f"k{self.name}", self.dilation)), -self.before

    @property
    def outside(self) -> str:
        """C condition that a checked tap is padding."""
        checks = [f"i{self.name} < 0"] if self.leaves_before else []
        if self.leaves_after:
            checks.append(f"i{self.name} >= {self.size}")
        return " || ".join(checks)

    def padded(self, before: int, after: int) -> Window:
        """The same window over an input that was padded by a node before."""
        return replace(self, size=self.size - before - after, before=self.before + before, after=self.after + after)


def told_windows(found: Sequence[Window]) -> dict[str, int]:
    """What ``Built.told`` tells of windows, which sizes do not tell."""
    names = ("kernel", "stride", "dilation", "before")
    return {f"{name}_{window.name}": getattr(window, name) for window in found for name in names}


def windows(
    node: gs.Node, sizes: tuple[int, ...], outs: tuple[int, ...], kernel: tuple[int, ...]
) -> tuple[Window, ...]:
    """The node's windows, outermost axis first; ``auto_pad`` is resolved from the sizes."""
    rank = len(sizes)
    strides = integers(node, "strides", (1,) * rank)
    dilations = integers(node, "dilations", (1,) * rank)
    pads = integers(node, "pads", (0,) * (2 * rank))
    mode = text(node, "auto_pad", "NOTSET")
    result = []
    for axis in range(rank):
        before, after = pads[axis], pads[axis + rank]
        if mode.startswith("SAME"):
            reach = (outs[axis] - 1) * strides[axis] + (kernel[axis] - 1) * dilations[axis] + 1
            total = max(0, reach - sizes[axis])
            before = (total + 1) // 2 if mode == "SAME_LOWER" else total // 2
            after = total - before
        elif mode == "VALID":
            before = after = 0
        name = SPATIAL[len(SPATIAL) - rank + axis]
        result.append(
            Window(name, sizes[axis], outs[axis], kernel[axis], strides[axis], dilations[axis], before, after)
        )
    return tuple(result)
