"""The terminal layer: where things go, what quiet and JSON leave out."""

from __future__ import annotations

import ast
import io
import json
import sys
from pathlib import Path

import match_core
import pytest
from match_core.cli.results import shortened
from match_core.cli.terminal import Table, Terminal, library_output
from match_core.contract.errors import InfeasibleError
from match_core.contract.observe import NullObserver, StageObserver

ERROR = InfeasibleError("MATCH-R001", "the program does not fit", "memory l2", "needs 5 bytes, 4 available", ("a", "b"))
TABLE = Table("sizes", ("name", "bytes"), [("a", "1"), ("long name", "1,000")], frozenset({"bytes"}))
SOURCES = Path(match_core.__file__).parent


class _Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_it_observes_stages() -> None:
    observers: tuple[StageObserver, ...] = (Terminal(), NullObserver())
    assert len(observers) == 2


def test_stages_are_lines_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    terminal = Terminal()
    terminal.stage_started("load")
    assert capsys.readouterr() == ("", "")
    terminal.stage_finished("load", {"nodes": 12345, "share": 0.123456, "status": "optimal", "l2_bytes": 7})
    out, err = capsys.readouterr()
    assert out == ""
    name, elapsed, unit, *counts = err.split()
    assert (name, unit) == ("load", "s")
    assert 0 <= float(elapsed) < 1
    assert " ".join(counts) == "nodes 12,345, share 0.123, status optimal, l2 bytes 7"


class _Status:
    """What a line that can be overwritten was set to."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def update(self, text: str) -> None:
        self.shown.append(text)

    def stop(self) -> None:
        """The line goes."""


def test_progress_is_one_line_that_changes(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter((1.0, 1.5, 1.55, 3.0, 3.5))
    monkeypatch.setattr("time.perf_counter", lambda: next(times))
    terminal, status = Terminal(), _Status()
    terminal.stage_started("map")
    monkeypatch.setattr(terminal, "_status", status)
    monkeypatch.setattr(terminal, "_stage", "map")
    terminal.progress({"solver": 1234567, "bound": 1000000, "gap": "19.0%"})
    terminal.progress({"solver": 1, "bound": 1})  # 50 ms later: nobody could read it
    terminal.progress({"unit": "[red]npu[/red]\n"})
    assert status.shown[0] == "map 0 s  solver 1,234,567, bound 1,000,000, gap 19.0%"
    assert status.shown[1:] == ["map 2 s  unit \\[red]npu\\[/red]\N{REPLACEMENT CHARACTER}"]
    assert capsys.readouterr() == ("", "")


def test_progress_says_nothing_where_lines_stay(capsys: pytest.CaptureFixture[str]) -> None:
    terminal = Terminal()
    terminal.stage_started("map")
    terminal.progress({"solver": 5})
    assert capsys.readouterr() == ("", "")


def test_quiet_hides_progress_but_not_warnings_and_results(capsys: pytest.CaptureFixture[str]) -> None:
    terminal = Terminal(quiet=True)
    terminal.stage_started("load")
    terminal.stage_finished("load", {})
    terminal.note("hidden")
    terminal.warning("shown")
    terminal.line("result")
    assert capsys.readouterr() == ("result\n", "warning: shown\n")


def test_json_replaces_the_text(capsys: pytest.CaptureFixture[str]) -> None:
    terminal = Terminal(as_json=True)
    terminal.line("hidden")
    terminal.table(TABLE)
    terminal.document({"a": 1})
    assert capsys.readouterr().out == '{\n "a": 1\n}\n'


def test_json_has_null_for_numbers_that_are_not_finite(capsys: pytest.CaptureFixture[str]) -> None:
    Terminal(as_json=True).document({"a": [{"b": float("nan")}, (float("-inf"), 1.5)]})
    assert json.loads(capsys.readouterr().out) == {"a": [{"b": None}, [None, 1.5]]}


def test_plain_table_is_aligned(capsys: pytest.CaptureFixture[str]) -> None:
    Terminal().table(TABLE)
    assert capsys.readouterr().out.splitlines() == [
        "sizes",
        "  name       bytes",
        "  a              1",
        "  long name  1,000",
    ]


def test_error_has_four_parts(capsys: pytest.CaptureFixture[str]) -> None:
    Terminal().error(ERROR)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "error: MATCH-R001: the program does not fit",
        "  where: memory l2",
        "  why:   needs 5 bytes, 4 available",
        "  help:  a",
        "  help:  b",
    ]


def test_hostile_names_lose_their_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    terminal = Terminal()
    terminal.table(Table("t\x1b[2J", ("name",), [("a\x1b]0;x\x07\nb",)]))
    terminal.note("n\rx")
    out, err = capsys.readouterr()
    assert not set("\x1b\x07\r") & set(out + err)
    assert len(out.splitlines()) == 3


def test_styled_streams_use_rich_and_show_markup_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    out, err = _Tty(), _Tty()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    with Terminal() as terminal:
        terminal.stage_started("load")
        terminal.stage_finished("load", {"nodes": 3})
        terminal.table(Table("t", ("name",), [("[red]node[/red]",)]))
        terminal.stage_started("left running")
    assert "[red]node[/red]" in out.getvalue()
    assert "\x1b[32m" in err.getvalue()
    assert "nodes 3" in err.getvalue()


def test_library_prints_go_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    with library_output():
        print("noise")
    assert capsys.readouterr() == ("", "noise\n")


def test_titles_fit_a_column() -> None:
    assert shortened("conv1, relu1") == "conv1, relu1"
    assert shortened("a" * 100, 10) == "aaaaaaa..."


def test_rich_and_typer_stay_in_the_command_line() -> None:
    users: dict[str, set[str]] = {"rich": set(), "typer": set(), "click": set()}
    for path in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                names.append(node.module or "")
            for name in names:
                users.get(name.partition(".")[0], set()).add(path.relative_to(SOURCES).as_posix())
    assert users["rich"] == {"cli/terminal.py"}
    assert all(path.startswith("cli/") for path in users["typer"])
    assert users["click"] == set()


def test_the_library_never_imports_the_command_line() -> None:
    for path in SOURCES.rglob("*.py"):
        if path.is_relative_to(SOURCES / "cli"):
            continue
        assert "match_core.cli" not in path.read_text(encoding="utf-8"), path
