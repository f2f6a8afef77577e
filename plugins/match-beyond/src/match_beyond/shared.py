"""Tasks that share their constants (stripes of one layer) choose together whether these are streamed.

The bytes of resident constants count once for all of them. A group of tasks has as variants: all as they are, or all
streamed, each by its cheapest variant whose staging area does not exceed a size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from match_core.ir.topology import is_constant
from match_core.plan.streaming import Problem, Variant
from match_core.plan.variants import resident_bytes

if TYPE_CHECKING:
    from match_core.contract.hardware import Soc
    from match_core.contract.mapping import Assignment
    from match_core.plan.variants import Variants


@dataclass(frozen=True)
class Shared:
    """``groups``: positions of the tasks that share constants, every task in one group."""

    variants: Variants
    groups: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, variants: Variants) -> Shared:
        """Groups of tasks with the same constant tensors."""
        found: dict[object, list[int]] = {}
        for number, task in enumerate(variants.assignments):
            nodes = task[0].candidate.match.nodes
            names = tuple(t.name for node in nodes for t in node.inputs if is_constant(t) and t.values.size > 1)
            found.setdefault(names or number, []).append(number)
        return cls(variants, tuple(tuple(tasks) for tasks in found.values()))

    def problem(self, live: Sequence[int], capacity_bytes: int) -> Problem:
        """The problem with a task for each group; the bytes alive are the most of its tasks."""
        tasks = tuple(tuple(self._joined(group, choice) for choice in self.choices(group)) for group in self.groups)
        return Problem(tasks, tuple(max(live[task] for task in group) for group in self.groups), capacity_bytes)

    def pick(self, chosen: Sequence[int]) -> tuple[Assignment, ...]:
        """The assignments of a choice of the problem."""
        found: dict[int, int] = {}
        for group, index in zip(self.groups, chosen, strict=True):
            found.update(zip(group, self.choices(group)[index], strict=True))
        return self.variants.pick([found[task] for task in sorted(found)])

    def resident_bytes(self, assignments: Sequence[Assignment], soc: Soc) -> int:
        """Bytes of the resident constants of assignments of all tasks."""
        return sum(
            _distinct([(assignments[task], resident_bytes(assignments[task], soc)) for task in g]) for g in self.groups
        )

    def choices(self, group: Sequence[int]) -> list[tuple[int, ...]]:
        """The variants of a group: an index for each of its tasks."""
        costs = self.variants.costs
        if len(group) == 1:
            return [(index,) for index in range(len(costs[group[0]]))]
        choices = [(0,) * len(group)]
        areas = sorted({variant.staging_bytes for task in group for variant in costs[task][1:]}, reverse=True)
        for area in areas:
            picked = []
            for task in group:
                fit = [(v.cost, n) for n, v in enumerate(costs[task]) if n and v.staging_bytes <= area]
                picked.append(min(fit)[1] if fit else -1)
            if -1 not in picked and tuple(picked) not in choices:
                choices.append(tuple(picked))
        return choices

    def _joined(self, group: Sequence[int], choice: Sequence[int]) -> Variant:
        costs = [self.variants.costs[task][index] for task, index in zip(group, choice, strict=True)]
        picked = [self.variants.assignments[task][index] for task, index in zip(group, choice, strict=True)]
        return Variant(
            sum(variant.cost for variant in costs),
            _distinct([(a, v.constant_bytes) for a, v in zip(picked, costs, strict=True)]),
            max(variant.staging_bytes for variant in costs),
        )


def _distinct(sizes: Sequence[tuple[Assignment, int]]) -> int:
    """The sum of the sizes, where equal constants count once."""
    return sum({layout_of(assignment): size for assignment, size in sizes}.values())


def layout_of(assignment: Assignment) -> object:
    """What the order of the bytes of constants depends on: the unit, and the loops over their dimensions."""
    candidate = assignment.candidate
    dims = {d for o in candidate.workload.operands if o.role == "constant" for a in o.axes for d, _ in a.terms}
    loops = tuple(loop for loop in assignment.schedule.loops if loop.dim in dims)
    return candidate.unit, candidate.pattern.name, loops
