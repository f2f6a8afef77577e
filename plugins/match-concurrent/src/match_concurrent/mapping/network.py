"""The graph as operators on queues: the units that can run each, and the waits between parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import lcm
from typing import TYPE_CHECKING

from match_core.contract.geometry import far_strides
from match_core.ir.topology import Topology
from match_core.map.dataflow import flow_of, tensor_bytes, tensors_of

from match_concurrent.boxes import TensorBox, boxes_of, meet
from match_concurrent.mapping.parts import Cuttable, Division, Part
from match_concurrent.mapping.timeline import HOST
from match_concurrent.share import divisible, share_of

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_core.contract.candidate import Candidate
    from match_core.contract.mapping import Assignment
    from match_core.contract.model import Model
    from match_core.contract.scheduling import Scheduling


#: The least number of coarse tiles of an axis.
COARSE = 16


@dataclass(frozen=True, slots=True)
class Source:
    """The operator reads bytes of ``made``, which another operator writes, as the tensor ``read`` (a different name if
    a view lies between them)."""

    operator: int
    made: str
    read: str


@dataclass(frozen=True, slots=True)
class SharedOperator:
    """Nodes that run as one. ``offers``: the cheapest candidate of each unit, and of each pair that it keeps busy, that
    can run them, as positions in the offered assignments; ``place``: position in the cover."""

    place: int
    offers: tuple[int, ...]
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class DivisibleAxis:
    """An axis of an operator's output along which candidates can divide it, in tiles of ``step`` indices."""

    axis: int
    size: int
    step: int
    units: tuple[Cuttable, ...]

    @property
    def tiles(self) -> int:
        """The number of tiles; the last one may be smaller."""
        return -(-self.size // self.step)

    @property
    def coarse(self) -> DivisibleAxis:
        """The axis with tiles of a power of two times ``step``, at least COARSE of them: sizes that suit cores and
        lanes, and few of them, because each costs a search."""
        return replace(self, step=self.step << max(0, (self.tiles // COARSE).bit_length() - 1))


@dataclass(frozen=True)
class Queues:
    """The queue of each unit's tasks: the unit's own if it has a dispatch loop, else the host's (0)."""

    names: tuple[str, ...]
    by_unit: dict[str, int]

    @classmethod
    def of(cls, scheduling: Scheduling) -> Queues:
        """The host's queue first, then those of other units in the order of the Soc."""
        names, blocking = [scheduling.soc.host], scheduling.blocking_units
        by_unit: dict[str, int] = {}
        for unit in scheduling.units:
            own = unit.name != scheduling.soc.host and unit.name not in blocking
            by_unit[unit.name] = len(names) if own else HOST
            names += [unit.name] if own else []
        return cls(tuple(names), by_unit)

    def of_candidate(self, candidate: Candidate) -> tuple[int, ...]:
        """The queue that runs the candidate's tasks, then those of other units that are busy meanwhile."""
        return tuple(dict.fromkeys(self.by_unit[unit] for unit in candidate.units))


@dataclass
class Network:
    """One cover of a model. Operators are in topological order; views are not operators: they only pass bytes on."""

    model: Model
    offered: Sequence[Assignment]
    cover: tuple[Assignment, ...]
    operators: tuple[SharedOperator, ...]
    #: Position of a view in the cover -> operators whose bytes it shows.
    views: dict[int, tuple[int, ...]]
    by_region: bool
    tensors: dict[str, gs.Tensor]
    _candidates: dict[Part, Assignment] = field(default_factory=dict)
    _regions: dict[tuple[Part, str, bool], tuple[TensorBox, ...]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, model: Model, offered: Sequence[Assignment], cover: Sequence[Assignment], *, by_region: bool
    ) -> Network:
        """``cover``: every node once, in topological order; ``by_region``: parts wait only for parts whose bytes they
        read, else for whole operators."""
        operators, views = _operators(model, offered, cover)
        return cls(model, offered, tuple(cover), operators, views, by_region, tensors_of(model.graph))

    def with_cover(self, cover: Sequence[Assignment]) -> Network:
        """The same model with another cover."""
        return Network.of(self.model, self.offered, cover, by_region=self.by_region)

    def along(self, operator: SharedOperator) -> tuple[DivisibleAxis, ...]:
        """The axes along which candidates can divide the operator, outermost first. Candidates may describe the output
        with different axes (rows and columns as one): axes are equal if their size and their stride are."""
        units: dict[tuple[int, int], list[Cuttable]] = {}
        axes: dict[tuple[int, int], int] = {}
        for offer in operator.offers:
            work = self.offered[offer].candidate.workload
            for kind in divisible(work):
                output = next(operand for operand in work.operands if operand.role == "output")
                key = (-far_strides(output)[kind.axis], kind.size)
                axes.setdefault(key, kind.axis)
                units.setdefault(key, []).append(Cuttable(offer, kind.dim, kind.granularity))
        made = [
            DivisibleAxis(axes[key], key[1], lcm(*(unit.granularity for unit in able)), tuple(able))
            for key, able in sorted(units.items())
        ]
        return tuple(along for along in made if along.tiles > 1)

    def part(self, part: Part) -> Assignment:
        """The candidate of a part, with the schedule of the whole operator (its own is not known here)."""
        if part not in self._candidates:
            whole = self.offered[part.offer]
            candidate = whole.candidate
            if part.dim:
                candidate = share_of(candidate, part.dim, part.first, part.size)
            self._candidates[part] = replace(whole, candidate=candidate)
        return self._candidates[part]

    def waits(self, source: Source, made: Division, read: Division) -> tuple[tuple[int, int], ...]:
        """(reader, maker) pairs of positions: the reader reads bytes that the maker writes."""
        if not self.by_region or len(made) == 1:
            return tuple((reader, maker) for reader in range(len(read)) for maker in range(len(made)))
        written = [self._touched(part, source.made, made=True) for part in made]
        wanted = [self._touched(part, source.read, made=False) for part in read]
        return tuple(
            (reader, maker)
            for reader, boxes in enumerate(wanted)
            for maker, others in enumerate(written)
            if meet(boxes, others)
        )

    def reads_all(self, source: Source, parts: Sequence[Part]) -> bool:
        """Whether the parts together read every byte of the source's tensor."""
        ranges = self.read(source, parts)
        return bool(ranges) and ranges[0][0] <= 0 and ranges[0][1] >= tensor_bytes(self.tensors[source.made])

    def read(self, source: Source, parts: Sequence[Part]) -> list[tuple[int, int]]:
        """The bytes of the source's tensor that the parts read, as ranges [first, end), ascending and merged."""
        boxes = [box for part in parts for box in self._touched(part, source.read, made=False)]
        merged: list[tuple[int, int]] = []
        for first, end in sorted(piece for box in boxes for piece in box.ranges):
            if merged and first <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(merged[-1][1], end))
            else:
                merged.append((first, end))
        return merged

    def _touched(self, part: Part, tensor: str, *, made: bool) -> tuple[TensorBox, ...]:
        key = (part, tensor, made)
        if key not in self._regions:
            candidate, shown = self.offered[part.offer].candidate, (part.dim, part.first, part.size)
            partial = bool(part.dim) and (part.first, part.size) != (0, candidate.workload.dim(part.dim).size)
            role = "output" if made else "input"
            self._regions[key] = boxes_of(candidate, self.tensors[tensor], role, shown if partial else None)
        return self._regions[key]


def _operators(
    model: Model, offered: Sequence[Assignment], cover: Sequence[Assignment]
) -> tuple[tuple[SharedOperator, ...], dict[int, tuple[int, ...]]]:
    """Operators, and for each view the operators whose bytes it shows."""
    topology = Topology.of(model.graph)
    by_nodes = runners(topology, offered)
    made_by: dict[str, list[tuple[int, str]]] = {}  # tensor -> (operator, its output) that wrote its bytes
    operators: list[SharedOperator] = []
    views: dict[int, tuple[int, ...]] = {}
    for place, assignment in enumerate(cover):
        flow = flow_of(topology, assignment)
        origins = [(maker, made, name) for name in flow.reads for maker, made in made_by.get(name, ())]
        if flow.view:
            made_by.update({name: [(maker, made) for maker, made, _ in origins] for name in flow.makes})
            views[place] = tuple(dict.fromkeys(maker for maker, _, _ in origins))
            continue
        sources = tuple(Source(maker, made, name) for maker, made, name in origins)
        made_by.update({name: [(len(operators), name)] for name in flow.makes})
        operators.append(SharedOperator(place, by_nodes[nodes_of(topology, assignment)], sources))
    return tuple(operators), views


def nodes_of(topology: Topology, assignment: Assignment) -> tuple[int, ...]:
    """Positions of an assignment's nodes, ascending."""
    return tuple(sorted({topology.position(node) for node in assignment.candidate.match.nodes}))


def runners(topology: Topology, offered: Sequence[Assignment]) -> dict[tuple[int, ...], tuple[int, ...]]:
    """For each set of nodes, the cheapest candidate of every unit, and of all units that it keeps busy (the first of
    equals), in the order offered."""
    best: dict[tuple[int, ...], dict[tuple[str, ...], int]] = {}
    for index, assignment in enumerate(offered):
        if assignment.candidate.pattern.view:
            continue
        of_unit = best.setdefault(nodes_of(topology, assignment), {})
        known = of_unit.get(assignment.candidate.units)
        if known is None or _cycles(assignment) < _cycles(offered[known]):
            of_unit[assignment.candidate.units] = index
    return {nodes: tuple(sorted(of_unit.values())) for nodes, of_unit in best.items()}


def _cycles(assignment: Assignment) -> int:
    return assignment.schedule.cost.total_cycles
