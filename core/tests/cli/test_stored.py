"""``match compile`` of what it has compiled before: the same files and tables, and nothing is loaded."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from match_core.cli import compile as verb
from match_core.cli import stored
from match_core.cli.main import run
from match_core.contract.sources import SourceFile, Sources
from match_core.io.entries import Entries, digest
from match_core.plugin.facade import CORE

AGAIN = "the program of an earlier compilation"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MATCH_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(stored, "times_of", lambda _: "times")  # other tests write into folders of sys.path
    return tmp_path / "cache" / "programs"


@pytest.fixture
def model(make_model) -> Path:
    path: Path = make_model(operators=("Relu", "Neg"))
    return path


def _compile(model: Path, output: Path, *options: str) -> int:
    return run(["compile", str(model), "-t", "host", "-o", str(output), *options])


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _again(model: Path, output: Path, capsys: pytest.CaptureFixture[str], *options: str) -> bool:
    """Whether a compilation, which succeeds, was answered by a stored program."""
    capsys.readouterr()
    assert _compile(model, output, *options) == 0
    return AGAIN in capsys.readouterr().err


def test_the_second_time_nothing_is_loaded(model, tmp_path, capsys, monkeypatch):
    assert _compile(model, tmp_path / "one") == 0
    shown = capsys.readouterr()
    monkeypatch.setattr(verb, "plugin_session", None)
    assert _compile(model, tmp_path / "two") == 0
    again = capsys.readouterr()
    assert AGAIN in again.err and AGAIN not in shown.err
    assert again.out == shown.out.replace(str(tmp_path / "one"), str(tmp_path / "two"))
    assert _files(tmp_path / "one") == _files(tmp_path / "two")


def test_the_document_and_the_notes_are_the_same(model, tmp_path, capsys):
    documents = []
    for name in ("one", "two"):
        assert _compile(model, tmp_path / name, "--json") == 0
        documents.append(json.loads(capsys.readouterr().out.replace(name, "NAME")))
    first, second = documents
    assert second.pop("notes")[1:] == first.pop("notes")
    assert second == first
    assert list(second["result"]) == list(first["result"])


def test_a_changed_file_of_the_user_is_kept(model, tmp_path, capsys):
    assert _compile(model, tmp_path / "out") == 0
    (tmp_path / "out" / "Makefile").write_text("mine")
    assert _again(model, tmp_path / "out", capsys)
    assert (tmp_path / "out" / "Makefile.kept").read_text() == "mine"
    assert not any("Makefile" in note for note in stored_notes())


def stored_notes() -> list[str]:
    """Notes of all entries."""
    folder = stored._entries().directory
    return [note for path in folder.rglob("*.json") for note in json.loads(path.read_text())["content"]["notes"]]


def test_what_changes_a_program_is_compiled(model, make_model, tmp_path, capsys, monkeypatch):
    out = tmp_path / "out"
    assert not _again(model, out, capsys)
    assert _again(model, out, capsys, "--jobs", "1"), "the number of processes changes nothing"
    assert not _again(model, out, capsys, "--no-cache")
    assert not _again(model, out, capsys, "--name", "other")
    assert not _again(model, out, capsys, "--sequential")
    named = model.with_name("renamed.onnx")
    shutil.copy(model, named)
    assert not _again(named, out, capsys), "programs are named after their models"
    monkeypatch.setenv("SDK_DIR", "/sdk")
    assert not _again(model, out, capsys)
    monkeypatch.delenv("SDK_DIR")
    monkeypatch.setenv("MATCH_DISABLE_PLUGINS", "match-tflite")
    assert not _again(model, out, capsys)
    monkeypatch.delenv("MATCH_DISABLE_PLUGINS")
    assert _again(model, out, capsys)
    make_model(operators=("Neg", "Relu"))
    assert not _again(model, out, capsys), "the content counts"


def test_changed_packages_are_noticed(model, tmp_path, capsys, monkeypatch):
    assert not _again(model, tmp_path / "out", capsys)
    monkeypatch.setattr(stored, "files_digest", lambda _: "other")
    assert not _again(model, tmp_path / "out", capsys)
    assert _again(model, tmp_path / "out", capsys)
    monkeypatch.setattr(stored, "times_of", lambda _: "a package was installed")
    assert not _again(model, tmp_path / "out", capsys)


@pytest.mark.parametrize("name", ["code.py", "kernel.c.mako", "folder/figures.json"])
def test_every_file_of_a_package_counts(name, tmp_path):
    place = tmp_path / "package" / name
    place.parent.mkdir(parents=True)
    before = stored.files_digest([tmp_path / "package"])
    place.write_text("a")
    between = stored.files_digest([tmp_path / "package"])
    place.write_text("b")
    assert len({before, between, stored.files_digest([tmp_path / "package"])}) == 3
    compiled = place.parent / "__pycache__" / "code.pyc"
    compiled.parent.mkdir()
    after = stored.files_digest([tmp_path / "package"])
    compiled.write_bytes(b"c")
    assert stored.files_digest([tmp_path / "package"]) == after


def test_weights_elsewhere_and_files_of_figures_are_not_kept(model, tmp_path):
    choices = {"cache": True, "figures": None}
    assert stored.request_key(model, "host", None, choices) is not None
    assert stored.request_key(model, "host", None, choices | {"figures": object()}) is None
    assert stored.request_key(model, "host", None, choices | {"cache": False}) is None
    assert stored.request_key(model, str(model), None, choices) is None, "a board file"
    assert stored.request_key(tmp_path, "host", None, choices) is None, "no file"
    model.write_bytes(model.read_bytes() + b"location")
    assert stored.request_key(model, "host", None, choices) is None


def test_a_device_is_not_read():
    """``/dev/zero`` never ends, and a pipe can be read once only."""
    assert stored.request_key(Path("/dev/zero"), "host", None, {"cache": True, "figures": None}) is None


def test_a_model_that_changes_meanwhile_is_not_kept(model, make_model, tmp_path, capsys, monkeypatch):
    document = verb._document

    def changed(*arguments):
        make_model(operators=("Neg",))
        return document(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(verb, "_document", changed)
        assert not _again(model, tmp_path / "out", capsys)
    make_model(operators=("Relu", "Neg"))
    assert not _again(model, tmp_path / "out", capsys)
    assert _again(model, tmp_path / "out", capsys)


@pytest.mark.parametrize("name", ["../out.c", "/out.c", "a/../../out.c"])
def test_files_outside_the_program_are_not_written(name):
    class Installed:
        faults, reloadable = (), True

        def packages(self):
            return {CORE / "io"}

    key = digest("key")
    stored.write_program(key, stored.StoredProgram({}, (), Sources((SourceFile("good.c", b""),))), Installed())
    assert stored.read_program(key) is not None
    stored.write_program(key, stored.StoredProgram({}, (), Sources((SourceFile(name, b""),))), Installed())
    assert stored.read_program(key) is None


def test_a_broken_entry_is_compiled_again(model, tmp_path, capsys, cache):
    assert not _again(model, tmp_path / "out", capsys)
    (entry,) = cache.rglob("*.json")
    whole = json.loads(entry.read_text())
    whole["content"]["files"][0][1] = "AAAA"
    whole["sha256"] = digest(whole["content"])
    entry.write_text(json.dumps(whole))
    assert not _again(model, tmp_path / "out", capsys)
    assert _again(model, tmp_path / "out", capsys)


def test_the_oldest_entries_go(tmp_path):
    entries = Entries(tmp_path, 1, "1")
    for number in range(5):
        entries.write(digest(number), number)
    entries.keep(2)
    assert [entries.read(digest(number)) for number in range(5)] == [None, None, None, 3, 4]
