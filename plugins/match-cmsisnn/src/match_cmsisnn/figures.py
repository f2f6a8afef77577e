"""Instructions of the library's parts, fitted by ``python -m benchmarks.cmsisnn_fit`` to counts on an emulator."""

from __future__ import annotations

from match_core.contract.hardware import Constant

_SOURCE = "counted on QEMU 7.2, gcc 12.2 -O3, CMSIS-NN at commit 99f736a: python -m benchmarks.cmsisnn_fit"
#: Form -> (count, instructions of each).
PARTS: dict[str, dict[str, float]] = {
    "convolve_dsp": {
        "calls": 10948.93,
        "copied_steps": 12.12,
        "results": 37.56,
        "copied_taps": 42.23,
        "copied_bytes": 5.87,
        "steps": 10.71,
    },
    "depthwise_dsp": {"macs3": 3.32, "results": 41.69, "positions": 60.5, "macs": 6.91, "taps": 35.07},
    "fully_connected_dsp": {"calls": 58.16, "steps": 28.66, "results": 56.54, "rows": 58.16},
    "average_dsp": {"calls": 92.97, "values": 6.06, "results": 26.16, "positions": 92.97},
    "maximum_dsp": {"calls": 0.15, "values": 5.26, "taps": 35.15, "results": 13.21, "positions": 9.28},
    "add_dsp": {"calls": 83.0, "pairs": 69.75},
    "convolve_mve": {
        "calls": 3309.18,
        "copied_steps": 7.72,
        "results": 15.86,
        "copied_taps": 19.24,
        "copied_bytes": 1.26,
        "steps": 6.74,
    },
    "depthwise_mve": {"macs3": 1.8, "positions": 226.38, "macs": 1.58, "taps": 5.24},
    "fully_connected_mve": {"calls": 115.44, "steps": 32.01, "results": 12.95, "rows": 115.44},
    "average_mve": {"calls": 365.46, "values": 1.07, "positions": 365.46},
    "maximum_mve": {"calls": 0.08, "values": 0.91, "taps": 21.17, "results": 1.94, "positions": 5.37},
    "add_mve": {"calls": 99.0, "pairs": 11.5},
}
FIGURES = tuple(
    Constant(f"{form}_{part}", value, "instructions", _SOURCE)
    for form, parts in PARTS.items()
    for part, value in parts.items()
)
