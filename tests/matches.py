"""The matches of one structure in a graph, each by itself."""

from __future__ import annotations

import onnx_graphsurgeon as gs
from match_core.contract.model import qualified_op
from match_core.contract.structure import Match, Structure
from match_core.ir.topology import Topology
from match_core.patterns.matcher import matches_at, result_operators


def find_matches(graph: gs.Graph, structure: Structure) -> tuple[Match, ...]:
    """The preferred match at each node that can be the result, in topological order of the results.

    ``graph`` is not changed. Matches may overlap: choosing among them is the mapper's work.
    """
    topology = Topology.of(graph)
    names = result_operators(structure)
    nodes = (node for node in topology.nodes if qualified_op(node) in names)
    found = (next(matches_at(topology, node, structure), None) for node in nodes)
    return tuple(match for match in found if match is not None)
