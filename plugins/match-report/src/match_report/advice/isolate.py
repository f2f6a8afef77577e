"""Extracts one layer of a network as a separate model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx_graphsurgeon as gs

if TYPE_CHECKING:
    from collections.abc import Iterable

    import onnx
    from match_core.contract.model import Model


def layer_graph(source: Model, names: Iterable[str]) -> gs.Graph:
    """The source nodes of these names (from the provenance) with the nodes that make their constants, the
    DequantizeLinear nodes before them and the QuantizeLinear nodes after them. Inputs and outputs are the tensors
    exchanged with the rest of the network. The graph shares only values of constants with the model."""
    wanted = set(names)
    graph = source.graph
    nodes = [node for node in graph.nodes if wanted & set(source.origin([node]))]
    region = {id(node) for node in nodes}
    nodes = _with_makers(nodes, region)
    nodes = _with_quantisers(nodes, region)
    ordered = [node for node in graph.nodes if id(node) in region]
    copies = _Copies()
    return gs.Graph(
        nodes=[copies.node(node) for node in ordered],
        inputs=[copies.tensor(tensor) for tensor in _inputs(ordered, region)],
        outputs=[copies.tensor(tensor) for tensor in _outputs(graph, ordered, region)],
        name="layer",
        opset=graph.opset,
        import_domains=graph.import_domains,
        functions=graph.functions,
    )


class _Copies:
    """Copies of nodes and tensors of another graph."""

    def __init__(self) -> None:
        self._made: dict[int, gs.Tensor] = {}

    def node(self, node: gs.Node) -> gs.Node:
        inputs, outputs = ([self.tensor(tensor) for tensor in tensors] for tensors in (node.inputs, node.outputs))
        attributes = dict(node.attrs)
        return gs.Node(op=node.op, name=node.name, attrs=attributes, inputs=inputs, outputs=outputs, domain=node.domain)

    def tensor(self, tensor: gs.Tensor) -> gs.Tensor:
        if id(tensor) not in self._made:
            if isinstance(tensor, gs.Constant):
                made = gs.Constant(tensor.name, tensor.values)
            else:
                shape = None if tensor.shape is None else list(tensor.shape)
                made = gs.Variable(tensor.name, tensor.dtype, shape)
            self._made[id(tensor)] = made
        return self._made[id(tensor)]


def to_proto(graph: gs.Graph) -> onnx.ModelProto:
    """The graph as a model with newly inferred shapes; known shapes of intermediate tensors are discarded."""
    from match_core.contract.model import IR_VERSION
    from onnx.shape_inference import infer_shapes

    copied = graph.copy()
    kept = {id(tensor) for tensor in copied.inputs}
    for tensor in copied.tensors().values():
        if isinstance(tensor, gs.Variable) and id(tensor) not in kept:
            tensor.shape = None
    proto: onnx.ModelProto = gs.export_onnx(copied, ir_version=IR_VERSION)
    return infer_shapes(proto)


def _with_makers(nodes: list[gs.Node], region: set[int]) -> list[gs.Node]:
    """Nodes that compute the region's operands from constants only, and every DequantizeLinear before it."""
    waiting = list(nodes)
    while waiting:
        for tensor in waiting.pop().inputs:
            for maker in tensor.inputs:
                constant = all(isinstance(read, gs.Constant) for read in maker.inputs)
                if id(maker) not in region and (constant or maker.op == "DequantizeLinear"):
                    region.add(id(maker))
                    nodes.append(maker)
                    waiting.append(maker)
    return nodes


def _with_quantisers(nodes: list[gs.Node], region: set[int]) -> list[gs.Node]:
    """QuantizeLinear nodes that are the only readers of a float result."""
    for node in list(nodes):
        for tensor in node.outputs:
            readers = [reader for reader in tensor.outputs if id(reader) not in region]
            if len(readers) == 1 and readers[0].op == "QuantizeLinear" and len(tensor.outputs) == 1:
                region.add(id(readers[0]))
                nodes.append(readers[0])
    return nodes


def _inputs(nodes: list[gs.Node], region: set[int]) -> list[gs.Variable]:
    found: dict[int, gs.Variable] = {}
    for node in nodes:
        for tensor in node.inputs:
            made_inside = any(id(maker) in region for maker in tensor.inputs)
            if isinstance(tensor, gs.Variable) and tensor.name and not made_inside:
                found[id(tensor)] = tensor
    return list(found.values())


def _outputs(graph: gs.Graph, nodes: list[gs.Node], region: set[int]) -> list[gs.Variable]:
    """Results that are read outside or not at all, except results of DequantizeLinear: readers outside have their
    own."""
    ends = {id(tensor) for tensor in graph.outputs}
    found = []
    for node in nodes:
        for tensor in node.outputs:
            inside = [reader for reader in tensor.outputs if id(reader) in region]
            shared = len(inside) < len(tensor.outputs) and not (inside and node.op == "DequantizeLinear")
            if id(tensor) in ends or shared or not inside:
                found.append(tensor)
    return found
