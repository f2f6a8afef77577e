"""Which taps of windows are inside the image: those outside cost nothing. Workloads state sizes only, so the stride and
the padding are those that explain them."""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_core.contract.workload import Workload

#: Axes of an image: samples, two of space, channels.
IMAGE_AXES = 4
#: Positions of the source and of the result along an axis.
Axis = tuple[int, int]


def inside(workload: Workload, kernel: Sequence[int], first: int) -> float:
    """The share of taps inside the image, which as much padding surrounds at one end of an axis as at the other.
    ``kernel``: rows and columns of a window; ``first``: the axis of rows. 1 if operands are no images."""
    axes = _axes(workload, first)
    if axes is None:
        return 1.0
    stride, share = _stride(axes, kernel), 1.0
    for (size, results), taps in zip(axes, kernel, strict=True):
        before = max(0, (results - 1) * stride + taps - size) // 2
        starts = [stride * place - before for place in range(results)]
        share *= sum(max(0, min(size, start + taps) - max(0, start)) for start in starts) / (results * taps)
    return share


def pooled(workload: Workload, taps: int, first: int) -> float:
    """The share of a pooling's taps inside the image; windows are squares, or as long as an axis."""
    axes = _axes(workload, first) or ()
    return inside(workload, [min(isqrt(taps), size) for size, _ in axes], first)


def _stride(axes: Sequence[Axis], kernel: Sequence[int]) -> int:
    """The stride of both axes with the least padding, which is no wider than a window."""
    found = []
    for stride in range(1, max(size for size, _ in axes) + 1):
        pads = [
            max(0, (results - 1) * stride + taps - size) for (size, results), taps in zip(axes, kernel, strict=True)
        ]
        sizes = zip(axes, kernel, pads, strict=True)
        if all(pad <= taps and (size + pad - taps) // stride + 1 == results for (size, results), taps, pad in sizes):
            found.append((sum(pads), stride))
    return min(found)[1] if found else 1


def _axes(workload: Workload, first: int) -> tuple[Axis, Axis] | None:
    """Rows and columns of the images."""
    source, result = ([axis.size for axis in workload.operands[place].axes] for place in (0, -1))
    if len(source) != IMAGE_AXES or len(result) != IMAGE_AXES:
        return None
    return (source[first], result[first]), (source[first + 1], result[first + 1])
