"""Functions that are written for another opset than the model that calls them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.frontend.static.values import Call

if TYPE_CHECKING:
    import onnx

    from match_core.frontend.static.walk import Walk


def at_version(walk: Walk, call: Call, function: onnx.FunctionProto) -> onnx.FunctionProto:
    """The function for the model's opset: itself, where its operators are the same there.

    Errors: ModelError MATCH-F016 (the converter cannot take its body).
    """
    own = max((o.version for o in function.opset_import if o.domain in ("", "ai.onnx")), default=walk.version)
    changed = [node for node in function.node if _since(node, own) != _since(node, walk.version)]
    if any(_changed_inside(node, own, walk.version) for node in function.node):
        raise walk.limits.refuse(
            call.path, f"a subgraph in it is written for opset {own}, the model for {walk.version}"
        )
    if not changed:
        return function
    import onnx
    from onnx import version_converter

    values = zip(function.input, (*call.inputs, *[""] * len(function.input)), strict=False)
    inputs = [
        onnx.helper.make_value_info(name, walk.types.get(value, onnx.TypeProto()))
        for name, value in values
        if isinstance(value, str) and value
    ]
    outputs = [onnx.ValueInfoProto(name=name) for name in function.output]
    opsets = [onnx.helper.make_opsetid("", own), *(o for o in function.opset_import if o.domain not in ("", "ai.onnx"))]
    graph = onnx.helper.make_graph(function.node, function.name, inputs, outputs)
    try:
        converted = version_converter.convert_version(onnx.helper.make_model(graph, opset_imports=opsets), walk.version)
    except Exception as error:  # the converter raises RuntimeError and types of its own
        told = (str(error).strip().splitlines() or ["the converter gives no reason"])[-1][:200]
        raise walk.limits.refuse(
            call.path, f"it is written for opset {own}, the model for {walk.version}: {told}"
        ) from None
    result = onnx.FunctionProto()
    result.CopyFrom(function)
    del result.node[:]
    result.node.extend(converted.graph.node)
    return result


def _since(node: onnx.NodeProto, version: int) -> int:
    """The opset in which the operator got the meaning that it has at ``version``; other domains have one."""
    import onnx

    if node.domain not in ("", "ai.onnx") or not onnx.defs.has(node.op_type, version, ""):
        return 0
    return int(onnx.defs.get_schema(node.op_type, version, "").since_version)


def _changed_inside(node: onnx.NodeProto, own: int, wanted: int) -> bool:
    """Whether a subgraph of the node, which the converter passes over, has an operator that changed."""
    graphs = [graph for a in node.attribute for graph in (*((a.g,) if a.HasField("g") else ()), *a.graphs)]
    inner = [part for graph in graphs for part in graph.node]
    return any(_since(n, own) != _since(n, wanted) or _changed_inside(n, own, wanted) for n in inner)
