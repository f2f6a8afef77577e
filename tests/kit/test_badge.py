"""The badge: what outcomes come to, what is read back, and how packages are named on the command line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from match_core.contract.errors import UsageError
from match_core.plugin.badge import badge_state
from match_kit.testing.badge import read_badge
from match_kit.testing.findings import Outcome, Status
from match_kit.testing.levels import LEVELS, badge_from, levels_passed
from match_kit.testing.run import package_named

if TYPE_CHECKING:
    from tests.kit.conftest import Scaffolded


def _outcomes(**status: Status) -> tuple[Outcome, ...]:
    return tuple(Outcome(f"{level}-x", level, "chip", status.get(level, "passed")) for level in LEVELS)


def test_a_level_counts_only_behind_those_before_it() -> None:
    assert levels_passed(_outcomes()) == LEVELS
    assert levels_passed(_outcomes(patterns="failed")) == LEVELS[: LEVELS.index("patterns")]
    assert levels_passed(_outcomes(loads="failed")) == ()


def test_a_level_of_skips_does_not_count() -> None:
    assert levels_passed(_outcomes(costs="skipped")) == LEVELS[: LEVELS.index("costs")]


def test_a_package_without_targets_passes_what_was_asked() -> None:
    assert levels_passed(_outcomes()[:1]) == LEVELS[:1]


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    badge = badge_from("match-chip", "1.2", _outcomes(errors="skipped"))
    badge.write(tmp_path / "badge.json")
    assert read_badge(tmp_path / "badge.json") == badge
    assert (badge.passed, badge.failed, badge.skipped) == (len(LEVELS) - 1, 0, 1)
    again = tmp_path / "again.json"
    badge.write(again)
    assert again.read_bytes() == (tmp_path / "badge.json").read_bytes()
    assert str(tmp_path) not in again.read_text("utf-8")


def test_the_state_tells_of_another_version() -> None:
    badge = badge_from("match-chip", "1.2", _outcomes())
    assert badge_state(badge.as_json(), "1.2", badge.contract) == f"{len(LEVELS)} of {len(LEVELS)} levels"
    assert badge_state(badge.as_json(), "1.3", badge.contract) == f"of 1.2, contract {badge.contract}"
    assert badge_state(replace(badge, contract=0).as_json(), "1.2", badge.contract) == "of 1.2, contract 0"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": "match.badge"}', '{"schema": "match.lock"}', "\x00"])
def test_anything_else_is_no_badge(text: str, tmp_path: Path) -> None:
    path = tmp_path / "badge.json"
    path.write_text(text, encoding="utf-8")
    assert read_badge(path) is None
    assert read_badge(tmp_path / "none.json") is None


def test_packages_are_named_by_distribution_plugin_or_folder(scaffolded: Scaffolded) -> None:
    named = [package_named(text) for text in ("match-sprout", "sprout", "Match_Sprout", str(scaffolded.project))]
    assert set(named) == {("match-sprout", "0.1.0", "sprout")}
    (scaffolded.project / "pyproject.toml").unlink()
    with pytest.raises(UsageError) as caught:
        package_named(str(scaffolded.project))
    assert caught.value.code == "MATCH-U052"
