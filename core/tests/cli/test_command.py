"""The command itself: start-up, usage errors, exit codes, interrupts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from importlib.metadata import entry_points
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import match_core
import pytest
from match_core.cli import main as cli

from tests.forked import MATCH

if TYPE_CHECKING:
    from core.tests.cli.conftest import Match
    from core.tests.plugin.distributions import Site

VERBS = ("compile", "run", "verify", "targets", "plugins")


def test_the_installed_command_is_this_one() -> None:
    (point,) = [point for point in entry_points(group="console_scripts") if point.name == "match"]
    assert point.value == "match_core.cli.main:main"


def test_help_starts_under_half_a_second(match: Match) -> None:
    """Processor time, so that a test run on all cores does not count: start-up is one thread that waits for nothing."""
    seconds = []
    for _ in range(3):
        process = subprocess.Popen([*MATCH, "--help"], stdout=subprocess.DEVNULL, env=match.environment())
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        seconds.append(usage.ru_utime + usage.ru_stime)
    assert median(seconds) < 0.5, f"match --help took {seconds}"


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from match_core.cli.main import run; run(['--help']); "
        "print({'onnx', 'onnx_graphsurgeon', 'onnxruntime', 'ortools', 'mako', 'numpy', 'rich'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "set()"


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_each_verb_has_an_example_and_json(match: Match, verb: str) -> None:
    done = match(verb, "--help")
    assert done.code == 0
    assert "Example: " in done.out
    assert f"match {verb}" in done.out
    assert "--json" in done.out


def test_no_verb_shows_the_help(match: Match) -> None:
    done = match()
    assert done.code == 2
    assert all(verb in done.out for verb in VERBS)


def test_version(match: Match) -> None:
    assert match("--version").out == f"match {match_core.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "where", "why"),
    [
        (["frobnicate"], "match", "frobnicate"),
        (["compile"], "match compile", "MODEL"),
        (["compile", "m.onnx"], "match compile", "--output"),
        (["targets", "--no-such-option"], "match targets", "--no-such-option"),
        (["run", "dir", "--inputs"], "match run", "--inputs"),
    ],
)
def test_usage_errors_have_four_parts(match: Match, arguments: list[str], where: str, why: str) -> None:
    done = match(*arguments)
    assert done.code == 2
    assert done.out == ""
    head, where_line, why_line, *example, help_line = done.err.splitlines()
    assert len(example) <= 1 and all(line.startswith("  help:  for example: match ") for line in example)
    assert head == "error: MATCH-U001: the command line is not valid"
    assert where_line == f"  where: {where}"
    assert why in why_line
    assert help_line == f"  help:  see: {where} --help"


def test_usage_errors_as_json(match: Match) -> None:
    done = match("compile", "--json")
    assert done.code == 2
    assert done.err == ""
    assert (done.json["verb"], done.json["ok"]) == ("compile", False)
    assert done.json["ok"] is False
    error = done.json["error"]
    assert sorted(error) == ["code", "exit_code", "help", "what", "where", "why"]
    assert (error["code"], error["exit_code"]) == ("MATCH-U001", 2)


def _failing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    from match_core.plugin.facade import Plugins

    def load(*_: object, **__: object) -> Plugins:
        raise error

    monkeypatch.setattr(Plugins, "load", load)


def test_an_internal_error_is_70_without_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("MATCH_TRACEBACK", raising=False)
    _failing(monkeypatch, RuntimeError("boom\nsecond line"))
    assert cli.run(["plugins"]) == 70
    out, err = capsys.readouterr()
    assert out == ""
    assert "RuntimeError: boom\n" in err
    assert "second line" not in err
    assert "Traceback" not in err
    assert "MATCH_TRACEBACK=1" in err


def test_an_internal_error_with_traceback(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("MATCH_TRACEBACK", "1")
    _failing(monkeypatch, RuntimeError("boom"))
    assert cli.run(["plugins", "--json"]) == 70
    out, err = capsys.readouterr()
    assert '"code": "MATCH-X001"' in out
    assert "Traceback (most recent call last)" in err


def test_an_interrupt_is_130(monkeypatch: pytest.MonkeyPatch) -> None:
    _failing(monkeypatch, KeyboardInterrupt())
    assert cli.run(["plugins"]) == 130


def test_ctrl_c_ends_quietly(match: Match, site: Site, tmp_path: Path) -> None:
    mark = tmp_path / "importing"
    site.plugin("slow", f"import pathlib, time\npathlib.Path({str(mark)!r}).touch()\ntime.sleep(60)")
    process = subprocess.Popen(
        [*MATCH, "plugins"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=match.environment()
    )
    deadline = time.monotonic() + 30
    while not mark.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in err


def test_a_reader_that_goes_away(match: Match) -> None:
    read, write = os.pipe()
    os.close(read)
    process = subprocess.Popen(
        [*MATCH, "plugins"], stdout=write, stderr=subprocess.PIPE, text=True, env=match.environment()
    )
    os.close(write)
    _, err = process.communicate(timeout=30)
    assert "Traceback" not in err
    assert "internal error" not in err
    assert process.returncode not in (0, 70)


def _where_plugins_load(body: str, **environment: str) -> tuple[int, str, str]:
    """Exit code, output and messages of ``match targets`` where loading the plugins is this: lines of a function."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    code = (
        "import os, signal, time\n"
        "from match_core.plugin.facade import Plugins\n"
        f"def load():\n{lines}"
        "Plugins.load = staticmethod(load)\n"
        "from match_core.cli.main import main; main()\n"
    )
    command = [sys.executable, "-c", code, "targets"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})
    return done.returncode, done.stdout, done.stderr


