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
_ARRAY = re.compile(r"^ +(?:const )?(\w+) (\*)?(?:const )?\w+((?:\[\d+u?\])+)", re.MULTILINE)


def stack_bytes(files: Iterable[str]) -> int:
    """Bytes on a 32-bit core: the arrays of the function with most of them in these C files, and an allowance for
    everything else."""
    functions = (body for text in files for body in text.split("\n}\n"))
    return _FRAMES_BYTES + round_up(max((_arrays(body) for body in functions), default=0), 64)


def _arrays(body: str) -> int:
    """Bytes of the automatic arrays of one function."""
    return sum(
        (4 if pointer else _element(kind)) * prod(int(size) for size in re.findall(r"\d+", sizes))
        for kind, pointer, sizes in _ARRAY.findall(body)
    )


def _element(kind: str) -> int:
    bits = re.fullmatch(r"u?int(\d+)_t", kind)
    return int(bits[1]) // 8 if bits else {"float": 4, "double": 8, "bool": 1}.get(kind, _RECORD_BYTES)
