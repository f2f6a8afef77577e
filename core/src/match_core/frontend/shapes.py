"""Static shapes and types for every tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.errors import ModelError

if TYPE_CHECKING:
    import onnx


def infer_shapes(proto: onnx.ModelProto, source: str) -> onnx.ModelProto:
    """The model with inferred shapes for all intermediate tensors."""
    import onnx

    try:
        return onnx.shape_inference.infer_shapes(proto, check_type=True, strict_mode=True, data_prop=True)
    except onnx.shape_inference.InferenceError as error:
        raise ModelError("MATCH-F006", "shapes cannot be inferred", source, str(error).strip()[:300], ()) from error
