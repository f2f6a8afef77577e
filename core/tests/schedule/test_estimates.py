"""What a cost model states about estimates reaches the cost of a schedule; models that state nothing keep working."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

import numpy as np
import pytest
from match_core.contract.hardware import Link, Memory, Soc, Unit
from match_core.contract.loops import LoopSchedule, ScheduleRequest
from match_core.contract.workload import Axis, Dim, Operand, Workload
from match_core.plugin.estimates import with_estimate
from match_core.plugin.guard import Guard
from match_core.plugin.renamed import renamed_cost
from match_core.schedule.evaluate import false_claim, in_place
from match_core.summary.program_json import schedule_json
from match_host.cost import HostCostModel
from match_schedule.engine import schedule

MEMORIES = (Memory("l1", 1, 4096), Memory("l2", 2, 1 << 20))
SOC = Soc("chip", "", "host", ("host", "acc"), MEMORIES, (Link("dma", "l1", "l2", 8),), "l2")
AXES = (Axis("k", 64, (("K", 1),)),)
OPERANDS = (Operand("x", "input", AXES), Operand("y", "output", AXES))
WORKLOAD = Workload("copy", (Dim("K", 64),), OPERANDS, 0, geometry=(("steps", 64),))


@dataclass(frozen=True)
class Guessed(HostCostModel):
    """A model that states why it is an estimate."""

    def estimate(self, workload: Workload) -> str:
        """The kind of the workload."""
        return f"nobody measured {workload.kind}"


class Old:
    """A model that was written before models could state it."""

    def __init__(self) -> None:
        self._model = HostCostModel()
        for name in ("name", "version", "bound", "overlap", "energy"):
            setattr(self, name, getattr(self._model, name))
        for name in ("kernel_cycles", "launch_cycles", "transfer_cycles", "layer_cycles"):
            setattr(self, name, getattr(self._model, name))


def request(model: object, memory: str | None) -> ScheduleRequest:
    return ScheduleRequest(SOC, Unit("acc", "a unit", memory), "copy", WORKLOAD, model, 4096)  # type: ignore[arg-type]


def answer(model: object, memory: str | None) -> LoopSchedule:
    asked = request(model, memory)
    found = in_place(asked) if memory is None else schedule(asked)
    assert isinstance(found, LoopSchedule)
    return with_estimate(asked, found)


@pytest.mark.parametrize("memory", [None, "l1"])
def test_the_reason_is_in_the_cost_and_in_the_document(memory: str | None) -> None:
    found, old = answer(Guessed(), memory), answer(Old(), memory)
    assert found.cost.estimate == "nobody measured copy"
    assert old.cost.estimate == ""
    assert asdict(replace(found.cost, estimate="")) == asdict(old.cost)
    document: dict[str, dict[str, str]] = schedule_json(found, "l2")  # type: ignore[assignment]
    assert document["cost"]["estimate"] == "nobody measured copy"


def test_guards_and_boards_pass_it_on() -> None:
    for model, told in ((Guessed(), "nobody measured copy"), (Old(), "")):
        behind = Guard("a package", "1", "entry").cost_model(renamed_cost(model, {"sram": "l2"}))  # type: ignore[arg-type]
        assert with_estimate(request(behind, None), answer(Old(), None)).cost.estimate == told


def test_packages_that_schedule_need_not_state_it() -> None:
    """A claimed cost without the reason is not a false one."""
    found = answer(Guessed(), "l1")
    silent = replace(found, cost=replace(found.cost, estimate=""))
    assert false_claim(request(Guessed(), "l1"), silent) == false_claim(request(Guessed(), "l1"), found) == ""


def test_the_host_names_the_operations_that_a_layer_has() -> None:
    steps = np.array([1])
    model = HostCostModel()
    assert model.estimate(WORKLOAD) == "host_steps_cycles"
    measured = tuple(replace(constant, estimate=constant.name != "steps") for constant in model.operations)
    assert replace(model, operations=measured).estimate(WORKLOAD) == ""
    assert model.kernel_cycles(WORKLOAD, {"K": 64 * steps})[0] == 4 * 64
