"""Instructions of the kernels' parts, fitted by ``python -m benchmarks.cortexm_fit`` to counts on an emulator."""

from __future__ import annotations

from match_core.contract.hardware import Constant

_SOURCE = "counted on QEMU 7.2, gcc 12.2 -O3: python -m benchmarks.cortexm_fit"
#: Form -> (count, instructions of each).
PARTS: dict[str, dict[str, float]] = {}

FIGURES = tuple(
    Constant(f"{form}_{part}", value, "instructions", _SOURCE)
    for form, parts in PARTS.items()
    for part, value in parts.items()
)
