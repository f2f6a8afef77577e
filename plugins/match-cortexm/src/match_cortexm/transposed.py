"""What the host's transposed convolutions do: each result looks for the taps of its window that hit a source."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_core.contract.workload import Workload

#: The pattern of the host, whose weights are [inputs, outputs of a group, taps along each axis of space].
TRANSPOSED = "host_conv_transpose"


def gathered(workload: Workload) -> Mapping[str, int]:
    """``checks``, of all taps of all results; ``lines``, the taps that hit a source; ``inside``, their products. The
    strides and the padding are those that explain the sizes of an axis, with as little padding as may be."""
    source, weights, *_, result = ([axis.size for axis in operand.axes] for operand in workload.operands)
    elements = workload.parameters["elements"]
    hits = prod(_hits(*sizes) for sizes in zip(source[2:], result[2:], weights[2:], strict=True))
    inputs = workload.macs // (elements * prod(weights[2:]))
    lines = elements // prod(result[2:]) * hits
    checks = elements * prod(weights[2:])
    return {"elements": elements, "floating": elements, "checks": checks, "lines": lines, "inside": lines * inputs}


def _hits(size: int, results: int, taps: int) -> int:
    """Pairs of a result and a tap of an axis that hit one of ``size`` sources."""
    pads = {stride: (size - 1) * stride + taps - results for stride in range(1, max(1, results) + 1)}
    stride = min(pads, key=lambda one: (abs(pads[one]), one))
    before = max(0, pads[stride]) // 2
    places = (place * stride + tap - before for place in range(size) for tap in range(taps))
    return sum(0 <= place < results for place in places)
