"""Copies of graphs. ``Graph.copy`` of graphsurgeon makes every tensor twice and sets its fields one by one; passes copy
a graph often enough for that to matter."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def copied(graph: gs.Graph) -> gs.Graph:
    """A graph with nodes and tensors of its own, which shares the values of constants and the functions."""
    import onnx_graphsurgeon as gs

    if any(isinstance(value, gs.Graph) for node in graph.nodes for value in node.attrs.values()):
        return graph.copy()
    known: dict[str, gs.Tensor] = {}

    def tensor(given: gs.Tensor) -> gs.Tensor:
        if not given.name:
            return gs.Variable.empty()
        found = known.get(given.name)
        if found is None:
            found = known[given.name] = _linked(given, vars(given).copy(), (), ())
        return found

    def node(given: gs.Node) -> gs.Node:
        fields = {**vars(given), "attrs": OrderedDict(given.attrs)}
        return _linked(given, fields, list(map(tensor, given.inputs)), list(map(tensor, given.outputs)))

    nodes, inputs = list(map(node, graph.nodes)), list(map(tensor, graph.inputs))
    facts = {name: getattr(graph, name) for name in ("name", "doc_string", "opset", "import_domains", "ir_version")}
    return gs.Graph(nodes, inputs, list(map(tensor, graph.outputs)), functions=list(graph.functions), **facts)


def _linked(given: Any, fields: dict[str, Any], inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
    """An object of the same class with these fields: setting each of them as graphsurgeon does is slow."""
    made, linked = object.__new__(type(given)), type(given.inputs)
    fields["inputs"], fields["outputs"] = linked(made, "outputs", inputs), linked(made, "inputs", outputs)
    vars(made).update(fields)
    return made
