"""Kernel contexts of the digital array.

Activations are int8 in words of four bytes that are reversed ([A][B] means that A is outside): ``rows`` [C][H][W], W
padded to 16; ``channels`` [C/64][H][W][64]; vectors [C]. ``width``: columns of a row of the input in memory;
``columns_empty``: how many of these, the last ones, hold nothing. OX counts columns in memory too. SPARE - 1: rows of
the input behind those that outputs read. Requantisation: clip8(floor((acc + bias) / 2^shift)), from 0 on with ``relu``.
"""

from __future__ import annotations

from match_core import KernelInterface
from match_core.lower.interfaces import BINARY, Operands

_CONV_FIELDS = ("width", "stride", "pad_x", "columns_empty", "shift", "relu")
_CONV_OPERANDS: Operands = (("input", "input"), ("weights", "constant"), ("output", "output"))

#: output [K][OY][OX] = requant(input [C][y][width] * weights); K is a multiple of 16.
DIGITAL_CONV = KernelInterface(
    "digital_conv", _CONV_OPERANDS, ("K", "C", "OY", "OX", "FY", "FX", "SPARE"), (("input", "y"),), _CONV_FIELDS
)
#: The same with output [K][OY][OX][64], K counting blocks of 64 channels, of which the first ``channels`` are computed.
DIGITAL_CONV_CHANNELS = KernelInterface(
    "digital_conv_channels",
    _CONV_OPERANDS,
    ("K", "C", "OY", "OX", "FY", "FX", "SPARE"),
    (("input", "y"),),
    (*_CONV_FIELDS, "channels"),
)
#: output [K][OY][OX] = requant(input [K][y][width] * weights), a filter for each channel. The array writes 16
#: channels at a time, of which one counts: scratch, right behind the output, is room for 15 more. ``tail``: channels of
#: the packed weights behind K - 1; of the last one the array reads some bytes that it does not use.
DIGITAL_DEPTHWISE = KernelInterface(
    "digital_depthwise",
    _CONV_OPERANDS,
    ("K", "OY", "OX", "FY", "FX", "SPARE", "TAIL"),
    (("input", "y"),),
    _CONV_FIELDS,
)
#: The same in blocks of 16 channels, each a convolution of 16 channels by 16; K is a multiple of 16. The input has
#: ``channels`` of them where these are fewer.
DIGITAL_DEPTHWISE_BLOCKS = KernelInterface(
    "digital_depthwise_blocks",
    _CONV_OPERANDS,
    ("K", "OY", "OX", "FY", "FX", "SPARE"),
    (("input", "y"),),
    (*_CONV_FIELDS, "channels"),
)
#: output [K] = requant(input [C] x weights); C is a multiple of 16, K of 32, and at most ``outputs`` are computed.
DIGITAL_DENSE = KernelInterface("digital_dense", _CONV_OPERANDS, ("K", "C"), (), ("shift", "relu", "outputs"))
#: output = requant(input_a + input_b), N times ``elements`` bytes each.
DIGITAL_ADD = KernelInterface(
    "digital_add",
    BINARY,
    ("N",),
    (),
    ("elements", "shift"),
)
#: The same with ReLU, of K channels of P times ``elements`` bytes, K and ``elements`` multiples of 16: the sum replaces
#: input_a, then a convolution with the ``weights`` 1 copies it to the output.
DIGITAL_ADD_RELU = KernelInterface(
    "digital_add_relu",
    (("input_a", "input"), ("input_b", "input"), ("weights", "constant"), ("output", "output")),
    ("K", "P"),
    (),
    ("elements", "shift"),
)

DIGITAL_INTERFACES = (
    DIGITAL_CONV,
    DIGITAL_CONV_CHANNELS,
    DIGITAL_DEPTHWISE,
    DIGITAL_DEPTHWISE_BLOCKS,
    DIGITAL_DENSE,
    DIGITAL_ADD,
    DIGITAL_ADD_RELU,
)
