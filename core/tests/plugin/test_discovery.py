"""Finding plugins: real dist-info on the path, a fixed order, and the two variables."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from match_core.plugin.discovery import Selection, find_plugins

if TYPE_CHECKING:
    from core.tests.plugin.distributions import Site

EMPTY = "pass"
CHIP = """
    @hookimpl
    def match_hardware():
        return Hardware(socs=(chip("{0}"),))
"""


def _names(site: Site) -> list[tuple[str, str]]:
    return [(f.distribution, f.name) for f in find_plugins() if f.distribution in site.distributions]


def test_order_is_by_distribution_then_name_whatever_the_file_system_says(site: Site) -> None:
    wanted = [("pkg-a", "z1"), ("pkg-a", "z2"), ("pkg-b", "b"), ("pkg-c", "a")]
    points = {"pkg-a": ["z2", "z1"], "pkg-b": ["b"], "pkg-c": ["a"]}
    for distribution in random.Random(3).sample(sorted(points), 3):
        site.install(distribution, {}, dict.fromkeys(points[distribution], "fake"))
    assert _names(site) == wanted


def test_the_core_has_no_place_of_its_own(site: Site) -> None:
    site.plugin("aaa", EMPTY)
    site.plugin("zzz", EMPTY)
    found = [f.distribution for f in find_plugins()]
    assert found == sorted(found) and found.index("match-core") < found.index("pkg-zzz")


def test_versions_and_targets_are_told(site: Site) -> None:
    site.plugin("one", CHIP.format("chip_one"), version="4.5.6")
    row = next(row for row in site.load().plugins() if row.name == "one")
    assert (row.distribution, row.version, row.status, row.targets) == ("pkg-one", "4.5.6", "active", ("chip_one",))
    assert row.hooks == ("match_hardware",)


def test_what_the_core_offers_takes_the_same_way(site: Site) -> None:
    rows = {row.name: row for row in site.load().plugins()}
    assert rows["core"].hooks == ("match_transforms",)
    assert rows["host"].units == ("host",)
    assert rows["schedule"].hooks == ("match_schedule",)


@pytest.mark.parametrize("name", ["one", "pkg-one", "PKG_One", " one , nothing"])
def test_disabling_by_entry_point_or_distribution(site: Site, name: str) -> None:
    site.plugin("one", "raise RuntimeError('imported although it is disabled')")
    site.plugin("two", CHIP.format("chip_two"))
    plugins = site.load(MATCH_DISABLE_PLUGINS=name)
    assert plugins.faults == ()
    assert site.installed(plugins) == ["chip_two"]
    assert {row.name: row.status for row in plugins.plugins()}["one"] == "disabled"


def test_an_allow_list_leaves_nothing_else_in(site: Site) -> None:
    site.plugin("one", CHIP.format("chip_one"))
    site.plugin("two", CHIP.format("chip_two"))
    plugins = site.load(MATCH_ALLOW_PLUGINS="two")
    assert site.installed(plugins) == ["chip_two"]
    assert plugins.hardware().units == ()


def test_empty_variables_allow_everything() -> None:
    selection = Selection.from_environment({"MATCH_ALLOW_PLUGINS": "", "MATCH_DISABLE_PLUGINS": " , "})
    assert selection == Selection()


def test_disabling_wins_over_allowing(site: Site) -> None:
    site.plugin("one", EMPTY)
    plugins = site.load(MATCH_ALLOW_PLUGINS="one", MATCH_DISABLE_PLUGINS="pkg-one")
    assert {row.name: row.status for row in plugins.plugins()}["one"] == "disabled"


def test_equal_entry_point_names_refuse_both_and_name_both(site: Site) -> None:
    site.install("pkg-a", {"fake_a": CHIP.format("chip_a")}, {"same": "fake_a"})
    site.install("pkg-b", {"fake_b": CHIP.format("chip_b")}, {"same": "fake_b"})
    plugins = site.load()
    assert site.installed(plugins) == []
    assert [(fault.distribution, fault.stage, fault.code) for fault in plugins.faults] == [
        ("pkg-a", "discovery", "MATCH-H008"),
        ("pkg-b", "discovery", "MATCH-H008"),
    ]
    assert all("pkg-a and in pkg-b" in fault.cause for fault in plugins.faults)


def test_equal_entry_point_names_are_settled_by_disabling_one(site: Site) -> None:
    site.install("pkg-a", {"fake_a": CHIP.format("chip_a")}, {"same": "fake_a"})
    site.install("pkg-b", {"fake_b": CHIP.format("chip_b")}, {"same": "fake_b"})
    plugins = site.load(MATCH_DISABLE_PLUGINS="pkg-b")
    assert site.installed(plugins) == ["chip_a"]
    assert plugins.faults == ()


def test_an_entry_point_may_name_an_object(site: Site) -> None:
    text = """
        class Target:
            match_contract = 1

            @hookimpl
            def match_hardware(self):
                return Hardware(socs=(chip("chip_object"),))

        target = Target()
    """
    site.install("pkg-o", {"fake_o": text}, {"o": "fake_o:target"})
    assert site.installed(site.load()) == ["chip_object"]
