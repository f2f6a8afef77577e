"""Every Carfield figure of the platform: one table, each figure with its public source.

``sheet`` in a source is the public hardware summary of Carfield in the project's hardware notes; the repository
or paper behind it is named too. ``estimate`` marks figures that are reasoned here because none is public. Figures of
kernels stand in ``kernel_constants``.

There are two tables, which differ in the signalling between units and host: ``event`` uses mailboxes and
interrupts, ``poll`` counters. Presets change single figures of both (``presets``). All units run at one
clock, as far as anything is public.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from match_core import Constant, Soc
from match_core.patterns.formulas import by_name, cycles

from match_carfield.half.constants import KERNEL_CONSTANTS
from match_carfield.int8.constants import INT8_CONSTANTS
from match_carfield.presets import DEFAULT_PRESET, PRESETS

_MATCHA = "MATCHA, arXiv 2604.09124 (sheet 1)"
_COPIES = "python -m benchmarks.carfield_counts, copies of pulp"
_MATCH_DMA = "match:match/cost_model/examples/pulp_cluster.py as used for Carfield (sheet 4)"
_LINKER = "MATCHA's linker scripts (sheet 2)"
_MAP = "carfield:docs/um/arch.md (sheet 2)"
_MCHAN = "pulp_cluster MCHAN configuration, 64-bit AXI (sheet 2)"
_SNITCH = "spatz_cluster.carfield.l2.hjson: 64-bit DMA (sheet 2)"
_REGISTER = "no public figure: a load or store of the CVA6 that leaves for the peripheral bus"


_CHIP = (
    Constant("clock_hz", 50_000_000, "Hz", _MATCHA),
    Constant("pulp_cores", 8, "cores", _MATCHA),
    Constant("spatz_cores", 2, "cores", _MATCHA),
    Constant("spatz_vlen_bits", 512, "bits", _MATCHA),
    Constant("l2_bytes", 1_048_576, "bytes", _MAP),
    Constant("l2_data_bytes", 832 * 1024, "bytes", _LINKER),
    Constant("pulp_l1_bytes", 262_144, "bytes", _MAP),
    Constant("spatz_l1_bytes", 131_072, "bytes", _MAP),
    Constant("pulp_l1_data_bytes", 128 * 1024, "bytes", _LINKER),
    Constant("spatz_l1_data_bytes", 64 * 1024, "bytes", _LINKER),
    Constant(
        "l3_bytes", 63 * 1024 * 1024, "bytes", _LINKER + ": 64 MiB of DRAM, the first of them for the host's program"
    ),
)

# Copies. MCHAN's commands are those of the same DMA on GAP9.
_DMA = (
    Constant("dma_max_bytes", 131_071, "bytes", "MCHAN command word, 17-bit length (sheet 2)"),
    Constant(
        "dma_stride_max_bytes", 65_535, "bytes", "pulp-runtime include/hal/dma/mchan_v7.h: 16-bit stride and length"
    ),
    Constant("dma_counters", 16, "ids", "pulp-runtime include/hal/dma/mchan_v7.h: status of 16 transfers"),
    Constant("pulp_dma_bytes_per_cycle", 8, "bytes/cycle", _MCHAN),
    Constant("dma_burst_bytes", 256, "bytes", _MCHAN),
    cycles("dma_burst_cycles", 1, "gvsoc-pulp mchan_v7.py, the same DMA on GAP9"),
    cycles(
        "pulp_dma_dense_cycles",
        60,
        f"{_COPIES}: dense, 43 instructions; a load and 3 stores to registers of the DMA, 4 more each",
        estimate=True,
    ),
    cycles(
        "pulp_dma_strided_cycles",
        95,
        f"{_COPIES}: rows, 70 instructions; a load and 5 stores to registers, 4 more each",
        estimate=True,
    ),
    cycles(
        "pulp_dma_planes_cycles",
        55,
        f"{_COPIES}: what two planes take beyond rows and a plane more, 53 instructions",
        estimate=True,
    ),
    cycles(
        "pulp_dma_further_cycles",
        30,
        f"{_COPIES}: a plane more, 11 instructions; 5 stores to registers, 4 more each",
        estimate=True,
    ),
    cycles("pulp_dma_row_cycles", 1, _MATCH_DMA),
    cycles("pulp_dma_plane_cycles", 0, "software, counted as such; MATCH takes 10", estimate=True),
    cycles("pulp_dma_wait_cycles", 15, "GVSoC's MCHAN with event wait, measured for GAP9", estimate=True),
    Constant("spatz_dma_bytes_per_cycle", 8, "bytes/cycle", _SNITCH),
    cycles(
        "spatz_dma_issue_cycles",
        25,
        "instructions of snrt_dma_start_2d, its call and its arguments",
        estimate=True,
    ),
    cycles("spatz_dma_row_cycles", 1, _MATCH_DMA),
    cycles("spatz_dma_wait_cycles", 10, "no public figure: the loop in snrt_dma_wait_all sees the end", estimate=True),
    Constant(
        "dram_bytes_per_cycle",
        4,
        "bytes/cycle",
        "no public figure of the DRAM path; half of the 64-bit AXI, for refresh and the way through the LLC",
        estimate=True,
    ),
    cycles("dram_setup_cycles", 200, "no public figure: first word through AXI, LLC and DRAM", estimate=True),
    cycles("sysdma_issue_cycles", 100, _REGISTER + ": four stores and a load, 20 each", estimate=True),
    cycles("sysdma_poll_cycles", 20, _REGISTER, estimate=True),
)

# Hand-over of tasks.
_HOST = (
    cycles("boot_cycles", 20_000, "no public figure: runtime's start, stacks and tables cleared", estimate=True),
    cycles("mailbox_send_cycles", 100, _REGISTER + ": two letters, SET and EN, with fences, 20 each", estimate=True),
    cycles("mailbox_receive_cycles", 80, _REGISTER + ": two letters, CLR and EN, 20 each", estimate=True),
    cycles(
        "irq_entry_cycles", 100, "no public figure: 40 until the host is awake; claim, complete, claim", estimate=True
    ),
    cycles("unit_wake_cycles", 60, "no public figure: event to clock, pipeline filled, call", estimate=True),
    cycles("l2_access_cycles", 20, _REGISTER + ", to L2 through two crossbars and a clock crossing", estimate=True),
)

# A team is two barriers: one that hands over the kernel, one after it.
_TEAMS = (
    cycles(
        "pulp_barrier_cycles",
        30,
        "hardware barrier of the PULP cluster, 11 cycles (Glaser et al. DATE 2019), reading the entry, the call",
        estimate=True,
    ),
    cycles(
        "spatz_barrier_cycles",
        30,
        "no public figure: a load from the barrier register, reading entry and argument, the call",
        estimate=True,
    ),
)

_COMMON = _CHIP + _DMA + _HOST + _TEAMS + KERNEL_CONSTANTS + INT8_CONSTANTS

# Register accesses of runtime/match_carfield_{protocol.h,host.c,pulp.c,spatz.c}; without traps.
_EVENT = (
    cycles(
        "post_cycles",
        110,
        "50 for the search of tasks that may run; the counter, SET and EN of a mailbox, 20 each",
        estimate=True,
    ),
    cycles("wake_cycles", 100, "60 as unit_wake_cycles; CLR of the mailbox and the counter, 20 each", estimate=True),
    cycles(
        "notify_cycles",
        220,
        "the counter, SET and EN, 20 each; 40 until the host is awake; claim, CLR, letter, complete, claim, the "
        "counter, 20 each",
        estimate=True,
    ),
    cycles("task_cycles", 40, "the counter read and written by the unit", estimate=True),
)
_POLL = (
    cycles("post_cycles", 70, "50 for the search of tasks that may run, 20 for the counter", estimate=True),
    cycles("wake_cycles", 40, "two reads of the counter", estimate=True),
    cycles("notify_cycles", 60, "the counter written and read", estimate=True),
    cycles("task_cycles", 40, "the counter read and written by the unit", estimate=True),
)

SIGNALLINGS: Mapping[str, tuple[Constant, ...]] = MappingProxyType({"event": _COMMON + _EVENT, "poll": _COMMON + _POLL})
DEFAULT = "event"


def signalling_of(soc: Soc) -> str:
    """The name of a Soc's table: ``event`` or ``poll``."""
    return soc.signalling.kind if soc.signalling is not None else DEFAULT


def preset_of(soc: Soc) -> str:
    """The preset that a Soc chose; the default for Socs of other packages, which may have other ones."""
    return soc.preset if soc.preset in PRESETS else DEFAULT_PRESET


@lru_cache(maxsize=16)
def constants(signalling: str = DEFAULT, preset: str = DEFAULT_PRESET) -> tuple[Constant, ...]:
    """The table in its fixed order. Raises KeyError for an unknown name."""
    changed = {constant.name: constant for constant in PRESETS[preset]}
    return tuple(changed.get(constant.name, constant) for constant in SIGNALLINGS[signalling])


def values(signalling: str = DEFAULT, preset: str = DEFAULT_PRESET) -> Mapping[str, int]:
    """Name to value; every figure is an integer."""
    return by_name(constants(signalling, preset))
