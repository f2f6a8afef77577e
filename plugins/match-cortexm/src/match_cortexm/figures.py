"""Instructions of the kernels' parts, fitted by ``python -m benchmarks.cortexm_fit`` to counts on an emulator."""

from __future__ import annotations

from match_core.contract.hardware import Constant

_SOURCE = "counted on QEMU 7.2, gcc 12.2 -O3: python -m benchmarks.cortexm_fit"
#: Form -> (count, instructions of each).
PARTS: dict[str, dict[str, float]] = {
    "dsp2": {
        "steps": 36.16,
        "loops": 2.73,
        "rows": 4.96,
        "blocks": 2.21,
        "results": 17.72,
        "tiles": 24.26,
        "copied_rows": 63.41,
        "copied_bytes": 0.37,
    },
    "dsp1": {"steps": 21.54, "blocks": 56.53, "tiles": 14.23},
    "depthwise_dsp": {"steps": 9.33, "blocks": 56.83, "outside_taps": 25.39},
    "add": {"pairs": 13.5},
    "add_wide": {"pairs": 40.92},
    "mve": {
        "steps": 9.03,
        "rows": 0.73,
        "results": 5.43,
        "tiles": 8.95,
        "copied_rows": 72.67,
        "copied_bytes": 0.64,
    },
    "depthwise_mve": {"steps": 5.4, "blocks": 10.68, "tiles": 24.06, "outside_steps": 1.64},
    "add_mve": {"pairs": 14.0},
}

#: Forms whose figures come from layers of four networks, by hand: estimates for all others.
_BY_HAND = frozenset({"add", "add_wide", "add_mve"})
_HAND = "estimate from the sums of two networks, counted on QEMU 7.2: python -m benchmarks.cortexm --layers"

FIGURES = tuple(
    Constant(f"{form}_{part}", value, "instructions", _HAND if form in _BY_HAND else _SOURCE, form in _BY_HAND)
    for form, parts in PARTS.items()
    for part, value in parts.items()
)
