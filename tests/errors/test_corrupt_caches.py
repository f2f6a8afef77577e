"""Entries of the cache that a stranger changed count as absent and are written again; boards that are no boards are
refused."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from match_core.board.document import read_board
from match_core.contract.errors import MatchError
from match_core.io.entries import Entries, digest
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.badge import read_badge
from match_core.plugin.facade import Plugins
from match_core.schedule.codec import from_json

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


def test_damaged_entries_are_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plugins: Plugins) -> None:
    """Schedules and mappings: the same program, and the same entries as before."""
    monkeypatch.setenv("MATCH_CACHE_DIR", str(tmp_path / "cache"))
    two_branches(tmp_path / "model.onnx")

    def compiled() -> list[tuple[str, str]]:
        done = compile_model(CompileRequest(tmp_path / "model.onnx", "carfield"), plugins)
        return [(file.name, file.sha256) for file in done.compilation.sources.files]

    program = compiled()
    entries = {path: path.read_bytes() for path in sorted((tmp_path / "cache").rglob("*.json"))}
    assert {path.parents[1].name for path in entries} >= {"schedules", "mappings"}
    for number, (path, content) in enumerate(entries.items()):
        path.write_bytes(list(DAMAGES.values())[number % len(DAMAGES)](content))
    assert compiled() == program
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


def test_edited_schedules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plugins: Plugins) -> None:
    """Also those whose digests a stranger computed again: a schedule, or an error that counts as absent."""
    monkeypatch.setenv("MATCH_CACHE_DIR", str(tmp_path))
    two_branches(tmp_path / "model.onnx")
    compile_model(CompileRequest(tmp_path / "model.onnx", "carfield"), plugins)
    contents = [json.loads(path.read_bytes())["content"] for path in sorted((tmp_path / "schedules").rglob("*.json"))]
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
