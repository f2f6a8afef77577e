"""``match targets`` and ``match plugins``, in text and JSON, with plugins in every state."""

from __future__ import annotations

import os
import pty
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.forked import MATCH

if TYPE_CHECKING:
    from core.tests.cli.conftest import Match
    from core.tests.plugin.distributions import Site

CHIP = """
    @hookimpl
    def match_hardware():
        return Hardware(socs=(chip("{0}"),))
"""


def test_targets_json(match: Match, site: Site) -> None:
    site.install_example()
    done = match("targets", "--json")
    assert (done.code, done.err) == (0, "")
    target, own = done.json["targets"]
    assert (own["name"], own["package"], own["units"]) == ("host", "match-host", ["host"])
    assert (target["name"], target["package"], target["version"]) == ("example", "match-example", "0.3.1")
    assert target["units"] == ["host", "relu_unit"]
    assert target["memories"] == [{"name": "ram", "level": 2, "size_bytes": 262144}]
    assert (target["presets"], target["preset"]) == (["awake", "asleep"], "awake")
    assert [estimate["name"] for estimate in target["estimates"]] == ["elements_per_cycle", "element_energy"]
    assert target["estimates"][0]["source"] == "invented for the example"


def test_targets_text(match: Match, site: Site) -> None:
    site.install_example()
    done = match("targets")
    assert (done.code, done.err) == (0, "")
    told, title, headings, row, own, estimates, *more = done.out.splitlines()
    assert (told, title) == ("2 targets are installed", "targets")
    assert headings.split() == ["name", "package", "units", "memories", "presets"]
    cells = ["example", "match-example 0.3.1", "host, relu_unit", "ram 256 KiB", "awake, asleep"]
    assert [cell.strip() for cell in row.split("  ") if cell] == cells
    assert own.split()[:2] == ["host", "match-host"]
    assert estimates == "example: 2 cost figures are estimates, not published (--json lists them)"
    assert more[0].startswith("host: ") and more[-1] == "next: match check MODEL -t example"


def test_targets_are_sorted_by_name(match: Match, site: Site) -> None:
    site.plugin("a", CHIP.format("zebra"))
    site.plugin("b", CHIP.format("ape"))
    assert [target["name"] for target in match("targets", "--json").json["targets"]] == ["ape", "host", "zebra"]


def test_without_packages_there_is_the_cores_own_target(match: Match) -> None:
    done = match("targets", "--json")
    assert done.code == 0
    assert [target["name"] for target in done.json["targets"]] == ["host"]


def test_a_broken_plugin_is_warned_of_once_and_the_others_are_listed(match: Match, site: Site) -> None:
    site.plugin("good", CHIP.format("good_chip"))
    site.plugin("bad", "raise RuntimeError('broken')", version="0.9")
    done = match("targets", "--json")
    assert done.code == 0
    assert [target["name"] for target in done.json["targets"]] == ["good_chip", "host"]
    (warning,) = done.err.splitlines()
    assert warning.startswith("warning: plugin bad (pkg-bad 0.9), import: RuntimeError: broken")
    assert "MATCH_DISABLE_PLUGINS=pkg-bad" in warning


def test_disabling_silences_it(match: Match, site: Site) -> None:
    site.plugin("bad", "raise RuntimeError('broken')")
    assert match("targets", "--json", MATCH_DISABLE_PLUGINS="bad").err == ""


def test_a_target_without_its_unit_is_left_out_with_a_reason(match: Match, site: Site) -> None:
    site.plugin("half", CHIP.format("half").replace('chip("half")', 'chip("half", "missing")'))
    done = match("targets", "--json")
    assert [target["name"] for target in done.json["targets"]] == ["host"]
    assert "target half cannot be used" in done.err
    assert "MATCH-H009" in done.err


def test_plugins_json(match: Match, site: Site) -> None:
    site.install_example()
    site.plugin("bad", "match_contract = 99")
    site.plugin("off", CHIP.format("off"))
    done = match("plugins", "--json", MATCH_DISABLE_PLUGINS="off")
    assert done.code == 0
    document = done.json
    assert (document["verb"], document["contract"]) == ("plugins", 1)
    rows = {row["name"]: row for row in document["plugins"]}
    assert sorted(rows["example"]) == [
        "conformance",
        "distribution",
        "hooks",
        "name",
        "status",
        "targets",
        "units",
        "version",
    ]
    assert rows["example"]["targets"] == ["example"]
    assert rows["example"]["hooks"] == ["match_hardware", "match_patterns", "match_cost", "match_emit_api"]
    assert {name: row["status"] for name, row in rows.items() if name in ("example", "bad", "off", "host")} == {
        "example": "active",
        "bad": "refused",
        "off": "disabled",
        "host": "active",
    }
    (fault,) = document["faults"]
    assert (fault["distribution"], fault["stage"], fault["code"]) == ("pkg-bad", "contract", "MATCH-H002")


def test_what_a_plugin_prints_does_not_spoil_the_document(match: Match, site: Site) -> None:
    site.plugin("loud", "print('hello from a plugin')\n" + CHIP.format("loud").replace("\n    ", "\n"))
    done = match("targets", "--json")
    assert [target["name"] for target in done.json["targets"]] == ["host", "loud"]
    assert done.err == "hello from a plugin\n"


def test_control_characters_do_not_reach_the_terminal(match: Match, site: Site) -> None:
    site.plugin("evil", "raise RuntimeError('\\x1b]0;title\\x07\\x1b[2J')")
    done = match("plugins")
    assert "\x1b" not in done.out + done.err
    assert "\x07" not in done.err


def test_names_outside_the_locale(match: Match, site: Site) -> None:
    site.plugin("bad", "raise RuntimeError('größer als 10 µs')")
    done = match("plugins", PYTHONIOENCODING="ascii", LC_ALL="C", PYTHONUTF8="0")
    assert done.code == 0
    assert "gr\\xf6\\xdfer als 10 \\xb5s" in done.err


def _on_a_terminal(match: Match, *arguments: str, **environment: str) -> str:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*MATCH, *arguments], stdout=theirs, stderr=theirs, env=match.environment(**{"TERM": "xterm", **environment})
    )
    os.close(theirs)
    chunks = []
    while True:
        try:
            chunk = os.read(ours, 4096)
        except OSError:
            break
        if not chunk:
            break
        chunks.append(chunk)
    os.close(ours)
    assert process.wait(timeout=30) == 0
    return b"".join(chunks).decode()


def test_a_terminal_gets_colour(match: Match, site: Site) -> None:
    site.plugin("bad", "raise RuntimeError('broken')")
    assert "\x1b[" in _on_a_terminal(match, "plugins")


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_colour(match: Match, site: Site, environment: dict[str, str]) -> None:
    site.plugin("bad", "raise RuntimeError('broken')")
    shown = _on_a_terminal(match, "plugins", **environment)
    assert "\x1b" not in shown
    assert "RuntimeError: broken" in shown
