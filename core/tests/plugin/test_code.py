"""The digest of the code behind schedules, and what of a request another process can be sent."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from match_core.plugin.code import code_digest
from match_core.plugin.discovery import Found
from match_core.plugin.facade import Plugins

if TYPE_CHECKING:
    from core.tests.plugin.distributions import Site

COST = """
    @hookimpl
    def match_cost(soc, unit, pattern):
        return None
"""
SCHEDULE = """
    @hookimpl
    def match_schedule(request):
        return None
"""


def test_a_package_that_gives_costs_counts(site: Site) -> None:
    alone = site.load().code
    assert alone is not None
    site.plugin("npu", COST)
    assert site.load().code != alone


def test_a_package_that_gives_neither_does_not(site: Site) -> None:
    alone = site.load().code
    site.plugin("npu", "")
    assert site.load().code == alone


@pytest.mark.parametrize("text", [COST, SCHEDULE])
def test_every_change_of_a_source_counts(site: Site, text: str) -> None:
    site.plugin("npu", text)
    before = site.load().code
    assert site.load().code == before
    path = site.path / "fake_npu.py"
    path.write_text(path.read_text(encoding="utf-8") + "# another speed\n", encoding="utf-8")
    assert site.load().code != before


def test_a_whole_package_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "fake_package"
    (package / "inner").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "inner" / "figures.py").write_text("SPEED = 1\n")
    monkeypatch.setitem(
        __import__("sys").modules, "fake_package", SimpleNamespace(__file__=str(package / "__init__.py"))
    )
    plugin = SimpleNamespace(__name__="fake_package.plugin")
    before = code_digest([plugin], ())
    (package / "inner" / "figures.py").write_text("SPEED = 2\n")
    assert code_digest([plugin], ()) not in (before, None)


def test_code_without_a_source_has_no_digest() -> None:
    assert code_digest([SimpleNamespace(__name__="made_up")], ()) is None


def test_what_is_installed_can_be_loaded_again_in_another_process(site: Site) -> None:
    site.plugin("npu", COST)
    assert Plugins.load().reloadable
    assert not site.load().reloadable  # it was loaded with an environment of its own
    assert not Plugins.load((Found("npu", "npu", "1", lambda: None),)).reloadable


def test_a_portable_request_has_the_plugins_own_cost_model(site: Site) -> None:
    from match_core.contract.loops import ScheduleRequest
    from match_core.contract.workload import Workload

    site.install_example()
    plugins = site.load()
    soc = plugins.soc()
    unit = plugins.units_of(soc)[1]
    guarded = plugins.cost(soc, unit, plugins.patterns(soc, unit)[0])
    request = ScheduleRequest(soc, unit, "relu", Workload("relu", (), (), 0), guarded, 0)
    assert type(guarded).__name__ == "GuardedCostModel"
    assert type(plugins.portable(request).cost_model).__name__ == "ReluCost"
    assert plugins.portable(plugins.portable(request)) == plugins.portable(request)
