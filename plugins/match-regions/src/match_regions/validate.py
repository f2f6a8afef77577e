"""Checks the regions of a pattern against graph and claims, sharing no code with the growth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_core.contract.claims import RegionClaims, RegionLimits


class InvalidRegionsError(RuntimeError):
    """Regions break their contract; a fault of the growth, not of the user."""


def validate_regions(graph: gs.Graph, claims: RegionClaims, regions: Sequence[Sequence[gs.Node]]) -> None:
    """InvalidRegionsError with all faults, if there are any."""
    faults = region_faults(graph, claims, regions)
    if faults:
        raise InvalidRegionsError("; ".join(faults))


def region_faults(graph: gs.Graph, claims: RegionClaims, regions: Sequence[Sequence[gs.Node]]) -> tuple[str, ...]:
    """All faults of regions: a node in two regions; a node that is not claimed or breaks the rules of all its claims;
    an exceeded limit; a cycle in the graph with each region as one node, so that a region is not convex or waits for
    another."""
    faults: list[str] = []
    seen: set[str] = set()
    index = _Graph.of(graph)
    for region in regions:
        for node in region:
            if node.name in seen:
                faults.append(f"{node.name!r} is in two regions")
            seen.add(node.name)
            if not _is_claimed(node, claims):
                faults.append(f"{node.name!r} is not claimed")
        faults += _limit_faults(index, region, claims.limits)
    if not faults and _has_circle(graph, regions):
        faults.append("regions wait for each other, or for a node between their nodes")
    return tuple(faults)


def _is_claimed(node: gs.Node, claims: RegionClaims) -> bool:
    domain = node.domain or ""
    name = node.op if domain in ("", "ai.onnx") else f"{domain}::{node.op}"
    return any(
        name in claim.names and not any(rule.check(node) for rule in claim.rules) for claim in claims.operators
    ) or any(name in claim.names for claim in claims.atoms)


@dataclass(frozen=True)
class _Graph:
    """Names of the readers of each tensor, and of the graph's outputs."""

    readers: dict[str, set[str]]
    outputs: frozenset[str]

    @classmethod
    def of(cls, graph: gs.Graph) -> _Graph:
        readers: dict[str, set[str]] = {}
        for node in graph.nodes:
            for tensor in node.inputs:
                readers.setdefault(tensor.name, set()).add(node.name)
        return cls(readers, frozenset(tensor.name for tensor in graph.outputs))


def _limit_faults(graph: _Graph, region: Sequence[gs.Node], limits: RegionLimits) -> Iterator[str]:
    import onnx_graphsurgeon as gs

    own = {node.name for node in region}
    made = {tensor.name for node in region for tensor in node.outputs if tensor.name}
    read = {tensor.name: tensor for node in region for tensor in node.inputs if tensor.name}
    constants = {name: tensor for name, tensor in read.items() if isinstance(tensor, gs.Constant)}
    leaving = [name for name in made if name in graph.outputs or graph.readers.get(name, set()) - own]
    counts = (
        ("nodes", len(region), limits.nodes_max),
        ("inputs", len(read.keys() - made - constants.keys()), limits.inputs_max),
        ("outputs", len(leaving), limits.outputs_max),
        ("constant bytes", sum(t.values.nbytes for t in constants.values()), limits.constant_bytes_max),
    )
    for what, count, most in counts:
        if most is not None and count > most:
            yield f"a region of {sorted(own)[:4]} has {count} {what}; the limit is {most}"


def _has_circle(graph: gs.Graph, regions: Sequence[Sequence[gs.Node]]) -> bool:
    """Whether steps that cannot start remain if each region runs as one step."""
    home = {node.name: f"node {node.name}" for node in graph.nodes}
    home.update({node.name: f"region {number}" for number, region in enumerate(regions) for node in region})
    maker = {tensor.name: node.name for node in graph.nodes for tensor in node.outputs if tensor.name}
    waits: dict[str, set[str]] = {step: set() for step in home.values()}
    for node in graph.nodes:
        for tensor in node.inputs:
            if tensor.name in maker and home[maker[tensor.name]] != home[node.name]:
                waits[home[node.name]].add(home[maker[tensor.name]])
    then: dict[str, list[str]] = {step: [] for step in waits}
    for step, needed in waits.items():
        for other in needed:
            then[other].append(step)
    left = {step: len(needed) for step, needed in waits.items()}
    ready = [step for step, count in left.items() if count == 0]
    done = 0
    while ready:
        done += 1
        for step in then[ready.pop()]:
            left[step] -= 1
            if left[step] == 0:
                ready.append(step)
    return done < len(waits)
