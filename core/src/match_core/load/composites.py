"""Replaces composite operators with the bodies that the ONNX standard defines for them.

The list holds operators that no unit runs as a whole. Some bodies depend on the node's types and attributes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from match_core.contract.model import OPSET

if TYPE_CHECKING:
    import onnx

#: Operators of the default domain that are always replaced.
COMPOSITES = (
    *("Attention", "CastLike", "CausalConvWithState", "Celu", "DynamicQuantizeLinear", "GroupNormalization"),
    *("LinearAttention", "MeanVarianceNormalization", "NegativeLogLikelihoodLoss", "ReduceLogSumExp"),
    *("RotaryEmbedding", "Shrink", "SoftmaxCrossEntropyLoss", "SwiGLU", "ThresholdedRelu"),
)
#: Operators whose kernels compute the first output only; with more outputs the body replaces them.
SINGLE_OUTPUT = frozenset(("LayerNormalization",))
#: Domains of operators that have bodies only, no kernels.
PREVIEWS = frozenset(("ai.onnx.preview",))


def is_composite(node: onnx.NodeProto) -> bool:
    """Whether the body replaces the node; also for operators newer than the working opset."""
    import onnx

    if node.domain in PREVIEWS:
        return True
    if node.domain not in ("", "ai.onnx"):
        return False
    several = node.op_type in SINGLE_OUTPUT and any(node.output[1:])
    return several or node.op_type in COMPOSITES or not onnx.defs.has(node.op_type, OPSET, "")


def standard_body(
    node: onnx.NodeProto, types: Mapping[str, onnx.TypeProto], opsets: Sequence[onnx.OperatorSetIdProto]
) -> onnx.FunctionProto | None:
    """The standard's body for the node's types and attributes; None if the model's opset has none."""
    import onnx

    domain = "" if node.domain == "ai.onnx" else node.domain
    version = max((entry.version for entry in opsets if entry.domain in (domain, node.domain)), default=0)
    if not domain and onnx.defs.has(node.op_type, ""):  # the model's opset may lack an operator (load/early.py)
        version = max(version, onnx.defs.get_schema(node.op_type, "").since_version)
    if not onnx.defs.has(node.op_type, version, domain):
        return None
    schema: Any = onnx.defs.get_schema(node.op_type, version, domain)  # the type stubs lack its bodies
    body = onnx.FunctionProto()
    plain = [v for v in schema.function_opset_versions if v <= version] if schema.has_function else []
    if plain:
        body.ParseFromString(schema.get_function_with_opset_version(max(plain)))
        return body
    known = [v for v in schema.context_dependent_function_opset_versions if domain or v <= version]
    if not schema.has_context_dependent_function or not known:
        return None
    given = [types.get(name, onnx.TypeProto()).SerializeToString() for name in node.input]
    try:
        content = schema.get_context_dependent_function_with_opset_version(max(known), node.SerializeToString(), given)
    except (RuntimeError, ValueError):
        return None  # the standard's body function rejects this node
    body.ParseFromString(content)
    return body if body.node else None
