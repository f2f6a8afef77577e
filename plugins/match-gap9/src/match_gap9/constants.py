"""Every GAP9 figure the package uses: one table, three presets, each figure with its public source.

``sheet`` in a source is the public hardware summary of GAP9 in the project's hardware notes; the
repository or paper behind it is named too. ``estimate`` marks figures that are reasoned here because none is
public, or that were published for a sibling chip.

Presets: ``open-sdk``, the default, has figures fitted to cycles of emitted programs on the open simulator
(``constants_counted.py``); ``as-published`` the cost figures that public compilers for GAP9 state; ``engine`` is a
lower bound: NE16 and the DMA as the simulator counts them, and next to no software around them. None is from silicon.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from match_core import Constant, Soc
from match_core.patterns.formulas import by_name, cycles, fitted

from match_gap9.constants_counted import AROUND, BYTES, LIBRARY, OWN, SOFTWARE, left_out

_MATCH = "MATCH TCAD 2025 code, match/target/examples/gap9/cluster/cost_model.py (sheet 3.2)"
_MATCH_DMA = "MATCH TCAD 2025 code, match/target/examples/gap9/cluster/cost_model.py (sheet 3.1)"
_NE16 = "plinio/cost/ne16_latency.py, same model in dory and MATCH (sheet 3.3)"
_GVSOC = "GVSoC 209c147 NE16 model, exact for 160 of 160 measured jobs (sheet 3.5)"
_GVSOC_FSM = "GVSoC NE16 state machine source (ne16_fsm.cpp, ne16_streamout.cpp); read, not measured"
_GVSOC_DMA = "GVSoC 209c147 MCHAN measurements, event wait (sheet 3.5)"
_JOB = (
    "instructions executed in runtime/match_gap9_ne16_job.c (gcc 12 -O2, rv32imac, counted with qemu), one cycle each: "
)

_CHIP = (
    Constant("core_count", 8, "cores", "ITA-DT section V-C: 8 workers + 1 controller (sheet 2.1)"),
    Constant("controller_core_id", 8, "id", "Deeploy GAP9 target: the controller has pi_core_id() 8 (sheet 2.1)"),
    Constant("clock_hz", 260_000_000, "Hz", "clock of the measured GAP9 numbers, MATCH section VI (sheet 1)"),
    Constant("l1_bytes", 131_072, "bytes", "MATCH section V-B; NE16 address window of 17 bits (sheet 1)"),
    Constant("l2_bytes", 1_572_864, "bytes", "GreenWaves product page: 1.5 MB (sheet 1)"),
)

_DMA = (
    Constant("dma_max_bytes", 131_071, "bytes", "MCHAN v7 command word, 17-bit length (sheet 1)"),
    Constant("dma_transfer_ids", 16, "ids", "MCHAN v7 (sheet 1)"),
    Constant("dma_bytes_per_cycle", 8, "bytes/cycle", "dory GAP9/HW_description.json (sheet 1)"),
    Constant("dma_l1_word_bytes", 4, "bytes", "TCDM word written per cycle and port (sheet 3.5)"),
    Constant("dma_burst_bytes", 256, "bytes", "gvsoc-pulp mchan_v7.py (sheet 1)"),
    cycles("dma_burst_cycles", 1, _GVSOC_DMA),
    cycles("dma_row_cycles", 1, _MATCH_DMA),
    cycles("dma_plane_cycles", 10, _MATCH_DMA),
    cycles("dma_byte_row_command_cycles", 12, _MATCH_DMA + ", HWC to CHW"),
)

_L3_RAM = "octal DDR RAM at 200 MHz, as APS256XXN of the GAP9 board files: 400 MB/s"
_L3_REQUEST = "no public figure; a request passes the fabric controller, as the hand-over of a layer does"
_L3 = (
    Constant(
        "l3_bytes", 33_554_432, "bytes", "GreenWaves board header gap9_evk.h: APS25XXXN RAM of 1 << 25; dory takes 8 MB"
    ),
    Constant(
        "l3_bytes_per_cycle",
        1,
        "bytes/cycle",
        _L3_RAM + ", 1.5 bytes per cycle of 260 MHz; a third off for commands, latency and refresh",
        estimate=True,
    ),
    cycles("l3_issue_cycles", 100, _L3_REQUEST + ": filling the request and the event", estimate=True),
    cycles("l3_setup_cycles", 500, _L3_REQUEST + ": half of that, driver and first word", estimate=True),
    cycles("l3_wait_cycles", 100, _L3_REQUEST + ": event back and wake-up", estimate=True),
)

# PULP-NN convolution: 2 pixels x 4 output channels per inner loop, 4 values per SIMD word.
_CLUSTER = (
    Constant("conv_pixels", 2, "pixels", _MATCH),
    Constant("conv_channels", 4, "channels", _MATCH),
    Constant("simd_values", 4, "values", _MATCH),
    cycles("loop_setup_cycles", 5, _MATCH),
    cycles("loop_finish_cycles", 10, _MATCH),
    Constant("conv_block_loads", 6, "instructions", _MATCH),
    Constant("conv_block_macs", 8, "instructions", _MATCH),
    Constant("conv_channel_loads", 3, "instructions", _MATCH + ", leftover output channel"),
    Constant("conv_channel_macs", 2, "instructions", _MATCH + ", leftover output channel"),
    Constant("conv_pixel_loads", 2, "instructions", _MATCH + ", odd last column"),
    Constant("conv_pixel_macs", 1, "instructions", _MATCH + ", odd last column"),
    cycles("scalar_load_cycles", 3, _MATCH),
    cycles("scalar_mac_cycles", 14, _MATCH),
    cycles("depthwise_vector_step_cycles", 7, _MATCH),
    cycles("depthwise_scalar_step_cycles", 6, _MATCH),
    cycles("depthwise_quant_cycles", 9, _MATCH),
    Constant("linear_inputs", 2, "inputs/cycle", _MATCH),
    Constant("linear_outputs", 4, "outputs/cycle", _MATCH),
    Constant("wide_requant_few_pixels", 4, "pixels", "FEW_PIXELS in runtime/match_gap9_ne16_wide.c"),
    cycles(
        "team_barrier_cycles",
        11,
        "hardware barrier of the PULP cluster, Glaser et al. DATE 2019",
        estimate=True,
    ),
    # Together the 100 cycles that an earlier estimate gave fork and join.
    cycles(
        "team_offload_cycles",
        40,
        "controller: call, two words into the dispatch FIFO of the event unit, later the join; no public figure",
        estimate=True,
    ),
    cycles(
        "team_start_cycles",
        60,
        "workers: wake-up, reading entry and argument, the call, and its return; no public figure",
        estimate=True,
    ),
    cycles(
        "team_lead_cycles",
        20,
        "core 0 stores entry and argument behind a call, the others load them; no public figure",
        estimate=True,
    ),
    cycles(
        "cluster_offload_cycles",
        1000,
        "fabric controller to cluster and back; no public figure",
        estimate=True,
    ),
)

# Units side by side: the fabric controller and two cores of the cluster look at counters in L2, which the cluster reads
# in about 10 cycles (dory GAP9/HW_description.json, sheet 1).
_SIGNALLING = (
    cycles("post_cycles", 70, "50 for the search of tasks that may run, 20 for the counter", estimate=True),
    cycles("wake_cycles", 40, "two reads of the counter, 10 each, and the loop around them", estimate=True),
    cycles("notify_cycles", 60, "counter written to L2, and read by the fabric controller's loop", estimate=True),
    cycles("task_cycles", 40, "counter read and written; the task's row of addresses read", estimate=True),
    Constant(
        "dma_shared_percent",
        40,
        "percent",
        "both units' copies take turns on one DMA: what programs with many copies take longer on the twin, with one "
        "clock per direction (benchmarks.side_by_side). The simulator has no conflicts of banks (referee/overlap.csv)",
        estimate=True,
    ),
)

_NE16_COMMON = (
    Constant("ne16_contexts", 2, "jobs", "ne16 RTL N_CONTEXT (sheet 5.1)"),
    Constant("ne16_tile_pixels", 3, "pixels", "ne16 RTL: 3x3 output pixels per subtile (sheet 3.3)"),
    Constant("ne16_tile_outputs", 32, "channels", "ne16 RTL TP_OUT (sheet 3.3)"),
    Constant("ne16_tile_inputs", 16, "channels", "ne16 RTL TP_IN (sheet 3.3)"),
    cycles(
        "ne16_program_cycles",
        255,
        "GVSoC: acquire and 24 register writes take 251 to 259 cycles (sheet 3.5)",
        estimate=True,
    ),
    cycles("ne16_word_cycles", 9, "GVSoC: 24 register writes by the driver's loop take 232 to 238 cycles (sheet 3.5)"),
    cycles(
        "ne16_words_cycles",
        250,
        _JOB + "match_gap9_ne16_tile_3x3 and match_gap9_ne16_fill",
        estimate=True,
    ),
    cycles(
        "ne16_rows_cycles",
        75,
        _JOB + "match_gap9_ne16_set_rows",
        estimate=True,
    ),
)

_NE16_PUBLISHED = (
    cycles("ne16_load_1x1_cycles", 10, _NE16),
    cycles("ne16_fifo_cycles", 6, _NE16),
    cycles("ne16_update_cycles", 2, _NE16),
    cycles("ne16_scale_cycles", 9, _NE16),
    cycles("ne16_bias_cycles", 8, _NE16),
    cycles("ne16_streamout_cycles", 4, _NE16 + ": 3 and 1 to end"),
    Constant("ne16_multipliers", 4, "1/cycle", _NE16),
    Constant("ne16_adders", 8, "1/cycle", _NE16),
    Constant("ne16_shifters", 4, "1/cycle", _NE16),
    Constant("ne16_memory_bits", 256, "bits/cycle", _NE16),
)

_NE16_ENGINE = (
    cycles("ne16_job_cycles", 9, _GVSOC),
    cycles("ne16_conv3x3_step_cycles", 18, _GVSOC),
    cycles("ne16_conv1x1_step_cycles", 31, _GVSOC),
    cycles("ne16_depthwise_step_cycles", 28, _GVSOC),
    cycles("ne16_engine_bias_cycles", 4, _GVSOC),
    cycles("ne16_engine_shift_cycles", 1, _GVSOC_FSM, estimate=True),
    Constant("ne16_out_words", 8, "channels", _GVSOC_FSM + "; 32-bit channels per store", estimate=True),
)

_COMMON = _CHIP + _DMA + _L3 + _CLUSTER + OWN + BYTES + _SIGNALLING + _NE16_COMMON + _NE16_PUBLISHED + _NE16_ENGINE

_AS_PUBLISHED = (
    Constant("simulator_forms", 0, "flag", "NE16 and DMA by the published formulas (sheet 3.1, 3.3)"),
    Constant("counted", 0, "flag", "PULP-NN's kernels and copies by the published formulas (sheet 3.2)"),
    cycles("dma_setup_cycles", 370, _MATCH_DMA),
    cycles("dma_api_cycles", 550, _MATCH_DMA),
    cycles("dma_wait_in_cycles", 0, "the published model has no separate wait (sheet 3.1)"),
    cycles("dma_wait_out_cycles", 0, "the published model has no separate wait (sheet 3.1)"),
)

_ENGINE = (
    Constant("simulator_forms", 1, "flag", "NE16 and DMA by the simulator's formulas (sheet 3.5)"),
    Constant("counted", 0, "flag", "PULP-NN's kernels and copies by the published formulas (sheet 3.2)"),
    cycles("dma_setup_cycles", 0, _GVSOC_DMA + ": no runtime"),
    cycles("dma_api_cycles", 13, _GVSOC_DMA + ": issue of a queued plane"),
    cycles("dma_wait_in_cycles", 15, _GVSOC_DMA + ": 28 cycles in all, 13 of them issue"),
    cycles("dma_wait_out_cycles", 16, _GVSOC_DMA + ": 29 cycles in all, 13 of them issue"),
)

#: How the names of the constants begin that counters may replace: time of software, not sizes and rates of hardware.
_FITTED = (
    *("cluster_offload_", "conv_block_", "conv_channel_", "conv_pixel_", "depthwise_", "dma_api_", "dma_plane_issue_"),
    *("dma_rows_", "dma_setup_", "dma_wait_", "l3_issue_", "l3_setup_", "l3_wait_", "linear_", "loop_"),
    *("ne16_cold_", "ne16_program_", "ne16_rows_", "ne16_word_", "ne16_words_", "scalar_", "sdk_", "step_", "team_"),
)
_FITTED_UNITS = ("cycles", "instructions", "inputs/cycle")
_OPEN_SDK = {
    **{constant.name: constant for constant in _COMMON + _ENGINE},
    **{constant.name: constant for constant in SOFTWARE + AROUND + LIBRARY},
    "counted": Constant("counted", 1, "flag", "PULP-NN's kernels and copies by what cores execute"),
}


def _table(*constants: Constant) -> tuple[Constant, ...]:
    return tuple(replace(c, may_fit=c.name.startswith(_FITTED) and c.unit in _FITTED_UNITS) for c in constants)


PRESETS: Mapping[str, tuple[Constant, ...]] = MappingProxyType(
    {
        "open-sdk": _table(*_OPEN_SDK.values()),
        "as-published": _table(*_COMMON, *_AS_PUBLISHED) + left_out(AROUND + LIBRARY),
        "engine": _table(*_COMMON, *_ENGINE) + left_out(AROUND + LIBRARY),
    }
)
DEFAULT_PRESET = "open-sdk"
#: Figures of hardware that studies may change (match explore): cores of the cluster, speed of the DMA and of L3, and
#: what NE16 computes in a step.
OPEN = (
    *("cluster.core_count", "cluster.dma_bytes_per_cycle", "cluster.l3_bytes_per_cycle"),
    *("ne16.ne16_tile_pixels", "ne16.ne16_tile_outputs", "ne16.ne16_tile_inputs", "ne16.ne16_out_words"),
)
#: The units whose constants are in the table.
UNITS = ("cluster", "ne16")


def preset_of(soc: Soc) -> str:
    """The preset that a Soc chose; the default for Socs of other packages, which may have other ones."""
    return soc.preset if soc.preset in PRESETS else DEFAULT_PRESET


def table_of(soc: Soc) -> tuple[Constant, ...]:
    """The table of a Soc's preset, with the values of its figures file."""
    return fitted(PRESETS[preset_of(soc)], soc, *UNITS)


def constants(preset: str = DEFAULT_PRESET) -> tuple[Constant, ...]:
    """The table of a preset in its fixed order. Raises KeyError for an unknown preset."""
    return PRESETS[preset]


def values(preset: str = DEFAULT_PRESET) -> Mapping[str, int]:
    """Name to value of a preset; every figure is an integer."""
    return by_name(PRESETS[preset])
