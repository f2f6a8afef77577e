"""Who is asked in which order, what is recorded, and how several answers combine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from match_core import Axis, Dim, LoopSchedule, Operand, Pattern, ScheduleRequest, Soc, Unit, Workload
from match_core.contract.errors import PluginError
from match_core.contract.scheduling import ScheduleInfeasible
from match_core.plugin.records import GivenAnswer

if TYPE_CHECKING:
    from match_core.plugin.facade import Plugins

    from core.tests.plugin.distributions import Site

CHIP = """
    @hookimpl
    def match_hardware():
        return Hardware(units=(unit("npu"),), socs=(chip("npu_chip", "npu"),))
"""
COST = """
    class Cost:
        def __init__(self, name):
            self.name, self.version, self.bound = name, "1", "exact"
            self.overlap, self.energy = "none", None
        def kernel_cycles(self, workload, tile): return tile["N"]
        def launch_cycles(self, workload, tile): return tile["N"] * 0
        def transfer_cycles(self, workload, transfer): return TransferCycles(*[transfer.rows] * 3)
        def layer_cycles(self, workload): return 0

    @hookimpl{options}
    def match_cost(soc, unit, pattern):
        return Cost("{name}") if unit.name == "npu" else None
"""
NPU_PATTERN = Pattern("p", "a pattern", None, (), lambda match: pytest.fail("not asked for"))


def _target(plugins: Plugins) -> tuple[Soc, Unit]:
    soc = plugins.soc("npu_chip")
    return soc, plugins.units_of(soc)[1]


def _cost_by(site: Site, **options: str) -> tuple[str, Plugins]:
    site.plugin("m", CHIP)
    for name, given in options.items():
        site.plugin(name, COST.format(options=given, name=name))
    plugins = site.load()
    soc, unit = _target(plugins)
    return plugins.cost(soc, unit, NPU_PATTERN).name, plugins


def test_first_cost_wins_in_the_order_of_distributions(site: Site) -> None:
    name, plugins = _cost_by(site, b="", a="", c="")
    assert name == "a"
    assert GivenAnswer("match_cost", "npu_chip/npu/p", "a") in plugins.answers
    assert not any(answer.plugin in ("b", "c") for answer in plugins.answers)


def test_tryfirst_and_trylast_move_within_the_order(site: Site) -> None:
    assert _cost_by(site, a="(trylast=True)", b="", c="(tryfirst=True)")[0] == "c"


def test_trylast_comes_after_the_others(site: Site) -> None:
    assert _cost_by(site, a="(trylast=True)", b="")[0] == "b"


def test_a_hook_may_be_implemented_under_another_name(site: Site) -> None:
    text = COST.format(options="(specname='match_cost')", name="renamed").replace("def match_cost", "def my_cost")
    site.plugin("m", CHIP)
    site.plugin("a", text)
    site.plugin("b", COST.format(options="", name="b"))
    plugins = site.load()
    soc, unit = _target(plugins)
    assert plugins.cost(soc, unit, NPU_PATTERN).name == "renamed"


def test_an_implementation_may_take_fewer_arguments(site: Site) -> None:
    site.plugin("m", CHIP + "    @hookimpl\n    def match_transforms():\n        return ()\n")
    plugins = site.load()
    plugins.transforms(_target(plugins)[0])
    assert GivenAnswer("match_transforms", "npu_chip", "m") in plugins.answers


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("0", "a value of type int (lacks name, version, bound, overlap, kernel_cycles"),
        ("Cost", "the class Cost"),
        ("type('Half', (Cost,), {'layer_cycles': None})('half')", "(lacks layer_cycles)"),
    ],
)
def test_a_wrong_cost_model_does_not_stop_the_search(site: Site, answer: str, words: str) -> None:
    broken = COST.format(options="", name="a").replace('Cost("a")', answer)
    site.plugin("m", CHIP)
    site.plugin("a", broken)
    site.plugin("b", COST.format(options="", name="b"))
    plugins = site.load()
    soc, unit = _target(plugins)
    assert plugins.cost(soc, unit, NPU_PATTERN).name == "b"
    assert words in plugins.faults[0].cause


def test_nobody_gives_a_cost(site: Site) -> None:
    site.plugin("m", CHIP)
    plugins = site.load()
    soc, unit = _target(plugins)
    with pytest.raises(PluginError) as caught:
        plugins.cost(soc, unit, NPU_PATTERN)
    assert caught.value.code == "MATCH-H010"
    assert "unit npu of pkg-m 1.0" in caught.value.where


def test_nobody_gives_a_c_interface(site: Site) -> None:
    site.plugin("m", CHIP)
    plugins = site.load()
    with pytest.raises(PluginError, match="unit npu has no C interface"):
        plugins.emit_api(*_target(plugins))


def test_emit_api_first_answer(site: Site) -> None:
    api = """
    @hookimpl
    def match_emit_api(soc, unit):
        return UnitApi(PlatformApi(start="{0}"), None, {{}}) if unit.name == "npu" else None
    """
    site.plugin("m", CHIP + api.format("m_start"))
    site.plugin("n", api.format("n_start"))
    plugins = site.load()
    assert plugins.emit_api(*_target(plugins)).platform.start == "m_start"
    assert GivenAnswer("match_emit_api", "npu_chip/npu", "m") in plugins.answers


PATTERNS = """
    @hookimpl
    def match_patterns(unit):
        return [pattern(name) for name in {names}] if unit.name == "npu" else None
