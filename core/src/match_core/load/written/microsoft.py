"""Operators of ``com.microsoft``: fused float operators, and quantised ones whose results are real numbers.

``match_core.ir.qoperator`` has those that consist of DequantizeLinear, a float operator and QuantizeLinear.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from match_core.load.written.writer import Array, UnknownFormError, Writer

_CONVOLUTION = ("auto_pad", "dilations", "group", "kernel_shape", "pads", "strides")
#: Activations of fused operators with the names of their parameters in order.
_ACTIVATIONS: Mapping[str, tuple[str, ...]] = {
    "Relu": (),
    "Tanh": (),
    "Sigmoid": (),
    "LeakyRelu": ("alpha",),
    "HardSigmoid": ("alpha", "beta"),
}


def _activated(w: Writer, value: str, parameters: list[float]) -> str:
    kind = w.attribute("activation", "")
    if not kind:
        return value
    if kind == "Clip" and len(parameters) == 2:
        return w.emit("Clip", value, w.like(parameters[0]), w.like(parameters[1]))
    if kind not in _ACTIVATIONS or len(parameters) < len(_ACTIVATIONS[kind]):
        raise UnknownFormError(f"activation is {kind}")
    return w.emit(kind, value, **dict(zip(_ACTIVATIONS[kind], parameters, strict=False)))


def _gelu(w: Writer) -> None:
    w.result(0, w.emit("Gelu", "in0"))


def _bias_gelu(w: Writer) -> None:
    w.result(0, w.emit("Gelu", w.emit("Add", "in0", "in1")))


def _fast_gelu(w: Writer) -> None:
    value = w.emit("Add", "in0", "in1") if w.input(1) else "in0"
    w.result(0, w.emit("Gelu", value, approximate="tanh"))


def _quick_gelu(w: Writer) -> None:
    scaled = w.emit("Mul", "in0", w.like(w.attribute("alpha", 1.702)))
    w.result(0, w.emit("Mul", "in0", w.emit("Sigmoid", scaled)))


def _turned(w: Writer, position: int, flag: str) -> str:
    """A matrix input, transposed if the flag is set."""
    name, rank = w.input(position), w.rank(position)
    if not w.attribute(flag, 0) or rank < 2:
        return name
    return w.emit("Transpose", name, perm=[*range(rank - 2), rank - 1, rank - 2])


def _fused_mat_mul(w: Writer) -> None:
    if w.attribute("transBatchA", 0) or w.attribute("transBatchB", 0):
        raise UnknownFormError("batches are transposed")
    product = w.emit("MatMul", _turned(w, 0, "transA"), _turned(w, 1, "transB"))
    alpha = w.attribute("alpha", 1.0)
    w.result(0, product if alpha == 1.0 else w.emit("Mul", product, w.like(alpha)))


def _unpacked(values: Array, bits: int, count: int) -> Array:
    """Integers of 2, 4 or 8 bits from rows of bytes that hold the first ones in their lowest bits."""
    rows = values.astype(np.uint8).reshape(values.shape[0], -1, 1)
    parts: Array = (rows >> np.arange(0, 8, bits, dtype=np.uint8)) & np.uint8((1 << bits) - 1)
    return parts.reshape(len(rows), -1)[:, :count]


def _mat_mul_nbits(w: Writer) -> None:
    """The product with weights of few bits and a scale for each block along the sum."""
    depth, columns, size = (int(w.attribute(name, 0)) for name in ("K", "N", "block_size"))
    bits = int(w.attribute("bits", 4))
    if bits not in (2, 4, 8) or min(depth, columns) < 1 or size < 16:
        raise UnknownFormError(f"{depth}x{columns} weights have {bits} bits in blocks of {size}")
    other_order = w.input(4) or w.attribute("weight_prepacked", 0)
    weight, scale, zero = (w.value(position) for position in (1, 2, 3))
    if other_order or weight is None or scale is None or (w.input(3) and (zero is None or zero.dtype != np.uint8)):
        raise UnknownFormError("weights are computed or in another order, or zero points are no integers")
    blocks = -(-depth // size)
    weights, scales = _unpacked(weight.reshape(columns, -1), bits, depth), scale.reshape(columns, blocks)
    zeros: Array = np.full((columns, blocks), 1 << (bits - 1), np.uint8)
    if zero is not None:
        zeros = _unpacked(zero.reshape(columns, -1), bits, blocks)
    given = [w.constant(values.T, values.dtype) for values in (weights, scales, zeros)]
    product = w.emit("MatMul", "in0", w.emit("DequantizeLinear", *given, axis=0, block_size=size))
    w.result(0, w.emit("Add", product, w.input(5)) if w.input(5) else product)


def _fused_gemm(w: Writer) -> None:
    names = ("alpha", "beta", "transA", "transB")
    given = {name: w.attribute(name, None) for name in names}
    product = w.emit("Gemm", *(w.input(position) for position in range(3) if w.input(position)), **given)
    found = [w.attribute(f"activation_{name}", None) for name in ("alpha", "beta", "gamma")]
    w.result(0, _activated(w, product, [value for value in found if value is not None]))


def _fused_conv(w: Writer) -> None:
    given = {name: w.attribute(name, None) for name in _CONVOLUTION}
    inputs = ["in0", "in1", *([w.input(2)] if w.input(2) else [])]
    result = w.emit("Conv", *inputs, **given)
    result = w.emit("Add", result, w.input(3)) if w.input(3) else result
    w.result(0, _activated(w, result, list(w.attribute("activation_params", []))))


def _skip_layer_normalization(w: Writer) -> None:
    """The sum of both inputs and a bias, normalised along the last axis; the sum is the fourth result."""
    total = w.emit("Add", "in0", "in1")
    total = w.emit("Add", total, w.input(4)) if w.input(4) else total
    shift = [w.input(3)] if w.input(3) else []
    epsilon = w.attribute("epsilon", 1e-12)
    wanted = 3 if w.wants(1) or w.wants(2) else 1
    results = w.several("LayerNormalization", [total, "in2", *shift], wanted, axis=-1, epsilon=epsilon)
    for position, result in enumerate(results):
        w.result(position, result)
    w.result(3, total)


def _skip_simplified(w: Writer) -> None:
    """The same without mean and shift."""
    total = w.emit("Add", "in0", "in1")
    total = w.emit("Add", total, w.input(3)) if w.input(3) else total
    if w.wants(1) or w.wants(2):
        raise UnknownFormError("the model reads its mean or variance")
    _root_mean_square(w, total, "in2", -1, 1e-12)
    w.result(3, total)


def _simplified(w: Writer) -> None:
    """RMS normalisation from ``axis`` on."""
    _root_mean_square(w, "in0", "in1", w.attribute("axis", -1), 1e-5)


def _root_mean_square(w: Writer, value: str, scale: str, axis: int, epsilon: float) -> None:
    axes = w.axes(*range(axis % w.rank(0), w.rank(0)))
    squares = w.emit("ReduceMean", w.emit("Mul", value, value), axes, keepdims=1)
    root = w.emit("Sqrt", w.emit("Add", squares, w.like(w.attribute("epsilon", epsilon))))
    w.result(0, w.emit("Mul", w.emit("Div", value, root), scale))
    if w.wants(1):
        w.result(1, w.emit("Reciprocal", root))


def _embed_layer_normalization(w: Writer) -> None:
    """Embeddings of words, positions and segments, added and normalised."""
    batch, length = w.shape(0)
    total = w.emit("Gather", "in2", "in0")
    if w.input(8):
        positions = w.emit("Gather", "in3", w.input(8))
    else:
        positions = w.emit("Slice", "in3", w.axes(0), w.axes(length), w.axes(0))
    total = w.emit("Add", total, positions)
    if w.input(1):
        total = w.emit("Add", total, w.emit("Gather", w.input(4), w.input(1)))
    epsilon = w.attribute("epsilon", 1e-12)
    w.result(0, w.emit("LayerNormalization", total, "in5", "in6", axis=-1, epsilon=epsilon))
    if w.wants(1):
        counted = w.emit("ReduceSum", w.input(7), w.axes(1), keepdims=0) if w.input(7) else ""
        w.result(1, counted or w.constant([0] * batch, "int32"))
    w.result(2, total)


def _integer_product(w: Writer, operands: list[str], scale: str, bias: str) -> str:
    """The product of integers as real numbers: ``MatMulInteger * scale + bias``."""
    import onnx

    product = w.emit("Cast", w.emit("MatMulInteger", *operands), to=onnx.TensorProto.FLOAT)
    result = w.emit("Mul", product, scale)
    return w.emit("Add", result, bias) if bias else result


def _mat_mul_integer_to_float(w: Writer) -> None:
    scale = w.emit("Mul", "in2", "in3")
    operands = ["in0", "in1", w.input(4), w.input(5)]
    while not operands[-1]:
        operands.pop()
    w.result(0, _integer_product(w, operands, scale, w.input(6)))


def _dynamic_quantize_mat_mul(w: Writer) -> None:
    values, scale, zero = w.several("DynamicQuantizeLinear", ["in0"], 3)
    operands = [values, "in1", zero, *([w.input(3)] if w.input(3) else [])]
    w.result(0, _integer_product(w, operands, w.emit("Mul", scale, "in2"), w.input(4)))


def _attended(w: Writer, projected: str, batch: int, length: int, width: int) -> None:
    """Attention of heads over the three parts of a projection [batch, length, 3 * width]."""
    heads = w.attribute("num_heads", 1)
    depth = width // heads
    scale = w.attribute("scale", 0.0) or 1 / math.sqrt(depth)
    parts = w.emit("Reshape", projected, w.axes(batch, length, 3, heads, depth))
    turned = w.emit("Transpose", parts, perm=[2, 0, 3, 1, 4])
    split = w.several("Split", [turned], 3, axis=0, num_outputs=3)
    query, key, value = (w.emit("Squeeze", part, w.axes(0)) for part in split)
    scores = w.emit("MatMul", query, w.emit("Transpose", key, perm=[0, 1, 3, 2]))
    scores = w.emit("Mul", scores, w.constant(scale, "float32"))
    if w.attribute("unidirectional", 0):
        allowed = [[column <= row for column in range(length)] for row in range(length)]
        scores = w.emit("Where", w.constant(allowed, "bool"), scores, w.constant(-3.4e38, "float32"))
    mixed = w.emit("MatMul", w.emit("Softmax", scores, axis=-1), value)
    mixed = w.emit("Transpose", mixed, perm=[0, 2, 1, 3])
    w.result(0, w.emit("Reshape", mixed, w.axes(batch, length, width)))


def _refuse(w: Writer, *positions: int) -> None:
    """Refuse inputs that the body does not support."""
    for position in positions:
        if w.input(position):
            raise UnknownFormError(f"input {position} is not supported")


def _attention(w: Writer) -> None:
    """Self-attention without masks and past states."""
    _refuse(w, 3, 4, 5)
    if w.attribute("qkv_hidden_sizes", None) or w.attribute("do_rotary", 0):
        raise UnknownFormError("sizes of parts differ, or positions are rotated")
    batch, length, _ = w.shape(0)
    projected = w.emit("MatMul", "in0", "in1")
    projected = w.emit("Add", projected, w.input(2)) if w.input(2) else projected
    _attended(w, projected, batch, length, w.shape(1)[1] // 3)


def _quantised_attention(w: Writer) -> None:
    """The same on integers, with an integer projection."""
    _refuse(w, 5, 8)
    batch, length, _ = w.shape(0)
    operands = ["in0", "in1", w.input(6), w.input(7)]
    while not operands[-1]:
        operands.pop()
    projected = _integer_product(w, operands, w.emit("Mul", "in3", "in4"), "in2")
    _attended(w, projected, batch, length, w.shape(1)[1] // 3)


MICROSOFT_BODIES: Mapping[str, Callable[[Writer], None]] = {
    "Attention": _attention,
    "BiasGelu": _bias_gelu,
    "DynamicQuantizeMatMul": _dynamic_quantize_mat_mul,
    "EmbedLayerNormalization": _embed_layer_normalization,
    "FastGelu": _fast_gelu,
    "FusedConv": _fused_conv,
    "FusedGemm": _fused_gemm,
    "FusedMatMul": _fused_mat_mul,
    "Gelu": _gelu,
    "MatMulNBits": _mat_mul_nbits,
    "MatMulIntegerToFloat": _mat_mul_integer_to_float,
    "QAttention": _quantised_attention,
    "QuickGelu": _quick_gelu,
    "SimplifiedLayerNormalization": _simplified,
    "SkipLayerNormalization": _skip_layer_normalization,
    "SkipSimplifiedLayerNormalization": _skip_simplified,
    "TransposeMatMul": _fused_mat_mul,
}
