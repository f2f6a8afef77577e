"""Level ``costs``, against the twin: cycles of layers that a cost model gives, and that the twin counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from match_core.contract.errors import ToolError

from match_kit.testing.findings import Case, Finding

if TYPE_CHECKING:
    from match_core.contract.cost import Bound

    from match_kit.testing.subject import Subject

LEVEL = "costs"
#: Allowed difference: a share of the modelled cycles, and cycles for effects that a formula for each tile leaves out.
#: Units that run at the same time wait for each other's copies. These are estimates: of the sample programs of this
#: repository's chips, sequential layers differ by 0.2 % at most, concurrent ones by 38 %.
_SHARE, _CONCURRENT_SHARE, _CYCLES = 0.05, 0.5, 30


def _counted(subject: Subject) -> Iterator[Finding]:
    own = {unit.name for unit in subject.units if subject.api(unit).twin.sources}
    if not own:
        yield Finding(f"target {subject.target}", "its units have no twin that counts cycles", "skip")
    for model in subject.programs if own else ():
        program = subject.program(model)
        try:
            run = program.run("eager")
        except ToolError:
            continue  # level programs reports it
        share = _CONCURRENT_SHARE if program.document["queues"] else _SHARE
        bounds = {task.index: task.assignment.schedule.cost.bound for task in program.compilation.program.tasks}
        for node in run.nodes:
            pattern = program.document["nodes"][node.index]["pattern"]
            if node.unit in own and not _agree(node.predicted_cycles, node.cycles, bounds[node.index], share):
                part = f"match_cost, unit {node.unit}, pattern {pattern}, layer {node.title} of model {model.name}"
                yield Finding(part, f"{node.predicted_cycles} cycles modelled, {node.cycles} counted on the twin")


def _agree(modelled: int, counted: int, bound: Bound, share: float) -> bool:
    slack = share * modelled + _CYCLES
    above, below = counted - modelled > slack, modelled - counted > slack
    return not (above and bound != "lower") and not (below and bound != "upper")


CASES = (Case(LEVEL, "counted", "modelled cycles of layers are those that the twin counts", _counted),)
