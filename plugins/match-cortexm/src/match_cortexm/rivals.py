"""Which of the host's kernels have a rival: a kernel of the core's own that takes a product, a maximum, a softmax or a
transposition that they compute. The model prefers rivals to what is varied or has no figures (``cost.py``)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from match_core.contract.model import qualified_op
from match_core.ir.topology import Topology
from match_core.patterns.matcher import matches_at
from match_host.fusion import CONV_INTEGER, MAT_MUL_INTEGER

from match_cortexm.kernels.pool import MAX_POOL
from match_cortexm.kernels.softmax import SOFTMAX_I8

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_core.contract.pattern import Pattern
    from match_core.contract.structure import Match
    from match_core.contract.workload import Workload

#: The name in a workload's parameters: 1 if there is a rival.
RIVALLED = "rivalled"
_CONTESTED = frozenset(f"{CONV_INTEGER}|{MAT_MUL_INTEGER}|{MAX_POOL}|{SOFTMAX_I8}|Transpose".split("|"))


@dataclass
class Rivals:
    """Whether patterns take operators, with a padding before them and what reads them; each is found once."""

    patterns: tuple[Pattern, ...]
    _known: dict[int, tuple[gs.Node, bool]] = field(default_factory=dict)  # by identity, which lasts as long

    def of(self, node: gs.Node) -> bool:
        """Whether a pattern takes an operator."""
        if id(node) not in self._known:
            self._known[id(node)] = node, qualified_op(node) in _CONTESTED and self._taken(node)
        return self._known[id(node)][1]

    def _taken(self, node: gs.Node) -> bool:
        import onnx_graphsurgeon as gs

        around = (*(before for before in node.inputs[0].inputs if before.op == "Pad"), node, *node.outputs[0].outputs)
        topology = Topology.of(gs.Graph(nodes=list({id(one): one for one in around}.values())))
        return any(
            any(one is node for one in match.nodes) and all(rule.check(match) is None for rule in pattern.constraints)
            for pattern in self.patterns
            if pattern.structure is not None
            for result in topology.nodes
            for match in matches_at(topology, result, pattern.structure)
        )


def rivalled(pattern: Pattern, rivals: Rivals) -> Pattern:
    """The pattern, whose workloads tell whether they have a rival."""
    workload: Callable[[Match], Workload] = pattern.workload

    def telling(match: Match) -> Workload:
        found = workload(match)
        told = (*found.geometry, (RIVALLED, 1))
        return replace(found, geometry=told) if any(map(rivals.of, match.nodes)) else found

    return pattern if pattern.view else replace(pattern, workload=telling)
