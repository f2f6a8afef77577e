"""Made layers that move elements, for counts of instructions: they compute nothing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.cortexm_net import Net, some_image


def heads(net: Net, columns: bool = False) -> None:
    """Rows of heads become heads of rows, or of ``columns``."""
    shape = 1, net.between(8, 64), net.between(2, 6), int(2 ** net.between(4, 7))
    net.result(net.add("Transpose", net.source(*shape), perm=[0, 2, 3, 1] if columns else [0, 2, 1, 3]))


def pad(net: Net) -> None:
    """An image with a border of zeros."""
    shape, wide = some_image(net), net.between(1, 2)
    net.result(net.add("Pad", net.source(*shape), net.constant([0, 0, wide, wide, 0, 0, wide, wide], np.int64)))


def transpose(net: Net) -> None:
    """Axes of an image in another order."""
    orders = ([0, 2, 1, 3], [0, 2, 3, 1], [0, 3, 1, 2], [0, 1, 3, 2])
    net.result(net.add("Transpose", net.source(*some_image(net)), perm=orders[net.between(0, 3)]))


def deep_transpose(net: Net) -> None:
    """A small image of many channels, to or from channels that are last."""
    shape = 1, 8 * net.between(1, 20), net.between(1, 4), net.between(2, 5)
    back = bool(net.between(0, 1))
    x = net.source(shape[0], *shape[2:], shape[1]) if back else net.source(*shape)
    net.result(net.add("Transpose", x, perm=[0, 3, 1, 2] if back else [0, 2, 3, 1]))


def concat(net: Net) -> None:
    """Images with the channels of one behind those of the other."""
    _, channels, height, width = some_image(net, 24)
    parts = [net.source(1, channels + 4 * k, height, width) for k in range(net.between(2, 3))]
    net.result(net.add("Concat", *parts, axis=1))


def slice_(net: Net) -> None:
    """All columns but the first two and the last three."""
    rows, columns = net.between(4, 40), net.between(12, 120)
    limits = [net.constant([value], np.int64) for value in (2, columns - 3, -1)]
    net.result(net.add("Slice", net.source(rows, columns), *limits))


def _volume(net: Net) -> None:
    """Channels of a volume become its last axis, or its first one."""
    space, channels = [net.between(2, 8) for _ in range(3)], net.between(2, 16)
    shape, order = ([channels, *space], (2, 3, 4, 1)) if net.between(0, 1) else ([*space, channels], (4, 1, 2, 3))
    net.result(net.add("Transpose", net.source(1, *shape), perm=[0, *order]))


def _pairs(net: Net) -> None:
    """Two or three neighbours keep their places, and rows of them change theirs."""
    shape = 1, net.between(4, 70), net.between(4, 40), net.between(2, 3)
    net.result(net.add("Transpose", net.source(*shape), perm=[0, 2, 1, 3]))


def _few_positions(net: Net) -> None:
    """Channels of few positions become last, or first."""
    channels, positions = 4 * net.between(2, 20), (net.between(1, 3), net.between(2, 4))
    shape, order = ((channels, *positions), (2, 3, 1)) if net.between(0, 1) else ((*positions, channels), (3, 1, 2))
    net.result(net.add("Transpose", net.source(1, *shape), perm=[0, *order]))


def _odd_ends(net: Net) -> None:
    """Images of an odd number of bytes, one behind the other."""
    rows, columns = 2 * net.between(2, 24) + 1, 2 * net.between(2, 24) + 1
    parts = [net.source(1, net.between(1, 2), rows, columns) for _ in range(2)]
    net.result(net.add("Concat", *parts, axis=1))


def _cut_channels(net: Net) -> None:
    """Some channels of a volume, or of positions."""
    rows, columns, channels = net.between(4, 24), net.between(4, 24), 4 * net.between(2, 10)
    size = 4 * net.between(1, channels // 4 - 1) if net.between(0, 1) else net.between(2, channels - 1)
    first = net.between(0, channels - size)
    limits = [net.constant([value], np.int64) for value in (first, first + size, 3)]
    net.result(net.add("Slice", net.source(1, rows, columns, channels), *limits))


def _cut_positions(net: Net) -> None:
    """A window of each image of a volume."""
    sizes, start = [net.between(2, 8), net.between(5, 12), net.between(5, 12)], [net.between(0, 2), net.between(0, 2)]
    ends = [first + net.between(2, 3) for first in start]
    limits = [net.constant(value, np.int64) for value in (start, ends, [3, 4])]
    net.result(net.add("Slice", net.source(1, net.between(1, 8), *sizes), *limits))


MOVED_KINDS: dict[str, Callable[[Net], None]] = {
    "volume": _volume,
    "volume_2": _volume,
    "pairs": _pairs,
    "few_positions": _few_positions,
    "few_positions_2": _few_positions,
    "odd_ends": _odd_ends,
    "cut_channels": _cut_channels,
    "cut_positions": _cut_positions,
}
