"""The mapped model as ONNX: every chosen candidate is a call of a local function of domain ``match.<unit>`` whose body
consists of the covered nodes. Opens in Netron, runs in ONNX Runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnx

    from match_core.contract.mapping import Assignment, Mapping
    from match_core.contract.model import Model
from match_core.ir.topology import in_order


def partition(model: Model, mapping: Mapping) -> onnx.ModelProto:
    """The model with one call per assignment (views remain plain nodes)."""
    proto = model.to_onnx()
    home: dict[str, int] = {}
    for index, assignment in enumerate(mapping.assignments):
        if not assignment.candidate.pattern.view:
            home.update(dict.fromkeys(assignment.candidate.node_names, index))
    groups: dict[int, list[onnx.NodeProto]] = {}
    for node in proto.graph.node:
        if node.name in home:
            groups.setdefault(home[node.name], []).append(node)
    outside = _read_outside(proto, home)
    order: list[onnx.NodeProto] = []
    for node in proto.graph.node:
        index = home.get(node.name, -1)
        if index < 0:
            order.append(node)
        elif node.name == groups[index][-1].name:
            order.append(_call(proto, mapping.assignments[index], index, groups[index], outside))
    del proto.graph.node[:]
    proto.graph.node.extend(_sorted(order))
    _import_domains(proto)
    return proto


def _sorted(nodes: list[onnx.NodeProto]) -> list[onnx.NodeProto]:
    """Writers before readers, otherwise in this order: a call is at the position of its last node, and readers of its
    other outputs may be before it."""
    maker = {name: number for number, node in enumerate(nodes) for name in node.output}
    needs = [{maker[name] for name in node.input if name in maker} for node in nodes]
    return [nodes[number] for number in in_order(needs)]


def _read_outside(proto: onnx.ModelProto, home: dict[str, int]) -> set[tuple[int, str]]:
    """(group, tensor) pairs read by another group, by a plain node or as a graph output."""
    producer = {out: home.get(node.name, -1) for node in proto.graph.node for out in node.output}
    read = set()
    for node in proto.graph.node:
        for name in node.input:
            if name in producer and producer[name] != home.get(node.name, -1):
                read.add((producer[name], name))
    read |= {(producer[output.name], output.name) for output in proto.graph.output if output.name in producer}
    return read


def _call(
    proto: onnx.ModelProto,
    assignment: Assignment,
    index: int,
    nodes: list[onnx.NodeProto],
    outside: set[tuple[int, str]],
) -> onnx.NodeProto:
    from onnx import helper

    made = {out for node in nodes for out in node.output}
    inputs = list(dict.fromkeys(name for node in nodes for name in node.input if name and name not in made))
    outputs = [out for node in nodes for out in node.output if (index, out) in outside]
    domain = f"match.{assignment.candidate.unit}"
    name = f"{assignment.candidate.pattern.name}_{index:02d}"
    proto.functions.append(helper.make_function(domain, name, inputs, outputs, nodes, list(proto.opset_import)))
    return helper.make_node(name, inputs, outputs, name=name, domain=domain)


def _import_domains(proto: onnx.ModelProto) -> None:
    from onnx import helper

    known = {entry.domain for entry in proto.opset_import}
    for domain in sorted({function.domain for function in proto.functions} - known):
        proto.opset_import.append(helper.make_opsetid(domain, 1))
