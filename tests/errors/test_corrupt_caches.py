"""Entries of the cache that a stranger changed count as absent and are written again; boards that are no boards are
refused."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from match_core.board.document import read_board
from match_core.contract.errors import MatchError
from match_core.io.entries import Entries, digest
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_core.schedule.codec import from_json
from match_kit.testing.badge import read_badge

from tests.end_to_end.side_by_side import two_branches
from tests.errors.edits import edited

#: What stands in an entry, made from what stood there.
DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "half": lambda content: content[: len(content) // 2],
    "nested": lambda _: b"[" * 100_000,
    "binary": lambda _: bytes(range(256)),
    "another entry": lambda content: content.replace(b"1", b"2"),
    "infinite": lambda content: content.replace(b'"content": ', b'"content": 1e999, "x": '),
    "a list": lambda _: b"[]",
}


@dataclass(frozen=True)
class Filled:
    """A model, the digests of its program, and the cache that its compilation filled."""

    model: Path
    cache: Path
    program: list[tuple[str, str]]


def _compiled(model: Path, cache: Path, plugins: Plugins) -> list[tuple[str, str]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MATCH_CACHE_DIR", str(cache))
        done = compile_model(CompileRequest(model, "carfield"), plugins)
    return [(file.name, file.sha256) for file in done.compilation.sources.files]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, plugins: Plugins) -> Filled:
    folder = tmp_path_factory.mktemp("filled")
    two_branches(folder / "model.onnx", side=4)
    return Filled(folder / "model.onnx", folder / "cache", _compiled(folder / "model.onnx", folder / "cache", plugins))


def test_damaged_entries_are_written_again(filled: Filled, tmp_path: Path, plugins: Plugins) -> None:
    """Schedules and mappings: the same program, and the same entries as before."""
    cache = shutil.copytree(filled.cache, tmp_path / "cache")
    entries = {path: path.read_bytes() for path in sorted(cache.rglob("*.json"))}
    assert {path.parents[1].name for path in entries} >= {"schedules", "mappings"}
    schedules = [path for path in entries if path.parents[1].name == "schedules"]
    damaged = [path for path in entries if path not in schedules] + schedules[::5]
    assert len(damaged) >= 2 * len(DAMAGES)
    for number, path in enumerate(damaged):
        content = entries[path]
        path.write_bytes(list(DAMAGES.values())[number % len(DAMAGES)](content))
    assert _compiled(filled.model, cache, plugins) == filled.program
    assert {path: path.read_bytes() for path in entries} == entries


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_entry_is_absent(damage: str, tmp_path: Path) -> None:
    entries = Entries(tmp_path, 1, "1.0")
    key = digest("request")
    entries.write(key, {"steps": [1, 11]})
    (path,) = tmp_path.rglob("*.json")
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    assert entries.read(key) is None
    entries.write(key, {"steps": [1, 11]})
    assert entries.read(key) == {"steps": [1, 11]}


def test_edited_schedules(filled: Filled) -> None:
    """Also those whose digests a stranger computed again: a schedule, or an error that counts as absent."""
    paths = sorted((filled.cache / "schedules").rglob("*.json"))
    contents = [json.loads(path.read_bytes())["content"] for path in paths]
    assert contents
    for number, content in enumerate(contents[:20]):
        for _, document in edited(content, number, 30):
            try:
                from_json(document)
            except ValueError:
                continue


BOARDS: dict[str, bytes] = {
    "empty": b"",
    "nested": b"a = " + b"[" * 100_000,
    "tables without end": b"[" + b".".join([b"a"] * 5000) + b"]\n",
    "not UTF-8": b'name = "\xff"',
    "a long number": b"a = " + b"9" * 10_000,
    "a list for a table": b"soc = []\n",
    "text for a table": b'soc = "gap9"\n',
    "a name that is C": b'[soc]\nname = "x; int y"\ndescription = ""\nhome = "l2"\n',
    "infinite": b'[soc]\nname = "x"\ndescription = ""\nhome = "l2"\n[soc.clock]\nhz = inf\nsource = "s"\n',
}


@pytest.mark.parametrize("name", BOARDS)
def test_boards_that_are_none(name: str, tmp_path: Path) -> None:
    path = tmp_path / "board.toml"
    path.write_bytes(BOARDS[name])
    with pytest.raises(MatchError) as caught:
        read_board(path)
    assert caught.value.code == "MATCH-U060" and caught.value.help


def test_a_board_that_is_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "board.toml")
    with pytest.raises(MatchError) as caught:
        read_board(tmp_path / "board.toml")
    assert caught.value.code == "MATCH-U060"


@pytest.mark.parametrize("content", [b"[" * 100_000, b'{"schema": "match.badge", "cases": 1e999}', b"\xff", b"[]"])
def test_a_badge_that_is_none(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "badge.json").write_bytes(content)
    assert read_badge(tmp_path / "badge.json") is None
