"""Which taps of windows are inside the image: those outside cost nothing. Where the host does not tell strides, gaps
and padding, the stride and the padding are those that explain the sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from match_host.kernels.window import SPATIAL
from match_host.machine import COPIED_BYTES

if TYPE_CHECKING:
    from match_core.contract.workload import Workload

#: Axes of an image: samples, two of space, channels.
IMAGE_AXES = 4
#: Axes of a line of samples.
LINE_AXES = 3
#: Turns of a loop that compilers unroll whole, and products of all of them: counted with gcc 12.2 for M4.
_PEELED_TURNS, _PEELED_PRODUCTS = 16, 80
#: More than what rounding takes from a root.
_ROUNDING = 1e-9
#: Positions of the source and of the result along an axis.
Axis = tuple[int, int]


def inside(workload: Workload, kernel: Sequence[int], first: int) -> float:
    """The share of taps inside the image, which as much padding surrounds at one end of an axis as at the other.
    ``kernel``: taps of a window along each axis of space; ``first``: the axis of rows. 1 if operands are no images."""
    axes = _axes(workload, first)
    if axes is None:
        return 1.0
    share = 1.0
    for (size, results), taps, place in zip(axes, kernel, _starts(workload, axes, kernel), strict=True):
        share *= sum(place.inside(taps, start, size) for start in place.starts(results)) / (results * taps)
    return share


def bounded(workload: Workload, taps: int, first: int) -> int:
    """Taps of a window of ``taps`` that are outside of the image for some results. ``first``: the axis of rows."""
    axes = _axes(workload, first)
    if axes is None:
        return 0
    kernel, always = window(workload, taps, first), 1
    for (size, results), number, place in zip(axes, kernel, _starts(workload, axes, kernel), strict=True):
        starts = place.starts(results)
        reached = (tap * place.dilation for tap in range(number))
        always *= sum(starts[0] + tap >= 0 and starts[-1] + tap < size for tap in reached)
    return taps - always


def tiled(workload: Workload, first: int) -> Mapping[str, int]:
    """What the loops of a convolution of the host do, whose weights are [blocks, taps along each axis of space, inputs,
    outputs of a tile]: ``tiles`` of neighbouring positions by outputs; ``lines``, runs of their innermost loop;
    ``clamped``, those of lines whose last tile begins before the end of the one before; ``partial``, those of blocks of
    outputs of which the last one is not whole; ``edges``, taps whose places are looked up, as some of a tile may be
    outside of the image; ``turns``, those of lines that compilers do not unroll, and ``looked``, those at edges
    (``stepped``: where channels are apart); ``copied``, values of one channel that are copied with their padding
    instead; ``inside``, products, also with columns outside, but not with rows outside if these are 0. Empty if
    operands are no images. ``first``: the axis of rows."""
    axes = _axes(workload, first)
    if axes is None:
        return {}
    blocks, *kernel, inputs, outputs = (axis.size for axis in workload.operands[1].axes)
    if kernel == [1] * len(axes) and all(size == results for size, results in axes):  # one line of all positions
        axes, kernel = ((prod(size for size, _ in axes),) * 2,), [1]
    *outer, (width, columns) = axes
    *above, along = _starts(workload, axes, kernel)
    positions = min(columns, positions_of(workload))
    places = [min(place, columns - positions) * along.stride - along.before for place in range(0, columns, positions)]
    reach = (positions - 1) * along.stride + along.reach(kernel[-1])
    middle = sum(0 <= place <= width - reach for place in places)
    ends, known = len(places) - middle, len(places) == 1  # of one tile, compilers know which columns are outside
    rows = prod(results for _, results in outer)
    tops = [
        (size, taps, place, place.starts(results))
        for (size, results), taps, place in zip(outer, kernel[:-1], above, strict=True)
    ]
    taken = inner = prod(sum(place.inside(taps, top, size) for top in starts) for size, taps, place, starts in tops)
    if "tile_macs" in workload.parameters and ("pad" in workload.kind or "region" in workload.kind):
        # Integers are padded with their zero points: products with them count, and their places are looked up.
        taken = rows * prod(kernel[:-1])
        inner = prod(
            sum(0 <= top <= size - place.reach(taps) for top in starts) * taps for size, taps, place, starts in tops
        )
    merged = first == 1 and inputs == workload.operands[0].axes[-1].size
    channels = workload.operands[-1].axes[-1 if first == 1 else 1].size
    tiles = rows * len(places)
    found = {
        "tiles": tiles,
        "clamped": tiles * (columns % positions > 0),
        "partial": tiles * (blocks * outputs > channels),
        "lines": inner * middle * (1 if merged else kernel[-1]) + known * taken * ends * kernel[-1],
        "edges": (not known) * (taken * len(places) - inner * middle) * kernel[-1] * positions,
        "inside": taken * len(places) * positions * kernel[-1] * inputs * outputs,
    }
    length = kernel[-1] * inputs if merged else inputs
    rolled = length > _PEELED_TURNS or length * positions * outputs > _PEELED_PRODUCTS
    if "tile_macs" not in workload.parameters:  # of floats: loops over integers are none of these
        found["turns"] = found["lines"] * length * rolled
        found["looked"] = found["edges"] // positions * inputs
        found["stepped"] = found["looked"] * (first > 1)
    if merged and inputs == outputs == 1 and not known:
        whole = (columns - 1) * along.stride + along.reach(kernel[-1])
        bytes_ = whole * prod(kernel[:-1]) * workload.operands[0].element_bits // 8
        if taken * len(places) > inner * middle and bytes_ <= COPIED_BYTES:
            found |= {"lines": taken * len(places), "edges": 0, "copied": taken * whole}
    return {name: workload.operands[0].axes[0].size * blocks * number for name, number in found.items()}


def positions_of(workload: Workload) -> int:
    """Neighbouring positions of a tile of the host's convolutions."""
    return workload.parameters.get("held_rows", 1)


