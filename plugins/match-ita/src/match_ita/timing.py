"""Renders the table of a preset as the C header ``match_ita_timing.h`` that the twin is compiled with."""

from __future__ import annotations

from match_host.chip import timing_header

from match_ita.constants import constants
from match_ita.presets import DEFAULT_PRESET

HEADER_NAME = "match_ita_timing.h"

# Virtual clocks of the twin. ``ita`` is the accelerator, ``control`` the DM core, ``snitch`` the compute cores. Copies
# into L1 and out of it overlap (two channels of the DMA), those of one direction queue.
CLOCKS = ("host", "control", "snitch", "ita", "dma_in", "dma_out")


def render_timing_header(preset: str = DEFAULT_PRESET) -> str:
    """C text for ``preset``, byte for byte the same each time. Raises KeyError for an unknown preset."""
    return timing_header("ita", f"figures of ITA and its cluster, preset {preset}", CLOCKS, constants(preset))
