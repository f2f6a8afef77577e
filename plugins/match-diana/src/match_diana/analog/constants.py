"""Figures of the analog array. Values are integers; fractional cycles are stated in tenths."""

from __future__ import annotations

from match_core import Constant

_ISSCC = "ISSCC 2022, 10.1109/ISSCC42614.2022.9731716"
_PLINIO = "eml-eda/plinio 3d6b5e0, cost/diana_latency.py"

ANALOG_CONSTANTS = (
    Constant("analog_rows", 1152, "cells", _ISSCC),
    Constant("analog_columns", 512, "cells", _ISSCC),
    Constant("analog_cell_bytes", 147_456, "bytes", "1152 rows, 512 columns, 2 bits each"),
    Constant(
        "analog_norm_bytes",
        4096,
        "bytes",
        "no public figure: multiplier and addend of every column, one word each",
        estimate=True,
    ),
    Constant(
        "analog_activation_tenth_cycles",
        182,
        "cycles / 10",
        f"{_PLINIO}: 70 ns for each group of unrolled pixels, at 260 MHz",
    ),
    Constant(
        "analog_microwatts",
        28_740,
        "uW",
        "eml-eda/odimo-journal 624f590, models/hw_models.py: the chip while the analog array alone works",
    ),
    Constant("analog_row_load_cycles", 8, "cycles", f"{_PLINIO}: 4 * 2 cycles for each row of weights"),
)
