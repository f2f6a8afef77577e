"""A deployed program, and the code of assignments while it is planned."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

from match_core.contract.planning import Needs
from match_core.lower.constants import ConstantPool
from match_core.lower.lower import Lowered, lower
from match_core.lower.overlap import unrestricted

if TYPE_CHECKING:
    from match_core.contract.candidate import Refusal
    from match_core.contract.errors import InfeasibleError
    from match_core.contract.mapping import Assignment
    from match_core.contract.mapping import Mapping as UnitMapping
    from match_core.contract.model import Model
    from match_core.contract.observe import Facts, StageObserver
    from match_core.contract.program import Program
    from match_core.contract.unit_api import UnitApi
    from match_core.lower.lower import Title
    from match_core.schedule.candidates import Scheduler

T = TypeVar("T")
#: A program waits for memory if it takes so many times the cycles of its mapping (an estimate).
WAITS = 1.05


def stage(observer: StageObserver, name: str, work: Callable[[], T], facts: Callable[[T], Facts]) -> T:
    """Do some work between the observer's notifications of its start and its end."""
    observer.stage_started(name)
    result = work()
    observer.stage_finished(name, facts(result))
    return result


@dataclass(frozen=True)
class Deployment:
    """The mapping as it is deployed, the program, its code without addresses, and the units' interfaces."""

    mapping: UnitMapping
    program: Program
    lowered: tuple[Lowered | None, ...]
    pool: ConstantPool
    apis: Mapping[str, UnitApi]


@dataclass(frozen=True)
class Sequential:
    """A sequential mapping and the model of its program. ``deployment``: None if it does not fit; ``error``: why it, or
    a cheaper one, does not; ``overflow``: tensors in the overflow memory."""

    model: Model
    mapping: UnitMapping
    refused: tuple[Refusal, ...]
    offered: tuple[Assignment, ...]
    overflow: frozenset[str]
    deployment: Deployment | None
    error: InfeasibleError | None = None

    @property
    def is_slow(self) -> bool:
        """Whether the cheapest mapping does not fit, or takes longer as its constants share little memory."""
        mapping, cycles = self.mapping, self.deployment.program.predicted_cycles if self.deployment is not None else 0
        waits = mapping.objective == "latency" and cycles > WAITS * mapping.objective_value
        return self.error is not None or waits


@dataclass(frozen=True)
class Deployed:
    """The chosen program and the model whose nodes it runs (with conversions between stored forms and bodies of
    regions), all refusals, all candidates with schedules that it was chosen from (of the model without conversions and
    bodies), and the modelled cycles of the sequential program (None: not made, or it does not fit).
    ``declined_cycles``: of a concurrent program whose gain over it is smaller than its uncertainty."""

    model: Model
    deployment: Deployment
    refused: tuple[Refusal, ...]
    offered: tuple[Assignment, ...]
    sequential_cycles: int | None
    declined_cycles: int | None = None


def bytes_of(made: Deployment) -> Facts:
    """The used bytes of each memory."""
    return {f"{use.memory}_bytes": use.used_bytes for use in made.program.memory}


def copies_of(made: Deployment | None) -> Facts:
    """The cycles of a program that a package planned, and its copies."""
    return {} if made is None else {"cycles": made.program.predicted_cycles, "swaps": len(made.program.swaps)}


@dataclass(frozen=True)
class Code:
    """The code of assignments in their order, its constants, and the memory that it requires."""

    lowered: tuple[Lowered | None, ...]
    pool: ConstantPool
    needs: Needs

    @property
    def constant_bytes(self) -> int:
        """Bytes of constants in the home memory."""
        return sum(size for _, size in self.needs.constants)


@dataclass(frozen=True)
class Lowering:
    """Lowers assignments of one model; ``title`` names a task."""

    model: Model
    scheduler: Scheduler
    title: Title

    def apis(self, assignments: Sequence[Assignment], copies: bool = False) -> dict[str, UnitApi]:
        """The interfaces of the units that run them; in a concurrent program also the host's, which runs the tasks of
        units without a dispatch loop; in a sequential one that ``copies`` tensors, also one that the host copies with.
        """
        plugins, soc = self.scheduler.plugins, self.scheduler.soc
        used = {unit for assignment in assignments for unit in assignment.candidate.units}
        if soc.mode == "concurrent" and used & self.scheduler.blocking_units:
            used.add(soc.host)
        units = [unit for unit in self.scheduler.units if copies or unit.name in used]
        apis = {unit.name: plugins.emit_api(soc, unit) for unit in units}
        copying = [name for name, api in sorted(apis.items()) if api.swap is not None and api.swap.wait]
        used.update(copying[:1] if used.isdisjoint(copying) else ())
        return {name: api for name, api in apis.items() if name in used}

    def code(self, assignments: tuple[Assignment, ...]) -> Code:
        """Their code in this order, which determines the numbers of functions and constants."""
        soc, pool = self.scheduler.soc, ConstantPool(self.model.name)
        lowered = lower(self.model.name, assignments, self.apis(assignments), pool, self.title, soc)
        scratch = {i: low.scratch_bytes for i, low in enumerate(lowered) if low is not None and low.scratch_bytes}
        sizes = ((), pool.sizes()) if soc.mapped else (pool.sizes(), pool.stored_sizes())
        overlaps = (low.inline.overlaps for low in lowered if low is not None and low.inline is not None)
        places = {i: low.stored for i, low in enumerate(lowered) if low is not None and low.stored}
        return Code(lowered, pool, Needs(*sizes, scratch, tuple(chain.from_iterable(overlaps)), places))

    def deployment(self, mapping: UnitMapping, program: Program, code: Code | None = None) -> Deployment:
        """The program with its code in planned order (``code``: in the order of the mapping, if available)."""
        ordered = tuple(task.assignment for task in program.tasks)
        if code is None or any(one is not other for one, other in zip(ordered, mapping.assignments, strict=True)):
            code = self.code(ordered)
        apis = self.apis(ordered, bool(program.swaps) and not program.queues)
        return Deployment(mapping, program, unrestricted(program, code.lowered), code.pool, apis)
