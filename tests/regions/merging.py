"""Whether regions are maximal."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_graphsurgeon as gs
from match_core.contract.claims import RegionClaims
from match_regions.validate import region_faults


def mergeable(graph: gs.Graph, claims: RegionClaims, regions: Sequence[Sequence[gs.Node]]) -> tuple[str, ...]:
    """Pairs of regions, one of which reads from the other, that could be one; a claimed node in no region counts as one
    of its own. Empty where regions are maximal."""
    inside = {node.name for region in regions for node in region}
    others = [
        (node,) for node in graph.nodes if node.name not in inside and not region_faults(graph, claims, [(node,)])
    ]
    groups = [*(tuple(region) for region in regions), *others]
    found = []
    for number, one in enumerate(groups):
        for other in groups[number + 1 :]:
            kept = [group for group in regions if tuple(group) not in (one, other)]
            if _touch(one, other) and not region_faults(graph, claims, [*kept, (*one, *other)]):
                found.append(f"{[node.name for node in one]} and {[node.name for node in other]}")
    return tuple(found)


def _touch(one: Sequence[gs.Node], other: Sequence[gs.Node]) -> bool:
    """Whether one reads what the other makes."""
    for reader, maker in ((one, other), (other, one)):
        made = {tensor.name for node in maker for tensor in node.outputs if tensor.name}
        if any(tensor.name in made for node in reader for tensor in node.inputs):
            return True
    return False
