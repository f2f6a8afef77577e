"""The core computes the cost of schedules and mappings again: a package that claims another cost is told by name."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import onnx_graphsurgeon as gs
import pytest
from match_core import Axis, Cost, Dim, LoopSchedule, Match, Operand, Pattern, Placement, TileLoop, Workload
from match_core.contract.candidate import Candidate
from match_core.contract.errors import PluginError
from match_core.contract.loops import ScheduleRequest
from match_core.contract.mapping import Assignment, MappingRequest
from match_core.contract.model import Model
from match_core.map.evaluate import mapping_fault
from match_core.schedule.cache import ScheduleCache
from match_core.schedule.candidates import Scheduler
from match_core.schedule.evaluate import false_claim, in_place

if TYPE_CHECKING:
    from match_core.plugin.facade import Plugins

    from core.tests.plugin.distributions import Site

#: A chip whose host is a unit of its own, so that no other package is needed: one cycle for each element.
CHIP = """
    from dataclasses import replace
    from match_core import TileLoop
    from match_core.contract.mapping import Mapping, SolverStatus
    from match_core.schedule.evaluate import in_place

    @hookimpl
    def match_hardware():
        soc = Soc("npu_chip", "a chip", "npu", ("npu",), (Memory("ram", 2, 65536),), (), "ram")
        return Hardware(units=(unit("npu"),), socs=(soc,))

    class Elements:
        name, version, bound, overlap, energy = "elements", "1", "exact", "none", None
        def kernel_cycles(self, workload, tile): return tile["N"]
        def launch_cycles(self, workload, tile): return tile["N"] * 0
        def transfer_cycles(self, workload, transfer): return TransferCycles(*[transfer.rows] * 3)
        def layer_cycles(self, workload): return 0

    @hookimpl
    def match_cost(unit):
        return Elements() if unit.name == "npu" else None
"""
SCHEDULE = """
    @hookimpl
    def match_schedule(request):
        schedule = in_place(request)
        return replace(schedule, cost=replace(schedule.cost, {claim}))
"""
MAPPING = """
    @hookimpl
    def match_map(request):
        return Mapping({assignments}, SolverStatus("own", "heuristic", {objective}, 0){more})
