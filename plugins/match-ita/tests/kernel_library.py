"""Kernels of the compute cores as a library on this machine: what the tests of rows and of products have in common."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import match_ita
from match_core import Constant, KernelInterface
from match_core.lower.interfaces import context_header
from match_ita.constants import constants as all_figures

RUNTIME = Path(match_ita.__file__).resolve().parent / "runtime"
STRICT = ("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")
SANITISERS = ("-fsanitize=undefined", "-fno-sanitize-recover=undefined")
TEAM = ("cores", "barrier_cycles", "shared_uses_per_1000_cycles")

_CHARGE = """#ifndef MATCH_ITA_CHARGE_H
#define MATCH_ITA_CHARGE_H
#include <stdint.h>
void test_charge(uint64_t work);
#define match_ita_charge(work) test_charge(work)
#endif
"""

#: How many parts between barriers a kernel has at most.
PARTS = 3


def timing_of(constants: Iterable[Constant]) -> dict[str, int]:
    """Figures by name, those of the whole team among them."""
    team = [constant for constant in all_figures() if constant.name in TEAM]
    return {constant.name: int(constant.value) for constant in (*team, *constants)}


@dataclass(frozen=True)
class KernelLibrary:
    """Some of the runtime's sources with the contexts of their kernels; ``team`` is C that runs a kernel on all cores
    and keeps what each of them charges."""

    sources: tuple[Path, ...]
    interfaces: Sequence[KernelInterface]
    timing: dict[str, int]
    team: str

    def write_headers(self, folder: Path) -> None:
        """Contexts, figures, and a team of cores."""
        for interface in self.interfaces:
            header = context_header(interface)
            (folder / header.name).write_text(header.text)
        figures = "".join(f"#define MATCH_ITA_{name.upper()} {value}u\n" for name, value in self.timing.items())
        snrt = '#include "match_ita_charge.h"\n'
        texts = {"snrt.h": snrt, "match_ita_charge.h": _CHARGE, "match_ita_timing.h": figures, "team.c": self.team}
        for name, text in texts.items():
            (folder / name).write_text(text)

    def compile(self, folder: Path, *flags: str) -> ctypes.CDLL:
        """All kernels, free of warnings."""
        self.write_headers(folder)
        output = folder / "kernels.so"
        paths = (f"-I{folder}", f"-I{RUNTIME}", *map(str, self.sources), str(folder / "team.c"), "-o", str(output))
        command = ["gcc", *STRICT, *flags, "-fPIC", "-shared", "-pthread", *paths]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        library = ctypes.CDLL(str(output))
        library.test_charged.restype = ctypes.c_uint64
        return library

    def charged(self, library: ctypes.CDLL) -> int:
        """Cycles of the last call by what its cores charged: between barriers the busiest core, or the shared unit."""
        total, rate = 0, self.timing["shared_uses_per_1000_cycles"]
        for part in range(PARTS):
            work = [int(library.test_charged(core, part)) for core in range(8)]
            uses = sum(each >> 32 for each in work)
            total += max(*(each & 0xFFFFFFFF for each in work), -(-1000 * uses // rate))
            total += self.timing["barrier_cycles"] if part and any(work) else 0
        return total


@lru_cache(maxsize=32)
def context_of(interface: KernelInterface) -> type[ctypes.Structure]:
    """The context struct of a kernel."""
    sizes = [dim.lower() for dim in interface.dims]
    for operand, axis in interface.windowed:
        sizes += [f"{operand}_{axis}", f"{operand}_{axis}_pad_before", f"{operand}_{axis}_pad_after"]
    layout = [
        *((name, ctypes.c_void_p) for name in (*(name for name, _ in interface.operands), "scratch")),
        *((name, ctypes.c_uint32) for name in sizes),
        *((name, ctypes.c_int32) for name in interface.geometry),
    ]
    return type("Context", (ctypes.Structure,), {"_fields_": layout})
