"""Copies of graphs are those that graphsurgeon makes, and share no node or tensor with the original."""

from __future__ import annotations

import numpy as np
import onnx_graphsurgeon as gs
from match_core.ir.copying import copied


def _graph() -> gs.Graph:
    """Two nodes with a constant, an omitted input, and a tensor that two nodes read."""
    x, y, z = (gs.Variable(name, np.float32, [1, 4]) for name in "xyz")
    weight = gs.Constant("w", np.ones((1, 4), np.float32))
    nodes = [
        gs.Node("Add", "add", {"note": 1}, [x, weight], [y]),
        gs.Node("Clip", "clip", {}, [y, gs.Variable.empty(), weight], [z], domain="ai.onnx"),
    ]
    return gs.Graph(nodes, [x], [z, y], name="net", doc_string="text", opset=17)


def _told(graph: gs.Graph) -> list[object]:
    """All that a graph states, by name."""

    def tensor(t: gs.Tensor) -> list[object]:
        ends = [[node.name for node in side] for side in (t.inputs, t.outputs)]
        values = t.values.tolist() if isinstance(t, gs.Constant) else None
        return [type(t), t.name, str(t.dtype), t.shape and list(t.shape), values, ends if t.name else None]

    nodes = [
        [n.op, n.name, n.domain, dict(n.attrs), [*map(tensor, n.inputs)], [*map(tensor, n.outputs)]]
        for n in graph.nodes
    ]
    ends = [[*map(tensor, side)] for side in (graph.inputs, graph.outputs)]
    return [nodes, ends, graph.name, graph.doc_string, graph.opset, graph.import_domains, graph.ir_version]


def test_a_copy_is_that_of_graphsurgeon() -> None:
    graph = _graph()
    assert _told(copied(graph)) == _told(graph.copy()) == _told(graph)


def test_a_copy_changes_alone() -> None:
    graph = _graph()
    before, copy = _told(graph), copied(graph)
    copy.nodes[0].attrs["note"] = 2
    copy.nodes[1].inputs[0] = copy.inputs[0]
    copy.nodes[1].outputs[0].name = "other"
    copy.outputs.pop()
    copy.cleanup()
    assert _told(graph) == before != _told(copy)
    assert copy.nodes[0].inputs[0].outputs[0] is copy.nodes[0]


def test_graphs_inside_of_nodes_are_copied_too() -> None:
    graph = _graph()
    graph.nodes[0].attrs["body"] = _graph()
    copy = copied(graph)
    copy.nodes[0].attrs["body"].nodes.pop()
    assert len(graph.nodes[0].attrs["body"].nodes) == 2
