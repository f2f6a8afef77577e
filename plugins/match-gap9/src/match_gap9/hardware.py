"""GAP9 as data: memories, links, units."""

from __future__ import annotations

from collections.abc import Mapping

from match_core import Constant, Hardware, Link, Memory, MemoryPart, RequantSpec, Soc, Uncertainty, Unit
from match_core.patterns.formulas import signalling

from match_gap9.constants import DEFAULT_PRESET, PRESETS, constants, values

#: Bytes of L1 that layers may use, of 131072: the rest holds the stacks (match_gap9_platform.c: 2048 bytes of the
#: controller, 1280 of each of eight workers), 1.2 KiB of the runtime's statics and what the allocator takes.
L1_LAYER_BYTES = 114 * 1024
#: Of these, the part of each unit in concurrent programs.
L1_PART_BYTES = L1_LAYER_BYTES // 2
#: Bytes of L2 for weights and activations. match/target/examples/gap9: 1408 KiB of 1.5 MB; the rest holds the program.
L2_MODEL_BYTES = 1408 * 1024

#: PULP-NN: int32 multiplier and addend per channel, one shift, floor (sheet 2.2). The product must stay in int32.
CLUSTER_REQUANT = RequantSpec(multiplier_bits=32, multiplier_signed=True, product_bits=32)
#: NE16: unsigned 32-bit scale and int32 bias per channel, one shift of 0..31, floor (sheet 5.3).
NE16_REQUANT = RequantSpec(multiplier_bits=32, multiplier_signed=False, product_bits=32)
#: Both units with the cores' own 64-bit requantisation of 32-bit sums (match_gap9_wide.c).
EXACT_REQUANT = RequantSpec(multiplier_bits=32, multiplier_signed=True, product_bits=63, shift_max=62)


def _tables(ne16: bool) -> dict[str, tuple[Constant, ...]]:
    """The constants of NE16 or of the cluster by preset."""
    return {name: tuple(c for c in table if c.name.startswith("ne16_") == ne16) for name, table in PRESETS.items()}


CLUSTER = Unit(
    name="cluster",
    description="8 RISC-V cores with XpulpV2 SIMD, PULP-NN kernels",
    memory="l1",
    layout="NHWC",
    requant=CLUSTER_REQUANT,
    exact_requant=EXACT_REQUANT,
    bundles=True,
    constants=_tables(ne16=False)[DEFAULT_PRESET],
    preset_constants=tuple(_tables(ne16=False).items()),
)
NE16 = Unit(
    name="ne16",
    description="NE16 convolution accelerator: 3x3, 3x3 depthwise and 1x1, 8-bit activations, 2- to 8-bit weights",
    memory="l1",
    layout="NHWC",
    requant=NE16_REQUANT,
    exact_requant=EXACT_REQUANT,
    bundles=True,
    constants=_tables(ne16=True)[DEFAULT_PRESET],
    preset_constants=tuple(_tables(ne16=True).items()),
)


def _session_cycles(figures: Mapping[str, int]) -> int:
    """One task of the cluster for all of a session: there and back, the team's start, and both sides see the first
    order and the last."""
    once = ("cluster_offload_cycles", "team_offload_cycles", "team_start_cycles")
    return sum(figures[name] for name in once) + 2 * figures["wake_cycles"]


def hardware() -> Hardware:
    """The two units and the Soc ``gap9``; the host unit is the core's."""
    figures = values()
    clock = next(c for c in constants() if c.name == "clock_hz")
    soc = Soc(
        name="gap9",
        description="GAP9: fabric controller, 8-core cluster, NE16",
        host="host",
        units=("host", "cluster", "ne16"),
        memories=(
            Memory("l1", 1, L1_LAYER_BYTES, 16, "128 KiB less stacks and statics of the runtime"),
            Memory("l2", 2, L2_MODEL_BYTES, 16, "match/target/examples/gap9: 1408 KiB of 1.5 MB"),
            Memory("l3", 3, figures["l3_bytes"], 16, "external RAM of the evaluation kit, gap9_evk.h"),
        ),
        links=(
            Link(
                "mchan",
                "l1",
                "l2",
                bytes_per_cycle=figures["dma_bytes_per_cycle"],
                setup_cycles=figures["dma_setup_cycles"] + figures["dma_api_cycles"],
                chunk_cycles=figures["dma_row_cycles"],
                max_dims=2,
                max_bytes=figures["dma_max_bytes"],
                channels=2,
            ),
            Link(
                "octospi",
                "l2",
                "l3",
                bytes_per_cycle=figures["l3_bytes_per_cycle"],
                setup_cycles=figures["l3_issue_cycles"] + figures["l3_setup_cycles"],
                max_dims=1,
            ),
        ),
        host_machine="scalar",
        home="l2",
        store="l3",
        signalling=signalling("poll", figures, _session_cycles(figures)),
        parts=tuple(
            MemoryPart(unit, "l1", n * L1_PART_BYTES, L1_PART_BYTES) for n, unit in enumerate(("cluster", "ne16"))
        ),
        presets=(DEFAULT_PRESET, *(name for name in PRESETS if name != DEFAULT_PRESET)),
        preset=DEFAULT_PRESET,
        clock_hz=clock,
        uncertainties=(
            Uncertainty(
                "open-sdk",
                sequential=0.1,
                concurrent=0.25,
                source="networks on GVSoC (referee/layers.csv, gains.csv); concurrent: an estimate, not measured",
            ),
        ),
        notes=(
            "Constants that do not fit L2 are streamed from L3; bandwidth and latency of L3 are estimates.",
            "Preset open-sdk is fitted to the open simulator GVSoC, not to silicon.",
        ),
    )
    return Hardware(units=(CLUSTER, NE16), socs=(soc,))
