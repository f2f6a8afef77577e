"""``match lines``: what counts as a line of code, and of which packages."""

from __future__ import annotations

from pathlib import Path

import pytest
from match_core.cli.main import run
from match_kit.lines import code_lines, lines_of

from tests.envelope import opened


def test_blank_lines_and_comments_do_not_count() -> None:
    assert code_lines('"""Words."""\n\n# a comment\nx = 1  # behind code\n') == 2
    assert code_lines("/* a comment */\n#include <a.h>\n// another\n#define X 1 /* one */\n\nint x;\n") == 3


def test_python_and_c_with_its_templates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "pkg_lines" / "c"
    folder.mkdir(parents=True)
    (tmp_path / "pkg_lines" / "__init__.py").write_text("x = 1\n", encoding="utf-8")
    (folder / "a.h").write_text("int x;\n", encoding="utf-8")
    (folder / "b.c.mako").write_text("int y;\nint z;\n", encoding="utf-8")
    (folder / "c.py.mako").write_text("no = 1\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert lines_of("pkg-lines") == {"Python": 1, "C": 3}
    assert lines_of("pkg-nobody") is None and lines_of("") is None


def test_the_verb(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lines", "match-regions", "--json"]) == 0
    document = opened(capsys.readouterr().out)
    (row,) = document["packages"]
    assert row["package"] == "match-regions" and row["C"] == 0 < row["Python"]
    assert run(["lines", "match-nobody"]) == 2
    assert "MATCH-U052" in capsys.readouterr().err
