"""Stores weights of 2 and 4 bits in 8-bit constants: the values are the same, and every tool supports them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import onnx


def widen_constants(proto: onnx.ModelProto) -> None:
    """Store narrow constants that only DequantizeLinear reads as int8 or uint8 (in place)."""
    import onnx

    signed = [getattr(onnx.TensorProto, name) for name in ("INT4", "INT2") if hasattr(onnx.TensorProto, name)]
    unsigned = [getattr(onnx.TensorProto, name) for name in ("UINT4", "UINT2") if hasattr(onnx.TensorProto, name)]
    others = {name for node in proto.graph.node if node.op_type != "DequantizeLinear" for name in node.input}
    others |= {output.name for output in proto.graph.output}
    for tensor in proto.graph.initializer:
        if tensor.data_type not in (*signed, *unsigned) or tensor.name in others:
            continue
        dtype = np.int8 if tensor.data_type in signed else np.uint8
        values = onnx.numpy_helper.to_array(tensor).astype(dtype)
        tensor.CopyFrom(onnx.numpy_helper.from_array(values, tensor.name))
