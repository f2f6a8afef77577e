"""Sizes of the digital array and of the words that program it (``constants`` has the sources)."""

from __future__ import annotations

from match_core import RequantSpec
from match_quant.powers import ShiftUnit

from match_diana.constants import values

_FIGURES = values()

#: Parallel processing elements: output columns (inputs of a dense layer) and output channels.
LANES = _FIGURES["array_columns"]
#: Bytes that a copy moves at least, and of which it moves a multiple.
COPY_BYTES = _FIGURES["dma_length_bytes"]
#: Weights and biases of one job.
WEIGHT_BYTES = _FIGURES["digital_weight_bytes"]
#: Channels that one word of L1 keeps in the form ``channels``.
CHANNEL_BLOCK = 64
#: Bytes of a bias: four planes of a byte for convolutions, a word of 128 bits for dense layers.
CONV_BIAS_BYTES, DENSE_BIAS_BYTES = 4, 16
#: Depthwise weights have one channel in every group of this many.
DEPTHWISE_GROUP = 4
KERNEL_SIDES = (1, 3, 5, 7)
STRIDES = (1, 2)
SHIFT_MAX = 31
#: The digital array multiplies no result (diana.md section 5.1); the analog array takes ternary layers.
SHIFT_UNIT = ShiftUnit(
    "diana",
    RequantSpec(1, False, 32, shift_max=SHIFT_MAX, per_channel_multiplier=False, activation_type="int8"),
    KERNEL_SIDES,
    STRIDES,
    depthwise=True,
    folds=True,
    ternary=True,
)


def round_up(size: int, multiple: int) -> int:
    """The size padded to a multiple."""
    return -(-size // multiple) * multiple
