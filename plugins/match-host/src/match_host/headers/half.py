"""``match_half.h``: binary16 arithmetic in portable C, for units whose code stores float16 tensors as bits."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from match_core.contract.unit_api import RuntimeFile

HALF_HEADER = "match_half.h"


@lru_cache(maxsize=1)
def half_header() -> RuntimeFile:
    """The header as a file that ships with a program; a package lists it in ``UnitApi.runtime`` of its units."""
    return RuntimeFile(HALF_HEADER, Path(__file__).with_name(HALF_HEADER).read_text(encoding="utf-8"))
