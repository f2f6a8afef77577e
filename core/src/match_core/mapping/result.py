"""Results of matching and choosing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

    from match_core.patterns.language import Match, Pattern
    from match_core.schedule.loops import LoopSchedule, Objective
    from match_core.schedule.workload import Workload


@dataclass(frozen=True, slots=True)
class Share:
    """The part of an operator that one task computes: indices [first, first + size) of a dimension of ``whole``."""

    dim: str
    first: int
    size: int
    whole: Workload


@dataclass(frozen=True)
class Candidate:
    """A legal way to run some nodes: pattern, unit, match, workload. With a ``share``, the workload is that part of the
    operator; its operands are views of the whole tensors, its constants are slices."""

    index: int
    unit: str
    pattern: Pattern
    match: Match
    workload: Workload
    share: Share | None = None

    @property
    def node_names(self) -> tuple[str, ...]:
        """Names of the nodes it covers, topological."""
        return tuple(node.name for node in self.match.nodes)

    def result(self, operand: str) -> gs.Variable:
        """The tensor that an output operand of the workload is, by its place among these operands."""
        made = [known.name for known in self.workload.operands if known.role == "output"]
        return self.match.outputs[made.index(operand)]


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


@dataclass(frozen=True, slots=True)
class Bounds:
    """What no program of this model on this Soc can be faster than, in modelled cycles. ``work_cycles``: all work
    shared ideally among the units that can do it; ``path_cycles``: the longest chain of operators, each shared ideally.
    """

    work_cycles: int
    path_cycles: int

    @property
    def cycles(self) -> int:
        """The higher one."""
        return max(self.work_cycles, self.path_cycles)


@dataclass(frozen=True)
class Mapping:
    """The chosen cover: every node exactly once, topological order; an operator that is shared has one assignment for
    each share. ``starts``: the mapper's start times in cycles, parallel to ``assignments``, where units run side by
    side (empty: one task after another); ``finish_cycles``: when the host then knows that all is done."""

    assignments: tuple[Assignment, ...]
    solver: SolverStatus
    refused: tuple[Refusal, ...] = ()
    objective: Objective = "latency"
    starts: tuple[int, ...] = ()
    bounds: Bounds | None = None
    finish_cycles: int = 0

    @property
    def units(self) -> frozenset[str]:
        """The units that run something."""
        return frozenset(assignment.candidate.unit for assignment in self.assignments)

    @property
    def predicted_cycles(self) -> int:
        """Modelled cycles of the program."""
        return self.finish_cycles if self.starts else sum(a.schedule.cost.total_cycles for a in self.assignments)

    @property
    def energy_pj(self) -> int:
        """Modelled energy in whole pJ, of the layers for which units publish figures."""
        return sum(round(a.schedule.cost.energy_pj or 0.0) for a in self.assignments)

    @property
    def objective_value(self) -> int:
        """What was minimised: cycles, pJ, or their product."""
        values = {"latency": self.predicted_cycles, "energy": self.energy_pj}
        return values.get(self.objective, self.predicted_cycles * self.energy_pj)
