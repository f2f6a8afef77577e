"""Made layers of windows whose taps are apart, extremes and averages of few positions, and with those of
``cortexm_ahead.py``, ``cortexm_late.py`` and ``cortexm_common.py`` the newest kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from benchmarks.cortexm_ahead import (
    ahead,
    biased,
    cut_rows,
    gated_channels,
    joined_few,
    normalised,
    rows_as_floats,
    rows_of_few,
    scaled_channels,
    shuffled,
)
from benchmarks.cortexm_common import COMMON_INTEGER_KINDS, COMMON_KINDS, COMMON_REAL_KINDS
from benchmarks.cortexm_ends import CLASS_KINDS, END_KINDS, SMALLEST_KINDS
from benchmarks.cortexm_late import LAST_KINDS, LATE_INTEGER_KINDS, LATE_KINDS, LATE_REAL_KINDS
from benchmarks.cortexm_net import Net, middle, networks_of
from benchmarks.cortexm_typical import (
    FEW_DIGITS_KINDS,
    FEW_PLACES_KINDS,
    NARROW_KINDS,
    PRIME_KINDS,
    SHORTCUT_KINDS,
    TYPICAL_KINDS,
    WEIGHTED_KINDS,
)


def _apart(net: Net, line: bool) -> None:
    """Windows whose taps are two to six places apart, with padding at both ends, at one or at none."""
    inputs = net.between(3, 40) if net.between(0, 1) else 4 * net.between(1, 10)
    outputs, dilation, taps = net.between(2, 40), net.between(2, 6 if line else 4), 3 if net.between(0, 2) else 2
    reach = dilation * (taps - 1)
    if line:
        kernel, dilations = [taps + 2 * net.between(0, 1)], [dilation]
        reach = dilation * (kernel[0] - 1)
        shape = [reach + net.between(6, 50)]
    else:
        size = net.between(reach + 1, reach + 10)
        kernel, shape, dilations = [taps] * 2, [size, size + net.between(0, 4)], [dilation] * 2
        if net.between(0, 3) == 0:  # of rows or of columns alone
            place = net.between(0, 1)
            kernel[place], dilations[place] = 1, 1
    before = [(0, reach // 2, reach)[net.between(0, 2)] * (one > 1) for one in kernel]
    after = [(reach - first if first else 0) * (one > 1) for first, one in zip(before, kernel, strict=True)]
    x = net.source(1, inputs, *shape)
    if net.between(0, 1):
        x = net.between_layers(net.add("Relu", biased(net, x, inputs, inputs, *(1 for _ in shape))))
    stride = 1 + (net.between(0, 4) == 0)
    attributes = {"pads": [*before, *after], "dilations": dilations, "strides": [stride] * len(shape)}
    y = biased(net, x, outputs, inputs, *kernel, **attributes)
    net.result(net.add("Relu", y) if net.between(0, 1) else y, 4.0)


def _apart_few(net: Net) -> None:
    """Windows of few numbers whose taps are apart, to few numbers: what copies them takes most."""
    inputs, outputs, dilation, taps = net.between(1, 12), net.between(1, 8), net.between(2, 5), net.between(2, 3)
    reach = dilation * (taps - 1)
    size, pads = net.between(reach + 1, reach + 9), net.between(0, reach)
    shape = [size, size + net.between(0, 4)] if net.between(0, 1) else [size + net.between(8, 40)]
    y = _inner_or_first(net, inputs, shape)
    attributes = {"pads": [pads] * 2 * len(shape), "dilations": [dilation] * len(shape)}
    net.result(biased(net, y, outputs, inputs, *([taps] * len(shape)), **attributes), 4.0)


def _inner_or_first(net: Net, channels: int, shape: list[int]) -> str:
    """An image or a line, in the middle of a network or at its beginning."""
    if net.between(0, 1):
        return net.source(1, channels, *shape)
    first = net.between(1, 4)
    return net.between_layers(biased(net, net.source(1, first, *shape), channels, first, *(1 for _ in shape)))


def _whole_line(net: Net, op: str) -> None:
    """The largest number, or the mean, of a line of each channel."""
    channels, size = net.between(2, 40), net.between(2, 17) if net.between(0, 1) else net.between(16, 60)
    x = net.source(1, channels, size)
    if net.between(0, 2) == 0:
        x = net.between_layers(net.add("Relu", biased(net, x, channels, channels, 1)))
    net.result(net.add(op, x), 2.0)


def _whole_image(net: Net, op: str) -> None:
    """The largest number, or the mean, of few positions of each channel."""
    channels, rows = net.between(2, 48), net.between(1, 6)
    columns = net.between(2, max(2, 40 // rows))
    x = middle(net, channels, rows, columns)
    x = net.between_layers(net.add("Relu", x)) if net.between(0, 1) else x
    net.result(net.add(op, x), 2.0)


def _along_rows(net: Net, op: str) -> None:
    """The largest, the least or the sum of all numbers of each column, or of each row."""
    rows = net.between(2, 40)
    columns = net.between(2, 17) if net.between(0, 2) else net.between(18, 70)
    axis = net.constant([1 if net.between(0, 3) else 2], np.int64)
    x = net.source(1, rows, columns)
    x = net.between_layers(net.add("Add", x, net.source(1, rows, columns))) if net.between(0, 3) == 0 else x
    net.result(net.add(op, x, axis, keepdims=net.between(0, 1)), 4.0)


def _long_first(net: Net) -> None:
    """Long windows over a signal of one to three channels, with strides."""
    inputs, outputs, taps, stride = net.between(1, 3), net.between(4, 36), net.between(8, 48), net.between(1, 6)
    size, pads = taps + stride * net.between(12, 90), [taps // 2 * net.between(0, 1)] * 2
    y = biased(net, net.source(1, inputs, size), outputs, inputs, taps, pads=pads, strides=[stride])
    net.result(net.add("Relu", y) if net.between(0, 2) else y, 4.0)


def _line_average(net: Net) -> None:
    """Averages of windows of a line behind a convolution, one next to the other or not."""
    channels, taps, windows = net.between(2, 40), net.between(2, 9), net.between(2, 24)
    stride = taps if net.between(0, 1) else net.between(1, taps)
    x = net.source(1, net.between(1, 4), taps + stride * (windows - 1))
    y = net.between_layers(net.add("Relu", biased(net, x, channels, _channels(net), 1)))
    net.result(net.add("AveragePool", y, kernel_shape=[taps], strides=[stride]), 2.0)


def _channels(net: Net) -> int:
    """Those of the last input."""
    return int(net.inputs[-1].type.tensor_type.shape.dim[1].dim_value)


def _padded_line(net: Net, op: str) -> None:
    """Windows of a line that reach over both its ends."""
    channels, size, taps = net.between(2, 40), net.between(6, 70), net.between(2, 5)
    pads = {"pads": [taps // 2, (taps - 1) // 2], "strides": [1 if net.between(0, 2) else 2]}
    x = net.source(1, channels, size)
    x = net.add("Relu", biased(net, x, channels, channels, 1)) if net.between(0, 1) else x
    net.result(net.add(op, x, kernel_shape=[taps], **pads), 2.0)


APART_KINDS: dict[str, Callable[[Net], None]] = {
    **{f"apart_{number}": partial(_apart, line=number % 2 == 1) for number in range(5)},
    **{f"scaled_channels_{number}": partial(scaled_channels, few=number % 2 == 0) for number in range(4)},
    "gated_channels": gated_channels,
    **{f"whole_line_{op}": partial(_whole_line, op=op) for op in ("GlobalMaxPool", "GlobalAveragePool")},
    **{f"whole_image_{op}": partial(_whole_image, op=op) for op in ("GlobalMaxPool", "GlobalAveragePool")},
    "whole_image_again": partial(_whole_image, op="GlobalAveragePool"),
    **{f"along_rows_{op}": partial(_along_rows, op=op) for op in ("ReduceMax", "ReduceMin", "ReduceSum")},
    "along_rows_again": partial(_along_rows, op="ReduceMax"),
    "rows_of_few": rows_of_few,
    "rows_of_few_again": rows_of_few,
    "long_first": _long_first,
    "line_average": _line_average,
    "line_average_again": _line_average,
    "cut_rows": cut_rows,
    "joined_few": joined_few,
    "shuffled": shuffled,
}


APART_LAST_KINDS: dict[str, Callable[[Net], None]] = {
    **{f"rows_as_floats_{number}": rows_as_floats for number in range(4)},
    **{f"normalised_{number}": normalised for number in range(2)},
    **{f"ahead_{number}": ahead for number in range(4)},
}
#: Of float32 networks.
PADDED_KINDS: dict[str, Callable[[Net], None]] = {
    f"padded_line_{op}_{number}": partial(_padded_line, op=op)
    for number in range(3)
    for op in ("MaxPool", "AveragePool")
}
#: Of int8 networks.
APART_FEW_KINDS: dict[str, Callable[[Net], None]] = {f"apart_few_{number}": _apart_few for number in range(4)}
#: Of int16 networks: those with kernels on integers.
APART_WIDE_KINDS = {name: APART_KINDS[name] for name in APART_KINDS if name.startswith("apart")}


def newest_networks(seed: int, rounds: int, quantised: bool, wide: bool = False) -> Iterator[Net]:
    """Networks of the newest kinds, which are some of ``cortexm_made.made_networks``."""
    if wide and not quantised:
        return
    rng = np.random.default_rng([seed, 3, 2] if wide else [seed, int(quantised), 15])
    yield from networks_of(Net(rng, quantised, wide), APART_WIDE_KINDS if wide else APART_KINDS, rounds)
    if not wide:
        rng = np.random.default_rng([seed, int(quantised), 16])
        yield from networks_of(Net(rng, quantised), APART_LAST_KINDS, rounds)
        rng = np.random.default_rng([seed, int(quantised), 17])
        yield from networks_of(Net(rng, quantised), APART_FEW_KINDS if quantised else PADDED_KINDS, rounds)
        rng = np.random.default_rng([seed, int(quantised), 18])
        late = {**LATE_KINDS, **(LATE_INTEGER_KINDS if quantised else LATE_REAL_KINDS)}
        yield from networks_of(Net(rng, quantised), late, rounds)
        yield from networks_of(Net(np.random.default_rng([seed, int(quantised), 19]), quantised), LAST_KINDS, rounds)
        common = {**COMMON_KINDS, **(COMMON_INTEGER_KINDS if quantised else {})}
        yield from networks_of(Net(np.random.default_rng([seed, int(quantised), 20]), quantised), common, rounds)
        if not quantised:
            yield from networks_of(Net(np.random.default_rng([seed, 0, 21]), False), COMMON_REAL_KINDS, rounds)
        rng = np.random.default_rng([seed, int(quantised), 22])
        yield from networks_of(Net(rng, quantised), TYPICAL_KINDS, rounds)
        rng = np.random.default_rng([seed, int(quantised), 23])
        yield from networks_of(Net(rng, quantised), WEIGHTED_KINDS, rounds)
        rng = np.random.default_rng([seed, int(quantised), 24])
        yield from networks_of(Net(rng, quantised), SHORTCUT_KINDS, rounds)
        rng = np.random.default_rng([seed, int(quantised), 25])
        yield from networks_of(Net(rng, quantised), FEW_PLACES_KINDS, rounds)
        if quantised:
            yield from networks_of(Net(np.random.default_rng([seed, 1, 26]), True), FEW_DIGITS_KINDS, rounds)
        rng = np.random.default_rng([seed, int(quantised), 27])
        yield from networks_of(Net(rng, quantised), NARROW_KINDS, rounds)
        for stream, kinds in ((28, PRIME_KINDS), (29, END_KINDS), (30, SMALLEST_KINDS), (31, CLASS_KINDS)):
            rng = np.random.default_rng([seed, int(quantised), stream])
            yield from networks_of(Net(rng, quantised), kinds, rounds)
