"""Results of matching, scheduling and mapping."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Optional

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

    from match_core.contract.candidate import Candidate, Refusal
    from match_core.contract.hardware import Soc, Unit
    from match_core.contract.loops import LoopSchedule, Objective
    from match_core.contract.model import Model
    from match_core.contract.scheduling import Scheduling

#: How operators may be divided among units (docs/mapping.md): "whole": each on one unit; "tiles": shares whose slices
#: and joins the host copies; "views": shares that are views of tensors; "pipeline": as views, but tasks wait only for
#: bytes that they read, and shares may be split into tasks; "joint": one search with the cover; "long": a longer one.
Parallel = Literal["whole", "tiles", "views", "pipeline", "joint", "long"]
#: The conversion of a tensor between two stored forms (names) with its schedule; None if no unit can do it.
Converter = Callable[["gs.Tensor", str, str], Optional["Assignment"]]


@dataclass(frozen=True, slots=True)
class SolverStatus:
    """How a choice was found: ``solver`` name, ``status`` ("optimal", "feasible", "heuristic"), objective and bound in
    cycles, pJ, pJ times cycles or bytes, ``gap`` = (objective - bound) / objective."""

    solver: str
    status: str
    objective: int
    bound: int

    @property
    def gap(self) -> float:
        """Relative distance to the proven bound."""
        return (self.objective - self.bound) / self.objective if self.objective else 0.0


@dataclass(frozen=True)
class Assignment:
    """A chosen candidate with its schedule; ``fetched``: constants that the host copies from the store before."""

    candidate: Candidate
    schedule: LoopSchedule
    fetched: tuple[str, ...] = ()


def held_bytes(assignments: Iterable[Assignment]) -> dict[str, int]:
    """What assignments hold as long as the program lives, by memory."""
    found: dict[str, int] = {}
    for name, size in (entry for a in assignments for entry in a.candidate.workload.holds):
        found[name] = found.get(name, 0) + size
    return found


@dataclass(frozen=True, slots=True)
class Bounds:
    """Lower bounds of any program of this model on this Soc, in modelled cycles. ``work_cycles``: all work shared
    ideally among the units that can do it; ``path_cycles``: the longest chain of operators, each shared ideally."""

    work_cycles: int
    path_cycles: int

    @property
    def cycles(self) -> int:
        """The higher one."""
        return max(self.work_cycles, self.path_cycles)


@dataclass(frozen=True)
class Mapping:
    """The chosen cover in topological order: every node exactly once; an operator that is divided has one assignment
    for each share. ``starts``: in a concurrent mapping, the start times of the assignments in cycles (empty:
    sequential); ``finish_cycles``: when the host has noticed that all tasks are done. ``final``: the program uses this
    mapping even if a concurrent one would be faster."""

    assignments: tuple[Assignment, ...]
    solver: SolverStatus
    refused: tuple[Refusal, ...] = ()
    objective: Objective = "latency"
    starts: tuple[int, ...] = ()
    bounds: Bounds | None = None
    finish_cycles: int = 0
    final: bool = True

    @property
    def units(self) -> frozenset[str]:
        """The units that run something."""
        return frozenset(unit for assignment in self.assignments for unit in assignment.candidate.units)

    @property
    def predicted_cycles(self) -> int:
        """Modelled cycles of the program."""
        return self.finish_cycles if self.starts else sum(a.schedule.cost.total_cycles for a in self.assignments)

    @property
    def energy_pj(self) -> int:
        """Modelled energy in whole pJ of the layers whose units publish figures."""
        return sum(round(a.schedule.cost.energy_pj or 0.0) for a in self.assignments)

    @property
    def objective_value(self) -> int:
        """The minimised quantity: cycles, pJ, or their product."""
        values = {"latency": self.predicted_cycles, "energy": self.energy_pj}
        return values.get(self.objective, self.predicted_cycles * self.energy_pj)


@dataclass(frozen=True)
class MappingRequest:
    """Requests a mapping. ``offered``: every candidate that has a schedule, with its cost; the mapping chooses among
    them so that each node of the model is in exactly one. ``refused``: why other patterns do not cover a node.
    ``convert``: the conversions between stored forms; those that the choice uses are the mapping's last assignments.

    ``soc.mode`` "concurrent" requests units that run at the same time: then ``sequential`` is the sequential mapping,
    ``parallel`` says how operators may be divided, and ``scheduling`` schedules their shares. ``code``: digest of all
    code that decides mappings, for caches on disk; None: nothing is cached. ``limit_cycles``: slower ones are not used.
    ``estimated``: ``offered`` have sequential schedules; the answer is ``sequential``, or None if a search is hopeless.
    """

    model: Model
    soc: Soc
    units: tuple[Unit, ...]
    objective: Objective
    offered: tuple[Assignment, ...]
    refused: tuple[Refusal, ...]
    convert: Converter
    scheduling: Scheduling
    sequential: Mapping | None = None
    parallel: Parallel = "pipeline"
    code: str | None = None
    limit_cycles: int | None = None
    estimated: bool = False
