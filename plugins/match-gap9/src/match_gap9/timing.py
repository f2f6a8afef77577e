"""Renders the table of a preset as the C header ``match_gap9_timing.h`` that the twin is compiled with."""

from __future__ import annotations

from match_core import Constant
from match_host.chip import timing_header

from match_gap9.constants import DEFAULT_PRESET, constants

HEADER_NAME = "match_gap9_timing.h"

# Virtual clocks of the twin. ``control`` is the cluster's controller core, ``cluster`` its eight workers. Opposite DMA
# directions overlap fully while transfers of one direction queue (sheet 3.5), hence one clock per direction.
CLOCKS = ("host", "control", "cluster", "ne16", "dma_in", "dma_out", "l3")


def render_timing_header(preset: str = DEFAULT_PRESET, figures: tuple[Constant, ...] | None = None) -> str:
    """C text for ``preset``, or for the table ``figures`` that replaces it; byte for byte the same each time. Raises
    KeyError for an unknown preset."""
    return timing_header("gap9", f"cycle figures of GAP9, preset {preset}", CLOCKS, figures or constants(preset))