"""


def test_patterns_of_all_plugins_are_collected(site: Site) -> None:
    site.plugin("m", CHIP + PATTERNS.format(names=["one", "two"]))
    site.plugin("a", PATTERNS.format(names=["three"]))
    plugins = site.load()
    patterns = plugins.patterns(*_target(plugins))
    assert [pattern.name for pattern in patterns] == ["three", "one", "two"]
    assert isinstance(patterns, tuple)
    assert plugins.patterns(plugins.soc("npu_chip"), plugins.units_of(plugins.soc("npu_chip"))[0]) != ()


def test_equal_pattern_names_of_two_plugins_name_both(site: Site) -> None:
    site.plugin("m", CHIP + PATTERNS.format(names=["one"]))
    site.plugin("a", PATTERNS.format(names=["one"]), version="3.2")
    plugins = site.load()
    with pytest.raises(PluginError) as caught:
        plugins.patterns(*_target(plugins))
    assert caught.value.code == "MATCH-H007"
    assert "pkg-a 3.2 and pkg-m 1.0" in caught.value.why


PASSES = """
    @hookimpl
    def match_transforms(soc):
        return (Pass("{name}", Phase.TARGET, lambda model, context: model, "does nothing"),)
"""


def test_transforms_are_collected_and_clash_by_name(site: Site) -> None:
    site.plugin("m", CHIP + PASSES.format(name="mine"))
    site.plugin("a", PASSES.format(name="theirs"))
    plugins = site.load()
    names = [item.name for item in plugins.transforms(_target(plugins)[0])]
    assert names[-2:] == ["theirs", "mine"] and "fold_constants" in names[:-2]
    site.plugin("b", PASSES.format(name="mine"))
    plugins = site.load()
    with pytest.raises(PluginError, match="target npu_chip cannot be used"):
        plugins.transforms(_target(plugins)[0])


def _request(plugins: Plugins, memory: str | None, memory_bytes: int, size: int = 64) -> ScheduleRequest:
    soc, unit = _target(plugins)
    axes = (Axis("n", size, (("N", 1),)),)
    operands = (Operand("x", "input", axes), Operand("y", "output", axes))
    workload = Workload("copy", (Dim("N", size, tileable=False),), operands, 0)
    cost = plugins.cost(soc, unit, NPU_PATTERN)
    unit = Unit("npu", "a unit", memory=memory)
    return ScheduleRequest(soc, unit, "p", workload, cost, memory_bytes)


def test_the_search_schedules_what_nobody_else_does(site: Site) -> None:
    site.plugin("m", CHIP + COST.format(options="", name="m"))
    plugins = site.load()
    schedule = plugins.schedule(_request(plugins, None, 0))
    assert isinstance(schedule, LoopSchedule)
    assert GivenAnswer("match_schedule", "npu_chip/npu/p", "schedule") in plugins.answers


OWN_SCHEDULE = """
    from match_core import Cost as TotalCost, LoopSchedule
    from match_core.contract.scheduling import ScheduleInfeasible

    @hookimpl(trylast=True)
    def match_schedule(request):
        return {answer}
"""
LOOPS = "LoopSchedule((), (('N', 64),), (), 0, 0, None, (), TotalCost(), engine='own')"


def test_a_plugin_schedules_before_the_search_even_with_trylast(site: Site) -> None:
    site.plugin("m", CHIP + COST.format(options="", name="m") + OWN_SCHEDULE.format(answer=LOOPS))
    plugins = site.load()
    schedule = plugins.schedule(_request(plugins, None, 0))
    assert isinstance(schedule, LoopSchedule)
    assert schedule.engine == "own"


def test_an_infeasible_answer_does_not_stop_the_search(site: Site) -> None:
    answer = "ScheduleInfeasible('ram', 1, 0)"
    site.plugin("m", CHIP + COST.format(options="", name="m") + OWN_SCHEDULE.format(answer=answer))
    plugins = site.load()
    assert isinstance(plugins.schedule(_request(plugins, None, 0)), LoopSchedule)


def test_the_core_tells_why_it_found_no_schedule(site: Site) -> None:
    site.plugin("m", CHIP + COST.format(options="", name="m"))
    plugins = site.load()
    found = plugins.schedule(_request(plugins, "ram", 8, size=4096))
    assert isinstance(found, ScheduleInfeasible)
    assert found.need_bytes > found.have_bytes == 8


def test_a_wrong_schedule_of_the_owner_is_an_error(site: Site) -> None:
    site.plugin("m", CHIP + COST.format(options="", name="m") + OWN_SCHEDULE.format(answer="[1]"))
    plugins = site.load()
    with pytest.raises(PluginError) as caught:
        plugins.schedule(_request(plugins, None, 0))
    assert caught.value.code == "MATCH-H006"
    assert "a value of type list, LoopSchedule expected" in caught.value.why


def test_answers_are_recorded_once(site: Site) -> None:
    site.plugin("m", CHIP + PATTERNS.format(names=["one"]))
    plugins = site.load()
    target: Any = _target(plugins)
    plugins.patterns(*target)
    before = plugins.answers
    plugins.patterns(*target)
    assert plugins.answers == before
    assert GivenAnswer("match_hardware", "", "m") in before
