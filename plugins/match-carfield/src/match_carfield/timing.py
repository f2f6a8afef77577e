"""Renders the table of figures as the C header ``match_carfield_timing.h`` that the twin is compiled with."""

from __future__ import annotations

from match_host.chip import timing_header

from match_carfield.constants import DEFAULT, constants
from match_carfield.presets import DEFAULT_PRESET

HEADER_NAME = "match_carfield_timing.h"

# Virtual clocks of the twin. ``pulp`` and ``spatz`` are core 0 of a cluster, whose kernels run on all cores at once.
# Copies into a cluster and out of it overlap, those of one direction queue.
CLOCKS = ("host", "pulp", "spatz", "pulp_dma_in", "pulp_dma_out", "spatz_dma_in", "spatz_dma_out", "sysdma", "redmule")


def render_timing_header(signalling: str = DEFAULT, preset: str = DEFAULT_PRESET) -> str:
    """C text for a table, byte for byte the same each time. Raises KeyError for an unknown one."""
    about = f"figures of Carfield, signalling by {signalling}, preset {preset}"
    return timing_header("carfield", about, CLOCKS, constants(signalling, preset))
