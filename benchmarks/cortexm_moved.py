"""Made layers that move elements, for counts of instructions: they compute nothing."""

from __future__ import annotations

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
