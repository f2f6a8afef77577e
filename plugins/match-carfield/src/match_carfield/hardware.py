"""Carfield as data: memories, links, units, and Socs that differ in signalling or in the use of RedMulE."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from match_core import Hardware, Link, Memory, RequantSpec, Soc, Unit
from match_core.patterns.formulas import signalling

from match_carfield.constants import constants, values
from match_carfield.formulas_dma import session_cycles
from match_carfield.presets import DEFAULT_PRESET, PRESETS

_SPATZ_PREFIX = "spatz_"

#: 8-bit kernels requantise with 64-bit products (match_carfield_int8_core.h).
_INT8_REQUANT = RequantSpec(
    multiplier_bits=32, multiplier_signed=True, product_bits=63, shift_max=62, takes_both_types=True
)

#: Figures of the platform stand with the first unit, so that reports name each estimate once.
PULP = Unit(
    name="pulp",
    description="8 RISC-V cores with XpulpV2 and FP16, and the RedMulE matrix engine",
    memory="l1_pulp",
    layout="NHWC",
    spatial_types=("float16", "int8", "uint8"),
    requant=_INT8_REQUANT,
    bundles=True,
    constants=tuple(c for c in constants() if not c.name.startswith(_SPATZ_PREFIX)),
)
SPATZ = Unit(
    name="spatz",
    description="2 RISC-V cores with vector units of 512 bits",
    memory="l1_spatz",
    layout="NHWC",
    spatial_types=("float16", "int8", "uint8"),
    bundles=True,
    constants=tuple(c for c in constants() if c.name.startswith(_SPATZ_PREFIX)),
)


#: What RedMulE runs: every product that it can ("all"), or what MATCHA's firmware gives to it.
Redmule = Literal["all", "firmware"]


@dataclass(frozen=True, slots=True)
class CarfieldSoc(Soc):
    """A Carfield, with the use of RedMulE."""

    redmule: Redmule = "all"


def redmule_of(soc: Soc) -> Redmule:
    """What RedMulE runs on a Soc; all that it can on Socs of other packages."""
    return soc.redmule if isinstance(soc, CarfieldSoc) else "all"


def hardware() -> Hardware:
    """The two units and three Socs; the host unit is the core's."""
    socs = (_soc("carfield", "event"), _soc("carfield_matcha", "event", "firmware"), _soc("carfield_poll", "poll"))
    return Hardware(units=(PULP, SPATZ), socs=socs)


def _soc(name: str, kind: Literal["event", "poll"], redmule: Redmule = "all") -> Soc:
    figures = values(kind)
    how = {"event": "mailboxes", "poll": "polled counters"}[kind]
    engine = {"all": "RedMulE", "firmware": "RedMulE as MATCHA's firmware uses it"}[redmule]
    return CarfieldSoc(
        name=name,
        description=f"Carfield: RV64 host, PULP cluster with {engine}, Spatz cluster; signalling by {how}",
        host="host",
        units=("host", "pulp", "spatz"),
        memories=(
            Memory("l1_pulp", 1, figures["pulp_l1_data_bytes"], 16, "MATCHA's linker scripts: 128 of 256 KiB"),
            Memory("l1_spatz", 1, figures["spatz_l1_data_bytes"], 64, "MATCHA's linker scripts: 64 of 128 KiB"),
            Memory("l2", 2, figures["l2_data_bytes"], 64, "MATCHA's linker scripts: 832 KiB of 1 MiB"),
            Memory("l3", 3, figures["l3_bytes"], 64, "64 MiB of DRAM minus the host's program"),
        ),
        links=_links(figures),
        host_machine="scalar",
        home="l2",
        store="l3",
        overflow="l3",
        clock_hz=next(c for c in constants(kind) if c.name == "clock_hz"),
        notes=(
            "Mailbox, interrupt and boot latencies, the cost of teams and the DRAM's bandwidth are estimates.",
            "Host and clusters are assumed to run at one clock; only 50 MHz is published.",
        ),
        presets=tuple(PRESETS),
        preset=DEFAULT_PRESET,
        signalling=signalling(kind, figures, session_cycles(figures)),
        redmule=redmule,
    )


def _links(figures: Mapping[str, int]) -> tuple[Link, ...]:
    """The clusters' copies reach DRAM as they reach L2, at the speed of the DRAM."""
    sysdma = Link(
        "sysdma",
        "l2",
        "l3",
        bytes_per_cycle=figures["dram_bytes_per_cycle"],
        setup_cycles=figures["sysdma_issue_cycles"] + figures["dram_setup_cycles"],
        max_dims=1,
    )
    clusters = (_cluster_link(figures, unit, far) for far in ("l2", "l3") for unit in ("pulp", "spatz"))
    return (*clusters, sysdma)


def _cluster_link(figures: Mapping[str, int], unit: str, far: str) -> Link:
    own = figures[f"{unit}_dma_bytes_per_cycle"]
    return Link(
        {"pulp": "mchan", "spatz": "spatz_dma"}[unit] + ("" if far == "l2" else "_dram"),
        f"l1_{unit}",
        far,
        bytes_per_cycle=own if far == "l2" else min(own, figures["dram_bytes_per_cycle"]),
        setup_cycles=figures["pulp_dma_dense_cycles" if unit == "pulp" else "spatz_dma_issue_cycles"],
        chunk_cycles=figures[f"{unit}_dma_row_cycles"],
        max_dims=2,
        max_bytes=figures["dma_max_bytes"] if unit == "pulp" else None,
        channels=2,
    )
