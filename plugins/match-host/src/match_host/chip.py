"""Helpers for packages of chips: files of a folder, the functions of a memory, the twin, the table of figures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path

from match_core.contract.hardware import Constant
from match_core.contract.unit_api import MemoryApi, RuntimeFile, TwinApi


def runtime_files(folder: Path, *suffixes: str) -> tuple[RuntimeFile, ...]:
    """The files of ``folder`` with these suffixes (C sources and headers by default), by name."""
    return tuple(
        RuntimeFile(path.name, path.read_text(encoding="utf-8"))
        for path in sorted(folder.iterdir())
        if path.suffix in (suffixes or (".h", ".c"))
    )


def memory_api(prefix: str) -> MemoryApi:
    """Functions named ``<prefix>_copy_in_1d`` to ``<prefix>_copy_wait``."""
    copies = (field.name for field in fields(MemoryApi))
    return MemoryApi(**{name: f"{prefix}_{'copy_wait' if name == 'wait' else name}" for name in copies})


def twin_api(
    folder: Path, timing: RuntimeFile, clocks: tuple[str, ...], arenas: dict[str, str], load_store: str = ""
) -> TwinApi:
    """The twin whose headers are in ``include/`` and ``src/`` of ``folder``, its sources in ``src/``."""
    headers = (*runtime_files(folder / "include"), *runtime_files(folder / "src", ".h"), timing)
    return TwinApi(headers, runtime_files(folder / "src", ".c"), clocks, arenas=arenas, load_store=load_store)


def timing_header(chip: str, about: str, clocks: Iterable[str], constants: Iterable[Constant], *defines: str) -> str:
    """``match_<chip>_timing.h``: numbers of the clocks, and every figure as a macro. ``defines`` come first."""
    guard, prefix = f"MATCH_{chip.upper()}_TIMING_H", f"MATCH_{chip.upper()}"
    lines = [
        f"/* match_{chip}_timing.h - {about}.",
        f" * Generated from match_{chip}.constants, which also holds the sources; do not edit.",
        " * SPDX-License-Identifier: Apache-2.0 */",
        *(f"#ifndef {guard}", f"#define {guard}", ""),
        *(line for define in defines for line in (f"#define {prefix}_{define}", "")),
        "/* Clock numbers, unless the program's generated header gives its own. */",
    ]
    for index, name in enumerate(clocks):
        macro = f"MATCH_TWIN_CLOCK_{name.upper()}"
        lines += [f"#ifndef {macro}", f"#define {macro} {index}u", "#endif"]
    lines.append("")
    for constant in constants:
        note = ", estimate" if constant.estimate else ""
        lines.append(f"#define {prefix}_{constant.name.upper()} {int(constant.value)}u /* {constant.unit}{note} */")
    return "\n".join((*lines, "", "#endif", ""))
