"""Renders the table of a preset as the C header ``match_gap9_timing.h`` that the twin is compiled with."""

from __future__ import annotations

from match_gap9.constants import DEFAULT_PRESET, constants

HEADER_NAME = "match_gap9_timing.h"

# Virtual clocks of the twin. ``control`` is the cluster's controller core, ``cluster`` its eight workers. Opposite DMA
# directions overlap fully while transfers of one direction queue (sheet 3.5), hence one clock per direction.
CLOCKS = ("host", "control", "cluster", "ne16", "dma_in", "dma_out", "l3")


def render_timing_header(preset: str = DEFAULT_PRESET) -> str:
    """C text for ``preset``, byte for byte the same each time. Raises KeyError for an unknown preset."""
    table = constants(preset)
    lines = [
        f"/* {HEADER_NAME} - cycle figures of GAP9, preset {preset}.",
        " * Generated from match_gap9.constants, which also holds the sources; do not edit.",
        " * SPDX-License-Identifier: Apache-2.0 */",
        "#ifndef MATCH_GAP9_TIMING_H",
        "#define MATCH_GAP9_TIMING_H",
        "",
        f"#define MATCH_GAP9_PRESET_ENGINE {int(preset == 'engine')}",
        "",
        "/* Clock numbers, unless the program's generated header gives its own. */",
    ]
    for index, name in enumerate(CLOCKS):
        macro = f"MATCH_TWIN_CLOCK_{name.upper()}"
        lines += [f"#ifndef {macro}", f"#define {macro} {index}u", "#endif"]
    lines.append("")
    for constant in table:
        note = ", estimate" if constant.estimate else ""
        lines.append(f"#define MATCH_GAP9_{constant.name.upper()} {int(constant.value)}u /* {constant.unit}{note} */")
    lines += ["", "#endif", ""]
    return "\n".join(lines)
