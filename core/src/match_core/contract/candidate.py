"""What could run where: candidates with their workloads, and refusals with their reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

    from match_core.contract.pattern import Pattern
    from match_core.contract.structure import Match
    from match_core.contract.workload import Workload


@dataclass(frozen=True, slots=True)
class Share:
    """The part of an operator that one task computes: indices [first, first + size) of a dimension of ``whole``."""

    dim: str
    first: int
    size: int
    whole: Workload


@dataclass(frozen=True)
class Candidate:
    """A legal way to run some nodes: pattern, unit, match, workload. With a ``share``, the workload is this part of the
    operator; its operands are views of the whole tensors, its constants are slices."""

    index: int
    unit: str
    pattern: Pattern
    match: Match
    workload: Workload
    share: Share | None = None

    @property
    def units(self) -> tuple[str, ...]:
        """The units that are busy while it runs; its own is the first."""
        return (self.unit, *self.pattern.occupies)

    @property
    def node_names(self) -> tuple[str, ...]:
        """Names of the covered nodes, in topological order."""
        return tuple(node.name for node in self.match.nodes)

    def result(self, operand: str) -> gs.Variable:
        """The tensor of an output operand of the workload, found by its position among the output operands."""
        made = [known.name for known in self.workload.operands if known.role == "output"]
        return self.match.outputs[made.index(operand)]


#: The rule that a unit breaks only because the user disabled it.
DISABLED = "the unit is enabled"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a pattern of a unit refuses a place whose structure fits: ``rule`` in words, the ``value`` that broke it.
    Also used for schedules that do not fit (rule "fits <memory>")."""

    unit: str
    pattern: str
    nodes: tuple[str, ...]
    rule: str
    value: str


@dataclass(frozen=True, slots=True)
class Candidates:
    """All legal candidates and all refusals of a model. ``operators``: those in the patterns of each unit, by name."""

    legal: tuple[Candidate, ...]
    refused: tuple[Refusal, ...]
    operators: Mapping[str, frozenset[str]] = field(default_factory=dict)
