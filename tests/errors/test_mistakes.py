"""Typical mistakes: each message says what is wrong, where, why in numbers or names, and what helps. A help line
that is a complete command works."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import tomllib

from tests.envelope import opened
from tests.errors.mistakes import MAKE, samples
from tests.forked import match

TABLE: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("mistakes.toml").read_text())
#: A command within a line of help, without placeholders in capitals.
COMMAND = re.compile(r"(?:^|: )(match [a-z].*)$")
PLACEHOLDER = re.compile(r"\b(MODEL|TARGET|DIR)\b")
GOOD = {"MODEL": "model.onnx", "TARGET": "gap9", "DIR": "built"}


def _commands(row: dict[str, Any]) -> list[str]:
    """The commands of the help, with samples in the place of placeholders, and the corrected options of the user."""
    found = [each[1] for line in row["help"] if (each := COMMAND.search(line))]
    return [PLACEHOLDER.sub(lambda word: GOOD[word[0]], command) for command in found]


HELPING = {command: name for name, row in TABLE.items() for command in _commands(row)}


def test_the_table_has_sixty_mistakes() -> None:
    assert len(TABLE) >= 60
    assert MAKE.keys() <= TABLE.keys()
    assert len(HELPING) >= 8


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if row.get("slow") else []) for name, row in TABLE.items()]
)
def test_mistake(name: str, tmp_path: Path) -> None:
    row = TABLE[name]
    samples(tmp_path)
    MAKE.get(name, lambda folder: None)(tmp_path)
    done = match([*shlex.split(row["command"])[1:], "--json"], cwd=tmp_path, env={**os.environ, "NO_COLOR": "1"})
    error = opened(done.stdout)["error"]
    assert error is not None
    said = {part: error[part] for part in ("code", "what", "where", "why")}
    assert said == {part: row[part] for part in said}
    assert all(said.values()) and error["help"]
    assert [line.replace(" --json", "") for line in error["help"]] == row["help"]
    assert done.returncode == row["exit"]


@pytest.mark.parametrize("command", HELPING)
def test_help_works(command: str, tmp_path: Path) -> None:
    samples(tmp_path)
    MAKE.get(HELPING[command], lambda folder: None)(tmp_path)
    done = match(shlex.split(command)[1:], cwd=tmp_path, env={**os.environ, "NO_COLOR": "1"})
    assert done.returncode == 0, done.stdout + done.stderr
