"""Targets by name: unknown, ambiguous, missing and clashing ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from match_core.contract.errors import PluginError, UsageError

if TYPE_CHECKING:
    from core.tests.plugin.distributions import Site

CHIP = """
    @hookimpl
    def match_hardware():
        return Hardware(units=({units}), socs=(chip({soc}),))
"""


def _chip(site: Site, name: str, soc: str, units: str = "", version: str = "1.0") -> None:
    site.plugin(name, CHIP.format(soc=soc, units=units), version)


def test_the_only_target_needs_no_name(site: Site) -> None:
    _chip(site, "one", "'chip_one'")
    assert site.load().soc().name == "chip_one"


def test_several_targets_need_a_name(site: Site) -> None:
    _chip(site, "one", "'chip_one'")
    _chip(site, "two", "'chip_two'")
    with pytest.raises(UsageError) as caught:
        site.load().soc()
    assert caught.value.code == "MATCH-U023"
    assert "2 targets are installed: chip_one, chip_two" in caught.value.why


def test_no_target_at_all(site: Site) -> None:
    with pytest.raises(UsageError) as caught:
        site.load().soc()
    assert caught.value.code == "MATCH-U024"
    assert "compile for any computer with a C compiler: -t host" in caught.value.help


def test_a_generic_target_is_taken_where_it_is_named_only(site: Site) -> None:
    assert site.load().soc("host").units == ("host",)
    _chip(site, "one", "'chip_one'")
    assert site.load().soc().name == "chip_one"


def test_no_target_because_the_only_plugin_is_broken(site: Site) -> None:
    site.plugin("one", "raise RuntimeError('broken')")
    with pytest.raises(PluginError) as caught:
        site.load().soc()
    assert caught.value.why.startswith("RuntimeError: broken (fake_one.py:")


def test_an_unknown_target_lists_the_known_and_the_broken(site: Site) -> None:
    _chip(site, "one", "'chip_one'")
    site.plugin("two", "raise RuntimeError('broken')")
    with pytest.raises(UsageError) as caught:
        site.load().soc("chip_on")
    assert (caught.value.code, caught.value.exit_code) == ("MATCH-U022", 2)
    assert caught.value.why == "installed: chip_one, host"
    assert caught.value.help[0] == "did you mean -t chip_one?"
    assert any("pkg-two" in line and "broken" in line for line in caught.value.help)


def test_the_name_of_a_unit_leads_to_the_targets_that_have_it(site: Site) -> None:
    _chip(site, "one", "'chip_one', 'npu'", "unit('npu'),")
    with pytest.raises(UsageError) as caught:
        site.load().soc("npu")
    assert caught.value.why == "it is a unit of chip_one"
    assert caught.value.help[0] == "choose a target: -t chip_one"


@pytest.mark.parametrize("name", ["npu", "match-npu"])
def test_a_broken_target_is_a_plugin_error_by_its_name(site: Site, name: str) -> None:
    _chip(site, "one", "'chip_one'")
    site.install("match-npu", {"fake_npu": "raise RuntimeError('broken')"}, {"npu": "fake_npu"}, "0.2")
    with pytest.raises(PluginError) as caught:
        site.load().soc(name)
    assert (caught.value.code, caught.value.exit_code) == ("MATCH-H001", 3)
    assert "match-npu 0.2" in caught.value.where


def test_clashing_socs_name_both_packages_and_belong_to_neither(site: Site) -> None:
    _chip(site, "one", "'same'", version="1.1")
    _chip(site, "two", "'same'", version="2.2")
    _chip(site, "three", "'other'")
    plugins = site.load()
    assert plugins.soc("other").name == "other"
    with pytest.raises(PluginError) as caught:
        plugins.soc("same")
    assert caught.value.code == "MATCH-H007"
    assert "pkg-one 1.1 and pkg-two 2.2" in caught.value.why
    assert {fault.distribution for fault in plugins.faults} == {"pkg-one", "pkg-two"}
    assert {fault.stage for fault in plugins.faults} == {"names"}


def test_clashing_units_spoil_the_targets_that_use_them_only(site: Site) -> None:
    _chip(site, "one", "'chip_one', 'npu'", "unit('npu'),")
    _chip(site, "two", "'chip_two'", "unit('npu'),")
    plugins = site.load()
    assert plugins.soc("chip_two").name == "chip_two"
    with pytest.raises(PluginError) as caught:
        plugins.soc("chip_one")
    assert caught.value.code == "MATCH-H007"
    assert caught.value.why == "the unit name 'npu' is defined by pkg-one 1.0 and pkg-two 1.0"


def test_a_clash_is_settled_by_disabling_one(site: Site) -> None:
    _chip(site, "one", "'same'")
    _chip(site, "two", "'same'")
    plugins = site.load(MATCH_DISABLE_PLUGINS="pkg-two")
    assert plugins.owner_of("same").distribution == "pkg-one"


def test_another_package_may_define_the_host_in_its_place(site: Site) -> None:
    _chip(site, "one", "'chip_one'", "unit('host'),")
    with pytest.raises(PluginError) as caught:
        site.load().soc("chip_one")
    assert caught.value.code == "MATCH-H007" and "match-host" in caught.value.why
    plugins = site.load(MATCH_DISABLE_PLUGINS="match-host")
    assert plugins.units_of(plugins.soc("chip_one"))[0].description == "a unit"


def test_a_soc_may_use_units_of_another_package(site: Site) -> None:
    _chip(site, "one", "'chip_one', 'npu'")
    _chip(site, "two", "'chip_two'", "unit('npu'),")
    plugins = site.load()
    assert [unit.name for unit in plugins.units_of(plugins.soc("chip_one"))] == ["host", "npu"]


def test_a_unit_that_nobody_defines(site: Site) -> None:
    _chip(site, "one", "'chip_one', 'npu'")
    site.plugin("two", "raise RuntimeError('broken')")
    with pytest.raises(PluginError) as caught:
        site.load().soc("chip_one")
    assert caught.value.code == "MATCH-H009"
    assert "unit 'npu', named by pkg-one 1.0" in caught.value.where
    assert any("pkg-two" in line for line in caught.value.help)
