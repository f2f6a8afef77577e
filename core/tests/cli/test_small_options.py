"""Options that change where results go and how much is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from match_core.cli.main import run
from match_kit.testing.findings import Outcome

from tests.envelope import opened

if TYPE_CHECKING:
    from core.tests.cli.conftest import MakeModel

QUIET = {
    "compile": ["MODEL", "-t", "host", "-o", "OUT/again", "-q"],
    "run": ["OUT/out", "--inputs", "OUT/x.npz", "--outputs", "OUT/y.npz", "-q"],
    "verify": ["MODEL", "-t", "host", "-q"],
    "check": ["MODEL", "-t", "host", "-q"],
    "explain": ["MODEL", "Relu_0", "-t", "host", "-q"],
    "fit": ["MODEL", "-t", "host", "--budget", "ram=1M", "-q"],
    "report": ["OUT/out", "--twin", "--output", "OUT/shown", "-q"],
}


@pytest.fixture
def compiled(tmp_path: Path, make_model: MakeModel, capsys: pytest.CaptureFixture[str]) -> Path:
    model = make_model()
    assert run(["compile", str(model), "-t", "host", "-o", str(tmp_path / "out"), "-q"]) == 0
    np.savez(tmp_path / "x.npz", x=np.ones((1, 1, 256), np.float32))
    capsys.readouterr()
    return model


@pytest.mark.parametrize("verb", QUIET)
def test_quiet_verbs_tell_results_only(
    verb: str, compiled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [text.replace("OUT", str(tmp_path)).replace("MODEL", str(compiled)) for text in QUIET[verb]]
    assert run([verb, *arguments]) == 0
    quiet = capsys.readouterr()
    assert quiet.out
    assert quiet.err == ""
    assert run([verb, *arguments[:-1]]) == 0
    assert capsys.readouterr().err != "", "without it there is progress, or this shows nothing"


def test_a_report_goes_where_it_is_told(compiled: Path, tmp_path: Path) -> None:
    assert run(["report", str(tmp_path / "out"), "--output", str(tmp_path / "shown")]) == 0
    assert (tmp_path / "shown" / "layers.csv").is_file()
    assert not (tmp_path / "out" / "report").exists()


@pytest.mark.parametrize("sanitize", [False, True])
def test_a_program_is_run_with_checks_where_they_are_asked_for(
    sanitize: bool, compiled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import match_core.run.compiled_program as program

    real, seen = program.run_program, []

    def run_program(*arguments: object, **named: object) -> object:
        seen.append(named["sanitize"])
        return real(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(program, "run_program", run_program)
    checked = ["--sanitize"] if sanitize else []
    options = ["--inputs", str(tmp_path / "x.npz"), "--outputs", str(tmp_path / "y.npz"), "--quiet", *checked]
    assert run(["run", str(tmp_path / "out"), *options]) == 0
    assert seen == [sanitize]


def test_a_package_of_another_kind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["new-target", "sprout", "--output", str(tmp_path / "p"), "--kind", "library", "--json"]) == 0
    document = opened(capsys.readouterr().out)
    assert document["kind"] == "library" and "src/match_sprout/source.py" in document["files"]


def test_a_package_is_written_where_it_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "elsewhere"
    assert run(["new-target", "sprout", "--output", str(folder), "--json"]) == 0
    document = opened(capsys.readouterr().out)
    assert (document["verb"], document["name"], document["folder"]) == ("new-target", "sprout", str(folder))
    assert sorted(document["files"]) == sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )


@pytest.mark.parametrize("options", [["--json"], ["--quiet"], ["-q"], []])
def test_conformance_as_document_and_without_progress(
    options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import match_kit.testing.run as runner

    failed = Outcome("loads-found", "loads", "", "failed", ("entry point: it is gone",))

    def outcomes(name: str, project: object, told: object) -> tuple[Outcome, ...]:
        told(failed)  # type: ignore[operator]
        return (failed,)

    monkeypatch.setattr(runner, "package_named", lambda name: (name, "0.1.0", "chip"))
    monkeypatch.setattr(runner, "outcomes_of", outcomes)
    badge = tmp_path / "badge.json"
    assert run(["test-target", "match-chip", "--output", str(badge), *options]) == 1
    printed = capsys.readouterr()
    assert json.loads(badge.read_text())["cases"] == {"passed": 0, "failed": 1, "skipped": 0}
    assert ("loads-found failed" in printed.err) == (options in ([], ["--json"]))
    if options == ["--json"]:
        document = opened(printed.out)
        assert (document["ok"], document["cases"]) == (False, [failed.as_json()])
    else:
        assert "loads-found failed: entry point: it is gone" in printed.out
