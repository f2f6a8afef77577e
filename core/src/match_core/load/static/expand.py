"""Expands a model into plain operators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.load.composites import PREVIEWS
from match_core.load.names import name_nodes
from match_core.load.static.calls import expander
from match_core.load.static.sequences import OPERATORS
from match_core.load.static.values import Scope, static_shape
from match_core.load.static.walk import Origins, Walk

if TYPE_CHECKING:
    import onnx


def stands_for_others(proto: onnx.ModelProto) -> bool:
    """Whether the model has functions, subgraphs or sequences, which the opset conversion does not support."""
    return bool(proto.functions) or any(
        node.op_type in OPERATORS or node.domain in PREVIEWS or any(a.HasField("g") or a.graphs for a in node.attribute)
        for node in proto.graph.node
    )


def expand_static(
    proto: onnx.ModelProto, origins: Origins, source: str, composites: bool
) -> tuple[onnx.ModelProto, Origins]:
    """The model (whose nodes have unique names) as one list of plain operators, with all known types, and the source
    names of all its nodes. ``composites``: whether to expand the operators of ``match_core.load.composites`` as well.

    Errors: ModelError MATCH-F007 (what runs depends on data), MATCH-F008 (a sequence where a tensor is required),
    MATCH-F016 (a body cannot be inlined), MATCH-F018 (loops are too long).
    """
    import onnx

    library = {(function.domain, function.name): function for function in proto.functions}
    walk = Walk(proto, origins, source, expander(library, composites))
    scope = walk.main(proto.graph)
    nodes = _with_outputs(walk, scope, proto.graph)
    nodes = _read(nodes, proto.graph)
    result = onnx.ModelProto()
    result.CopyFrom(proto)
    del result.functions[:], result.graph.node[:], result.graph.value_info[:]
    result.graph.node.extend(nodes)
    read = {name for node in nodes for name in node.input}
    result.graph.initializer.extend(tensor for name, tensor in walk.constants.items() if name in read)
    result.graph.value_info.extend(_types(walk, nodes, proto.graph))
    domains = {node.domain for node in nodes} | {"", "ai.onnx"}
    imports = [entry for entry in result.opset_import if entry.domain in domains]
    del result.opset_import[:]
    result.opset_import.extend(imports)
    return result, name_nodes(result, walk.origins)


def _with_outputs(walk: Walk, scope: Scope, graph: onnx.GraphProto) -> list[onnx.NodeProto]:
    """The nodes, with the graph's outputs under their names: a tensor that a body computes is renamed, other outputs
    get an Identity."""
    import onnx

    makers = {name for node in walk.nodes for name in node.output}
    sources = {name: node.name for node in graph.node for name in node.output}
    outputs = {value.name for value in graph.output}
    renamed: dict[str, str] = {}
    nodes = list(walk.nodes)
    for value in graph.output:
        found = scope.find(value.name)
        if found == value.name or not isinstance(found, str):
            continue
        if found in makers and found not in outputs and found not in renamed:
            renamed[found] = value.name
            if found in walk.types:
                walk.types[value.name] = walk.types[found]
            continue
        name = walk.fresh(f"{value.name}/identity")
        nodes.append(onnx.helper.make_node("Identity", [renamed.get(found, found)], [value.name], name))
        walk.origins[name] = walk.origins.get(sources[value.name], (sources[value.name],))
    for node in nodes:
        for names in (node.input, node.output):
            for position, name in enumerate(names):
                names[position] = renamed.get(name, name)
    return nodes


def _read(nodes: list[onnx.NodeProto], graph: onnx.GraphProto) -> list[onnx.NodeProto]:
    """The nodes that an output of the graph depends on; sizes of other nodes may be unknown."""
    wanted = {value.name for value in graph.output}
    kept = []
    for node in reversed(nodes):
        if not wanted.isdisjoint(node.output):
            wanted.update(node.input)
            kept.append(node)
    return kept[::-1]


def _types(walk: Walk, nodes: list[onnx.NodeProto], graph: onnx.GraphProto) -> list[onnx.ValueInfoProto]:
    """Types of results: inferred types if all sizes are known, else the types that the model states."""
    import onnx

    outputs = {value.name for value in graph.output}
    said = {value.name: value for value in graph.value_info}
    result = []
    for name in (name for node in nodes for name in node.output if name and name not in outputs):
        kind = walk.types.get(name)
        if kind is not None and static_shape(kind) is not None:
            result.append(onnx.helper.make_value_info(name, kind))
        elif name in said:
            result.append(said[name])
    return result
