"""Kernel contexts of ITA. Everything is int8 in 64x64 blocks of 4096 bytes; [A][B] means that A is outside.

A block of an activation is 64 rows of 64 columns; a tile with M rows and C1 column blocks lies as [C1][M][64], so block
(rows 64 m, columns c1) begins at (c1 * M + 64 * m) * 64. The last block of rows may be short: ITA reads and computes 64
rows all the same, and kernels work on column blocks in rising order, each from its first row to its last, so that what
is written behind a short block is written again by the next one. Blocks that would reach behind the end of the tile are
computed in scratch, and what belongs to the tile is moved from there.
Requantisation: clip8(floor((multiplier * acc + 2^(shift-1)) / 2^shift) + add), ita_requantizer.sv.
"""

from __future__ import annotations

from match_core import KernelInterface

from match_ita.ita.limits import BLOCK

#: Bytes of a block of 8-bit values, and of the biases of its columns, 24 bits each.
BLOCK_BYTES, BIAS_BYTES = BLOCK * BLOCK, BLOCK * 3

#: The step's requantisation; activation 0 identity, 1 GELU, 2 ReLU, with its constants and second requantisation.
_REQUANT = ("multiplier", "shift", "add")
_ACTIVATION = ("activation", "gelu_b", "gelu_c", "act_multiplier", "act_shift", "act_add")

#: output = requant(input x weight + bias): input [C1][S][64], weight [K1][C1][64 k][64 c], bias [K1][64] of 24 bits,
#: output [K1][S][64]. Scratch: two blocks.
ITA_LINEAR = KernelInterface(
    "ita_linear",
    (("input", "input"), ("weight", "constant"), ("bias", "constant"), ("output", "output")),
    ("S", "K1", "C1"),
    (),
    (*_REQUANT, *_ACTIVATION),
)
#: The same, turned, for V: output [P1][T1][64 p][64 t] = requant(weight x input turned + bias of each row). ITA's input
#: is weight [P1][C1][64 p][64 c], its weights are input [C1][t][64], with ``input_t`` rows (at most 64 T1). Columns of
#: the output beyond these are written as 0, as the graph pads: whatever reads them, a softmax with weight for them
#: included, gets the graph's values. T0 is always 64. Scratch: a row of zeros, 64 bytes.
ITA_LINEAR_TURNED = KernelInterface(
    "ita_linear_turned",
    (("input", "input"), ("weight", "constant"), ("bias", "constant"), ("output", "output")),
    ("P1", "T1", "C1", "T0"),
    (("input", "t"),),
    _REQUANT,
)
#: H heads of softmax(q k^T) v: q [H][P1][S][64], k [H][P1][T][64], vt [H][T1][P1][64 p][64 t], output [H][P1][S][64];
#: ``mask``: 64 biases for the last block of columns, -2^23 where a column is beyond T and 0 elsewhere, in use where
#: ``masked`` is 1. Scratch: the logits of 64 rows, [T1][64][64], and two
#: blocks behind them.
ITA_ATTENTION = KernelInterface(
    "ita_attention",
    (("q", "input"), ("k", "input"), ("vt", "input"), ("mask", "constant"), ("output", "output")),
    ("H", "S", "T", "T1", "P1"),
    (),
    ("masked", "qk_multiplier", "qk_shift", "qk_add", "av_multiplier", "av_shift", "av_add"),
)
#: H products of two activations: output [H][N1][M][64] = requant(a x b turned), a [H][C1][M][64],
#: b [H][C1][N1][64 n][64]. Scratch: two blocks.
ITA_MATMUL = KernelInterface(
    "ita_matmul",
    (("a", "input"), ("b", "input"), ("output", "output")),
    ("H", "M", "N1", "C1"),
    (),
    _REQUANT,
)

ITA_INTERFACES = (ITA_LINEAR, ITA_LINEAR_TURNED, ITA_ATTENTION, ITA_MATMUL)
