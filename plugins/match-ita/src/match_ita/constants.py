"""Every figure of ITA and its cluster: one table, each figure with its public source.

``sheet`` in a source is the public hardware summary of ITA kept with the project's hardware notes; the repository or
paper behind it is named too. ``estimate`` marks figures that are reasoned here because none is public. Presets change
single figures (``presets``). All cores, ITA and the DMA run at one clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from match_core import Constant, Soc

from match_ita import snitch_products_constants, snitch_rows_constants
from match_ita.presets import DEFAULT_PRESET, PRESETS

_PAPER = "IEEE Design & Test 42:5, 2025"
_RTL = "pulp-platform/ITA ba96519"
_SNITCH = "pulp-platform/snitch_cluster 2fa3848"
_REGISTER = "no public figure: 10 cycles for each access to a peripheral register of the cluster"
_COUNTER = "no public figure: 10 cycles for each access to a counter in background memory"


def _cycles(name: str, value: int, source: str, *, estimate: bool = False) -> Constant:
    return Constant(name, value, "cycles", source, estimate)


_CHIP = (
    Constant("clock_hz", 425_000_000, "Hz", f"{_PAPER}: 0.65 V, the operating point of all published throughput"),
    Constant("cores", 8, "cores", _PAPER),
    Constant("l1_bytes", 128 * 1024, "bytes", _PAPER),
    Constant(
        "l1_data_bytes",
        118 * 1024,
        "bytes",
        "128 KiB less 1 KiB of stack for each of nine cores and 1 KiB for the runtime",
        estimate=True,
    ),
    Constant(
        "l1_ita_bytes",
        107_008,
        "bytes",
        "ITA's part of L1 side by side with the cores: a head of attention over 512 keys, 64 rows at a time",
        estimate=True,
    ),
    Constant("l2_bytes", 64 * 1024 * 1024, "bytes", "no public figure: room for the largest published network", True),
)

_ITA = (
    Constant("dot_products", 16, "units", f"{_RTL}: N"),
    Constant("block", 64, "elements", f"{_RTL}: M, the length of a dot product and the side of a block"),
    Constant("accumulator_bits", 26, "bits", f"{_RTL}: D"),
    Constant("bias_bits", 24, "bits", f"{_RTL}: ita_package.sv"),
    Constant("multiplier_bits", 8, "bits", f"{_RTL}: ita_requantizer.sv, unsigned"),
    Constant("shift_max", 33, "bits", f"{_RTL}: ita_requantizer.sv, products have 34 bits"),
    Constant("add_bits", 8, "bits", f"{_RTL}: ita_requantizer.sv, signed"),
    Constant("gelu_bits", 16, "bits", f"{_RTL}: job word 15"),
    Constant("contexts", 4, "jobs", f"{_RTL}: N_CONTEXT"),
    Constant("tiles_max", 15, "blocks", f"{_RTL}: fields of 4 bits in the register of tile counts"),
    Constant("sum_length_max", 512, "elements", f"{_PAPER}: 26 bits hold sums of 2^(26-17) products"),
    Constant("softmax_shift", 0, "bits", f"{_RTL}: SoftmaxShift"),
    Constant("softmax_numerator", 255 * 256, "1", f"{_RTL}: SoftmaxScalar"),
    Constant("output_offset", 0, "1", f"{_RTL}: probabilities are unsigned, nothing is added to them"),
)

_GEMM = f"{_PAPER}: 85.1 % of the peak on products, 256 / 0.851 - 256"
_JOBS = (
    _cycles("job_cycles", 256, f"{_RTL}: 64 rows in 4 groups of 16 columns"),
    _cycles("job_overhead_cycles", 45, _GEMM, estimate=True),
    _cycles(
        "attention_job_overhead_cycles",
        167,
        f"{_PAPER}: 74.9 % in single-head attention with S = E = P, where a third of the jobs are QK and AV: "
        "(3 * 256 / 0.749 - 2 * 301) - 256",
        estimate=True,
    ),
    _cycles(
        "job_program_cycles",
        80,
        f"{_REGISTER}: acquire, five pointers, one control word, trigger",
        estimate=True,
    ),
    _cycles("job_setup_cycles", 100, f"{_REGISTER}: ten words that a layer's jobs have in common", estimate=True),
    _cycles("jobs_launch_cycles", 60, f"{_REGISTER}: the end seen; call and return", estimate=True),
    _cycles(
        "tail_cycles",
        120,
        "no public figure: set-up of a copy inside of L1 for what a short block leaves behind, up to 64 rows, wait",
        estimate=True,
    ),
)

_DMA = (
    Constant("dma_bytes_per_cycle", 64, "bytes/cycle", f"{_PAPER}: 512-bit AXI"),
    _cycles(
        "dma_issue_cycles", 25, f"{_SNITCH}: instructions of snrt_dma_start_2d, its call, arguments", estimate=True
    ),
    _cycles("dma_row_cycles", 1, "no public figure: a request of the 2-D middle end for each row", estimate=True),
    _cycles("dma_latency_cycles", 40, "no public figure: first word through two crossbars", estimate=True),
    _cycles("dma_wait_cycles", 10, f"{_SNITCH}: the loop of snrt_dma_wait_all sees the end", estimate=True),
)

# Side by side core 0 of the compute cores writes its copies as requests into a ring in L1, which the DM core serves.
_RING = (
    _cycles("ring_post_cycles", 25, "instructions that write eight words and a counter to L1", estimate=True),
    _cycles("ring_serve_cycles", 30, "instructions that read a request, and the loop that finds it", estimate=True),
)

_SIGNALLING = (
    _cycles("call_cycles", 120, f"{_COUNTER}: order and argument, answer, and the loops that see them", estimate=True),
    _cycles("post_cycles", 60, f"{_COUNTER}: 50 for the search of tasks that may run", estimate=True),
    _cycles("wake_cycles", 20, f"{_COUNTER}: two reads", estimate=True),
    _cycles("notify_cycles", 30, f"{_COUNTER}: written and read", estimate=True),
    _cycles("task_cycles", 40, f"{_COUNTER}: read and written; the task's row of addresses", estimate=True),
    _cycles("session_cycles", 300, f"{_COUNTER}: both loops are called and end, and the host sees it", estimate=True),
)

#: The hand-over of a kernel to the compute cores.
_TEAM = (
    _cycles(
        "team_launch_cycles",
        60,
        f"{_SNITCH}: entry and argument written to L1, eight cores woken by the cluster's interrupt register, call",
        estimate=True,
    ),
    _cycles("team_wait_cycles", 30, f"{_SNITCH}: the last core's barrier, and the loop that sees it", estimate=True),
    _cycles("barrier_cycles", 20, f"{_SNITCH}: load of the hardware barrier's register, by all cores", estimate=True),
)

#: Figures of the compute cores' kernels.
SNITCH_CONSTANTS = snitch_products_constants.CONSTANTS + snitch_rows_constants.CONSTANTS
_TABLE = _CHIP + _ITA + _JOBS + _DMA + _RING + _SIGNALLING + _TEAM + SNITCH_CONSTANTS


def preset_of(soc: Soc) -> str:
    """The preset that a Soc chose; the default for Socs of other packages, which may have other ones."""
    return soc.preset if soc.preset in PRESETS else DEFAULT_PRESET


def constants(preset: str = DEFAULT_PRESET) -> tuple[Constant, ...]:
    """The table of a preset in its fixed order. Raises KeyError for an unknown preset."""
    changed = {constant.name: constant for constant in PRESETS[preset]}
    return tuple(changed.get(constant.name, constant) for constant in _TABLE)


@lru_cache(maxsize=4)
def values(preset: str = DEFAULT_PRESET) -> Mapping[str, int]:
    """Name to value of a preset; every figure is an integer."""
    return MappingProxyType({constant.name: int(constant.value) for constant in constants(preset)})
