"""Every option of every verb, by its long and its short name, is used by a test and named by the page of commands.

That every hook is answered in a test is asked in test_hook_pages.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
import typer

from tests.docs.pages import DOCS, sessions, text_of
from tests.docs.uses import Use, all_texts, uses, uses_of_command, without_use

#: Options that typer adds to ``match`` itself.
OF_TYPER = {"--install-completion", "--show-completion"}


def _command() -> Any:
    from match_core.cli.main import application

    return typer.main.get_command(application())


def options_of(command: Any) -> Iterator[Use]:
    """(verb, name) of all options; the verb of those of ``match`` itself is empty."""
    for verb, one in (("", command), *sorted(command.commands.items())):
        for parameter in one.params:
            for name in (*parameter.opts, *parameter.secondary_opts):
                if name.startswith("-") and (verb or name not in OF_TYPER):
                    yield verb, name


@cache
def _used() -> frozenset[Use]:
    verbs = tuple(_command().commands)
    commands = [step.command for session in sessions() for step in session.steps]
    return uses(all_texts(), verbs).union(*(uses_of_command(command, verbs) for command in commands))


def _documented(page: str) -> Callable[[Use], bool]:
    def documented(use: Use) -> bool:
        verb, option = use
        section = page.split(f"\n## match {verb}\n")[1].split("\n## ")[0] if verb else page
        return any(
            f"{before}{option}{after}" in text for text in (section, page) for before in "` [" for after in "` ]"
        )

    return documented


def test_every_option_is_tested_and_documented() -> None:
    assert without_use(options_of(_command()), _used(), _documented(text_of(DOCS / "cli.md"))) == []


@pytest.mark.parametrize(("name", "short"), [("--made-up", "-m"), ("--made-up", "-t"), ("--targets", "-m")])
def test_a_new_option_without_test_and_page_is_told(name: str, short: str) -> None:
    """Also one whose short name another verb has, or that begins like one that exists."""
    command = _command()
    app = typer.Typer()

    @app.command()
    def _made_up(made_up: bool = typer.Option(False, name, short)) -> None: ...

    made = typer.main.get_command(app).params
    command.commands["diff"].params += [option for option in made if option.name == "made_up"]
    told = without_use(options_of(command), _used(), _documented(text_of(DOCS / "cli.md")))
    assert told == [f"match diff {option}: no test uses it" for option in (name, short)]


def test_a_tested_option_without_a_page_is_told() -> None:
    page = text_of(DOCS / "cli.md").replace("--without-pass", "--without")
    told = without_use(options_of(_command()), _used(), _documented(page))
    assert "match compile --without-pass: the page does not name it" in told


VERBS = ("compile", "check")
SEEN = {
    "match('compile', model, '-o', out)": {"-o"},
    "run(['compile', str(model), '--jobs', '3', '-q'])": {"--jobs", "-q"},
    "subprocess.run([*MATCH, 'compile', f'--memory={size}'])": {"--memory"},
    "OPTIONS = ['--name', 'x']\nmatch('compile', model, *OPTIONS)": {"--name"},
    "def test():\n    for options in (('--twin',), ('-o', 'x')):\n        match('compile', *options)": {"--twin", "-o"},
    "def go(*options):\n    return match('compile', model, *options)\ndef test():\n    go('--deep')": {"--deep"},
    "@pytest.mark.parametrize('arguments', [['--wide'], []])\ndef test(arguments):\n    match('compile', *arguments)": {
        "--wide"
    },
    "TABLE = {'compile': (['--flat'], 1), 'check': ['--steep']}": {"--flat"},
    "bash('x')": set(),
    "# match('compile', '--jobs')": set(),
    'def test():\n    """match(\'compile\', \'--jobs\')"""': set(),
    "text = \"match('compile', '--jobs')\"": set(),
    "match('check', '--jobs')": set(),
    "OPTIONS = ['--name', 'x']\nmatch('compile', model)": set(),
    "def go(*options):\n    return match('check', model, *options)\ndef test():\n    go('--deep')": set(),
    "print('not a command: compile', '--jobs')": set(),
    "call('first', 'second', 'compile', '--jobs')": set(),
}


@pytest.mark.parametrize("text", SEEN)
def test_what_counts_as_a_use(text: str) -> None:
    assert {option for verb, option in uses([text], VERBS) if verb == "compile"} == SEEN[text]


def test_commands_of_pages_count() -> None:
    found = uses_of_command("cd x && match compile net.onnx \\\n -o out -q; match check net.onnx --json > log", VERBS)
    assert found == {("compile", "-o"), ("compile", "-q"), ("check", "--json")}
    assert uses_of_command("python -c \"a; match('compile', '-o')\"; A=1 match check x -q", VERBS) == {("check", "-q")}
