"""An estimate of the stack that a program uses on the host."""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import prod

from match_core.contract.geometry import round_up

#: Frames, spilled registers and calls; measured with gcc for Cortex-M, RV32 and x86-64: docs/emitted-c.md.
_FRAMES_BYTES = 1024
#: A record of a layer's step, an estimate; types whose size follows from their name are not records.
_RECORD_BYTES = 256
_BYTES = {f"{sign}int{8 * size}_t": size for sign in ("", "u") for size in (1, 2, 4, 8)}
_BYTES |= {"float": 4, "double": 8, "bool": 1, "": 4}
_ARRAY = re.compile(r"^ +(?:const )?(\w+) (\*)?(?:const )?\w+((?:\[\d+u?\])+)", re.MULTILINE)


def stack_bytes(files: Iterable[str]) -> int:
    """Bytes on a 32-bit core: the arrays of the function with most of them in these C files, and an allowance."""
    functions = (body for text in files for body in text.split("\n}\n"))
    return _FRAMES_BYTES + round_up(max((_arrays(body) for body in functions), default=0), 64)


def _arrays(body: str) -> int:
    """Bytes of the automatic arrays of one function."""
    found = _ARRAY.findall(body)
    arrays = ((_BYTES.get("" if pointer else kind, _RECORD_BYTES), sizes) for kind, pointer, sizes in found)
    return sum(size_bytes * prod(map(int, re.findall(r"\d+", sizes))) for size_bytes, sizes in arrays)
