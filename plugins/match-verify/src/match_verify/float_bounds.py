"""Error bounds of a program's float outputs against the reference, relative to the largest value of the output.

float32 and float64: a constant, because both sides compute alike and differ in the order of sums only. float16 and
narrower types: every rounding errs by at most u of the rounded value (2^-11 for float16, 2^-8 for bfloat16). Roundings
are independent, so after n of them in a row errors grow with the square root of n (Higham and Mary, A new approach to
probabilistic rounding error analysis, SIAM J. Sci. Comput. 41, 2019); a factor of 2 covers the worst of many outputs,
and partial sums that are larger than the result. Sums that are rounded after every product stay below 0.6 of this bound
on all float16 networks of the model set.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np
from match_core.ir.topology import Topology

if TYPE_CHECKING:
    from collections.abc import Mapping

    import onnx_graphsurgeon as gs
    from match_core.contract.candidate import Candidate
    from match_core.contract.program import Program

#: float32 and float64.
WIDE_BOUND = 1e-4
#: Bits of the largest relative error of one rounding to a type: u = 2^-bits.
UNIT_BITS = {"float16": 11} | {
    name: int(ml_dtypes.finfo(getattr(ml_dtypes, name)).nmant) + 1  # type: ignore[no-untyped-call]  # as in match_report.samples
    for name in (
        *("bfloat16", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"),
        *("float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn"),
    )
}
FACTOR = 2.0


@dataclass(frozen=True, slots=True)
class FloatBound:
    """``relative`` to the largest value; ``counts`` of successive roundings by narrow type, empty if there are none."""

    relative: float
    counts: tuple[tuple[str, int], ...] = ()

    @property
    def roundings(self) -> int:
        """The number of all successive roundings."""
        return sum(count for _, count in self.counts)

    def __str__(self) -> str:
        text = f"relative {self.relative:.2g} of the largest value"
        if not self.counts:
            return text
        if len(self.counts) == 1:
            ((name, count),) = self.counts
            return f"{text} (2 u sqrt(n), u = 2^-{UNIT_BITS[name]}, n = {count} {name} roundings)"
        listed = ", ".join(f"{count} to {name} (u = 2^-{UNIT_BITS[name]})" for name, count in self.counts)
        return f"{text} (2 sqrt of the sum of u^2 over roundings: {listed})"


def float_bounds(graph: gs.Graph, program: Program) -> Mapping[str, FloatBound]:
    """The bound of every graph output that the program computes, by name."""
    candidates = {
        node.name: task.assignment.candidate for task in program.tasks for node in task.assignment.candidate.match.nodes
    }
    host = program.soc.host
    roundings: dict[int, Counter[str]] = {}
    for node in _in_order(graph):
        before = max((roundings.get(id(tensor), Counter()) for tensor in node.inputs), key=_squares, default=Counter())
        own = _roundings(node, candidates[node.name], host) if node.name in candidates else Counter()
        roundings.update({id(tensor): before + own for tensor in node.outputs})
    return {tensor.name: _bound(roundings.get(id(tensor), Counter())) for tensor in graph.outputs}


def _squares(counts: Counter[str]) -> float:
    """The sum of u^2 over roundings."""
    return sum(count * 4.0 ** -UNIT_BITS[name] for name, count in counts.items())


def _in_order(graph: gs.Graph) -> list[gs.Node]:
    return list(Topology.of(graph).nodes)


def _bound(counts: Counter[str]) -> FloatBound:
    if not counts:
        return FloatBound(WIDE_BOUND)
    return FloatBound(FACTOR * sqrt(_squares(counts)), tuple(sorted(counts.items())))


def _roundings(node: gs.Node, candidate: Candidate, host: str) -> Counter[str]:
    """Successive roundings to narrow types in this node. The host sums in float32; other units are assumed to round
    after every product, and the first node of their fused operators counts all sums."""
    names = {np.dtype(tensor.dtype).name for tensor in node.outputs if tensor.dtype is not None} & set(UNIT_BITS)
    if candidate.pattern.view or not names:
        return Counter()
    worst = min(names, key=lambda name: UNIT_BITS[name])
    if candidate.unit == host or node.name != candidate.node_names[0]:
        return Counter({worst: 1})
    whole = candidate.workload if candidate.share is None else candidate.share.whole
    results = int(np.prod(candidate.match.output.shape, dtype=np.int64))
    return Counter({worst: 1 + -(-whole.macs // max(1, results))})
