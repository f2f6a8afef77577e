"""Finds views that must become copies: every graph output must have its own bytes, which the caller provides.

A view's result shares its input's bytes. Followed upwards through views, each graph output must lead to a different
tensor that some task writes; else one of the views on the path must be a copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from match_core.ir.topology import Topology, is_constant

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_core.contract.mapping import Assignment


def shared_outputs(graph: gs.Graph, topology: Topology, chosen: Sequence[Assignment]) -> tuple[tuple[int, ...], ...]:
    """For each graph output without its own bytes, the positions in ``chosen`` of the views on its path, nearest first.
    Of outputs that share bytes, the one with the fewest views keeps them."""
    home = {id(node): place for place, a in enumerate(chosen) for node in a.candidate.match.nodes}
    seen: dict[int, list[tuple[int, ...]]] = {}
    roots: dict[int, gs.Tensor] = {}
    for output in graph.outputs:
        tensor, views = _seen_through(topology, output, chosen, home)
        roots[id(tensor)] = tensor
        seen.setdefault(id(tensor), []).append(views)
    found: list[tuple[int, ...]] = []
    for key, chains in seen.items():
        ranked = sorted(chains, key=len)
        found += ranked if topology.producer(roots[key]) is None else ranked[1:]
    return tuple(found)


def _seen_through(
    topology: Topology, tensor: gs.Tensor, chosen: Sequence[Assignment], home: dict[int, int]
) -> tuple[gs.Tensor, tuple[int, ...]]:
    views: list[int] = []
    node = topology.producer(tensor)
    while node is not None and chosen[home[id(node)]].candidate.pattern.view:
        place = home[id(node)]
        views.append(place)
        tensor = next(t for n in chosen[place].candidate.match.nodes for t in n.inputs if t.name and not is_constant(t))
        node = topology.producer(tensor)
    return tensor, tuple(views)
