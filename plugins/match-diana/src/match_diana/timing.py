"""Renders the table of figures as the C header ``match_diana_timing.h`` that the twin is compiled with."""

from __future__ import annotations

from match_host.chip import timing_header

from match_diana.constants import constants

HEADER_NAME = "match_diana_timing.h"

# Virtual clocks of the twin. Everything waits for everything, so one is always ahead of the others.
CLOCKS = ("host", "digital", "analog", "dma")


def render_timing_header() -> str:
    """C text, byte for byte the same each time."""
    return timing_header("diana", "figures of DIANA", CLOCKS, constants())
