"""The kernels as a library on this machine: eight cores one after another, charges of all of them kept."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import match_ita
import numpy as np
from match_core import Constant, KernelInterface, Workload
from match_core.emit.interfaces import context_header
from match_ita.snitch_rows import CONSTANTS, INTERFACES, kernel_cycles
from numpy.typing import NDArray

PACKAGE = Path(match_ita.__file__).resolve().parent
RUNTIME = PACKAGE / "runtime"
SOURCES = tuple(sorted(RUNTIME.glob("match_snitch_rows_*.c")))
STRICT = ("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")
SANITISERS = ("-fsanitize=undefined", "-fno-sanitize-recover=undefined")
CORES = Constant("cores", 8, "cores", "IEEE Design & Test 42:5, 2025")
TIMING = {constant.name: int(constant.value) for constant in (CORES, *CONSTANTS)}

_CHARGE = """#ifndef MATCH_ITA_CHARGE_H
#define MATCH_ITA_CHARGE_H
#include <stdint.h>
void test_charge(uint64_t cycles);
#define match_ita_charge(cycles) test_charge(cycles)
#endif
"""
#: The last core first, so that no core lives on what another one left.
_PROBE = """#include "match_ita_team.h"
static uint32_t core;
static uint64_t charges[8];
void test_charge(uint64_t cycles) { charges[core] += cycles; }
uint32_t match_ita_core(void) { return core; }
uint32_t match_ita_cores(void) { return 8u; }
void match_ita_team_launch(void (*entry)(void *), const void *context)
{
    for (core = 8u; core-- > 0u;) { charges[core] = 0u; entry((void *)(uintptr_t)context); }
    core = 0u;
}
uint64_t test_charged(uint32_t number);
uint64_t test_charged(uint32_t number) { return charges[number]; }
"""


def write_headers(folder: Path, *, charged: bool = True) -> None:
    """Contexts, figures, and a team of cores; without charges as on silicon."""
    for interface in INTERFACES:
        header = context_header(interface)
        (folder / header.name).write_text(header.text)
    figures = "".join(f"#define MATCH_ITA_{name.upper()} {value}u\n" for name, value in TIMING.items())
    texts = {"snrt.h": '#include "match_ita_charge.h"\n' if charged else "", "probe.c": _PROBE}
    texts |= {"match_ita_charge.h": _CHARGE, "match_ita_timing.h": figures} if charged else {}
    for name, text in texts.items():
        (folder / name).write_text(text)


def compile_library(folder: Path, *flags: str) -> ctypes.CDLL:
    """All kernels, free of warnings."""
    write_headers(folder)
    output = folder / "rows.so"
    sources = (*map(str, SOURCES), str(folder / "probe.c"))
    command = ["gcc", *STRICT, *flags, "-fPIC", "-shared", f"-I{folder}", f"-I{RUNTIME}", *sources, "-o", str(output)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    library = ctypes.CDLL(str(output))
    library.test_charged.restype = ctypes.c_uint64
    return library


@lru_cache(maxsize=32)
def _fields(interface: KernelInterface) -> type[ctypes.Structure]:
    sizes = [dim.lower() for dim in interface.dims]
    for operand, axis in interface.windowed:
        sizes += [f"{operand}_{axis}", f"{operand}_{axis}_pad_before", f"{operand}_{axis}_pad_after"]
    layout = [
        *((name, ctypes.c_void_p) for name in (*(name for name, _ in interface.operands), "scratch")),
        *((name, ctypes.c_uint32) for name in sizes),
        *((name, ctypes.c_int32) for name in interface.geometry),
    ]
    return type("Context", (ctypes.Structure,), {"_fields_": layout})


def aligned(values: NDArray[np.generic]) -> NDArray[np.generic]:
    """A copy at a multiple of 64 bytes, as buffers in L1 are."""
    room = np.zeros(values.nbytes + 64, np.uint8)
    start = -room.ctypes.data % 64
    copy: NDArray[np.generic] = room[start : start + values.nbytes].view(values.dtype).reshape(values.shape)
    copy[...] = values
    return copy


def run(
    library: ctypes.CDLL, interface: KernelInterface, arrays: Mapping[str, NDArray[Any]], numbers: Mapping[str, int]
) -> NDArray[Any]:
    """Calls the kernel on aligned copies and returns the output, which ``arrays`` holds too. Every core charges what
    the cost model says."""
    context = _fields(interface)()
    held = {name: aligned(values) for name, values in arrays.items()}
    assert set(held) == {name for name, _ in interface.operands}
    for name, values in held.items():
        setattr(context, name, values.ctypes.data)
    for name, number in numbers.items():
        assert hasattr(context, name), name
        setattr(context, name, number)
    getattr(library, f"match_{interface.kind}")(ctypes.byref(context))
    charged = {int(library.test_charged(core)) for core in range(8)}
    assert charged == {modelled(interface, numbers)}
    return held["output"]


def modelled(interface: KernelInterface, numbers: Mapping[str, int]) -> int:
    """What the cost model says about a call."""
    tile = {dim: np.array([numbers[dim.lower()]], np.int64) for dim in interface.dims}
    geometry = tuple((name, numbers.get(name, 0)) for name in interface.geometry)
    cycles = kernel_cycles(TIMING, "", Workload(interface.kind, (), (), 0, geometry), tile)
    return int(cycles[0])
