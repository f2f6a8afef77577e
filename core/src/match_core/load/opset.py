"""Converts a model to the working opset of passes and patterns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.errors import ModelError
from match_core.contract.model import IR_VERSION, OPSET
from match_core.ir.inference import inferred
from match_core.load.ancient import FIRST, slopes_by_channel, to_first
from match_core.load.early import put_back
from match_core.load.names import name_nodes
from match_core.load.old_resize import state_coordinates
from match_core.load.static.expand import expand_static

if TYPE_CHECKING:
    import onnx

#: The first version of the format in which constants need not be graph inputs.
_FREE_INITIALIZERS = 4
#: Opsets of the default domain that are accepted.
OLDEST, NEWEST = 1, 28


def check_opset(proto: onnx.ModelProto, source: str) -> int:
    """The model's opset. Errors: ModelError MATCH-F004 (outside 1..28)."""
    versions = [entry.version for entry in proto.opset_import if entry.domain in ("", "ai.onnx")]
    version = max(versions, default=OPSET)
    if OLDEST <= version <= NEWEST:
        return version
    why = f"it has opset {version}; opsets {OLDEST} to {NEWEST} are supported"
    help_ = f"export the model with an opset between {OLDEST} and {NEWEST}"
    raise ModelError("MATCH-F004", "the model's opset is not supported", source, why, (help_,))


def to_working_opset(
    proto: onnx.ModelProto, provenance: dict[str, tuple[str, ...]], source: str
) -> tuple[onnx.ModelProto, dict[str, tuple[str, ...]]]:
    """The model at opset OPSET with provenance for nodes that the conversion added. Bodies from the ONNX standard
    replace composite operators, including operators newer than OPSET. A newer model with types or operators that
    OPSET lacks keeps its opset: newer operators allow more types and otherwise mean the same.
    Errors: ModelError MATCH-F005 (the conversion fails), MATCH-F016 (a body cannot be inlined).
    """
    import onnx

    version = check_opset(proto, source)
    _only_used_domains(proto)
    if not any(entry.domain in ("", "ai.onnx") for entry in proto.opset_import):
        proto.opset_import.append(onnx.helper.make_opsetid("", OPSET))  # bodies use the default domain
    if version < FIRST:
        to_first(proto, version, source)
    if version <= FIRST:
        slopes_by_channel(proto)
    if version < OPSET:
        makers = {name: node.name for node in proto.graph.node for name in node.output}
        proto = _converted(proto, version, source)
        for node in proto.graph.node:  # nodes that the converter made have no names
            node.name = node.name or makers.get(node.output[0], "")
        provenance = name_nodes(proto, provenance)
    put_back(proto)
    proto, provenance = expand_static(proto, provenance, source, composites=True)
    if version > OPSET:
        proto = _relabelled(proto)
    proto.ir_version = IR_VERSION
    return proto, provenance


def _converted(proto: onnx.ModelProto, version: int, source: str) -> onnx.ModelProto:
    from onnx import version_converter

    proto.ir_version = max(proto.ir_version, _FREE_INITIALIZERS)
    try:
        converted = version_converter.convert_version(proto, OPSET)
    except Exception as error:  # the converter raises RuntimeError and its own types
        raise ModelError(
            "MATCH-F005",
            f"the model cannot be converted from opset {version} to {OPSET}",
            source,
            (str(error).strip().splitlines() or ["the converter gives no reason"])[-1][:300],
            (f"export the model with opset {OPSET}",),
        ) from error
    state_coordinates(converted, version)
    return converted


def _relabelled(proto: onnx.ModelProto) -> onnx.ModelProto:
    """The model of a newer opset as one of OPSET, if it is valid as such; else itself."""
    import onnx

    older = onnx.ModelProto()
    older.CopyFrom(proto)
    older.ir_version = IR_VERSION
    for entry in older.opset_import:
        if entry.domain in ("", "ai.onnx"):
            entry.version = OPSET
    try:
        onnx.checker.check_model(older)
        inferred(older)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError, ValueError):
        return proto  # ValueError: a missing type
    return older


def _only_used_domains(proto: onnx.ModelProto) -> None:
    """Remove imports of domains without nodes: exporters list every domain they know."""
    used = {node.domain for node in proto.graph.node} | {"", "ai.onnx"}
    kept = [entry for entry in proto.opset_import if entry.domain in used]
    del proto.opset_import[:]
    proto.opset_import.extend(kept)
