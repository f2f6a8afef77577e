"""Results of matching and choosing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_core.patterns.language import Match, Pattern
    from match_core.schedule.loops import LoopSchedule, Objective
    from match_core.schedule.workload import Workload


@dataclass(frozen=True)
class Candidate:
    """A legal way to run some nodes: pattern, unit, match, workload."""

    index: int
    unit: str
    pattern: Pattern
    match: Match
    workload: Workload

    @property
    def node_names(self) -> tuple[str, ...]:
        """Names of the nodes it covers, topological."""
        return tuple(node.name for node in self.match.nodes)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a pattern of a unit does not take a place whose structure fits: ``rule`` in words, ``value`` that broke it.
    Also used for schedules that do not fit (rule "fits <memory>")."""

    unit: str
    pattern: str
    nodes: tuple[str, ...]
    rule: str
    value: str


@dataclass(frozen=True, slots=True)
class Candidates:
    """All legal candidates and all refusals of a model."""

    legal: tuple[Candidate, ...]
    refused: tuple[Refusal, ...]


@dataclass(frozen=True, slots=True)
class SolverStatus:
    """How a choice was found: ``solver`` name, ``status`` ("optimal", "feasible", "heuristic"), objective and bound
    in cycles, pJ, pJ times cycles or bytes, ``gap`` = (objective - bound) / objective."""

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
    """A chosen candidate with its schedule."""

    candidate: Candidate
    schedule: LoopSchedule


@dataclass(frozen=True)
class Mapping:
    """The chosen cover: every node exactly once, topological order."""

    assignments: tuple[Assignment, ...]
    solver: SolverStatus
    refused: tuple[Refusal, ...] = ()
    objective: Objective = "latency"

    @property
    def units(self) -> frozenset[str]:
        """The units that run something."""
        return frozenset(assignment.candidate.unit for assignment in self.assignments)

    @property
    def predicted_cycles(self) -> int:
        """Modelled cycles of the sequential program."""
        return sum(a.schedule.cost.total_cycles for a in self.assignments)

    @property
    def energy_pj(self) -> int:
        """Modelled energy in whole pJ, of the layers for which units publish figures."""
        return sum(round(a.schedule.cost.energy_pj or 0.0) for a in self.assignments)

    @property
    def objective_value(self) -> int:
        """What was minimised: cycles, pJ, or their product."""
        values = {"latency": self.predicted_cycles, "energy": self.energy_pj}
        return values.get(self.objective, self.predicted_cycles * self.energy_pj)
