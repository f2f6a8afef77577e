"""What the conformance cases run on: float networks with fixed numbers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from match_kit.testing import Capabilities, SampleModel

from match_fern.hardware import VALUES

if TYPE_CHECKING:
    import onnx

#: Convolutions and pooling, an activation function, a dense layer.
_IMAGE = """(float[1,3,16,16] x) => (float[1,10] y, float[1,8,8,8] e) {
    c = Conv <kernel_shape=[3,3], pads=[1,1,1,1]> (x, w, b)
    r = Relu (c)
    p = MaxPool <kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1]> (r)
    e = Conv <kernel_shape=[3,3], pads=[2,2,2,2], dilations=[2,2]> (p, v)
    s = Sigmoid (e)
    m = Mul (s, e)
    f = Flatten (m)
    h = Gemm <transB=1> (f, g, a)
    y = Softmax (h) }"""
_WEIGHTS = {"w": (8, 3, 3, 3), "b": (8,), "v": (8, 8, 3, 3), "g": (10, 512), "a": (10,)}
#: What rules refuse: groups, pooling without a convolution, operands of unlike shapes, a bias for each row.
_REFUSED = """(float[1,4,8,8] x, float[3,32] q) => (float[1,4,4,4] s, float[3,5] h) {
    c = Conv <kernel_shape=[3,3], pads=[1,1,1,1], group=4> (x, d)
    p = MaxPool <kernel_shape=[2,2], strides=[2,2]> (c)
    s = Add (p, t)
    h = Gemm (q, k, rows) }"""
_OTHERS = {"d": (4, 1, 3, 3), "t": (4, 1, 1), "k": (32, 5), "rows": (3, 5)}


def network(text: str, shapes: dict[str, tuple[int, ...]]) -> onnx.ModelProto:
    """The graph with constants of these shapes, of mean 0."""
    import onnx.parser
    from onnx import numpy_helper

    random = np.random.default_rng(5)
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]> net {text}')
    for name, shape in shapes.items():
        values = random.standard_normal(shape) / np.sqrt(np.prod(shape[1:]) if len(shape) > 1 else 100)
        model.graph.initializer.append(numpy_helper.from_array(values.astype(np.float32), name))
    return model


image = partial(network, _IMAGE, _WEIGHTS)
CAPABILITIES = Capabilities(
    package="match-fern",
    peak_macs_per_cycle={unit: figures["macs_per_cycle"] for unit, figures in VALUES.items()},
    models=(SampleModel("image", image), SampleModel("refused", partial(network, _REFUSED, _OTHERS), runs=False)),
)