def test_an_interrupt_waits_for_an_import(tmp_path: Path) -> None:
    """A compiled module that is interrupted while it starts may take the process with it."""
    (tmp_path / "slow.py").write_text(
        "import os, signal, sys, time\n"
        "os.kill(os.getpid(), signal.SIGINT)\n"
        "time.sleep(0.2)\n"
        "print('imported', file=sys.stderr)\n"
    )
    load = "import slow\ntime.sleep(5)\nprint('not interrupted')"
    assert _where_plugins_load(load, PYTHONPATH=str(tmp_path)) == (130, "", "imported\n")


@pytest.mark.parametrize("call", ["mkdir", "unlink"])
def test_an_interrupt_waits_for_a_change_of_folders(call: str, tmp_path: Path) -> None:
    """Between making the folder of a new program and knowing its name, and while it is removed."""
    load = (
        "from pathlib import Path\n"
        "from match_core.emit.write import check_output_directory\n"
        f"original = os.{call}\n"
        "def interrupted(*arguments, **named):\n"
        "    original(*arguments, **named)\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    time.sleep(0.01)\n"
        f"os.{call} = interrupted\n"
        f"check_output_directory(Path({str(tmp_path / 'out')!r}))\n"
        "time.sleep(5)\n"
        "print('not interrupted')"
    )
    assert _where_plugins_load(load) == (130, "", "")
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_comes_again_where_it_was_lost() -> None:
    """Python drops what is raised in a finaliser, and says so."""
    load = (
        "class Final:\n"
        "    def __del__(self):\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "        time.sleep(1)\n"
        "Final()\n"
        "time.sleep(5)\n"
        "print('not interrupted')"
    )
    assert _where_plugins_load(load) == (130, "", "")


def test_an_interrupt_that_became_another_exception() -> None:
    """A compiled module that is interrupted where it is called may raise whatever it likes."""
    load = (
        "try:\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    signal.sigtimedwait([], 5)\n"
        "except KeyboardInterrupt:\n"
        "    raise ImportError('a module of C failed') from None"
    )
    assert _where_plugins_load(load) == (130, "", "")
