"""The kernels as a library on this machine: eight cores one after another, charges of all of them kept."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from match_core import KernelInterface, Workload
from match_ita.snitch_rows.constants import CONSTANTS
from match_ita.snitch_rows.formulas import kernel_cycles
from match_ita.snitch_rows.interfaces import INTERFACES
from numpy.typing import NDArray

from ..kernel_library import RUNTIME, KernelLibrary, context_of, timing_of

SOURCES = tuple(sorted(RUNTIME.glob("match_snitch_rows_*.c")))
TIMING = timing_of(CONSTANTS)
#: Cycles by which the model may miss small calls: a core with fewer elements may have more that are no whole block.
SLACK = 120
#: The last core first, so that no core lives on what another one left.
_PROBE = """#include "match_ita_team.h"
static uint32_t core;
static uint64_t charges[8];
void test_charge(uint64_t work) { charges[core] += work; }
uint32_t match_ita_core(void) { return core; }
uint32_t match_ita_cores(void) { return 8u; }
void match_ita_team_launch(void (*entry)(void *), const void *context)
{
    for (core = 8u; core-- > 0u;) { charges[core] = 0u; entry((void *)(uintptr_t)context); }
    core = 0u;
}
uint64_t test_charged(uint32_t number, uint32_t part);
uint64_t test_charged(uint32_t number, uint32_t part) { return part == 0u ? charges[number] : 0u; }
"""


LIBRARY = KernelLibrary(SOURCES, INTERFACES, TIMING, _PROBE)


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
    """Calls the kernel on aligned copies and returns the output, which ``arrays`` holds too. What the cores charge
    together is what the cost model says."""
    context = context_of(interface)()
    held = {name: aligned(values) for name, values in arrays.items()}
    assert set(held) == {name for name, _ in interface.operands}
    for name, values in held.items():
        setattr(context, name, values.ctypes.data)
    for name, number in numbers.items():
        assert hasattr(context, name), name
        setattr(context, name, number)
    getattr(library, f"match_{interface.kind}")(ctypes.byref(context))
    assert modelled(interface, numbers) == pytest.approx(LIBRARY.charged(library), rel=0.02, abs=SLACK)
    return held["output"]


def modelled(interface: KernelInterface, numbers: Mapping[str, int]) -> int:
    """What the cost model says about a call."""
    tile = {dim: np.array([numbers[dim.lower()]], np.int64) for dim in interface.dims}
    geometry = tuple((name, numbers.get(name, 0)) for name in interface.geometry)
    cycles = kernel_cycles(TIMING, Workload(interface.kind, (), (), 0, geometry), tile)
    return int(cycles[0])
