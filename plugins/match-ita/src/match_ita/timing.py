"""Renders the table of a preset as the C header ``match_ita_timing.h`` that the twin is compiled with."""

from __future__ import annotations

from match_ita.constants import constants
from match_ita.presets import DEFAULT_PRESET

HEADER_NAME = "match_ita_timing.h"

# Virtual clocks of the twin. ``ita`` is the accelerator, ``control`` the DM core, ``snitch`` the compute cores. Copies
# into L1 and out of it overlap (two channels of the DMA), those of one direction queue.
CLOCKS = ("host", "control", "snitch", "ita", "dma_in", "dma_out")


def render_timing_header(preset: str = DEFAULT_PRESET) -> str:
    """C text for ``preset``, byte for byte the same each time. Raises KeyError for an unknown preset."""
    lines = [
        f"/* {HEADER_NAME} - figures of ITA and its cluster, preset {preset}.",
        " * Generated from match_ita.constants, which also holds the sources; do not edit.",
        " * SPDX-License-Identifier: Apache-2.0 */",
        "#ifndef MATCH_ITA_TIMING_H",
        "#define MATCH_ITA_TIMING_H",
        "",
        "/* Clock numbers, unless the program's generated header gives its own. */",
    ]
    for index, name in enumerate(CLOCKS):
        macro = f"MATCH_TWIN_CLOCK_{name.upper()}"
        lines += [f"#ifndef {macro}", f"#define {macro} {index}u", "#endif"]
    lines.append("")
    for constant in constants(preset):
        note = ", estimate" if constant.estimate else ""
        lines.append(f"#define MATCH_ITA_{constant.name.upper()} {int(constant.value)}u /* {constant.unit}{note} */")
    lines += ["", "#endif", ""]
    return "\n".join(lines)
