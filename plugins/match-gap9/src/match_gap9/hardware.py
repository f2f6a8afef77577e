"""GAP9 as data: memories, links, units."""

from __future__ import annotations

from match_core import Hardware, Link, Memory, MemoryPart, RequantSpec, Signalling, Soc, Unit

from match_gap9.constants import DEFAULT_PRESET, PRESETS, constants

#: Bytes of L1 that layers may use. dory GAP9/HW_description.json: 120000 of 131072 bytes; the rest holds the stacks of
#: the nine cores and the runtime.
L1_LAYER_BYTES = 120_000
#: Of these, what each unit has for itself side by side with the other one.
L1_PART_BYTES = L1_LAYER_BYTES // 2
#: Bytes of L2 for weights and activations. match/target/examples/gap9: 1408 KiB of 1.5 MB; the rest holds the program.
L2_MODEL_BYTES = 1408 * 1024

#: PULP-NN: int32 multiplier and addend per channel, one shift, floor (sheet 2.2). The product must stay in int32.
CLUSTER_REQUANT = RequantSpec(multiplier_bits=32, multiplier_signed=True, product_bits=32)
#: NE16: unsigned 32-bit scale and int32 bias per channel, one shift of 0..31, floor (sheet 5.3).
NE16_REQUANT = RequantSpec(multiplier_bits=32, multiplier_signed=False, product_bits=32)
#: Both units with the cores' own 64-bit requantisation behind 32-bit sums (match_gap9_wide.c).
EXACT_REQUANT = RequantSpec(multiplier_bits=32, multiplier_signed=True, product_bits=63, shift_max=62)

CLUSTER = Unit(
    name="cluster",
    description="8 RISC-V cores with XpulpV2 SIMD, PULP-NN kernels",
    memory="l1",
    layout="NHWC",
    requant=CLUSTER_REQUANT,
    exact_requant=EXACT_REQUANT,
    bundles=True,
    constants=tuple(c for c in constants() if not c.name.startswith("ne16_")),
)
NE16 = Unit(
    name="ne16",
    description="NE16 convolution accelerator: 3x3, 3x3 depthwise and 1x1, 8-bit activations, 2- to 8-bit weights",
    memory="l1",
    layout="NHWC",
    requant=NE16_REQUANT,
    exact_requant=EXACT_REQUANT,
    bundles=True,
    constants=tuple(c for c in constants() if c.name.startswith("ne16_")),
)


def _named(name: str) -> float:
    return next(c.value for c in constants() if c.name == name)


def _session_cycles() -> int:
    """One task of the cluster for all of a session: there and back, the team's start, and both sides see the first
    order and the last."""
    once = ("cluster_offload_cycles", "team_offload_cycles", "team_start_cycles")
    return int(sum(map(_named, once)) + 2 * _named("wake_cycles"))


def hardware() -> Hardware:
    """The two units and the Soc ``gap9``; the host unit is the core's."""
    clock = next(c for c in constants() if c.name == "clock_hz")
    soc = Soc(
        name="gap9",
        description="GAP9: fabric controller, 8-core cluster, NE16",
        host="host",
        units=("host", "cluster", "ne16"),
        memories=(
            Memory("l1", 1, L1_LAYER_BYTES, 16, "dory GAP9/HW_description.json: 120000 of 128 KiB"),
            Memory("l2", 2, L2_MODEL_BYTES, 16, "match/target/examples/gap9: 1408 KiB of 1.5 MB"),
            Memory("l3", 3, int(_named("l3_bytes")), 16, "external RAM of the evaluation kit, gap9_evk.h"),
        ),
        links=(
            Link(
                "mchan",
                "l1",
                "l2",
                bytes_per_cycle=_named("dma_bytes_per_cycle"),
                setup_cycles=int(_named("dma_setup_cycles") + _named("dma_api_cycles")),
                chunk_cycles=int(_named("dma_row_cycles")),
                max_dims=2,
                max_bytes=int(_named("dma_max_bytes")),
                channels=2,
            ),
            Link(
                "octospi",
                "l2",
                "l3",
                bytes_per_cycle=_named("l3_bytes_per_cycle"),
                setup_cycles=int(_named("l3_issue_cycles") + _named("l3_setup_cycles")),
                max_dims=1,
            ),
        ),
        host_machine="scalar",
        home="l2",
        store="l3",
        signalling=Signalling(
            "poll",
            post_cycles=int(_named("post_cycles")),
            wake_cycles=int(_named("wake_cycles")),
            notify_cycles=int(_named("notify_cycles")),
            task_cycles=int(_named("task_cycles")),
            session_cycles=_session_cycles(),
        ),
        parts=tuple(
            MemoryPart(unit, "l1", n * L1_PART_BYTES, L1_PART_BYTES) for n, unit in enumerate(("cluster", "ne16"))
        ),
        presets=(DEFAULT_PRESET, *(name for name in PRESETS if name != DEFAULT_PRESET)),
        preset=DEFAULT_PRESET,
        clock_hz=clock,
        notes=(
            "Constants that do not fit L2 are streamed from L3; bandwidth and latency of L3 are estimates.",
            "Transfer, launch and offload cycles are the published tool's software costs or estimates.",
        ),
    )
    return Hardware(units=(CLUSTER, NE16), socs=(soc,))
