"""Bodies of subgraphs and functions, with references to attributes resolved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from match_core.load.static.values import Body

if TYPE_CHECKING:
    import onnx


def graph_body(graph: onnx.GraphProto) -> Body:
    """A branch or the body of a loop."""
    nodes, constants = _split(graph.node)
    inputs = tuple(value.name for value in graph.input)
    outputs = tuple(value.name for value in graph.output)
    return Body(inputs, outputs, nodes, (*graph.initializer, *constants))


def function_body(function: onnx.FunctionProto) -> Body:
    """The body of a function without references to attributes."""
    nodes, constants = _split(function.node)
    return Body(tuple(function.input), tuple(function.output), nodes, constants)


def resolved(function: onnx.FunctionProto, call: onnx.NodeProto) -> onnx.FunctionProto:
    """The function for this ``call``: references to attributes become the call's attributes or their defaults, or are
    removed if there is neither."""
    import onnx

    given = {attribute.name: attribute for attribute in function.attribute_proto}
    given |= _defaults(call) | {attribute.name: attribute for attribute in call.attribute}
    nodes = [_resolved(node, given) for node in function.node]
    result = onnx.FunctionProto()
    result.CopyFrom(function)
    del result.node[:]
    result.node.extend(nodes)
    return result


def _defaults(call: onnx.NodeProto) -> dict[str, onnx.AttributeProto]:
    """The standard's defaults for attributes that a node omits."""
    import onnx

    domain = "" if call.domain == "ai.onnx" else call.domain
    if not onnx.defs.has(call.op_type, domain):
        return {}
    attributes = onnx.defs.get_schema(call.op_type, domain=domain).attributes
    return {name: entry.default_value for name, entry in attributes.items() if entry.default_value.type}


def _resolved(node: onnx.NodeProto, given: Mapping[str, onnx.AttributeProto]) -> onnx.NodeProto:
    import onnx

    result = onnx.NodeProto()
    result.CopyFrom(node)
    del result.attribute[:]
    for attribute in node.attribute:
        if attribute.ref_attr_name and attribute.ref_attr_name not in given:
            continue
        entry = result.attribute.add()
        entry.CopyFrom(given[attribute.ref_attr_name] if attribute.ref_attr_name else attribute)
        entry.name = attribute.name
        for graph in (*((entry.g,) if entry.HasField("g") else ()), *entry.graphs):
            inner = [_resolved(part, given) for part in graph.node]
            del graph.node[:]
            graph.node.extend(inner)
    return result


def _split(nodes: Iterable[onnx.NodeProto]) -> tuple[tuple[onnx.NodeProto, ...], tuple[onnx.TensorProto, ...]]:
    """The nodes, all with names, and the constants that Constant nodes among them hold."""
    import onnx

    kept, constants = [], []
    for index, node in enumerate(nodes):
        tensor = constant_tensor(node)
        if tensor is not None:
            constants.append(tensor)
            continue
        named = onnx.NodeProto()
        named.CopyFrom(node)
        named.name = node.name or f"{node.op_type}_{index}"
        kept.append(named)
    return tuple(kept), tuple(constants)


def constant_tensor(node: onnx.NodeProto) -> onnx.TensorProto | None:
    """The value of a Constant node; None for other nodes, and for strings and sparse values."""
    import onnx

    if node.op_type != "Constant" or node.domain not in ("", "ai.onnx") or len(node.attribute) != 1:
        return None
    attribute, name = node.attribute[0], node.output[0]
    types = {"value_int": onnx.TensorProto.INT64, "value_float": onnx.TensorProto.FLOAT}
    if attribute.ref_attr_name:
        return None
    if attribute.name == "value":
        tensor = onnx.TensorProto()
        tensor.CopyFrom(attribute.t)
        tensor.name = name
        return tensor
    kind = types.get(attribute.name.removesuffix("s"))
    if kind is None:
        return None
    value = onnx.helper.get_attribute_value(attribute)
    values, dims = (list(value), [len(value)]) if attribute.name.endswith("s") else ([value], [])
    return onnx.helper.make_tensor(name, kind, dims, values)
