"""Kernel contexts: whether a workload matches one, and the header that declares it.

Packages define interfaces; two packages that name the same kind must mean the same struct.
"""

from __future__ import annotations

from typing import Literal

from match_core.contract.unit_api import KernelInterface, RuntimeFile

_Role = Literal["input", "constant", "output"]
Operands = tuple[tuple[str, _Role], ...]

#: Common operands of contexts, and the windowed axes of an image.
UNARY: Operands = (("input", "input"), ("output", "output"))
BINARY: Operands = (("input_a", "input"), ("input_b", "input"), ("output", "output"))
WEIGHTED: Operands = (
    ("input", "input"),
    ("weight", "constant"),
    ("multiplier", "constant"),
    ("addend", "constant"),
    ("output", "output"),
)
WINDOW = (("input", "y"), ("input", "x"))


def context_type(interface: KernelInterface) -> str:
    """The C type of the kernel context."""
    return f"match_{interface.kind}_t"


def context_header(interface: KernelInterface) -> RuntimeFile:
    """``match_<kind>.h``: the struct that the kernel receives."""
    guard = f"MATCH_{interface.kind.upper()}_H"
    fields = [f"    {'void' if role == 'output' else 'const void'} *{name};" for name, role in interface.operands]
    fields.append("    void *scratch;")
    fields += [f"    uint32_t {dim.lower()};" for dim in interface.dims]
    for operand, axis in interface.windowed:
        fields += [
            f"    uint32_t {operand}_{axis};",
            f"    uint32_t {operand}_{axis}_pad_before;",
            f"    uint32_t {operand}_{axis}_pad_after;",
        ]
    fields += [f"    int32_t {name};" for name in interface.geometry]
    fields += ["    uint32_t first, last;"] if interface.accumulates else []
    body = "\n".join(fields)
    article = "an" if interface.kind[0] in "aeiou" else "a"
    text = (
        f"/* SPDX-License-Identifier: Apache-2.0 */\n"
        f"/* What {article} {interface.kind} kernel receives: addresses of one tile and its full geometry. */\n"
        f"#ifndef {guard}\n#define {guard}\n\n#include <stdint.h>\n\n"
        f"typedef struct {{\n{body}\n}} {context_type(interface)};\n\n#endif\n"
    )
    return RuntimeFile(f"match_{interface.kind}.h", text)
