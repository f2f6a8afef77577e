"""ITA and its cluster as data: memories, links, units."""

from __future__ import annotations

from match_core import Hardware, Link, Memory, RequantSpec, Soc, Unit

SNITCH = Unit(
    "snitch",
    "8 RISC-V cores without floating point",
    memory="l1",
    requant=RequantSpec(32, True, 63, shift_max=62, activation_type="int8"),
)
ITA = Unit("ita", "accelerator for integer transformers: attention, linear layers, feed-forward blocks", memory="l1")


def hardware() -> Hardware:
    """The two units and the Soc ``ita``; the host unit is the core's."""
    soc = Soc(
        name="ita",
        description="Snitch cluster with ITA",
        host="host",
        units=("host", "snitch", "ita"),
        memories=(Memory("l1", 1, 118 * 1024, 64), Memory("l2", 2, 64 * 1024 * 1024, 64)),
        links=(Link("dma", "l1", "l2", bytes_per_cycle=64),),
        home="l2",
    )
    return Hardware(units=(SNITCH, ITA), socs=(soc,))
