"""The layout of activations in L2 for the two arrays (sheet 2, 5.2, 5.4).

Words of four bytes are reversed with respect to the host's order. The digital array computes 16 columns and 16 channels
at once: rows are padded; channels that a tensor lacks stay in L1 or are stored behind it. Vectors are padded to
32, the least that a copy moves.
"""

from __future__ import annotations

from match_core import Form

from match_diana.digital.limits import CHANNEL_BLOCK, COPY_BYTES, LANES

_REVERSED = 4

#: [C][H][W]: what the digital array reads and usually writes.
ROWS = Form("rows", 4, pad=((3, LANES),), reversed_group=_REVERSED)
#: [C/64][H][W][64]: what the analog array reads and writes, and what the digital array can write.
CHANNELS = Form(
    "channels",
    4,
    pad=((1, CHANNEL_BLOCK),),
    split=(1, CHANNEL_BLOCK),
    order=(0, 1, 3, 4, 2),
    reversed_group=_REVERSED,
)
#: [C]: dense layers.
VECTOR = Form("vector", 2, pad=((1, COPY_BYTES),), reversed_group=_REVERSED)

FORMS = (ROWS, CHANNELS, VECTOR)
