"""Bringing a model to the opset that passes and patterns speak."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.errors import ModelError
from match_core.frontend.names import name_nodes
from match_core.ir.model import IR_VERSION, OPSET

if TYPE_CHECKING:
    import onnx

#: Opsets of the default domain that are accepted.
OLDEST, NEWEST = 8, 26


def check_opset(proto: onnx.ModelProto, source: str) -> int:
    """The model's opset. Errors: ModelError MATCH-F004 (outside 8..26)."""
    versions = [entry.version for entry in proto.opset_import if entry.domain in ("", "ai.onnx")]
    version = max(versions, default=OPSET)
    if OLDEST <= version <= NEWEST:
        return version
    raise ModelError(
        "MATCH-F004",
        "the model's opset is not supported",
        source,
        f"it is opset {version}, supported are {OLDEST} to {NEWEST}",
        (f"export the model with an opset between {OLDEST} and {NEWEST}",),
    )


def to_working_opset(
    proto: onnx.ModelProto, provenance: dict[str, tuple[str, ...]], source: str
) -> tuple[onnx.ModelProto, dict[str, tuple[str, ...]]]:
    """The model at opset OPSET with provenance for nodes that the conversion added.

    Operators that are newer than OPSET are replaced by the bodies that the ONNX standard gives for them.
    Errors: ModelError MATCH-F005 (the conversion fails).
    """
    from onnx import version_converter

    version = check_opset(proto, source)
    _only_used_domains(proto)
    if version != OPSET:
        try:
            proto = _expand_newer(proto, version)
            proto = version_converter.convert_version(proto, OPSET)
        except Exception as error:  # converter and inliner raise RuntimeError and types of their own
            raise ModelError(
                "MATCH-F005",
                f"the model cannot be converted from opset {version} to {OPSET}",
                source,
                (str(error).strip().splitlines() or ["the converter gives no reason"])[-1][:300],
                (f"export the model with opset {OPSET}",),
            ) from error
        provenance = name_nodes(proto, provenance)
    proto.ir_version = IR_VERSION
    return proto, provenance


def _only_used_domains(proto: onnx.ModelProto) -> None:
    """Exporters list every domain they know; those without nodes say nothing."""
    used = {node.domain for node in proto.graph.node} | {"", "ai.onnx"}
    kept = [entry for entry in proto.opset_import if entry.domain in used]
    del proto.opset_import[:]
    proto.opset_import.extend(kept)


def _expand_newer(proto: onnx.ModelProto, version: int) -> onnx.ModelProto:
    import onnx
    import onnx.inliner

    newer = {
        node.op_type
        for node in proto.graph.node
        if node.domain in ("", "ai.onnx") and not onnx.defs.has(node.op_type, max_inclusive_version=OPSET, domain="")
    }
    if version < OPSET or not newer:
        return proto
    return onnx.inliner.inline_selected_functions(proto, [("", name) for name in sorted(newer)], False, True)
