"""The source network as nodes and edges, each node with the layers that compute it; and all refusals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from match_core.contract.candidate import Refusal
    from match_core.contract.compilation import Planned
    from match_core.contract.model import Model


def network_json(planned: Planned) -> dict[str, object]:
    """``nodes``: name, operator and the indices of the layers that compute it (none: folded); ``edges``: the tensors
    between them, by positions in ``nodes``; ``inputs`` and ``outputs`` of the graph, with the positions of the nodes
    that read (``to``) and compute them (``from``, None: no node does)."""
    source = planned.source
    names = {id(node): source.origin([node]) for node in source.graph.nodes}
    owners = _owners(planned)
    nodes: list[dict[str, object]] = []
    position: dict[int, int] = {}
    for node in source.graph.nodes:
        position[id(node)] = len(nodes)
        name = ", ".join(names[id(node)])
        layers = sorted({layer for part in names[id(node)] for layer in owners.get(part, ())})
        nodes.append({"name": name, "operator": str(node.op), "layers": layers})
    return {
        "nodes": nodes,
        "edges": list(_edges(source, position)),
        "inputs": [{**_tensor(tensor), "to": _positions(tensor.outputs, position)} for tensor in source.graph.inputs],
        "outputs": [
            {**_tensor(tensor), "from": next(iter(_positions(tensor.inputs, position)), None)}
            for tensor in source.graph.outputs
        ],
    }


def refusals_json(model: Model, refused: Iterable[Refusal]) -> list[dict[str, object]]:
    """Every place that a pattern of a unit refused, with the rule in words and the value that broke it. ``model``: the
    one that was matched."""
    by_name = {node.name: node for node in model.graph.nodes}
    found: dict[tuple[str, ...], dict[str, object]] = {}
    for refusal in refused:
        origin = model.origin(by_name[name] for name in refusal.nodes if name in by_name)
        key = (refusal.unit, refusal.pattern, refusal.rule, refusal.value, *origin)
        found[key] = {
            "unit": refusal.unit,
            "pattern": refusal.pattern,
            "onnx_names": list(origin),
            "rule": refusal.rule,
            "value": refusal.value,
        }
    return [found[key] for key in sorted(found)]


def _owners(planned: Planned) -> dict[str, list[int]]:
    owners: dict[str, list[int]] = {}
    for task in planned.program.tasks:
        for name in planned.model.origin(task.assignment.candidate.match.nodes):
            owners.setdefault(name, []).append(task.index)
    return owners


def _edges(source: Model, position: dict[int, int]) -> list[dict[str, object]]:
    edges: list[dict[str, object]] = []
    for node in source.graph.nodes:
        for tensor in node.inputs:
            for producer in tensor.inputs:
                if id(producer) in position:
                    edges.append({"from": position[id(producer)], "to": position[id(node)], **_tensor(tensor)})
    return edges


def _positions(nodes: Iterable[Any], position: Mapping[int, int]) -> list[int]:
    return sorted({position[id(node)] for node in nodes if id(node) in position})


def _tensor(tensor: Any) -> dict[str, object]:
    shape = tensor.shape or ()
    return {"tensor": str(tensor.name), "dtype": str(tensor.dtype), "shape": [str(size) for size in shape]}
