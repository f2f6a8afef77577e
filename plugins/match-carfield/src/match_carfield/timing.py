"""Renders the table of figures as the C header ``match_carfield_timing.h`` that the twin is compiled with."""

from __future__ import annotations

from match_carfield.constants import DEFAULT, constants
from match_carfield.presets import DEFAULT_PRESET

HEADER_NAME = "match_carfield_timing.h"

# Virtual clocks of the twin. ``pulp`` and ``spatz`` are core 0 of a cluster, whose kernels run on all cores at once.
# Copies into a cluster and out of it overlap, those of one direction queue.
CLOCKS = ("host", "pulp", "spatz", "pulp_dma_in", "pulp_dma_out", "spatz_dma_in", "spatz_dma_out", "sysdma", "redmule")


def render_timing_header(signalling: str = DEFAULT, preset: str = DEFAULT_PRESET) -> str:
    """C text for a table, byte for byte the same each time. Raises KeyError for an unknown one."""
    lines = [
        f"/* {HEADER_NAME} - figures of Carfield, signalling by {signalling}, preset {preset}.",
        " * Generated from match_carfield.constants, which also holds the sources; do not edit.",
        " * SPDX-License-Identifier: Apache-2.0 */",
        "#ifndef MATCH_CARFIELD_TIMING_H",
        "#define MATCH_CARFIELD_TIMING_H",
        "",
        "/* Clock numbers, unless the program's generated header gives its own. */",
    ]
    for index, name in enumerate(CLOCKS):
        macro = f"MATCH_TWIN_CLOCK_{name.upper()}"
        lines += [f"#ifndef {macro}", f"#define {macro} {index}u", "#endif"]
    lines.append("")
    for constant in constants(signalling, preset):
        note = ", estimate" if constant.estimate else ""
        macro = f"MATCH_CARFIELD_{constant.name.upper()}"
        lines.append(f"#define {macro} {int(constant.value)}u /* {constant.unit}{note} */")
    lines += ["", "#endif", ""]
    return "\n".join(lines)
