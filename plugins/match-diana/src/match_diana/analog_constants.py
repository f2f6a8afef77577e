"""Figures of the analog array. Values are integers; fractions of a cycle are stated in hundredths."""

from __future__ import annotations

from match_core import Constant

ANALOG_CONSTANTS = (
    Constant("analog_rows", 1152, "cells", "ISSCC 2022, 10.1109/ISSCC42614.2022.9731716"),
    Constant("analog_columns", 512, "cells", "ISSCC 2022, 10.1109/ISSCC42614.2022.9731716"),
    Constant("analog_cell_bytes", 147_456, "bytes", "1152 rows, 512 columns, 2 bits each"),
)