"""


def _pattern() -> Pattern:
    return Pattern("p", "a pattern", None, (), lambda match: pytest.fail("not asked for"))


def _request(plugins: Plugins, size: int = 64) -> ScheduleRequest:
    soc = plugins.soc("npu_chip")
    (unit,) = plugins.units_of(soc)
    axes = (Axis("n", size, (("N", 1),)),)
    operands = (Operand("x", "input", axes), Operand("y", "output", axes))
    workload = Workload("copy", (Dim("N", size, tileable=False),), operands, 0)
    return ScheduleRequest(soc, unit, "p", workload, plugins.cost(soc, unit, _pattern()), 0)


def _scheduled(site: Site, claim: str) -> LoopSchedule:
    site.plugin("own", CHIP + SCHEDULE.format(claim=claim))
    plugins = site.load()
    request = _request(plugins)
    answer = plugins.schedule(request, partial(false_claim, request))
    assert isinstance(answer, LoopSchedule)
    return answer


def test_a_schedule_with_the_cost_that_the_core_finds_is_taken(site: Site) -> None:
    assert _scheduled(site, "compute_cycles=64").cost.total_cycles == 64


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ("compute_cycles=63", "it claims 63 cycles, the evaluator finds 64 cycles"),
        ("sync_cycles=1", "it claims 65 cycles, the evaluator finds 64 cycles"),
        ("energy_pj=2.0", "it claims 64 cycles and 2 pJ, the evaluator finds 64 cycles"),
        (
            "launch_cycles=1, overlapped_cycles=1",
            "it claims Cost(compute_cycles=64, transfer_cycles=0, launch_cycles=1",
        ),
        ("bound='lower'", "bound='lower', estimate=''), the evaluator finds Cost("),
    ],
)
def test_a_schedule_that_claims_another_cost_is_an_error_of_its_package(site: Site, claim: str, words: str) -> None:
    with pytest.raises(PluginError) as caught:
        _scheduled(site, claim)
    error = caught.value
    assert error.code == "MATCH-H011"
    assert error.what == "the schedule of npu_chip/npu/p cannot be used"
    assert error.where == "plugin own of pkg-own 1.0, stage: match_schedule"
    assert words in error.why
    assert "MATCH_DISABLE_PLUGINS=pkg-own" in error.help[-1]


def _mapping_request(plugins: Plugins, scheduler: Scheduler) -> MappingRequest:
    """Two operators behind each other, 64 cycles each."""
    x, y, z = (gs.Variable(name, "float32", (64,)) for name in "xyz")
    nodes = [gs.Node("Relu", "first", inputs=[x], outputs=[y]), gs.Node("Abs", "second", inputs=[y], outputs=[z])]
    graph = gs.Graph(nodes, [x], [z])
    request = _request(plugins)
    offered = tuple(
        Assignment(Candidate(i, "npu", _pattern(), Match((node,), {"op": node}), request.workload), in_place(request))
        for i, node in enumerate(nodes)
    )
    return MappingRequest(
        Model("net", graph), scheduler.soc, scheduler.units, "latency", offered, (), lambda *_: None, scheduler
    )


def _mapped(site: Site, assignments: str, objective: str, more: str = "", mode: str = "sequential") -> int:
    site.plugin("own", CHIP + MAPPING.format(assignments=assignments, objective=objective, more=more))
    plugins = site.load()
    soc = replace(plugins.soc("npu_chip"), mode=mode)
    scheduler = Scheduler(soc, plugins.units_of(soc), "latency", plugins, ScheduleCache())
    request = _mapping_request(plugins, scheduler)
    mapping = plugins.mapping(request, partial(mapping_fault, request, scheduler, ()))
    assert mapping is not None
    return mapping.predicted_cycles


def test_a_mapping_with_the_cost_that_the_core_finds_is_taken(site: Site) -> None:
    assert _mapped(site, "request.offered", "128") == 128


#: The second operator with another schedule than the one that was offered.
OWN_SCHEDULE = """(request.offered[0], replace(request.offered[1], schedule=replace(
    request.offered[1].schedule, cost=replace(request.offered[1].schedule.cost, compute_cycles={cycles}))))"""


def test_a_concurrent_mapping_may_have_schedules_of_its_own(site: Site) -> None:
    own = OWN_SCHEDULE.format(cycles=64)
    assert _mapped(site, own, "128", ", starts=(0, 64), finish_cycles=128", "concurrent") == 128


def test_schedules_of_a_concurrent_mapping_are_priced_again(site: Site) -> None:
    with pytest.raises(PluginError) as caught:
        own = OWN_SCHEDULE.format(cycles=32)
        _mapped(site, own, "96", ", starts=(0, 64), finish_cycles=96", "concurrent")
    assert "('second',) on npu: it claims 32 cycles, the evaluator finds 64 cycles" in caught.value.why


@pytest.mark.parametrize(
    ("assignments", "objective", "more", "words"),
    [
        ("request.offered", "127", "", "the sum is 128 cycles"),
        ("request.offered[:1]", "64", "", "node 'second' is in 0 assignments"),
        ("request.offered[::-1]", "128", "", "'second' comes before 'first', which it reads from"),
        ("(replace(request.offered[0]), request.offered[1])", "128", "", "('first',) on npu was not offered"),
        ("request.offered", "128", ", starts=(0, 64), finish_cycles=128", "it has start times"),
        ("request.offered", "128", ", objective='energy'", "its objective is energy, latency was requested"),
    ],
)
def test_a_wrong_mapping_is_an_error_of_its_package(
    site: Site, assignments: str, objective: str, more: str, words: str
) -> None:
    with pytest.raises(PluginError) as caught:
        _mapped(site, assignments, objective, more)
    assert caught.value.code == "MATCH-H011"
    assert caught.value.where == "plugin own of pkg-own 1.0, stage: match_map"
    assert words in caught.value.why


@pytest.mark.parametrize(
    ("schedule", "words"),
    [
        ("tile=()", "the tile of a schedule in place is not the whole workload"),
        ("memory='l1'", "a schedule in place has loops, placements or memory"),
        ("loops=(TileLoop('Q', 64, 8),)", "a schedule in place has loops, placements or memory"),
    ],
)
def test_an_illegal_schedule_is_an_error_of_its_package(site: Site, schedule: str, words: str) -> None:
    """Before it has a cost: the replay of an illegal one has no meaning."""
    text = SCHEDULE.replace("replace(schedule, cost=replace(schedule.cost, {claim}))", f"replace(schedule, {schedule})")
    site.plugin("own", CHIP + text)
    plugins = site.load()
    request = _request(plugins)
    with pytest.raises(PluginError) as caught:
        plugins.schedule(request, partial(false_claim, request))
    assert caught.value.code == "MATCH-H011"
    assert f"it cannot run: {words}" in caught.value.why


def test_an_illegal_schedule_of_a_unit_with_a_memory_is_told_before_its_cost_is_computed(site: Site) -> None:
    """Its loops name a dimension that the workload does not have, and its placements loops that are not there."""
    site.plugin("own", CHIP)
    request = _request(site.load())
    request = replace(request, unit=replace(request.unit, memory="ram"))
    loops = (TileLoop("Q", 64, 8),)
    broken = LoopSchedule(loops, (("N", 64),), (Placement("x", "ram", 5, 0, 64),), 0, 0, "ram", (), Cost())
    assert false_claim(request, broken).startswith("it cannot run: loop over unknown dimension Q; ")
