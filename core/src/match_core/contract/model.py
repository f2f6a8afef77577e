"""The model that moves through the compiler: an onnx-graphsurgeon graph with its provenance.

A Model is treated as a value: a pass works on ``model.copy()`` and returns a new Model. After every pass the graph
exports to a valid ONNX file that ONNX Runtime executes; our own operators are local functions with plain ONNX bodies.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnx
    import onnx_graphsurgeon as gs

    from match_core.contract.fallback import Left
    from match_core.contract.quantisation import Quantisation

#: IR version of every exported model; onnxruntime 1.31 refuses newer ones.
IR_VERSION = 10
#: The opset that the loader converts to, so that passes and patterns handle one opset only.
OPSET = 21


@dataclass(frozen=True, slots=True)
class State:
    """A graph input that gets a graph output of the previous inference; ``initial``: its elements before the first."""

    input: str
    output: str
    initial: int = 0

    def __str__(self) -> str:
        return f"state, initially {self.initial}, then {self.output} of the previous inference"


@dataclass(frozen=True, slots=True)
class Model:
    """``name`` is a C identifier made from the file name; ``source`` the file's name for messages;
    ``provenance`` maps a node's name (unique in the graph) to the names of the source nodes it came from, in order."""

    name: str
    graph: gs.Graph
    source: str = ""
    source_sha256: str = ""
    provenance: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: Notes of passes for the user: choices that cost speed or accuracy, one sentence each.
    notes: tuple[str, ...] = ()
    #: Graph inputs and outputs with quantised values that are floats in the source, by name.
    quantised_ends: Mapping[str, Quantisation] = field(default_factory=dict)
    #: The source computes with integers, explicitly or held in floats: no pass may change a result, not even to round
    #: it better.
    integer_source: bool = False
    states: tuple[State, ...] = ()  # inputs that get outputs of the previous inference
    metadata: tuple[tuple[str, str], ...] = ()  # (key, value) of the file's metadata_props
    #: (name, size) of dynamic sizes of the source that the user fixed.
    dims: tuple[tuple[str, int], ...] = ()
    left: tuple[Left, ...] = ()  # nodes that passes leave in float, with the reasons
    #: Names of Slice and Concat nodes that only name bytes: their small tensors are parts of the large one
    #: (``Pattern.parts``), or copies of parts if its home is the store.
    parts: frozenset[str] = frozenset()
    #: Tensors whose home is the Soc's store; only nodes in ``parts`` touch them.
    away: frozenset[str] = frozenset()

    def copy(self) -> Model:
        """A deep copy whose graph may be changed (constants are shared, never changed in place)."""
        return replace(self, graph=self.graph.copy(), provenance=dict(self.provenance))

    def origin(self, nodes: Iterable[gs.Node]) -> tuple[str, ...]:
        """The source node names behind these nodes, without repeats, in order."""
        seen: dict[str, None] = {}
        for node in nodes:
            for name in self.provenance.get(node.name, (node.name,)):
                seen[name] = None
        return tuple(seen)

    def with_origin(self, added: Mapping[str, tuple[str, ...]]) -> Model:
        """The same model with provenance extended by these entries and pruned to the nodes that exist."""
        known = {**self.provenance, **added}
        names = {node.name for node in self.graph.nodes}
        return replace(self, provenance={name: known[name] for name in sorted(known) if name in names})

    def to_onnx(self) -> onnx.ModelProto:
        """The graph as ONNX (a copy; the graph is not changed)."""
        import onnx_graphsurgeon as gs

        proto: onnx.ModelProto = gs.export_onnx(self.graph.copy(), ir_version=IR_VERSION)
        return proto


def qualified_op(node: gs.Node) -> str:
    """``domain::Op`` for operators outside the default domain, else ``Op``."""
    domain = node.domain or ""
    return f"{domain}::{node.op}" if domain not in ("", "ai.onnx") else str(node.op)
