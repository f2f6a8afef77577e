"""What a plugin's functions raise long after the hook returned is still the plugin's fault."""

from __future__ import annotations

import copy
import re
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest
from match_core import Match, Soc, Unit
from match_core.contract.cost import CostModel
from match_core.contract.errors import ModelError, PluginError
from match_core.contract.passes import PassContext
from match_core.contract.unit_api import InlineKernel, InlineRequest

if TYPE_CHECKING:
    from match_core.plugin.facade import Plugins

    from core.tests.plugin.distributions import Site

TARGET = """
    from match_core import Constraint, Match
    from match_core.contract.unit_api import InlineKernel
    from match_core.contract.errors import ModelError

    def broken(*_):
        raise ZeroDivisionError("nobody tested this")

    def told(*_):
        raise ModelError("MATCH-F999", "what", "where", "why", ("help",))

    class Cost:
        name, version, bound, extra = "cost", "1", "exact", 42
        overlap, energy = "none", None
        kernel_cycles = launch_cycles = transfer_cycles = broken
        def layer_cycles(self, workload): return 7

    @hookimpl
    def match_hardware():
        return Hardware(units=(unit("npu"),), socs=(chip("npu_chip", "npu"),))

    @hookimpl
    def match_patterns(unit):
        rules = (Constraint("fine", "always", lambda match: None), Constraint("bad", "never", broken))
        return (Pattern("p", "a pattern", None, rules, told, search=broken),) if unit.name == "npu" else ()

    @hookimpl
    def match_transforms(soc):
        return (Pass("pass", Phase.TARGET, broken, "breaks"),)

    @hookimpl
    def match_cost(soc, unit, pattern):
        return Cost() if unit.name == "npu" else None

    @hookimpl
    def match_emit_api(soc, unit):
        return UnitApi(PlatformApi(), None, {"p": InlineKernel(broken, broken)}) if unit.name == "npu" else None
"""
MATCH = Match((), {})


@pytest.fixture
def target(site: Site) -> tuple[Plugins, Soc, Unit]:
    site.plugin("m", TARGET, version="1.4")
    plugins = site.load()
    soc = plugins.soc()
    return plugins, soc, plugins.units_of(soc)[1]


def _blamed(caught: pytest.ExceptionInfo[PluginError], hook: str, what: str) -> None:
    error = caught.value
    assert (error.code, error.exit_code) == ("MATCH-H005", 3)
    assert "pkg-m 1.4" in error.where
    assert hook in error.where
    assert error.what == f"{what} failed"
    assert re.fullmatch(r"ZeroDivisionError: nobody tested this \(fake_m\.py:\d+\)", error.why)
    assert isinstance(error.__cause__, ZeroDivisionError)


def test_rules_and_search_of_a_pattern(target: tuple[Plugins, Soc, Unit]) -> None:
    plugins, soc, unit = target
    (pattern,) = plugins.patterns(soc, unit)
    fine, bad = pattern.constraints
    assert fine.check(MATCH) is None
    with pytest.raises(PluginError) as caught:
        bad.check(MATCH)
    _blamed(caught, "match_patterns", "rule bad of pattern p")
    assert pattern.search is not None
    with pytest.raises(PluginError, match="search of pattern p failed"):
        pattern.search(cast("Any", None))
    assert len(plugins.faults) == 1, "one per plugin and hook"


def test_errors_for_the_user_pass_unchanged(target: tuple[Plugins, Soc, Unit]) -> None:
    plugins, soc, unit = target
    with pytest.raises(ModelError) as caught:
        plugins.patterns(soc, unit)[0].workload(MATCH)
    assert caught.value.code == "MATCH-F999"
    assert plugins.faults == ()


def test_passes(target: tuple[Plugins, Soc, Unit]) -> None:
    plugins, soc, unit = target
    with pytest.raises(PluginError) as caught:
        plugins.transforms(soc)[-1].run(cast("Any", None), PassContext(soc, (unit,)))
    _blamed(caught, "match_transforms", "pass pass")


def test_cost_formulas(target: tuple[Plugins, Soc, Unit]) -> None:
    plugins, soc, unit = target
    model: CostModel = plugins.cost(soc, unit, plugins.patterns(soc, unit)[0])
    assert (model.name, model.version, model.bound) == ("cost", "1", "exact")
    assert cast("Any", model).extra == 42
    assert model.layer_cycles(cast("Any", None)) == 7
    with pytest.raises(PluginError) as caught:
        model.kernel_cycles(cast("Any", None), {"N": np.ones(1, np.int64)})
    _blamed(caught, "match_cost", "kernel_cycles of cost model cost")
    assert copy.copy(model).name == "cost"


def test_kernels(target: tuple[Plugins, Soc, Unit]) -> None:
    plugins, soc, unit = target
    kernel = plugins.emit_api(soc, unit).kernels["p"]
    assert isinstance(kernel, InlineKernel)
    with pytest.raises(PluginError) as caught:
        kernel.render(InlineRequest("f", (), (), ()))
    _blamed(caught, "match_emit_api", "C of kernel p")


def test_answers_still_compare_by_content(target: tuple[Plugins, Soc, Unit], site: Site) -> None:
    plugins, soc, unit = target
    search = plugins.patterns(soc, unit)[0].search
    assert search == plugins.patterns(soc, unit)[0].search
    assert hash(search) == hash(plugins.patterns(soc, unit)[0].search)
    assert search != cast("Any", plugins.patterns(soc, unit)[0].workload)


def test_the_host_is_guarded_like_every_unit(target: tuple[Plugins, Soc, Unit]) -> None:
    plugins, soc, _ = target
    host = plugins.units_of(soc)[0]
    assert {type(pattern.workload).__name__ for pattern in plugins.patterns(soc, host)} == {"GuardedFunction"}
