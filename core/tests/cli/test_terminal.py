"""The terminal layer: where things go, what quiet and JSON leave out."""

from __future__ import annotations

import ast
import io
import json
import sys
from pathlib import Path

import match_core
import pytest
from match_core.cli.tables import Table, shortened
from match_core.cli.terminal import PLAN_STAGES, Terminal, library_output
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


def test_progress_says_what_is_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter((1.0, 4.0, 6.0, 7.0))
    monkeypatch.setattr("time.perf_counter", lambda: next(times))
    terminal = Terminal(stages=PLAN_STAGES)
    terminal.stage_started("map")
    terminal.progress({"layer": 3, "of": 54, "bound": 1000000, "gap": "19.0%"})
    shown = "5 of 6  map: choose the unit of each layer  2 s (total 5 s)  layer 3 of 54, bound 1,000,000, gap 19.0%"
    assert terminal.running() == shown
    terminal.progress({"unit": "[red]npu[/red]\nx"})
    line = terminal.__rich__()
    assert line.plain.endswith("unit [red]npu[/red]\N{REPLACEMENT CHARACTER}x")
    assert (line.no_wrap, line.overflow) == (True, "ellipsis")


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
    with Terminal(as_json=True, quiet=True) as terminal:
        terminal.document({"schema": "match.sizes", "ok": False, "a": 1, "notes": ["n", "m"]})
        terminal.line("hidden")
        terminal.table(TABLE)
        terminal.warning("w")
        terminal.note("n")
    document = json.loads(capsys.readouterr().out)
    assert list(document) == ["match", "verb", "schema", "status", "result", "error", "warnings", "notes"]
    assert (document["verb"], document["status"], document["result"]) == ("sizes", "failed", {"a": 1})
    assert (document["error"], document["warnings"], document["notes"]) == (None, ["w"], ["n", "m"])


def test_a_document_is_not_printed_before_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InfeasibleError), Terminal(as_json=True) as terminal:
        terminal.document({"schema": "match.sizes", "a": 1})
        raise ERROR
    Terminal(as_json=True).error(ERROR, "sizes")
    document = json.loads(capsys.readouterr().out)
    assert (document["verb"], document["status"], document["result"]) == ("sizes", "failed", None)
    assert document["error"] == ERROR.as_json()


def test_json_has_null_for_numbers_that_are_not_finite(capsys: pytest.CaptureFixture[str]) -> None:
    with Terminal(as_json=True) as terminal:
        terminal.document({"a": [{"b": float("nan")}, (float("-inf"), 1.5)]})
    assert json.loads(capsys.readouterr().out)["result"] == {"a": [{"b": None}, [None, 1.5]]}


def test_plain_table_is_aligned(capsys: pytest.CaptureFixture[str]) -> None:
    Terminal().table(TABLE)
    assert capsys.readouterr().out.splitlines() == [
        "sizes",
        "  name       bytes",
        "  a              1",
        "  long name  1,000",
    ]


def test_a_table_without_rows_has_no_heading(capsys: pytest.CaptureFixture[str]) -> None:
    Terminal().table(Table("nothing", ("name",), []))
    assert capsys.readouterr() == ("", "")


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
