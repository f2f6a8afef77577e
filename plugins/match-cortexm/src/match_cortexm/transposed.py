"""What the host's transposed convolutions do: each result looks for the taps of its window that hit a source."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING

from match_cortexm.moves import TURNS

if TYPE_CHECKING:
    from match_core.contract.workload import Workload

#: Of an axis: places of the source, results, taps.
Sizes = tuple[int, int, int]

#: The pattern of the host, whose weights are [inputs, outputs of a group, taps along each axis of space].
TRANSPOSED = "host_conv_transpose"


def gathered(workload: Workload) -> Mapping[str, int]:
    """``checks``, of all taps of all results, and ``divided``, of those by a stride that is no power of two; ``lines``,
    the taps that hit a source; ``inside``, their products, and ``rolled``, those of loops that have turns."""
    sizes, elements = _axes(workload), workload.parameters["elements"]
    results, taps = prod(axis[1] for axis in sizes), prod(axis[2] for axis in sizes)
    hits = prod(_hits(*axis) for axis in sizes)
    inputs = workload.macs // (elements * taps)
    odd = sum(stride & (stride - 1) > 0 for stride in map(stride_of, sizes))
    inside = elements // results * hits * inputs
    return {
        "elements": elements,
        "floating": elements,
        "checks": elements * taps,
        "divided": elements * taps * odd,
        "lines": elements // results * hits,
        "inside": inside,
        "rolled": inside * (inputs > TURNS),
    }


def strided(workload: Workload) -> bool:
    """Whether windows of a transposed convolution are more than a place apart."""
    return any(stride_of(axis) > 1 for axis in _axes(workload))


def _axes(workload: Workload) -> list[Sizes]:
    """The places, the results and the taps of each axis of space."""
    source, weights, *_, result = ([axis.size for axis in operand.axes[2:]] for operand in workload.operands)
    return list(zip(source, result, weights, strict=True))


def stride_of(axis: Sizes) -> int:
    """The stride that explains the sizes of an axis, with as little padding as may be."""
    size, results, taps = axis
    return min(range(1, max(1, results) + 1), key=lambda stride: (abs((size - 1) * stride + taps - results), stride))


def _hits(size: int, results: int, taps: int) -> int:
    """Pairs of a result and a tap of an axis that hit one of ``size`` sources."""
    stride = stride_of((size, results, taps))
    before = max(0, (size - 1) * stride + taps - results) // 2
    places = (place * stride + tap - before for place in range(size) for tap in range(taps))
    return sum(0 <= place < results for place in places)
