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
    """``lines``, the taps of all results that hit a source, and ``starts`` of the loops over these along rows;
    ``inside``, their products, and ``rolled``, those of loops that have turns."""
    weights, result = (workload.operands[place].axes for place in (1, -1))
    inputs = weights[0].size * weights[1].size // result[1].size
    elements, inside = workload.parameters["elements"], workload.macs
    outer = prod(-(-taps // _stride(axis)) for axis in _axes(workload)[:-1] for taps in axis[2:])
    return {
        "elements": elements,
        "floating": elements,
        "starts": elements * outer,
        "lines": inside // inputs,
        "inside": inside,
        "rolled": inside * (inputs > TURNS),
    }


def strided(workload: Workload) -> bool:
    """Whether windows of a transposed convolution are more than a place apart."""
    return any(_stride(axis) > 1 for axis in _axes(workload))


def _axes(workload: Workload) -> list[Sizes]:
    """The places, the results and the taps of each axis of space."""
    source, weights, *_, result = ([axis.size for axis in operand.axes[2:]] for operand in workload.operands)
    return list(zip(source, result, weights, strict=True))


def _stride(axis: Sizes) -> int:
    """The stride that explains the sizes of an axis, with as little padding as may be."""
    size, results, taps = axis
    return min(range(1, max(1, results) + 1), key=lambda stride: (abs((size - 1) * stride + taps - results), stride))
