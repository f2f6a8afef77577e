"""Sizes of ITA and its cluster, and ranges of registers, that no preset changes (``constants`` has their sources)."""

from __future__ import annotations

from match_core import RequantSpec

from match_ita.constants import values

_FIGURES = values()

#: Compute cores.
CORES = _FIGURES["cores"]
#: Rows and columns of a block, which is also the length of a dot product (M).
BLOCK = _FIGURES["block"]
#: Columns that the softmax takes at once (N).
GROUP = _FIGURES["dot_products"]
#: Products in a sum, and blocks along an axis.
SUM_LENGTH_MAX, TILES_MAX = _FIGURES["sum_length_max"], _FIGURES["tiles_max"]
#: Accumulators hold -ACCUMULATOR_END to ACCUMULATOR_END - 1 (D bits), biases -BIAS_END to BIAS_END - 1.
ACCUMULATOR_END = 1 << (_FIGURES["accumulator_bits"] - 1)
BIAS_END = 1 << (_FIGURES["bias_bits"] - 1)
#: Ranges of the registers of a requantisation.
MULTIPLIER_MAX = (1 << _FIGURES["multiplier_bits"]) - 1
SHIFT_MAX = _FIGURES["shift_max"]
REQUANT = RequantSpec(_FIGURES["multiplier_bits"], False, 64, shift_max=SHIFT_MAX, activation_type="int8")
ADD_MIN, ADD_MAX = -(1 << (_FIGURES["add_bits"] - 1)), (1 << (_FIGURES["add_bits"] - 1)) - 1
#: Constants of GELU are -GELU_END to GELU_END - 1.
GELU_END = 1 << (_FIGURES["gelu_bits"] - 1)