def pooled(workload: Workload, taps: int, first: int) -> float:
    """The share of a pooling's taps inside the image."""
    return inside(workload, window(workload, taps, first), first)


def window(workload: Workload, taps: int, first: int) -> list[int]:
    """The taps along each axis of space: what the host tells, or else windows are squares, or as long as an axis."""
    axes, told = _axes(workload, first) or (), workload.parameters
    names = SPATIAL[len(SPATIAL) - len(axes) :]
    if all(f"kernel_{name}" in told for name in names):
        return [told[f"kernel_{name}"] for name in names]
    side = int(taps ** (1 / max(1, len(axes))) + _ROUNDING)
    return [min(side, size) for size, _ in axes]


@dataclass(frozen=True, slots=True)
class _Places:
    """Windows along an axis: how far they and their taps are apart, and how far the first one is outside."""

    stride: int
    dilation: int
    before: int

    def starts(self, results: int) -> range:
        """The places of the first taps."""
        return range(-self.before, results * self.stride - self.before, self.stride)

    def reach(self, taps: int) -> int:
        """The places from the first tap to the last one."""
        return (taps - 1) * self.dilation + 1

    def inside(self, taps: int, start: int, size: int) -> int:
        """The taps of a window that are inside."""
        if self.dilation == 1:
            return max(0, min(size, start + taps) - max(0, start))
        return sum(0 <= start + tap * self.dilation < size for tap in range(taps))


def _starts(workload: Workload, axes: Sequence[Axis], kernel: Sequence[int]) -> list[_Places]:
    """The windows along each axis: what the host tells of them, or what explains the sizes."""
    told = workload.parameters
    names = SPATIAL[len(SPATIAL) - len(axes) :]
    if all(f"stride_{name}" in told for name in names):
        return [_Places(*(told[f"{part}_{name}"] for part in ("stride", "dilation", "before"))) for name in names]
    stride = _stride(axes, kernel)
    sizes = zip(axes, kernel, strict=True)
    return [_Places(stride, 1, max(0, (results - 1) * stride + taps - size) // 2) for (size, results), taps in sizes]


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


def _axes(workload: Workload, first: int) -> tuple[Axis, ...] | None:
    """The axes of space of the images."""
    source, result = ([axis.size for axis in workload.operands[place].axes] for place in (0, -1))
    if len(source) != len(result) or len(source) < LINE_AXES:
        return None
    last = first + len(source) - 2
    return tuple(zip(source[first:last], result[first:last], strict=True))
