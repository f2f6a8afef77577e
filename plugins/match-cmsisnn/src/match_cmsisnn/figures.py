"""Instructions of the library's parts, fitted by ``python -m benchmarks.cmsisnn_fit`` to counts on an emulator."""

from __future__ import annotations

from match_core.contract.hardware import Constant

_SOURCE = "counted on QEMU 7.2, gcc 12.2 -O3, CMSIS-NN at commit 99f736a: python -m benchmarks.cmsisnn_fit"
#: Form -> (count, instructions of each).
PARTS: dict[str, dict[str, float]] = {
    "convolve_dsp": {
        "calls": 101.5,
        "copied_steps": 11.04,
        "blocks": 108.85,
        "copied_taps": 33.75,
        "copied_bytes": 6.19,
    },
}
FIGURES = tuple(
    Constant(f"{form}_{part}", value, "instructions", _SOURCE)
    for form, parts in PARTS.items()
    for part, value in parts.items()
)
