"""The core's evaluator of mappings and plans of packages: it checks all of their claims."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from match_core.contract.mapping import held_bytes
from match_core.schedule.evaluate import false_claim
from match_core.validate.concurrent_program import concurrent_faults
from match_core.validate.mapping import mapping_faults
from match_core.validate.sequential_program import program_faults

if TYPE_CHECKING:
    from match_core.contract.mapping import Assignment, Mapping, MappingRequest
    from match_core.contract.planning import Plan, PlanRequest
    from match_core.contract.program import Program
    from match_core.schedule.candidates import Scheduler


def mapping_fault(
    request: MappingRequest, scheduler: Scheduler, conversions: Sequence[Assignment], mapping: Mapping
) -> str:
    """The fault of a mapping, including its claimed cost; empty if there is none. ``conversions``: between stored
    forms, as ``request.convert`` returned them; they are not in the graph yet."""
    if request.soc.mode == "sequential":
        if mapping.starts:
            return "it has start times, but a sequential mapping was requested"
        wrong = _unknown(mapping.assignments, (*request.offered, *conversions))
    else:
        wrong = _mispriced(mapping.assignments, request.offered, scheduler)
    if wrong:
        return wrong
    for name, size in held_bytes(mapping.assignments).items():
        if size > (have := request.soc.held_bytes.get(name, 0)):
            return f"it holds {size} of the {have} bytes of {name}"
    if mapping.objective != request.objective:
        return f"its objective is {mapping.objective}, {request.objective} was requested"
    return "; ".join(mapping_faults(request.model.graph, mapping, conversions))


def plan_fault(request: PlanRequest, scheduler: Scheduler, plan: Plan) -> str:
    """The fault of a plan, including its claimed cycles; empty if there is none."""
    before, now = request.mapping.assignments, plan.mapping.assignments
    wrong = _mispriced(now, before, scheduler)
    if wrong:
        return wrong
    if {id(task.assignment) for task in plan.program.tasks} != {id(assignment) for assignment in now}:
        return "the tasks of the program are not those of its mapping"
    given = (request.model.graph, plan.program)
    if request.scheduling.soc.mode == "concurrent":
        return "; ".join((*concurrent_faults(*given), *_swap_faults(plan.program)))
    needs = request.measure(tuple(task.assignment for task in plan.program.tasks))
    return "; ".join((*program_faults(*given, needs.overlaps, needs.places), *_swap_faults(plan.program)))


def _unknown(assignments: Iterable[Assignment], offered: Iterable[Assignment]) -> str:
    """The evaluator has priced assignments that were offered; any other one is a fault."""
    known = {id(assignment) for assignment in offered}
    for assignment in assignments:
        if id(assignment) not in known:
            return f"{assignment.candidate.node_names} on {assignment.candidate.unit} was not offered"
    return ""


def _mispriced(assignments: Iterable[Assignment], offered: Iterable[Assignment], scheduler: Scheduler) -> str:
    """Shares of operators and other schedules are priced again, unless the scheduler returned them."""
    known = {id(assignment.schedule) for assignment in offered}
    known |= {id(answer) for answer in scheduler.cache.answers.values()}
    soc = scheduler.soc
    for assignment in assignments:
        candidate, schedule = assignment.candidate, assignment.schedule
        if id(schedule) in known:
            continue
        staging_bytes = schedule.bytes_in(soc.home)
        streamed = schedule.streamed(soc.home)
        fault = false_claim(scheduler.request(candidate, streamed, staging_bytes if streamed else 0), schedule)
        if fault:
            return f"the schedule of {candidate.node_names} on {candidate.unit}: {fault}"
    return ""


def _swap_faults(program: Program) -> Iterable[str]:
    link = program.soc.swap_link
    for swap in program.swaps:
        cycles = None if link is None else link.copy_cycles(swap.size_bytes)
        if swap.cycles != cycles:
            yield f"swap {swap.index} claims {swap.cycles} cycles, the evaluator finds {cycles}"
