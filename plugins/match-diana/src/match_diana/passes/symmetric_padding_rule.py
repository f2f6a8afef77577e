"""Which kernel with zero taps stands for one with an even side, or with paddings that differ, along one axis."""

from __future__ import annotations

from dataclasses import dataclass

#: Kernel sides that the digital array has (diana.md section 2.2).
KERNEL_SIDES = (1, 3, 5, 7)


@dataclass(frozen=True, slots=True)
class Side:
    """One axis of a convolution: ``size`` of the input, ``kernel``, ``stride``, padding ``begin`` and ``end``."""

    size: int
    kernel: int
    stride: int
    begin: int
    end: int

    @property
    def outputs(self) -> int:
        """How many windows there are."""
        return (self.size + self.begin + self.end - self.kernel) // self.stride + 1


@dataclass(frozen=True, slots=True)
class WiderSide:
    """The axis with ``before`` and ``after`` zero taps added to the kernel."""

    side: Side
    before: int
    after: int


def widened(side: Side, symmetric: bool) -> WiderSide | None:
    """The axis with the smallest of the array's kernel sides that computes the same, None where there is none.
    ``symmetric``: both paddings must be equal; else they may differ.

    Zero taps in front move the first window's start by as many elements, so the padding in front grows with them. The
    padding behind may be any that gives as many windows, because what is read beyond the old kernel meets zeros."""
    if side.kernel in KERNEL_SIDES and (side.begin == side.end or not symmetric):
        return WiderSide(side, 0, 0)
    for kernel in KERNEL_SIDES:
        for before in range(kernel - side.kernel + 1):
            begin, after = side.begin + before, kernel - side.kernel - before
            for end in (begin,) if symmetric else (begin, side.end + after):
                wide = Side(side.size, kernel, side.stride, begin, end)
                if wide.outputs == side.outputs and max(begin, end) < kernel:
                    return WiderSide(wide, before, after)
    return None
