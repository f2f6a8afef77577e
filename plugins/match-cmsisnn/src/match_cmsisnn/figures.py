"""Instructions of the library's parts, fitted by ``python -m benchmarks.cmsisnn_fit`` to counts on an emulator."""

from __future__ import annotations

from match_core.contract.hardware import Constant

_SOURCE = "counted on QEMU 7.2, gcc 12.2 -O3, CMSIS-NN at commit 99f736a: python -m benchmarks.cmsisnn_fit"
#: Form -> (count, instructions of each).
PARTS: dict[str, dict[str, float]] = {
    "convolve_dsp": {
        "calls": 10835.86,
        "copied_steps": 12.06,
        "results": 36.79,
        "copied_taps": 44.23,
        "copied_bytes": 5.48,
        "steps": 11.04,
    },
    "depthwise_dsp": {
        "calls": 5556.39,
        "macs3": 3.04,
        "results": 36.5,
        "positions": 151.98,
        "macs": 6.69,
        "taps": 41.55,
    },
    "fully_connected_dsp": {"calls": 43.97, "steps": 29.07, "results": 53.54, "rows": 43.97},
    "average_dsp": {"calls": 132.37, "values": 6.02, "taps": 13.32, "results": 12.8, "positions": 132.37},
    "maximum_dsp": {"calls": 0.15, "values": 5.26, "taps": 35.15, "results": 13.21, "positions": 9.28},
    "add_dsp": {"calls": 83.0, "pairs": 69.75},
    "convolve_mve": {
        "calls": 2905.21,
        "copied_steps": 7.68,
        "results": 15.84,
        "copied_taps": 19.72,
        "copied_bytes": 1.11,
        "steps": 7.57,
    },
    "depthwise_mve": {"calls": 3565.69, "macs3": 1.42, "results": 3.27, "positions": 199.03, "macs": 1.37},
    "fully_connected_mve": {"calls": 115.63, "steps": 31.05, "results": 13.59, "rows": 115.63},
    "average_mve": {"calls": 264.39, "values": 0.97, "results": 11.19, "positions": 264.39},
    "maximum_mve": {"calls": 0.08, "values": 0.91, "taps": 21.17, "results": 1.94, "positions": 5.37},
    "add_mve": {"calls": 99.0, "pairs": 11.5},
}
FIGURES = tuple(
    Constant(f"{form}_{part}", value, "instructions", _SOURCE)
    for form, parts in PARTS.items()
    for part, value in parts.items()
)
