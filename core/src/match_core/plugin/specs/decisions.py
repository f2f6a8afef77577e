# mypy: disable-error-code="empty-body"
"""What work costs, and the choice of schedules, mappings and plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.plugin.markers import hookspec

if TYPE_CHECKING:
    from match_core.contract.cost import CostModel
    from match_core.contract.hardware import Soc, Unit
    from match_core.contract.loops import LoopSchedule, ScheduleRequest
    from match_core.contract.mapping import Mapping, MappingRequest
    from match_core.contract.pattern import Pattern
    from match_core.contract.planning import Plan, PlanRequest
    from match_core.contract.scheduling import ScheduleInfeasible


@hookspec(firstresult=True)
def match_cost(soc: Soc, unit: Unit, pattern: Pattern) -> CostModel | None:
    """Give the cost model of one pattern on one unit of one system on chip.

    Called: for every pattern that has legal candidates, before scheduling. It may be called again with the
        same arguments and must then give an equal answer.

    Arguments:
        soc: the requested target; its links decide what transfers cost.
        unit: the unit that would run the pattern.
        pattern: the pattern to be costed, one of those given for the unit.

    Returns: a CostModel (stateless, vectorised over candidate tilings), or None to leave the answer to others. A model
        with estimated figures also has ``estimate`` (``Estimating``), and reports mark its layers.

    Several answers: the first one that is not None wins. Packages are called in the order of (distribution,
        entry point); ``tryfirst`` and ``trylast`` move an implementation within that order.

    Nobody answers: an error that names the unit and its package, because a pattern without a cost cannot be
        compared.

    May be changed: nothing.

    Example::

        @hookimpl
        def match_cost(soc: Soc, unit: Unit, pattern: Pattern) -> CostModel | None:
            return MyCost(soc, pattern.name) if unit.name == "mynpu" else None
    """


@hookspec(firstresult=True)
def match_schedule(request: ScheduleRequest) -> LoopSchedule | ScheduleInfeasible | None:
    """Schedule a workload yourself instead of leaving it to the search of another package.

    Called: once per distinct request of a unit with a memory of its own; equal requests (by content) are answered
        from memory, or from the cache on disk until the sources of a package that gives schedules change. So the
        answer must depend on the request only. Requests for units that work in place are not cached.

    Arguments:
        request: Soc, unit, pattern name, workload, cost model, the bytes available in the unit's memory, what to
            minimise, and which constants are streamed through how many bytes of the home memory.

    Returns: a LoopSchedule; None to leave the workload to others; or the ScheduleInfeasible of a search that
        was made and failed, which is stored for the report while the others are still called.

    Several answers: the first LoopSchedule wins; a search for any unit should be called last (``trylast``). The core's
        validator checks every schedule, and its evaluator computes its cost again: a schedule that claims another
        cost is an error of its package.

    Nobody answers: the candidate is refused with the reason of the last ScheduleInfeasible; without one it is an error
        that names the unit.

    May be changed: nothing.

    Example::

        @hookimpl
        def match_schedule(request: ScheduleRequest) -> LoopSchedule | None:
            return fixed_tiles(request) if request.unit.name == "mynpu" else None
    """


@hookspec(firstresult=True)
def match_map(request: MappingRequest) -> Mapping | None:
    """Map a model: which unit runs which nodes, in which order.

    Called: once per attempt to deploy a model, after scheduling; and again with ``request.soc.mode`` "concurrent" if
        the Soc's units can run at the same time and the first mapping is not ``final``.

    Arguments:
        request: model, Soc, units, objective, every candidate that has a schedule, and conversions between stored
            forms; for concurrent units also the sequential mapping and the scheduler for shares of operators.

    Returns: a Mapping of assignments from ``request.offered`` in an order in which every value is made before it is
        read; or None to leave the model to others. Raise UnsupportedError MATCH-P002 if no choice covers the model.

    Several answers: the first one that is not None wins; a mapper for any model should be called last (``trylast``).
        The core's validator checks it, and its evaluator computes its cost again: a mapping that is wrong, or claims
        another cost than the evaluator finds, is an error of the package.

    Nobody answers: an error that names the target; if only the concurrent mapping has no answer, the program runs
        one task after another.

    May be changed: nothing.

    Example::

        @hookimpl
        def match_map(request: MappingRequest) -> Mapping | None:
            return greedy(request) if "mynpu" in request.soc.units else None
    """


@hookspec(firstresult=True)
def match_plan(request: PlanRequest) -> Plan | None:
    """Plan a program whose units run at the same time: queues, signals, addresses, swaps.

    Called: once per concurrent mapping, and for sequential programs of models with parts (``match_fit``). The core
        plans other sequential programs; if one streams constants and the host can copy while tasks run, the hook is
        called with its mapping, in its order, and a faster answer replaces it.

    Arguments:
        request: model, mapping, the scheduler, what code and constants of assignments require, and the tensors
            in the Soc's overflow memory.

    Returns: a Plan; None to leave the program to others. Raise InfeasibleError MATCH-M001 if the memories are too
        small.

    Several answers: the first one that is not None wins. The core's validator runs the program in a legal order, byte
        by byte, and computes start times, the cycles of swaps and the predicted cycles again: a program that is wrong,
        or claims other cycles, is an error of the package.

    Nobody answers: units run one after another; ``--execution concurrent`` is an error.

    May be changed: nothing.

    Example::

        @hookimpl
        def match_plan(request: PlanRequest) -> Plan | None:
            return in_order(request) if "mynpu" in request.mapping.units else None
    """
