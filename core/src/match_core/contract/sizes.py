"""Sizes that users write: whole bytes and their multiples."""

from __future__ import annotations

import re

_SIZE = re.compile(r"(\d+)\s*([a-z]*)", re.IGNORECASE)
#: Decimal and binary multiples as IEC 80000-13 defines them; a bare k or M is decimal.
_MULTIPLES = {"": 1, "b": 1, "k": 1000, "kb": 1000, "m": 1000**2, "mb": 1000**2, "kib": 1024, "mib": 1024**2}


def parse_bytes(text: str) -> int | None:
    """Bytes of ``8192``, ``8kB``, ``8 KiB``; None if the text is not a size."""
    parts = _SIZE.fullmatch(text.strip())
    multiple = _MULTIPLES.get(parts[2].lower()) if parts else None
    return None if parts is None or multiple is None else int(parts[1]) * multiple
