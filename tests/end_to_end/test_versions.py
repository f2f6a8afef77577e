"""The versions in the manifest of a program."""

from __future__ import annotations

from match_core.pipeline import _versions
from match_core.plugin.facade import Plugins


def test_what_was_asked_before_changes_nothing() -> None:
    plugins = Plugins.load()
    host, chip = plugins.soc("host"), plugins.soc("gap9")
    before = _versions(plugins, host)
    for unit in plugins.units_of(chip):
        plugins.emit_api(chip, unit)
    assert _versions(plugins, host) == before
    assert "match-host" in before and "match-gap9" not in before
    assert {"match-host", "match-gap9"} < _versions(plugins, chip).keys()
