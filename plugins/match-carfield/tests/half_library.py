"""The kernels of both clusters as a library on the host: cores one after another, RedMulE as the twin has it."""

from __future__ import annotations

import ctypes
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import match_carfield
import match_core
import numpy as np
from match_carfield.half.interfaces import HALF_INTERFACES
from match_carfield.int8.interfaces import INT8_INTERFACES
from match_carfield.timing import HEADER_NAME, render_timing_header
from match_core import KernelInterface
from match_core.lower.interfaces import context_header
from match_core.lower.templates import CORE_TEMPLATES
from match_host.headers.half import half_header

from tests.c_objects import link_cached

PACKAGE = Path(match_carfield.__file__).resolve().parent
RUNTIME = PACKAGE / "runtime"
TWIN = Path(match_core.__file__).resolve().parent / "run/runtime"
STRICT = ("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")
SOURCES = (RUNTIME / "match_carfield_half_pulp.c", RUNTIME / "match_carfield_half_spatz.c")
REDMULE = (RUNTIME / "match_carfield_half_redmule.c", PACKAGE / "twin/src/carfield_redmule.c")

#: What the kernels take of a cluster's SDK.
CLUSTER = """#pragma once
#include <stdint.h>
extern uint32_t test_core;
static inline uint32_t {core}(void) {{ return test_core; }}
static inline uint32_t {cores}(void) {{ return {count}u; }}
"""
QUEUE = """#pragma once
#include <stdint.h>
typedef struct { uint32_t posted, done; } match_queue_t;
"""
#: Registers: those of RedMulE, whose clock has to be on.
IO = """#pragma once
#include <stdint.h>
#include "redmule.h"
extern uint32_t test_clock;
uint32_t test_read(uintptr_t address);
void test_write(uintptr_t address, uint32_t value);
#define MATCH_CARFIELD_READ(address) test_read(address)
#define MATCH_CARFIELD_WRITE(address, value) test_write(address, value)
#define MATCH_CARFIELD_LOOK_AGAIN() (0)
"""
PROBE = """#include <stdlib.h>
#include "carfield_twin.h"
#include "match_carfield_io.h"
#include "match_carfield_redmule.h"
#include "match_carfield_pulp.h"
#include "match_carfield_spatz.h"
#include "match_half.h"
uint32_t test_core = 0u, test_clock = 0u;
uint8_t test_l1[1u << 20] __attribute__((aligned(64)));
void match_twin_fault(const char *message) { (void)message; abort(); }
void match_twin_faultf(const char *format, ...) { (void)format; abort(); }
/* L1 is whatever has the lower 32 address bits of the arena. */
uint8_t *carfield_l1_pointer(carfield_unit_t unit, uint32_t address, size_t bytes, const char *what)
{
    const uint32_t offset = address - (uint32_t)(uintptr_t)test_l1;
    (void)unit;
    (void)what;
    if (offset > sizeof test_l1 || bytes > sizeof test_l1 - offset || offset % 2u != 0u) { abort(); }
    return test_l1 + offset;
}
/* Cores one after the other, the last one first. */
static void team(uint32_t cores, void (*entry)(void *), const void *tile)
{
    for (test_core = cores; test_core-- > 0u;) { entry((void *)(uintptr_t)tile); }
    test_core = 0u;
}
void match_carfield_pulp_team(void (*entry)(void *), const void *tile) { team(8u, entry, tile); }
void match_carfield_spatz_team(void (*entry)(void *), const void *tile) { team(2u, entry, tile); }
uint32_t test_read(uintptr_t address)
{
    if (address == MATCH_CARFIELD_CLUSTER_CONTROL_BASE + MATCH_CARFIELD_CLUSTER_CLOCK) { return test_clock; }
    if ((test_clock & MATCH_CARFIELD_CLUSTER_CLOCK_HWPE) == 0u) { abort(); }
    return carfield_redmule_read((uint32_t)(address - MATCH_CARFIELD_REDMULE_BASE));
}
void test_write(uintptr_t address, uint32_t value)
{
    if (address == MATCH_CARFIELD_CLUSTER_CONTROL_BASE + MATCH_CARFIELD_CLUSTER_CLOCK) { test_clock = value; return; }
    if ((test_clock & MATCH_CARFIELD_CLUSTER_CLOCK_HWPE) == 0u) { abort(); }
    carfield_redmule_write((uint32_t)(address - MATCH_CARFIELD_REDMULE_BASE), value);
}
"""


def write_headers(folder: Path) -> None:
    """What the kernels include and the runtime of the platform does not give here."""
    for header in (*map(context_header, (*HALF_INTERFACES, *INT8_INTERFACES)), half_header()):
        (folder / header.name).write_text(header.text)
    shutil.copyfile(CORE_TEMPLATES / "match_float.h", folder / "match_float.h")
    pulp = CLUSTER.format(core="rt_core_id", cores="get_core_num", count=8)
    spatz = CLUSTER.format(core="snrt_cluster_core_idx", cores="snrt_cluster_core_num", count=2)
    texts = {"pulp.h": pulp, "snrt.h": spatz, "match_runtime.h": QUEUE, "test_io.h": IO, "probe.c": PROBE}
    texts[HEADER_NAME] = render_timing_header()
    for name, text in texts.items():
        (folder / name).write_text(text)


def build(folder: Path, *flags: str) -> ctypes.CDLL:
    """Kernels of both clusters and RedMulE, free of warnings."""
    write_headers(folder)
    folders = (folder, RUNTIME, PACKAGE / "twin/src", PACKAGE / "twin/include", TWIN)
    output = folder / "kernels.so"
    sources = (*SOURCES, *REDMULE, folder / "probe.c")
    link_cached(output, (*STRICT, "-O1", "-fPIC", "-shared", "-include", "test_io.h", *flags), sources, folders)
    return ctypes.CDLL(str(output))


def context(interface: KernelInterface, fields: Mapping[str, Any]) -> ctypes.Structure:
    """The kernel context, as ``context_header`` lays it out; arrays become addresses."""
    sizes = [dim.lower() for dim in interface.dims]
    for operand, axis in interface.windowed:
        sizes += [f"{operand}_{axis}", f"{operand}_{axis}_pad_before", f"{operand}_{axis}_pad_after"]
    layout = [
        *((name, ctypes.c_void_p) for name in (*(name for name, _ in interface.operands), "scratch")),
        *((name, ctypes.c_uint32) for name in sizes),
        *((name, ctypes.c_int32) for name in interface.geometry),
    ]
    assert set(fields) <= {name for name, _ in layout}, set(fields) - {name for name, _ in layout}
    made = type("Context", (ctypes.Structure,), {"_fields_": layout})()
    for name, value in fields.items():
        setattr(made, name, value.ctypes.data if isinstance(value, np.ndarray) else value)
    return made
