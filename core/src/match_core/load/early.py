"""Operators of the default domain that the model's opset lacks.

Exporters and ONNX Runtime's optimiser write some operators before the standard had them. An operator is accepted if it
has not changed up to the working opset. Before that, a domain of its own hides it from ONNX's converter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.model import OPSET
from match_core.ir.qoperator import MICROSOFT

if TYPE_CHECKING:
    import onnx

EARLY = "match.early"
#: ONNX Runtime's own operator in the default domain.
_OF_RUNTIME = "SimplifiedLayerNormalization"


def set_apart(proto: onnx.ModelProto) -> None:
    """Move these operators into ``EARLY`` or ONNX Runtime's domain (in place)."""
    stated = max((entry.version for entry in proto.opset_import if entry.domain in ("", "ai.onnx")), default=OPSET)
    version = min(max(stated, 0), 1 << 16)  # an opset that is refused later may exceed what onnx.defs takes
    own = {(function.domain, function.name) for function in proto.functions}
    for node in proto.graph.node:
        if node.domain not in ("", "ai.onnx") or (node.domain, node.op_type) in own:
            continue
        if node.op_type == _OF_RUNTIME:
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
    for node in (node for node in proto.graph.node if node.domain == EARLY):
        node.domain = ""
