"""Sizes and times as text: what users write, and what tables show."""

from __future__ import annotations

import re

_SIZE = re.compile(r"(\d{1,18})\s*([a-z]*)", re.IGNORECASE)
#: Decimal and binary multiples as IEC 80000-13 defines them; a bare k or M is decimal.
_MULTIPLES = {"": 1, "b": 1, "k": 1000, "kb": 1000, "m": 1000**2, "mb": 1000**2, "g": 1000**3, "gb": 1000**3}
_MULTIPLES |= {"kib": 1024, "mib": 1024**2, "gib": 1024**3}


def parse_bytes(text: str) -> int | None:
    """Bytes of ``8192``, ``8kB``, ``8 KiB``; None if the text is not a size."""
    parts = _SIZE.fullmatch(text.strip())
    multiple = _MULTIPLES.get(parts[2].lower()) if parts else None
    return None if parts is None or multiple is None else int(parts[1]) * multiple


def bytes_text(count: int) -> str:
    """Bytes for people in binary multiples, four digits: ``832 KiB``, ``1.375 MiB``. Errors and JSON are exact."""
    power = min(max(abs(count), 1).bit_length() - 1, 30) // 10
    return f"{count / 1024**power:.4g} {('bytes', 'KiB', 'MiB', 'GiB')[power]}"
