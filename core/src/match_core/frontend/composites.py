"""Composite operators are replaced by the bodies that the ONNX standard gives for them.

An operator stands here where nothing in the compiler takes it as a whole. Bodies that depend on a node's types and
attributes are asked for with these, so shapes and types are inferred first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from match_core.frontend.names import inline_functions
from match_core.ir.model import OPSET

if TYPE_CHECKING:
    import onnx

#: Operators of the default domain that are always replaced.
COMPOSITES = frozenset(
    (
        "AffineGrid",
        "Attention",
        "BlackmanWindow",
        "CastLike",
        "CausalConvWithState",
        "Celu",
        "CenterCropPad",
        "DynamicQuantizeLinear",
        "GroupNormalization",
        "HammingWindow",
        "HannWindow",
        "LinearAttention",
        "MeanVarianceNormalization",
        "NegativeLogLikelihoodLoss",
        "ReduceLogSumExp",
        "RotaryEmbedding",
        "Shrink",
        "SoftmaxCrossEntropyLoss",
        "SwiGLU",
        "ThresholdedRelu",
    )
)
#: Operators whose first output alone is a kernel; with more of them the body is taken.
SINGLE_OUTPUT = frozenset(("LayerNormalization",))
#: Bodies hold composite operators themselves; the standard's go three deep.
_ROUNDS = 8
_DOMAIN = "match.composite"


def expand_composites(
    proto: onnx.ModelProto, provenance: dict[str, tuple[str, ...]], source: str
) -> tuple[onnx.ModelProto, dict[str, tuple[str, ...]]]:
    """The model without composite operators, as far as its opset has bodies for them. Nodes of a body are named after
    the node that it replaces.

    Errors: ModelError MATCH-F016 (a body cannot be put in).
    """
    for _ in range(_ROUNDS):
        marked = _with_bodies(proto)
        if marked is None:
            return proto, provenance
        proto, provenance = inline_functions(marked, provenance, source)
    return proto, provenance


def _is_composite(node: onnx.NodeProto) -> bool:
    """Also operators that are newer than the opset that the compiler speaks."""
    import onnx

    if node.domain not in ("", "ai.onnx"):
        return False
    several = node.op_type in SINGLE_OUTPUT and any(node.output[1:])
    return several or node.op_type in COMPOSITES or not onnx.defs.has(node.op_type, OPSET, "")


def _with_bodies(proto: onnx.ModelProto) -> onnx.ModelProto | None:
    """The model with a local function in place of each composite operator; None where there is none."""
    import onnx

    if not any(_is_composite(node) for node in proto.graph.node):
        return None
    result = onnx.ModelProto()
    result.CopyFrom(onnx.shape_inference.infer_shapes(proto, data_prop=True))
    types = {value.name: value.type for value in (*result.graph.value_info, *result.graph.input, *result.graph.output)}
    types |= {tensor.name: _type_of(tensor) for tensor in result.graph.initializer}
    version = max(entry.version for entry in proto.opset_import if entry.domain in ("", "ai.onnx"))
    for node in result.graph.node:
        body = _body(node, types, version) if _is_composite(node) else None
        if body is None:
            continue
        body.domain, body.name = _DOMAIN, f"{node.op_type}_{len(result.functions)}"
        node.domain, node.op_type = _DOMAIN, body.name
        result.functions.append(body)
    if not result.functions:
        return None
    result.opset_import.append(onnx.helper.make_opsetid(_DOMAIN, 1))
    return result


def _body(node: onnx.NodeProto, types: dict[str, onnx.TypeProto], version: int) -> onnx.FunctionProto | None:
    """The standard's body for the node's types and attributes; None where the opset has none."""
    import onnx

    schema: Any = onnx.defs.get_schema(node.op_type, version, "")  # its bodies are missing in the stubs
    body = onnx.FunctionProto()
    plain = [v for v in schema.function_opset_versions if v <= version] if schema.has_function else []
    if plain:
        body.ParseFromString(schema.get_function_with_opset_version(max(plain)))
        return body
    known = [v for v in schema.context_dependent_function_opset_versions if v <= version]
    if not schema.has_context_dependent_function or not known:
        return None
    given = [types.get(name, onnx.TypeProto()).SerializeToString() for name in node.input]
    content = schema.get_context_dependent_function_with_opset_version(max(known), node.SerializeToString(), given)
    body.ParseFromString(content)
    return body


def _type_of(tensor: onnx.TensorProto) -> onnx.TypeProto:
    import onnx

    return onnx.helper.make_tensor_type_proto(tensor.data_type, list(tensor.dims))
