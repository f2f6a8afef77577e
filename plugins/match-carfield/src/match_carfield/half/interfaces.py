"""Kernel contexts of the binary16 kernels. Both clusters have kernels for the same contexts and give the same bits.

Elements are binary16 unless said otherwise, stored as uint16_t; tiles are dense, the last axis innermost. Sums begin
at +0 and run in the order written, each step one fused multiply-add rounded to binary16 (ties to even). ``mul`` and
``add`` hold one number per output channel and are always there: ones and zeros where the graph has none (a fused
multiply-add with a factor of 1 rounds as the addition does). ``relu``: 1 where negative results become +0.
"""

from __future__ import annotations

from match_core import KernelInterface
from match_core.lower.interfaces import BINARY, UNARY, WINDOW, Operands

_WEIGHTED: Operands = (
    ("input", "input"),
    ("weight", "constant"),
    ("mul", "constant"),
    ("add", "constant"),
    ("output", "output"),
)
_CONV_GEOMETRY = ("stride_y", "stride_x", "dilation_y", "dilation_x", "relu")

#: output[oy][ox][k] = relu(fma(sum over fy, fx, c of input[iy][ix][c] * weight[fy][fx][c][k], mul[k], add[k])) with
#: iy = oy * stride_y + fy * dilation_y - input_y_pad_before; taps outside of the input are left out.
HALF_CONV2D = KernelInterface("half_conv2d", _WEIGHTED, ("OY", "OX", "K", "C", "FY", "FX"), WINDOW, _CONV_GEOMETRY)
#: The same channel by channel: input [iy][ix][K], weight [fy][fx][K], sum over fy, fx.
HALF_DEPTHWISE2D = KernelInterface("half_depthwise2d", _WEIGHTED, ("OY", "OX", "K", "FY", "FX"), WINDOW, _CONV_GEOMETRY)
#: G groups of CG input and KG output channels: input [iy][ix][G][CG], weight [G][fy][fx][CG][KG], mul and add [G][KG],
#: output [oy][ox][G][KG].
HALF_GROUP2D = KernelInterface(
    "half_group2d", _WEIGHTED, ("OY", "OX", "G", "KG", "CG", "FY", "FX"), WINDOW, _CONV_GEOMETRY
)
#: output[n][k] = relu(fma(sum over c of input[n][c] * weight[c][k], mul[k], add[k])).
HALF_LINEAR = KernelInterface("half_linear", _WEIGHTED, ("N", "K", "C"), (), ("relu",))
#: For each b: output[m][k] = (sum over c of left[m][c] * right[c][k]) * scale, the product rounded once more to
#: binary16; ``scale_bits`` are the bits of a binary16 number, 0x3C00 (one) where there is no factor.
#: The position of the batch: left is [B][M][C] with ``a_between`` 0, [M][B][C] with 1; output is [B][M][K] or [M][B][K]
#: in the same way (``output_between``); right is [B][C][K] with ``b_between`` 0, [C][B][K] with 1, and with
#: ``b_transposed`` [B][K][C] or [K][B][C]: then kernels turn it in scratch first.
HALF_MATMUL = KernelInterface(
    "half_matmul",
    (("left", "input"), ("right", "input"), ("output", "output")),
    ("B", "M", "K", "C"),
    (),
    ("a_between", "b_between", "b_transposed", "output_between", "scale_bits"),
)
#: output = relu(input_a + input_b), Y * X * C elements.
HALF_ADD = KernelInterface(
    "half_add",
    BINARY,
    ("Y", "X", "C"),
    (),
    ("relu",),
)
#: ``average`` 1: the sum over fy, fx of the pixels inside of the input, times the binary16 number ``scale_bits``;
#: ``average`` 0: the largest of these pixels.
HALF_POOL2D = KernelInterface(
    "half_pool2d",
    UNARY,
    ("OY", "OX", "C", "FY", "FX"),
    WINDOW,
    ("stride_y", "stride_x", "average", "scale_bits"),
)
#: R rows of C elements: exp(x - max) / sum, in float32, rounded once.
HALF_SOFTMAX = KernelInterface("half_softmax", UNARY, ("R", "C"))
#: R rows of C elements: (x - mean) / sqrt(variance + epsilon) * scale[c] + bias[c], in float32, rounded once;
#: ``epsilon_bits`` are the bits of a float32 number.
HALF_LAYERNORM = KernelInterface(
    "half_layernorm",
    (("input", "input"), ("scale", "constant"), ("bias", "constant"), ("output", "output")),
    ("R", "C"),
    (),
    ("epsilon_bits",),
)
#: x * (1 + erf(x / sqrt(2))) / 2 in float32, rounded once; Y * X * C elements.
HALF_GELU = KernelInterface("half_gelu", UNARY, ("Y", "X", "C"))
#: output[c][r] = input[r][c].
HALF_TRANSPOSE = KernelInterface("half_transpose", UNARY, ("R", "C"))

HALF_INTERFACES = (
    HALF_CONV2D,
    HALF_DEPTHWISE2D,
    HALF_GROUP2D,
    HALF_LINEAR,
    HALF_MATMUL,
    HALF_ADD,
    HALF_POOL2D,
    HALF_SOFTMAX,
    HALF_LAYERNORM,
    HALF_GELU,
    HALF_TRANSPOSE,
)
