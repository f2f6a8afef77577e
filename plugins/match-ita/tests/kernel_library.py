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
from match_core.emit.interfaces import context_header

RUNTIME = Path(match_ita.__file__).resolve().parent / "runtime"
STRICT = ("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")
SANITISERS = ("-fsanitize=undefined", "-fno-sanitize-recover=undefined")
CORES = Constant("cores", 8, "cores", "IEEE Design & Test 42:5, 2025")

_CHARGE = """#ifndef MATCH_ITA_CHARGE_H
#define MATCH_ITA_CHARGE_H
#include <stdint.h>
void test_charge(uint64_t cycles);
#define match_ita_charge(cycles) test_charge(cycles)
#endif
"""


def timing_of(constants: Iterable[Constant]) -> dict[str, int]:
    """Figures by name, the number of cores among them."""
    return {constant.name: int(constant.value) for constant in (CORES, *constants)}


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
