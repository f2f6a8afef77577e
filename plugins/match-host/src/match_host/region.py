"""Regions: the largest groups of scalar operators around one result that can be computed in one loop nest.

A node joins the region of a result if its own result has the same shape and all of its readers are in the region
already. Such a group has one result and is convex: a path that leaves it must leave through the result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from match_core.contract.model import qualified_op
from match_core.contract.structure import Match
from match_core.ir.reader import shape_of
from match_core.ir.topology import Topology

from match_host.kernels.elementwise.scalar_table import SCALAR_OPS
from match_host.kernels.reduction.reduce import build_reduce, computed_axes
from match_host.operators import OPERATOR_TABLE
from match_host.rules import first_broken

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def eligible(node: gs.Node) -> bool:
    """Whether a node is an elementwise operator that the host supports; also one that is a movement where it stands
    alone."""
    operator = OPERATOR_TABLE.get(qualified_op(node))
    if operator is None or qualified_op(node) not in SCALAR_OPS:
        return False
    return first_broken(node, operator.rules) is None


def find_regions(graph: gs.Graph) -> tuple[Match, ...]:
    """The largest region of every result, of two nodes or more, with no region inside another."""
    return _search(graph, eligible)


def find_regions_between(graph: gs.Graph) -> tuple[Match, ...]:
    """Regions without operators of ``match.arith``, for units that fuse these with the operators before them. Only
    regions that differ from those of ``find_regions``."""
    found = _search(graph, lambda node: eligible(node) and node.domain != "match.arith")
    whole = {_names(match) for match in find_regions(graph)}
    return tuple(match for match in found if _names(match) not in whole)


def find_reduced_regions(graph: gs.Graph) -> tuple[Match, ...]:
    """Reductions with the region of the value that they reduce, if it has no other readers."""
    topology = Topology.of(graph)
    allowed = {topology.position(node) for node in topology.nodes if eligible(node)}
    matches: list[Match] = []
    for node in topology.nodes:
        operator = OPERATOR_TABLE.get(qualified_op(node))
        if operator is None or operator.build is not build_reduce or first_broken(node, operator.rules) is not None:
            continue
        if computed_axes(node):
            continue
        producer = topology.producer(node.inputs[0])
        read_here_only = len(topology.consumers(node.inputs[0])) == 1 and not topology.is_output(node.inputs[0])
        if producer is not None and read_here_only and topology.position(producer) in allowed:
            region = grow(topology, topology.position(producer), allowed)
            nodes = (*(topology.nodes[member] for member in sorted(region)), node)
            matches.append(Match(nodes, {"result": node}))
    return tuple(matches)


def _names(match: Match) -> tuple[str, ...]:
    return tuple(node.name for node in match.nodes)


def _search(graph: gs.Graph, eligible: Callable[[gs.Node], bool]) -> tuple[Match, ...]:
    topology = Topology.of(graph)
    allowed = {topology.position(node) for node in topology.nodes if eligible(node)}
    taken: set[int] = set()
    matches: list[Match] = []
    for position in sorted(allowed, reverse=True):
        if position in taken:
            continue
        region = grow(topology, position, allowed)
        taken |= region
        if len(region) > 1:
            nodes = tuple(topology.nodes[member] for member in sorted(region))
            matches.append(Match(nodes, {"result": nodes[-1]}))
    return tuple(reversed(matches))


def grow(topology: Topology, result: int, allowed: set[int]) -> set[int]:
    """Positions of the region of this result: producers join until nothing changes."""
    root = topology.nodes[result]
    shape, region = shape_of(root.outputs[0]), {result}
    frontier = [root]
    while frontier:
        node = frontier.pop()
        for tensor in node.inputs:
            producer = topology.producer(tensor)
            if producer is None:
                continue
            position = topology.position(producer)
            if position in region or position not in allowed or topology.is_output(tensor):
                continue
            readers = {topology.position(reader) for reader in topology.consumers(tensor)}
            if readers <= region and shape_of(tensor) == shape:
                region.add(position)
                frontier.append(producer)
    return region
