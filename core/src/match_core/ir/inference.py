"""ONNX's own shape inference."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnx


def inferred(proto: onnx.ModelProto) -> onnx.ModelProto:
    """A copy with types and shapes, also of sizes that bodies of functions compute. These are left out where inference
    trips over values that are no sizes: it takes rows of data for such, and finds ranks that do not fit.

    Errors: onnx.shape_inference.InferenceError (shapes or types contradict each other).
    """
    import onnx

    try:
        return onnx.shape_inference.infer_shapes(proto, check_type=True, strict_mode=True, data_prop=True)
    except onnx.shape_inference.InferenceError:
        return onnx.shape_inference.infer_shapes(proto, check_type=True, strict_mode=True)
