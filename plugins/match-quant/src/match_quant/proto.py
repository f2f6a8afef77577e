"""Rewrites a Model at the level of ONNX protos, and preserves provenance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import Model
from match_core.ir.inference import inferred
from numpy.typing import NDArray

if TYPE_CHECKING:
    import onnx
    from match_core.ir.qoperator import Expansion

Rule = Callable[["onnx.NodeProto", Mapping[str, NDArray[np.generic]]], "Expansion | None"]


def rewrite_nodes(model: Model, rule: Rule) -> Model:
    """The model with every node replaced that ``rule`` expands; shapes of new tensors are inferred."""
    import onnx
    import onnx_graphsurgeon as gs

    proto = model.to_onnx()
    constants = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in proto.graph.initializer}
    nodes: list[onnx.NodeProto] = []
    origins: dict[str, tuple[str, ...]] = {}
    for node in proto.graph.node:
        expansion = rule(node, constants)
        if expansion is None:
            nodes.append(node)
            continue
        nodes.extend(expansion.nodes)
        proto.graph.initializer.extend(expansion.initializers)
        source = model.provenance.get(node.name, (node.name,))
        origins.update((new.name, source) for new in expansion.nodes)
    if not origins:
        return model
    _set_nodes(proto, nodes)
    proto = inferred(proto)
    graph = gs.import_onnx(proto)
    graph.name = model.graph.name
    return replace(model, graph=graph).with_origin(origins)


def _set_nodes(proto: onnx.ModelProto, nodes: Sequence[onnx.NodeProto]) -> None:
    kept = list(nodes)
    del proto.graph.node[:]
    proto.graph.node.extend(kept)
    used = {node.domain for node in kept} | {"", "ai.onnx"}
    imports = [entry for entry in proto.opset_import if entry.domain in used]
    del proto.opset_import[:]
    proto.opset_import.extend(imports)
