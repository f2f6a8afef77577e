"""Bringing a model to the opset that passes and patterns speak."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.errors import ModelError
from match_core.ir.model import OPSET

if TYPE_CHECKING:
    import onnx

#: Opsets of the default domain that are accepted.
OLDEST, NEWEST = 8, 26


def to_working_opset(
    proto: onnx.ModelProto, provenance: dict[str, tuple[str, ...]], source: str
) -> tuple[onnx.ModelProto, dict[str, tuple[str, ...]]]:
    """The model at opset OPSET with provenance for nodes that the conversion added.

    Errors: ModelError MATCH-F004 (opset outside 8..26), MATCH-F005 (the conversion fails).
    """
    from onnx import version_converter

    versions = [entry.version for entry in proto.opset_import if entry.domain in ("", "ai.onnx")]
    version = versions[0] if versions else OPSET
    if not OLDEST <= version <= NEWEST:
        raise ModelError(
            "MATCH-F004",
            "the model's opset is not supported",
            source,
            f"it is opset {version}, supported are {OLDEST} to {NEWEST}",
            (f"export the model with an opset between {OLDEST} and {NEWEST}",),
        )
    if version == OPSET:
        return proto, provenance
    try:
        converted = version_converter.convert_version(proto, OPSET)
    except Exception as error:  # the converter raises RuntimeError and its own C++ types
        raise ModelError(
            "MATCH-F005",
            f"the model cannot be converted to opset {OPSET}",
            source,
            str(error).strip().splitlines()[0][:300],
            (f"export the model with opset {OPSET}",),
        ) from error
    return converted, provenance
