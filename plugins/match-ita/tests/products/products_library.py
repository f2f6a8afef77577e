"""The product kernels as a library on this machine, a thread for each core, and what runs a whole matched layer in one
call: the way from a graph over match, workload and packed constants to the bytes of the result."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping

import numpy as np
import onnx_graphsurgeon as gs
import pytest
from match_core import KernelInterface, Match, Operand, Pattern, Workload
from match_core.contract.geometry import axis_tile, far_strides
from match_core.plugin.answers import check_workload
from match_ita.snitch_products.constants import CONSTANTS
from match_ita.snitch_products.formulas import kernel_cycles
from match_ita.snitch_products.interfaces import INTERFACES
from match_ita.snitch_products.kernels import KERNELS
from match_ita.snitch_products.patterns import PATTERNS
from numpy.typing import NDArray

from tests.matches import find_matches

from ..kernel_library import RUNTIME, KernelLibrary, context_of, timing_of

SOURCES = tuple(sorted(RUNTIME.glob("match_snitch_products*.c")))
TIMING = timing_of(CONSTANTS)
#: Cycles of a head by which the model may miss small ones: a core with fewer items may have more panels, and what each
#: core does once counts once.
SLACK = 160
#: What lies around every buffer, which no kernel may change.
GUARD_BYTES = 64

Arrays = Mapping[str, NDArray[np.generic]]

#: A thread for each core.
_TEAM = """#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include "match_ita_team.h"
#include "match_ita_timing.h"
#define CORES 8u
#define PARTS 3u
static pthread_barrier_t barrier;
static _Thread_local uint32_t core, part;
static uint64_t charges[CORES][PARTS];
static void (*kernel)(void *);
static const void *argument;
void test_charge(uint64_t work) { charges[core][part] += work; }
uint32_t match_ita_core(void) { return core; }
uint32_t match_ita_cores(void) { return CORES; }
void match_ita_barrier(void)
{
    (void)pthread_barrier_wait(&barrier);
    part++;
}
static void *run(void *number)
{
    core = (uint32_t)(uintptr_t)number;
    part = 0u;
    for (uint32_t i = 0u; i < PARTS; i++) { charges[core][i] = 0u; }
    kernel((void *)(uintptr_t)argument);
    return 0;
}
void match_ita_team_launch(void (*entry)(void *), const void *context)
{
    pthread_t threads[CORES];
    kernel = entry;
    argument = context;
    (void)pthread_barrier_init(&barrier, 0, CORES);
    for (uintptr_t i = 0u; i < CORES; i++) { (void)pthread_create(&threads[i], 0, run, (void *)i); }
    for (uint32_t i = 0u; i < CORES; i++) { (void)pthread_join(threads[i], 0); }
    (void)pthread_barrier_destroy(&barrier);
}
uint64_t test_charged(uint32_t number, uint32_t which);
uint64_t test_charged(uint32_t number, uint32_t which) { return charges[number][which]; }
"""


LIBRARY = KernelLibrary(SOURCES, INTERFACES, TIMING, _TEAM)


class Buffer:
    """Bytes at a multiple of 64 between guards, as in L1, where reads and writes beyond the ends would hit others."""

    def __init__(self, values: NDArray[np.generic]) -> None:
        size = values.nbytes
        self.room = np.full(size + 3 * GUARD_BYTES, 0xA5, np.uint8)
        self.start = GUARD_BYTES - self.room.ctypes.data % GUARD_BYTES + GUARD_BYTES
        self.values = self.room[self.start : self.start + size].view(values.dtype).reshape(values.shape)
        self.values[...] = values

    @property
    def address(self) -> int:
        return int(self.room.ctypes.data) + self.start

    @property
    def intact(self) -> bool:
        behind = self.start + self.values.nbytes
        return bool((self.room[: self.start] == 0xA5).all() and (self.room[behind:] == 0xA5).all())


def find(graph: gs.Graph, name: str) -> tuple[Pattern, Match]:
    """The match of a pattern that covers the whole graph; its rules hold."""
    pattern = next(pattern for pattern in PATTERNS if pattern.name == name)
    assert pattern.structure is not None
    match = next(match for match in find_matches(graph, pattern.structure) if len(match.nodes) == len(graph.nodes))
    broken = [f"{rule.name}: {wrong}" for rule in pattern.constraints if (wrong := rule.check(match)) is not None]
    assert not broken, broken
    return pattern, match


def run_layer(library: ctypes.CDLL, graph: gs.Graph, name: str, inputs: Arrays) -> NDArray[np.generic]:
    """The whole layer in one kernel call. ``inputs``: by capture, as they lie at home. The cores charge together what
    the cost model says, and nothing outside of the buffers changes."""
    pattern, match = find(graph, name)
    workload, kernel = pattern.workload(match), KERNELS[name]
    check_workload(kernel.interface, workload)
    packed = kernel.pack(match, workload)
    buffers: dict[str, Buffer] = {}
    for operand in workload.operands:
        if operand.role == "constant":
            buffers[operand.name] = Buffer(packed[operand.name])
            assert packed[operand.name].nbytes == _elements(operand) * operand.element_bits // 8
        elif operand.role == "input":
            buffers[operand.name] = Buffer(_gathered(workload, operand, inputs[operand.name]))
        else:
            buffers[operand.name] = Buffer(np.full([axis.size for axis in operand.axes], 77, match.output.dtype))
    buffers["scratch"] = Buffer(np.full(_scratch_bytes(workload), 0x5A, np.uint8))
    _call(library, kernel.interface, workload, buffers)
    assert all(buffer.intact for buffer in buffers.values())
    output = workload.operand("output")
    return _scattered(output, buffers["output"].values).reshape([int(size) for size in match.output.shape])


def _call(library: ctypes.CDLL, interface: KernelInterface, workload: Workload, buffers: Mapping[str, Buffer]) -> None:
    context = context_of(interface)()
    for name, buffer in buffers.items():
        setattr(context, name, buffer.address if buffer.values.nbytes else None)
    for dim in workload.dims:
        setattr(context, dim.name.lower(), dim.size)
    for name, value in workload.parameters.items():
        setattr(context, name, value)
    sizes = {dim.name: dim.size for dim in workload.dims}
    for operand, axis_name in interface.windowed:
        axis = next(axis for axis in workload.operand(operand).axes if axis.name == axis_name)
        part = axis_tile(axis, {}, sizes)
        setattr(context, f"{operand}_{axis_name}", part.extent)
        setattr(context, f"{operand}_{axis_name}_pad_before", part.pad_before)
        setattr(context, f"{operand}_{axis_name}_pad_after", part.pad_after)
    getattr(library, f"match_{interface.kind}")(ctypes.byref(context))
    tile = {name: np.array([size], np.int64) for name, size in sizes.items()}
    modelled = int(kernel_cycles(TIMING, workload, tile)[0])
    charged = LIBRARY.charged(library)
    # A tile of a turned layer does not say whether its last block is short, so the model takes it as full.
    short = workload.kind == "snitch_linear_turned" and modelled > charged
    assert short or modelled == pytest.approx(charged, rel=0.02, abs=SLACK * sizes.get("H", 1))


def _elements(operand: Operand) -> int:
    return int(np.prod([axis.size for axis in operand.axes]))


def _view(operand: Operand, home: NDArray[np.generic]) -> NDArray[np.generic]:
    steps = [step * home.itemsize for step in far_strides(operand)]
    return np.lib.stride_tricks.as_strided(home, [axis.size for axis in operand.axes], steps)


def _gathered(workload: Workload, operand: Operand, values: NDArray[np.generic]) -> NDArray[np.generic]:
    """What the only tile reads of an input."""
    sizes = {dim.name: dim.size for dim in workload.dims}
    parts = [axis_tile(axis, {}, sizes) for axis in operand.axes]
    whole = _view(operand, np.ascontiguousarray(values).reshape(-1))
    return np.ascontiguousarray(whole[tuple(slice(part.first, part.first + part.extent) for part in parts)])


def _scattered(operand: Operand, tile: NDArray[np.generic]) -> NDArray[np.generic]:
    home = np.zeros(tile.size, tile.dtype)
    _view(operand, home)[...] = tile
    return home


def _scratch_bytes(workload: Workload) -> int:
    sizes = {dim.name: dim.size for dim in workload.dims}
    return sum(factor * int(np.prod([sizes[name] for name in names])) for names, factor in workload.scratch)
