"""Graph structures that the binary16 kernels of both clusters implement. Activations of spatial operators are NHWC.

After a convolution or a dense layer follow operations per output channel (bias, folded batch normalisation, scales) in
any order, and optionally a ReLU; kernels compute all of them as one multiply-add.
"""

from __future__ import annotations

from match_core import Any, Const, Maybe, Op, Structure

#: Changes of channels that one match takes in.
CHANGES_MAX = 4


def _changed(inner: Structure) -> Structure:
    for number in range(CHANGES_MAX):
        inner = Maybe(Op("Mul|Add|Sub|Div", f"change{number}", (inner, Const(f"change{number}_by")), commutative=True))
    return inner


def _rectified(inner: Structure) -> Structure:
    return Maybe(Op("Relu", "relu", (inner,)))


CONV = _rectified(_changed(Op("match.nhwc::Conv", "conv", (Any("input"), Const("weight")))))
DENSE = _rectified(_changed(Op("MatMul|Gemm", "dense", (Any("input"), Const("weight")))))

_PRODUCT = Op(
    "MatMul",
    "matmul",
    (Maybe(Op("Transpose", "turn_left", (Any("left"),))), Maybe(Op("Transpose", "turn_right", (Any("right"),)))),
)
#: Product of two computed tensors, a factor, and the permutations around it.
MATMUL = Maybe(
    Op(
        "Transpose",
        "turn_output",
        (Maybe(Op("Mul|Div", "scale", (_PRODUCT, Const("factor")), commutative=True)),),
    )
)
ADD = _rectified(Op("Add", "sum", (Any("input_a"), Any("input_b"))))
POOL = Op("match.nhwc::AveragePool|match.nhwc::GlobalAveragePool|match.nhwc::MaxPool", "pool", (Any("input"),))
SOFTMAX = Op("Softmax", "softmax", (Any("input"),))
TRANSPOSE = Op("Transpose", "transpose", (Any("input"),))
LAYERNORM = Op("LayerNormalization", "norm", (Any("input"), Const("scale")))
GELU = Op("Gelu", "gelu", (Any("input"),))
