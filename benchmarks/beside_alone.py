"""Programs with units beside the host alone, and the host model's part in the speed-up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from match_core.plugin.facade import Plugins
from match_host.constants import HOST_CONSTANTS

from benchmarks.beside_runs import Made, Pair, make
from benchmarks.beside_tables import FIGURES_FROM, about, figures_from, short
from benchmarks.published import OPTIMISER_MACS_PER_CYCLE, SPEED_UPS
from benchmarks.tables import Cell, Column, Table

HOST = "host"
#: Cycles of one conversion between binary16 and binary32.
_CONVERSION_CYCLES = next(constant.value for constant in HOST_CONSTANTS if constant.name == "host_half_cycles")


@dataclass(frozen=True, slots=True)
class Alone:
    """A network with its units, and on the ``host`` alone; the latter is modelled."""

    pair: Pair
    host: Made

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one inference."""
        return sum(task.assignment.candidate.workload.macs for task in self.host.compilation.program.tasks)

    @property
    def cycles_per_mac(self) -> float:
        """Of the host."""
        return self.host.modelled_cycles / self.macs

    @property
    def conversions(self) -> float:
        """The part of the host's cycles that converts binary16."""
        tasks = self.host.compilation.program.tasks
        count = sum(task.assignment.candidate.workload.parameters.get("half", 0) for task in tasks)
        return _CONVERSION_CYCLES * count / self.host.modelled_cycles

    def faster(self, made: Made, host_macs_per_cycle: float | None = None) -> float:
        """How many times faster a program is than the host, or than one of so many multiply-accumulates per cycle."""
        host = self.host.modelled_cycles if host_macs_per_cycle is None else self.macs / host_macs_per_cycle
        return host / made.cycles

    @property
    def published(self) -> str | None:
        """The speed-ups that the paper reports for networks of this kind."""
        if not self.pair.case.published_on:
            return None
        least, most = SPEED_UPS["block" if "_block_" in self.pair.case.network else "network"]
        return f"{least:.1f} to {most:.1f}"


def against_host(pair: Pair, plugins: Plugins) -> Alone:
    """Both programs of a network beside that of its host alone."""
    return Alone(pair, make(pair.case, "sequential", plugins, run=False, units=(HOST,)))


def alone_table(name: str, found: Sequence[Alone]) -> Table:
    """One row per network: the host's cycles and what they are, and how many times faster units are."""
    assumed = OPTIMISER_MACS_PER_CYCLE[HOST]
    rows: list[tuple[Cell, ...]] = []
    for one in found:
        pair = one.pair
        modelled = pair.beside.run is None
        rows.append(
            (
                short(pair.case.network),
                one.host.modelled_cycles,
                one.cycles_per_mac,
                100 * one.conversions,
                pair.before.cycles,
                pair.beside.cycles,
                one.macs / pair.beside.cycles,
                one.faster(pair.before),
                one.faster(pair.beside),
                one.faster(pair.beside, assumed),
                one.published,
                figures_from(pair.case, "model" if modelled else "host: model, units: twin"),
            )
        )
    columns = (
        Column("network"),
        Column("host alone, modelled", ",d"),
        Column("cycles per MAC", ".1f"),
        Column("conversions of binary16, %", ".0f"),
        Column("one after another", ",d"),
        Column("side by side", ",d"),
        Column("MAC per cycle, side by side", ".1f"),
        Column("speed-up, one after another", ".0f"),
        Column("speed-up, side by side", ".0f"),
        Column(f"side by side, if the host took {1 / assumed:.0f} cycles per MAC", ".0f"),
        Column("paper"),
        Column(FIGURES_FROM),
    )
    return Table(name, about(found[0].pair.case, " --alone"), columns, tuple(rows))
