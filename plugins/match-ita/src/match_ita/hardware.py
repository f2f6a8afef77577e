"""ITA and its cluster as data: memories, links, units."""

from __future__ import annotations

from match_core import Hardware, Link, Memory, MemoryPart, RequantSpec, Soc, Unit
from match_core.patterns.formulas import signalling

from match_ita.constants import SNITCH_CONSTANTS, constants, values
from match_ita.presets import DEFAULT_PRESET, PRESETS

#: The compute cores requantise in software, with 64-bit products per channel.
_REQUANT = RequantSpec(
    multiplier_bits=32, multiplier_signed=True, product_bits=63, shift_max=62, activation_type="int8"
)

SNITCH = Unit(
    name="snitch",
    description="8 RISC-V cores RV32IMA without floating point and SIMD",
    memory="l1",
    requant=_REQUANT,
    integer_only=True,
    constants=SNITCH_CONSTANTS,
)
#: Figures of the platform stand with the accelerator, so that reports name each estimate once.
ITA = Unit(
    name="ita",
    description="ITA, accelerator for integer transformers: linear layers, attention, products of activations",
    memory="l1",
    bundles=True,
    integer_only=True,
    constants=tuple(constant for constant in constants() if constant not in SNITCH_CONSTANTS),
)


def hardware() -> Hardware:
    """The two units and the Soc ``ita``; the host unit is the core's."""
    return Hardware(units=(SNITCH, ITA), socs=(_soc(),))


def _soc() -> Soc:
    figures = values()
    shared = figures["l1_data_bytes"] - figures["l1_ita_bytes"]
    return Soc(
        name="ita",
        description="Snitch cluster with eight cores, a core for copies, and ITA",
        host="host",
        units=("host", "snitch", "ita"),
        memories=(
            Memory("l1", 1, figures["l1_data_bytes"], 64, "128 KiB of L1 less stacks and runtime"),
            Memory("l2", 2, figures["l2_bytes"], 64, "background memory; its size is not public"),
        ),
        links=(
            Link(
                "dma",
                "l1",
                "l2",
                bytes_per_cycle=figures["dma_bytes_per_cycle"],
                setup_cycles=figures["dma_issue_cycles"],
                chunk_cycles=figures["dma_row_cycles"],
                max_dims=2,
                channels=2,
            ),
        ),
        host_machine="scalar",
        home="l2",
        clock_hz=next(constant for constant in constants() if constant.name == "clock_hz"),
        notes=(
            "Times of jobs are read from the RTL, not simulated; the cores' rate of products is calibrated to the "
            "published one; programming of jobs, copies and hand-over are estimates.",
            "Energy is that of kernels, at the published power of the whole cluster; copies and waits without a "
            "kernel, and the host, have no published figures and count nothing.",
            "Size and latency of the background memory and ITA's address in the cluster are not public.",
        ),
        presets=tuple(PRESETS),
        preset=DEFAULT_PRESET,
        signalling=signalling("poll", figures, figures["session_cycles"]),
        parts=(
            MemoryPart("ita", "l1", 0, figures["l1_ita_bytes"]),
            MemoryPart("snitch", "l1", figures["l1_ita_bytes"], shared),
        ),
    )
