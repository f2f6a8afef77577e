"""The passes of a unit on its regions: they replace the computed nodes, with the same inputs and outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from match_core.contract.errors import MatchError
from match_core.contract.model import Model
from match_core.contract.region import Region
from match_core.ir.topology import Topology, is_constant
from match_core.regions.extract import region_model
from match_core.regions.match import region_match

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

    from match_core.contract.claims import RegionClaims
    from match_core.contract.passes import Observer, Pass, PassContext
    from match_core.contract.pattern import Pattern
    from match_core.contract.structure import Match
    from match_core.contract.workload import Workload


class RegionPassError(ValueError):
    """A pass broke the contract or raised; names the pass and the region. The guard adds the package."""


def region_body(
    region: Region, claims: RegionClaims, context: PassContext, observers: Sequence[Observer] = ()
) -> Model:
    """The region as a model of its own after the passes of ``claims``, in the given order. ``observers`` see each pass
    as they see the core's passes. RegionPassError if a pass raises, or changes names, types or shapes of inputs and
    outputs, or leaves an invalid graph."""
    original = model = region_model(region)
    for item in claims.passes:
        for observer in observers:
            observer.before_pass(item, model)
        try:
            after = item.run(model, context)
            fault = body_fault(original.graph, after)
        except MatchError:
            raise
        except Exception as error:  # any exception of the package's code is its fault
            raise RegionPassError(f"{_place(item, region)}: {type(error).__name__}: {error}") from error
        if fault:
            raise RegionPassError(f"{_place(item, region)}: {fault}")
        for observer in observers:
            observer.after_pass(item, model, after)
        model = after
    return model


def _place(item: Pass, region: Region) -> str:
    first, last, count = region.nodes[0].name, region.nodes[-1].name, len(region.nodes)
    nodes = f"the node {first}" if count == 1 else f"the {count} nodes from {first} to {last}"
    return f"pass {item.name} on the region of {nodes}"


def body_fault(original: gs.Graph, model: object) -> str:
    """The fault of a pass's answer, whose inputs and outputs must be those of ``original``; empty if there is none."""
    if not isinstance(model, Model):
        return f"it returned {type(model).__name__}, Model expected"
    graph = model.graph
    for kind, before, after in (
        ("inputs", original.inputs, graph.inputs),
        ("outputs", original.outputs, graph.outputs),
    ):
        expected, got = [_described(tensor) for tensor in before], [_described(tensor) for tensor in after]
        if expected != got:
            return f"{kind} were {', '.join(expected)} and are now {', '.join(got) or 'none'}"
    topology = Topology.of(graph)
    read = {id(tensor) for node in topology.nodes for tensor in node.inputs}
    lost = [tensor.name for tensor in graph.inputs if id(tensor) not in read]
    if lost:
        return f"input {lost[0]} is no longer read"
    unmade = [tensor.name for tensor in graph.outputs if topology.producer(tensor) is None]
    return f"no node makes output {unmade[0]}" if unmade else _inner_fault(topology, graph)


def _inner_fault(topology: Topology, graph: gs.Graph) -> str:
    given = {id(tensor) for tensor in graph.inputs}
    named: dict[str, gs.Tensor] = {}
    for node in topology.nodes:
        for tensor in (*node.inputs, *node.outputs):
            if tensor.is_empty():
                continue
            if named.setdefault(tensor.name, tensor) is not tensor:
                return f"two tensors have the name {tensor.name}"
            if is_constant(tensor):
                continue
            if id(tensor) not in given and topology.producer(tensor) is None:
                return f"node {node.name} reads {tensor.name}, which no node computes"
            if tensor.dtype is None or not _is_static(tensor):
                return f"tensor {tensor.name} has no type or no fixed shape"
    return ""


def _is_static(tensor: gs.Tensor) -> bool:
    return tensor.shape is not None and all(isinstance(size, (int, np.integer)) for size in tensor.shape)


def _described(tensor: gs.Tensor) -> str:
    dtype = tensor.dtype  # a number of ONNX for types that numpy does not have
    dtype = "untyped" if dtype is None else f"type {dtype} " if isinstance(dtype, int) else np.dtype(dtype).name
    shape = "?" if tensor.shape is None else ",".join(str(size) for size in tensor.shape)
    return f"{tensor.name} {dtype}[{shape}]"


def body_nodes(body: Model) -> tuple[gs.Node, ...]:
    """The nodes of a body in the order of workload and code."""
    return Topology.of(body.graph).nodes


def with_passes(pattern: Pattern, context: PassContext) -> Pattern:
    """A pattern of regions with passes of their own gets a ``body``, from which its workload is made; others are
    unchanged."""
    if pattern.claims is None or not pattern.claims.passes:
        return pattern
    bodies = _Bodies(pattern.claims, context)
    return replace(pattern, body=bodies, workload=_BodyWorkload(pattern.workload, bodies))


@dataclass(frozen=True)
class _Bodies:
    """Returns the body of a match, computed once per match."""

    claims: RegionClaims
    context: PassContext
    _made: dict[tuple[int, ...], tuple[Sequence[gs.Node], Model]] = field(default_factory=dict, compare=False)

    def __call__(self, match: Match) -> Model:
        key = (*map(id, match.nodes), *map(id, match.outputs))
        if key not in self._made:  # stored with the nodes, so that their ids stay unique
            region = Region.of(match.nodes, match.outputs)
            self._made[key] = (match.nodes, region_body(region, self.claims, self.context))
        return self._made[key][1]


@dataclass(frozen=True)
class _BodyWorkload:
    """The workload of a region's body."""

    plain: Callable[[Match], Workload]
    bodies: _Bodies

    def __call__(self, match: Match) -> Workload:
        body = self.bodies(match)
        return self.plain(region_match(body_nodes(body), body.graph.outputs))
