"""What the conformance cases run on: float networks with fixed numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.testing import Capabilities, SampleModel

from match_fern.hardware import VALUES

if TYPE_CHECKING:
    import onnx

_IMAGE = """<ir_version: 10, opset_import: ["" : 21]> image (float[1,3,16,16] x) => (float[1,10] y, float[1,8,8,8] e) {
    c = Conv <kernel_shape=[3,3], pads=[1,1,1,1]> (x, w, b)
    r = Relu (c)
    p = MaxPool <kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1]> (r)
    e = Conv <kernel_shape=[3,3], pads=[2,2,2,2], dilations=[2,2]> (p, v)
    s = Sigmoid (e)
    m = Mul (s, e)
    f = Flatten (m)
    h = Gemm <transB=1> (f, g, a)
    y = Softmax (h) }"""
_SHAPES = {"w": (8, 3, 3, 3), "b": (8,), "v": (8, 8, 3, 3), "g": (10, 512), "a": (10,)}


def image() -> onnx.ModelProto:
    """Convolutions and pooling, an activation function, a dense layer."""
    import onnx.parser
    from onnx import numpy_helper

    random = np.random.default_rng(5)
    model = onnx.parser.parse_model(_IMAGE)
    for name, shape in _SHAPES.items():
        values = random.standard_normal(shape) / np.sqrt(np.prod(shape[1:]) if len(shape) > 1 else 100)
        model.graph.initializer.append(numpy_helper.from_array(values.astype(np.float32), name))
    return model


CAPABILITIES = Capabilities(
    package="match-fern",
    peak_macs_per_cycle={unit: figures["macs_per_cycle"] for unit, figures in VALUES.items()},
    models=(SampleModel("image", image),),
)
