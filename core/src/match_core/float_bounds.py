"""How far float outputs of a program may lie from those of the reference, relative to the largest value of the output.

float32 and float64: both sides compute alike but sum in different orders; a constant. float16: every rounding errs by
at most u = 2^-11 of the rounded value. Roundings are independent, so after n of them in a row errors grow with the
square root of n (Higham and Mary, A new approach to probabilistic rounding error analysis, SIAM J. Sci. Comput. 41,
2019); a factor of 2 is for the worst of many outputs, and for partial sums that are larger than the result. Sums that
are rounded after every product stay below 0.6 of this bound on all float16 networks of the model set.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    import onnx_graphsurgeon as gs

    from match_core.mapping.result import Candidate
    from match_core.planning.program import Program

#: float32 and float64.
WIDE_BOUND = 1e-4
#: Largest relative error of one rounding to float16.
HALF_UNIT = 2.0**-11
HALF_FACTOR = 2.0


@dataclass(frozen=True, slots=True)
class FloatBound:
    """``relative`` to the largest value; ``roundings`` to float16 in a row, 0 where none is."""

    relative: float
    roundings: int = 0

    def __str__(self) -> str:
        text = f"relative {self.relative:.2g} of the largest value"
        return f"{text} (2 u sqrt(n), u = 2^-11, n = {self.roundings} float16 roundings)" if self.roundings else text


def float_bounds(graph: gs.Graph, program: Program) -> Mapping[str, FloatBound]:
    """The bound of every output of the graph, which the program computes, by name."""
    candidates = {
        node.name: task.assignment.candidate for task in program.tasks for node in task.assignment.candidate.match.nodes
    }
    host = program.soc.host
    roundings: dict[int, int] = {}
    for node in _in_order(graph):
        before = max((roundings.get(id(tensor), 0) for tensor in node.inputs), default=0)
        own = _roundings(node, candidates[node.name], host) if node.name in candidates else 0
        roundings.update({id(tensor): before + own for tensor in node.outputs})
    return {tensor.name: _bound(roundings.get(id(tensor), 0)) for tensor in graph.outputs}


def _in_order(graph: gs.Graph) -> list[gs.Node]:
    from match_core.patterns.topology import Topology

    return list(Topology.of(graph).nodes)


def _bound(roundings: int) -> FloatBound:
    if roundings == 0:
        return FloatBound(WIDE_BOUND)
    return FloatBound(HALF_FACTOR * HALF_UNIT * sqrt(roundings), roundings)


def _roundings(node: gs.Node, candidate: Candidate, host: str) -> int:
    """To float16 behind one another in this node. The host sums in float32; other units are taken to round after every
    product, and the first node of what they run as one counts all of its sums."""
    if candidate.pattern.view or not any(np.dtype(tensor.dtype) == np.float16 for tensor in node.outputs):
        return 0
    if candidate.unit == host or node.name != candidate.node_names[0]:
        return 1
    whole = candidate.workload if candidate.share is None else candidate.share.whole
    results = int(np.prod(candidate.match.output.shape, dtype=np.int64))
    return 1 + -(-whole.macs // max(1, results))
