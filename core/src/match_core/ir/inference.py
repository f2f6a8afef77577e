"""ONNX's own shape inference."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnx


def inferred(proto: onnx.ModelProto) -> onnx.ModelProto:
    """A copy with types and shapes, including sizes that bodies of functions compute. It omits the latter if inference
    fails on them, because it mistakes rows of data for sizes and finds ranks that contradict each other.

    Errors: onnx.shape_inference.InferenceError (shapes or types contradict each other).
    """
    import onnx

    try:
        return onnx.shape_inference.infer_shapes(proto, check_type=True, strict_mode=True, data_prop=True)
    except onnx.shape_inference.InferenceError:
        return onnx.shape_inference.infer_shapes(proto, check_type=True, strict_mode=True)
