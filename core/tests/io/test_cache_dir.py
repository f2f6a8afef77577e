"""Where things are kept that can be made again, and that files appear there whole."""

from __future__ import annotations

from pathlib import Path

import pytest
from match_core.io.cache_dir import cache_directory, write_whole


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {}, ".cache/match/twin"),
        ("linux", {"XDG_CACHE_HOME": "/big"}, "/big/match/twin"),
        ("linux", {"XDG_CACHE_HOME": "/big", "MATCH_CACHE_DIR": "/own"}, "/own/twin"),
        ("linux", {"XDG_CACHE_HOME": "", "MATCH_CACHE_DIR": ""}, ".cache/match/twin"),
        ("darwin", {}, "Library/Caches/match/twin"),
        ("win32", {"LOCALAPPDATA": "/data"}, "/data/match/twin"),
        ("win32", {}, "AppData/Local/match/twin"),
    ],
)
def test_places(platform: str, environment: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", platform)
    assert cache_directory("twin", environment) == Path.home() / expected


def test_a_file_is_written_with_its_folders_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "entry"
    assert write_whole(path, b"one")
    assert write_whole(path, b"two")
    assert path.read_bytes() == b"two"
    assert list(path.parent.iterdir()) == [path]


def test_what_cannot_be_written_is_left(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "folder").mkdir()
    assert not write_whole(tmp_path / "file" / "entry", b"one")
    assert not write_whole(tmp_path / "folder", b"one")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]
