"""Renders the table of figures as the C header ``match_diana_timing.h`` that the twin is compiled with."""

from __future__ import annotations

from match_diana.constants import constants

HEADER_NAME = "match_diana_timing.h"

# Virtual clocks of the twin. Everything waits for everything, so one is always ahead of the others.
CLOCKS = ("host", "digital", "analog", "dma")


def render_timing_header() -> str:
    """C text, byte for byte the same each time."""
    lines = [
        f"/* {HEADER_NAME} - figures of DIANA.",
        " * Generated from match_diana.constants, which also holds the sources; do not edit.",
        " * SPDX-License-Identifier: Apache-2.0 */",
        "#ifndef MATCH_DIANA_TIMING_H",
        "#define MATCH_DIANA_TIMING_H",
        "",
        "/* Clock numbers, unless the program's generated header gives its own. */",
    ]
    for index, name in enumerate(CLOCKS):
        macro = f"MATCH_TWIN_CLOCK_{name.upper()}"
        lines += [f"#ifndef {macro}", f"#define {macro} {index}u", "#endif"]
    lines.append("")
    for constant in constants():
        note = ", estimate" if constant.estimate else ""
        lines.append(f"#define MATCH_DIANA_{constant.name.upper()} {int(constant.value)}u /* {constant.unit}{note} */")
    lines += ["", "#endif", ""]
    return "\n".join(lines)
