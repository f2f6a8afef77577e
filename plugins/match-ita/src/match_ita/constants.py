"""Every figure of ITA and its cluster: one table, each figure with its public source.

``sheet`` in a source is the public hardware summary of ITA in the project's hardware notes; the repository or
paper behind it is named too. ``estimate`` marks figures that are reasoned here because none is public. Presets change
single figures (``presets``). All cores, ITA and the DMA run at one clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from match_core import Constant, Soc
from match_core.patterns.formulas import by_name, cycles

from match_ita.presets import DEFAULT_PRESET, PRESETS
from match_ita.snitch_products import constants as snitch_products_constants
from match_ita.snitch_rows import constants as snitch_rows_constants

_PAPER = "IEEE Design & Test 42:5, 2025"
_RTL = "pulp-platform/ITA ba96519"
_SNITCH = "pulp-platform/snitch_cluster 2fa3848"
_REGISTER = "no public figure: 10 cycles for each access to a peripheral register of the cluster"
_COUNTER = "no public figure: 10 cycles for each access to a counter in background memory"


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

_CTRL = f"{_RTL}: ita_hwpe_ctrl.sv"
_READ = f"{_RTL}, read, not simulated"
_JOBS = (
    cycles("job_cycles", 256, f"{_RTL}: 64 rows in 4 groups of 16 columns"),
    # One access of 128 bytes a cycle is shared by input, weights, bias and output.
    Constant("job_input_reads", 128, "accesses", f"{_CTRL}: two rows each, all rows for every group of 16 columns"),
    Constant("job_weight_reads", 24, "accesses", f"{_CTRL}: two columns each, without the first 16 columns"),
    Constant("job_first_weight_reads", 8, "accesses", f"{_CTRL}: the first 16 columns, by the job before or preloaded"),
    Constant("job_bias_reads", 2, "accesses", _CTRL),
    Constant("job_writes", 128, "accesses", f"{_CTRL}: 16 columns of two rows each"),
    cycles("job_fill_cycles", 8, f"{_READ}: streamer, its FIFO, L1, input buffer, before the first row", estimate=True),
    cycles(
        "job_drain_cycles",
        17,
        f"{_READ}: 10 stages of the pipeline, output FIFO and buffer, sink, the last store; only jobs with results",
        estimate=True,
    ),
    cycles(
        "job_turn_cycles",
        4,
        f"{_READ}: the controller leaves a job when all streams have ended, then the next context starts",
        estimate=True,
    ),
    cycles(
        "job_program_cycles",
        80,
        f"{_REGISTER}: acquire, five pointers, one control word, trigger",
        estimate=True,
    ),
    cycles("job_setup_cycles", 100, f"{_REGISTER}: ten words that a layer's jobs have in common", estimate=True),
    cycles("jobs_launch_cycles", 60, f"{_REGISTER}: the end seen; call and return", estimate=True),
    cycles(
        "tail_cycles",
        120,
        "no public figure: set-up of a copy inside of L1 for what a short block leaves behind, up to 64 rows, wait",
        estimate=True,
    ),
)

_DMA = (
    Constant("dma_bytes_per_cycle", 64, "bytes/cycle", f"{_PAPER}: 512-bit AXI"),
    cycles("dma_issue_cycles", 25, f"{_SNITCH}: instructions of snrt_dma_start_2d, its call, arguments", estimate=True),
    cycles("dma_row_cycles", 1, "no public figure: a request of the 2-D middle end for each row", estimate=True),
    cycles("dma_latency_cycles", 40, "no public figure: first word through two crossbars", estimate=True),
    cycles("dma_wait_cycles", 10, f"{_SNITCH}: the loop of snrt_dma_wait_all sees the end", estimate=True),
)

# Side by side core 0 of the compute cores writes its copies as requests into a ring in L1, which the DM core serves.
_RING = (
    cycles("ring_post_cycles", 25, "instructions that write eight words and a counter to L1", estimate=True),
    cycles("ring_serve_cycles", 30, "instructions that read a request, and the loop that finds it", estimate=True),
)

_SIGNALLING = (
    cycles("call_cycles", 120, f"{_COUNTER}: order and argument, answer, and the loops that see them", estimate=True),
    cycles("post_cycles", 60, f"{_COUNTER}: 50 for the search of tasks that may run", estimate=True),
    cycles("wake_cycles", 20, f"{_COUNTER}: two reads", estimate=True),
    cycles("notify_cycles", 30, f"{_COUNTER}: written and read", estimate=True),
    cycles("task_cycles", 40, f"{_COUNTER}: read and written; the task's row of addresses", estimate=True),
    cycles("session_cycles", 300, f"{_COUNTER}: both loops are called and end, and the host sees it", estimate=True),
)

#: The hand-over of a kernel to the compute cores.
_TEAM = (
    cycles(
        "team_launch_cycles",
        60,
        f"{_SNITCH}: entry and argument written to L1, eight cores woken by the cluster's interrupt register, call",
        estimate=True,
    ),
    cycles("team_wait_cycles", 30, f"{_SNITCH}: the last core's barrier, and the loop that sees it", estimate=True),
    cycles("barrier_cycles", 20, f"{_SNITCH}: load of the hardware barrier's register, by all cores", estimate=True),
)

#: The unit that multiplies and divides for all compute cores.
_SHARED = (
    Constant(
        "shared_uses_per_1000_cycles",
        884,
        "uses",
        f"calibrated to a published number: 0.884 products a cycle of GEMM on the cores alone ({_PAPER}: 741 GOP/s is "
        f"986 times theirs, at 425 MHz); one multiplication a cycle is the hardware's limit ({_SNITCH}: one "
        "snitch_shared_muldiv for the cores of a hive)",
        estimate=True,
    ),
)

# Power of the whole cluster, copies in the background included. Nothing is published for cores and ITA at once, for
# copies that no kernel hides, or for an idle cluster.
_POWER = (
    Constant("cores_microwatts", 26_000, "uW", f"{_PAPER}, table I: networks on the cores alone, 26.0 mW"),
    Constant("products_microwatts", 136_716, "uW", f"{_PAPER}: 741 GOP/s at 5.42 TOP/J in GEMM on ITA"),
    Constant("attention_microwatts", 104_409, "uW", f"{_PAPER}: 663 GOP/s at 6.35 TOP/J in attention on ITA"),
)

#: Figures of the compute cores' kernels.
SNITCH_CONSTANTS = _SHARED + snitch_products_constants.CONSTANTS + snitch_rows_constants.CONSTANTS
_TABLE = _CHIP + _ITA + _JOBS + _DMA + _RING + _SIGNALLING + _TEAM + _POWER + SNITCH_CONSTANTS


def preset_of(soc: Soc) -> str:
    """The preset that a Soc chose; the default for Socs of other packages, which may have other ones."""
    return soc.preset if soc.preset in PRESETS else DEFAULT_PRESET


@lru_cache(maxsize=4)
def constants(preset: str = DEFAULT_PRESET) -> tuple[Constant, ...]:
    """The table of a preset in its fixed order. Raises KeyError for an unknown preset."""
    changed = {constant.name: constant for constant in PRESETS[preset]}
    return tuple(changed.get(constant.name, constant) for constant in _TABLE)


@lru_cache(maxsize=4)
def values(preset: str = DEFAULT_PRESET) -> Mapping[str, int]:
    """Name to value of a preset; every figure is an integer."""
    return by_name(constants(preset))
