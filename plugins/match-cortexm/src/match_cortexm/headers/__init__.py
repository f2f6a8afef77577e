"""Headers that ship with programs: the kernels' arithmetic, for the cores and in portable C."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from match_core.contract.unit_api import RuntimeFile

SHARED, DSP, MVE = "match_cortexm.h", "match_cortexm_dsp.h", "match_cortexm_mve.h"
BYTES, MOVES, MATMUL = "match_cortexm_bytes.h", "match_cortexm_moves.h", "match_cortexm_matmul.h"
SOFTMAX, INT16 = "match_cortexm_softmax.h", "match_cortexm_int16.h"
SOFTMAX_LONG, SOFTMAX_TABLE = "match_cortexm_softmax_long.h", "match_cortexm_softmax_table.h"
FLOAT, HALF, ENDS = "match_cortexm_float.h", "match_cortexm_half.h", "match_cortexm_ends.h"
APART = "match_cortexm_apart.h"


@lru_cache(maxsize=8)
def header(name: str) -> RuntimeFile:
    """The header of that name as a file that ships with a program."""
    return RuntimeFile(name, Path(__file__).with_name(name).read_text(encoding="utf-8"))
