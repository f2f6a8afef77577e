"""``match --help`` lists the verbs of packages from a cache that knows when it is out of date."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest
from match_core.cli.listed import listed_commands
from match_core.contract.commands import Command


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """One package with one verb; ``loads`` counts how often plug-ins were loaded."""
    monkeypatch.setenv("MATCH_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "site"
    folder.mkdir()
    source = folder / "plugin.py"
    source.write_text("")
    monkeypatch.syspath_prepend(str(folder))
    made = SimpleNamespace(verbs=[Command("hello", "Say hello.", lambda: print)], faults=(), loads=0, source=source)

    def load():
        made.loads += 1
        return SimpleNamespace(commands=lambda: tuple(made.verbs), sources=lambda: (source,), faults=made.faults)

    made.names = lambda: [(command.name, command.help) for command in listed_commands(load)]
    return made


def test_the_second_list_loads_nothing(installed):
    assert installed.names() == installed.names() == [("hello", "Say hello.")]
    assert installed.loads == 1


def test_a_changed_source_is_loaded_again(installed):
    installed.names()
    installed.verbs[:] = [Command("hello", "Greet.", lambda: print)]
    os.utime(installed.source, ns=(1, 1))
    assert installed.names() == [("hello", "Greet.")]
    assert installed.loads == 2


def test_a_new_package_is_loaded(installed):
    installed.names()
    (installed.source.parent / "other-1.0.dist-info").mkdir()
    installed.verbs.append(Command("more", "More.", lambda: print))
    assert [name for name, _ in installed.names()] == ["hello", "more"]


def test_a_list_with_faults_is_not_kept(installed):
    installed.faults = ("broken",)
    installed.names()
    installed.names()
    assert installed.loads == 2


def test_switched_off_packages_have_lists_of_their_own(installed, monkeypatch):
    installed.names()
    monkeypatch.setenv("MATCH_DISABLE_PLUGINS", "other")
    installed.names()
    assert installed.loads == 2


@pytest.mark.parametrize("content", ["{}", "[]", "not json"])
def test_a_file_that_is_no_entry_counts_as_none(installed, tmp_path, content):
    installed.names()
    (entry,) = (tmp_path / "cache").rglob("*.json")
    entry.write_text(content)
    assert installed.names() == [("hello", "Say hello.")]
    assert installed.loads == 2
