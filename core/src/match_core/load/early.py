"""Operators of the default domain that the model's opset lacks.

Exporters and ONNX Runtime's optimiser write some operators before the standard had them. The loader accepts an operator
that a later opset introduces and that has not changed up to the working opset. Until the model is at that opset, the
operator is in a domain of its own, which ONNX's converter leaves alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.model import OPSET
from match_core.ir.qoperator import MICROSOFT

if TYPE_CHECKING:
    import onnx

#: The domain of these operators until the model is at the working opset.
EARLY = "match.early"
#: Operators that ONNX Runtime registers in the default domain and defines as its own.
_OF_RUNTIME = frozenset(("SimplifiedLayerNormalization",))


def set_apart(proto: onnx.ModelProto) -> None:
    """Move these operators into ``EARLY`` or ONNX Runtime's domain (in place)."""
    version = max((entry.version for entry in proto.opset_import if entry.domain in ("", "ai.onnx")), default=OPSET)
    own = {(function.domain, function.name) for function in proto.functions}
    for node in proto.graph.node:
        if node.domain not in ("", "ai.onnx") or (node.domain, node.op_type) in own:
            continue
        if node.op_type in _OF_RUNTIME:
            node.domain = MICROSOFT
        elif _is_early(node.op_type, version):
            node.domain = EARLY
        else:
            continue
        if not any(entry.domain == node.domain for entry in proto.opset_import):
            entry = proto.opset_import.add()
            entry.domain, entry.version = node.domain, 1


def _is_early(op: str, version: int) -> bool:
    import onnx

    if onnx.defs.has(op, version, "") or not onnx.defs.has(op, ""):
        return False
    newest = onnx.defs.get_schema(op, OPSET, "") if onnx.defs.has(op, OPSET, "") else onnx.defs.get_schema(op, "")
    return not newest.deprecated and not onnx.defs.has(op, newest.since_version - 1, "")


def put_back(proto: onnx.ModelProto) -> None:
    """Move the operators of a model at the working opset into the default domain (in place)."""
    for node in proto.graph.node:
        node.domain = "" if node.domain == EARLY else node.domain
