"""Types and shapes of one node's results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from match_core.ir.qoperator import MICROSOFT, expand
from match_core.load.integer_operators import DOMAIN, stand_in
from match_core.load.static.values import Array

if TYPE_CHECKING:
    import onnx

#: What inference raises beside its own errors.
REFUSALS = (RuntimeError, KeyError, TypeError, ValueError)


def infer_node(
    node: onnx.NodeProto,
    types: Mapping[str, onnx.TypeProto],
    known: Mapping[str, Array],
    opsets: Sequence[onnx.OperatorSetIdProto],
) -> dict[str, onnx.TypeProto]:
    """The types of the node's outputs that follow from its inputs; empty if ONNX has no such operator or the node
    contradicts it (the check of the whole model reports that later)."""
    import onnx

    if node.domain in (DOMAIN, MICROSOFT):
        return _of_stand_in(node, types, known, opsets)
    domain = "" if node.domain == "ai.onnx" else node.domain
    version = max((o.version for o in opsets if o.domain in (domain, domain or "ai.onnx")), default=0)
    given = [name for name in node.input if name]
    if not onnx.defs.has(node.op_type, version, domain) or any(name not in types for name in given):
        return {}
    data = {name: onnx.numpy_helper.from_array(known[name]) for name in given if name in known}
    try:
        found: dict[str, onnx.TypeProto] = onnx.shape_inference.infer_node_outputs(
            onnx.defs.get_schema(node.op_type, version, domain),
            node,
            {name: types[name] for name in given},
            data,
            opset_imports=list(opsets),
        )
    except (onnx.shape_inference.InferenceError, onnx.checker.ValidationError, *REFUSALS):
        return {}
    return {name: kind for name, kind in found.items() if name and kind.WhichOneof("value")}


def _of_stand_in(
    node: onnx.NodeProto,
    types: Mapping[str, onnx.TypeProto],
    known: Mapping[str, Array],
    opsets: Sequence[onnx.OperatorSetIdProto],
) -> dict[str, onnx.TypeProto]:
    """The types of operators that ONNX does not know, from the standard operators that they consist of."""
    import onnx

    if node.domain == DOMAIN:
        nodes, constants = stand_in(node)
    else:
        expansion = expand(node, known)
        if expansion is None:
            return {}
        nodes, constants = expansion.nodes, expansion.initializers
    types, known = dict(types), dict(known)
    for tensor in constants:
        types[tensor.name] = type_of(tensor)
        known[tensor.name] = onnx.numpy_helper.to_array(tensor)
    for part in nodes:
        types.update(infer_node(part, types, known, opsets))
    return {name: types[name] for name in node.output if name in types}


def type_of(tensor: onnx.TensorProto) -> onnx.TypeProto:
    """The type of a constant."""
    import onnx

    return onnx.helper.make_tensor_type_proto(tensor.data_type, list(tensor.dims))
