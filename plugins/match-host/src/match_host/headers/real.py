"""``match_math.h``: functions of float32 numbers in portable C that compilers can vectorise."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from match_core.contract.unit_api import RuntimeFile

MATH_HEADER = "match_math.h"
#: libm's name -> the function of the header that replaces it for float32.
FLOAT32_FUNCTIONS = {
    "exp": "match_exp",
    "expm1": "match_expm1",
    "tanh": "match_tanh",
    "erf": "match_erf",
    "floor": "match_floor",
    "ceil": "match_ceil",
    "nearbyint": "match_round",
}
#: Functions of the header that C text may call.
MATH_NAMES = re.compile(r"\bmatch_(real_\w+|exp|expm1|tanh|erf|floor|ceil|round|softplus|mish|leaky|elu|unit)\(")


@lru_cache(maxsize=1)
def math_header() -> RuntimeFile:
    """The header as a file that ships with a program."""
    return RuntimeFile(MATH_HEADER, Path(__file__).with_name(MATH_HEADER).read_text(encoding="utf-8"))
