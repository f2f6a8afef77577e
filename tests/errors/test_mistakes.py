"""Typical mistakes: each message says what is wrong, where, why in numbers or names, and what helps. Help works: a
complete command as it is, and an option, a variable or ``omit`` applied to the user's command."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import tomllib

from tests.envelope import opened
from tests.errors.mistakes import MAKE, samples
from tests.forked import match

TABLE: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("mistakes.toml").read_text())
#: A command within a line of help: of other programs, and of match.
OTHER = re.compile(r"(?:^|: )(pip|git|unzip|python) ")
COMMAND = re.compile(r"(?:^|: )(match (?:--)?[a-z].*)$")
OMIT = re.compile(r"\bomit (-.*)$")
#: An option with its value, or one that has none; and a variable.
OPTION = re.compile(r"(?<![\w-])(--?[a-z][a-z-]*)(?:[ =](?![(-])([^\s?,;]+))?")
VARIABLE = re.compile(r"\b([A-Z_]{2,})=(\w+)")
FLAGS = {"--quantized-io", "--accept-loss", "--json"}
#: What stands for placeholders in capitals.
GOOD = {"MODEL": "model.onnx", "TARGET": "gap9", "DIR": "built", "N": "16", "X.npz": "images.npz"}
PLACEHOLDER = re.compile(rf"(?<![\w.])({'|'.join(map(re.escape, GOOD))})(?!\w)")


@dataclass(frozen=True)
class Trial:
    """What a line of help advises: words of a command line; ``whole``: it must succeed, not only get further."""

    mistake: str
    words: tuple[str, ...]
    whole: bool
    variables: dict[str, str] = field(default_factory=dict, hash=False)


def _trial(name: str, line: str) -> Trial | None:
    """None for advice about other things than the command line."""
    words = shlex.split(TABLE[name]["command"])
    if OTHER.search(line):
        return None
    line = PLACEHOLDER.sub(lambda word: GOOD[word[0]], line)
    if command := COMMAND.search(line):
        return Trial(name, tuple(shlex.split(command[1])), whole=True)
    if omitted := OMIT.search(line):
        for option, value in OPTION.findall(omitted[1]):
            words = _without(words, option, value)
    elif found := VARIABLE.findall(line):
        return Trial(name, tuple(words), whole=False, variables=dict(found))
    elif any(value or option in FLAGS for option, value in OPTION.findall(line)):
        for option in {option for option, _ in OPTION.findall(line)} if not line.startswith("fix ") else ():
            while _place(words, option, "") is not None:
                words = _without(words, option, "")
        words += [word for pair in OPTION.findall(line) for word in pair if word]
    else:
        return None
    return Trial(name, tuple(words), whole=False)


def _place(words: list[str], option: str, value: str) -> int | None:
    """Where the option stands, with this value if it is not empty."""
    places = [place for place, word in enumerate(words) if word == option]
    if value:
        places = [place for place in places if words[place + 1 : place + 2] == [value]]
    return places[-1] if places else None


def _without(words: list[str], option: str, value: str) -> list[str]:
    place = _place(words, option, value) if _place(words, option, value) is not None else _place(words, option, "")
    return words if place is None else words[:place] + words[place + (1 if option in FLAGS else 2) :]


def _run(
    name: str, words: tuple[str, ...], folder: Path, variables: dict[str, str], prelude: str = ""
) -> subprocess.CompletedProcess[str]:
    """The command in a folder with the samples and the files of the mistake, behind a ``prelude`` in Python."""
    row = TABLE[name]
    samples(folder)
    MAKE.get(name, lambda folder: None)(folder)
    environment = {**os.environ, "NO_COLOR": "1", **row.get("environment", {}), **variables}
    if not prelude:
        return match(words[1:], cwd=folder, env=environment)
    code = f"{prelude}\nfrom match_core.cli.main import main; main()"
    command = [sys.executable, "-c", code, *words[1:]]
    return subprocess.run(command, cwd=folder, env=environment, text=True, capture_output=True, check=False)


def _marks(name: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.slow] if TABLE[name].get("slow") else []


#: One for each command line: those of rows without files of their own are the same everywhere.
TRIALS = {
    (trial.words, tuple(trial.variables), name if name in MAKE else ""): trial
    for name, row in TABLE.items()
    for trial in (_trial(name, line) for line in row["help"])
    if trial is not None
}


def test_the_table_has_a_hundred_mistakes() -> None:
    assert len(TABLE) >= 100
    assert MAKE.keys() <= TABLE.keys()
    assert len(TRIALS) >= 50


def test_every_option_in_the_help_is_tried() -> None:
    lines = [(name, line) for name, row in TABLE.items() for line in row["help"]]
    assert not [
        (name, line)
        for name, line in lines
        if OPTION.search(line) and not OTHER.search(line) and not _trial(name, line)
    ]


@pytest.mark.parametrize("name", [pytest.param(name, marks=_marks(name)) for name in TABLE])
def test_mistake(name: str, tmp_path: Path) -> None:
    row = TABLE[name]
    done = _run(name, (*shlex.split(row["command"]), "--json"), tmp_path, {}, row.get("prelude", ""))
    assert "Traceback" not in done.stderr
    error = opened(done.stdout)["error"]
    assert error is not None
    said = {part: error[part] for part in ("code", "what", "where", "why")}
    assert said == {part: row[part] for part in said}
    assert all(said.values()) and error["help"]
    assert [line.replace(" --json", "") for line in error["help"]] == row["help"]
    assert done.returncode == row["exit"]


#: Rows whose advice about options CI tries: one of each kind. Complete commands of rows that are not slow are all run.
FAST = ("dim zero", "unit typo", "without host", "pass")


def _tried_marks(trial: Trial) -> list[pytest.MarkDecorator]:
    return _marks(trial.mistake) if trial.whole or trial.mistake in FAST else [pytest.mark.slow]


@pytest.mark.parametrize(
    "trial",
    [
        pytest.param(trial, marks=_tried_marks(trial), id=f"{trial.mistake}-{shlex.join(trial.words)}")
        for trial in TRIALS.values()
    ],
)
def test_help_works(trial: Trial, tmp_path: Path) -> None:
    row = TABLE[trial.mistake]
    if trial.whole:
        done = _run(trial.mistake, trial.words, tmp_path, trial.variables)
        assert done.returncode == 0, done.stdout + done.stderr
        return
    done = _run(trial.mistake, (*trial.words, "--json"), tmp_path, trial.variables)
    error = opened(done.stdout)["error"]
    assert error is None or error["code"] != row["code"], error


@pytest.mark.parametrize("words", ["check model.onnx -t gap9 --json --quiet", "targets"])
def test_results_that_find_no_room(words: str, tmp_path: Path) -> None:
    """A document is printed by the verb, the last lines when the command ends."""
    samples(tmp_path)
    with Path("/dev/full").open("w") as full:
        done = match(shlex.split(words), cwd=tmp_path, env={**os.environ, "NO_COLOR": "1"}, stdout=full.fileno())
    assert (done.returncode, "MATCH-T006" in done.stderr, "Traceback" in done.stderr) == (1, True, False), done.stderr
