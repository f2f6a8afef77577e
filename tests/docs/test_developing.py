"""The recipes of docs/developing.md work as they stand: applied to a copy of the repository, with their tests."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.test_never import ROOMS
from tests.conftest import ROOT
from tests.docs.pages import DOCS, text_of
from tests.quick import QUICK, nodes

PAGE = text_of(DOCS / "developing.md")
_RECIPE = re.compile(r"^<!-- recipe: (\w+) -->$", re.MULTILINE)
_PIECE = re.compile(
    r"<!-- file: (?P<file>\S+) -->\n```python\n(?P<text>.*?)```"
    r"|<!-- change: (?P<change>\S+) -->\n```diff\n(?P<diff>.*?)```"
    r"|<!-- test -->\n```sh\n(?P<commands>.*?)```",
    re.DOTALL,
)
#: What a change of the repository touches or tests.
_COPIED = ("core", "plugins", "docs", "tests", "benchmarks", "examples")
_PARTS = _RECIPE.split(PAGE)
RECIPES = dict(zip(_PARTS[1::2], _PARTS[2::2], strict=True))
#: Without single files.
_ROOMS = [room for room in ROOMS if room not in ("version", "cp_sat", "own_plugin", "pipeline")]


def copy_of_the_repository(folder: Path) -> Path:
    """Sources, pages and tests, with their bytecode (which knows its source by time and size)."""
    unwanted = shutil.ignore_patterns("build", ".*")
    for name in _COPIED:
        shutil.copytree(ROOT / name, folder / name, ignore=unwanted)
    for path in (path for path in ROOT.iterdir() if path.is_file()):
        shutil.copy(path, folder)
    return folder


def apply(piece: re.Match[str], folder: Path) -> None:
    """Write a new file, or replace the lines of a diff that begin with - by those that begin with +. A line may be
    shown up to any of its places."""
    if piece["file"]:
        path = folder / piece["file"]
        assert not path.exists(), f"{piece['file']} exists"
        path.write_text(piece["text"], encoding="utf-8")
        return
    path = folder / piece["change"]
    lines = piece["diff"].splitlines()
    before, after = ("\n".join(line[1:] for line in lines if line[0] == sign) for sign in "-+")
    text = path.read_text(encoding="utf-8")
    assert text.count(before) == 1, f"{piece['change']}: {before!r} is there {text.count(before)} times"
    path.write_text(text.replace(before, after), encoding="utf-8")


@pytest.mark.parametrize("name", RECIPES)
def test_the_recipe_works(name: str, tmp_path: Path) -> None:
    folder = copy_of_the_repository(tmp_path)
    sources = [folder / "core" / "src", *sorted((folder / "plugins").glob("*/src"))]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("MATCH_", "PYTEST_"))}
    environment = {**kept, "PATH": path, "PYTHONPATH": os.pathsep.join(map(str, sources)), "NO_COLOR": "1"}
    tested = False
    for piece in _PIECE.finditer(RECIPES[name]):
        if not piece["commands"]:
            apply(piece, folder)
            continue
        for command in piece["commands"].splitlines():
            done = subprocess.run(
                ["bash", "-c", f"{command} -p no:cacheprovider"],
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, f"$ {command}\n{done.stdout}{done.stderr}"
            tested = True
    assert tested


def test_every_room_and_package_has_a_quick_test() -> None:
    packages = sorted(path.parent.name for path in (ROOT / "plugins").glob("*/pyproject.toml"))
    assert [name for name in (*_ROOMS, *packages) if not QUICK.get(name)] == []
    assert [node for node in nodes() if not (ROOT / node.partition("::")[0]).is_file()] == []


def test_every_recipe_is_there() -> None:
    assert list(RECIPES) == ["pass", "kernel", "operator", "verb", "hook"]


def test_every_room_and_package_has_a_row() -> None:
    packages = sorted(path.parent.name for path in (ROOT / "plugins").glob("*/pyproject.toml"))
    assert [name for name in (*_ROOMS, *packages) if f"\n| `{name}` |" not in PAGE] == []
