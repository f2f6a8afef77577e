"""Candidates of one graph on a copy of it with inserted or replaced nodes: maps nodes and tensors by name."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from match_core.contract.structure import Match

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

    from match_core.contract.candidate import Candidate


@dataclass(frozen=True)
class Rebind:
    """``nodes`` and ``tensors`` of the new graph by their names in the old one."""

    nodes: dict[str, gs.Node]
    tensors: dict[str, gs.Tensor]

    @classmethod
    def of(cls, graph: gs.Graph) -> Rebind:
        """Binds to this graph, before or after names change in it."""
        tensors = {tensor.name: tensor for tensor in graph.inputs}
        for node in graph.nodes:
            tensors.update({tensor.name: tensor for tensor in (*node.inputs, *node.outputs) if not tensor.is_empty()})
        return cls({node.name: node for node in graph.nodes}, tensors)

    def knows(self, candidate: Candidate) -> bool:
        """Whether all of the candidate's nodes exist."""
        return self.nodes.keys() >= set(candidate.node_names)

    def candidate(self, candidate: Candidate, instead: Mapping[str, gs.Tensor] | None = None) -> Candidate:
        """The candidate on the new graph; ``instead``: replacements of tensors that it reads, by their old names."""
        import onnx_graphsurgeon as gs

        tensors = ChainMap(dict(instead or {}), self.tensors)
        captures: dict[str, gs.Node | gs.Tensor] = {}
        for capture, value in candidate.match.captures.items():
            captures[capture] = (self.nodes if isinstance(value, gs.Node) else tensors).get(value.name, value)
        match = Match(
            nodes=tuple(self.nodes[name] for name in candidate.node_names),
            captures=captures,
            results=tuple(self.tensors[tensor.name] for tensor in candidate.match.results),
        )
        return replace(candidate, match=match)
