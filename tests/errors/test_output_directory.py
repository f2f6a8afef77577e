"""The output directory: old or new program at any moment, the user's files, and places that cannot be written."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from match_core.contract.errors import MatchError
from match_core.contract.sources import SourceFile, Sources
from match_core.emit.manifest import NAME
from match_core.emit.write import check_output_directory, is_ours, write_sources
from match_core.io import swap

from tests.errors import models

if TYPE_CHECKING:
    import subprocess

    Run = Callable[..., "subprocess.CompletedProcess[str]"]


def _program(version: str, *names: str) -> Sources:
    files = tuple(SourceFile(name, f"{name} of {version}\n".encode()) for name in names)
    digests = {file.name: file.sha256 for file in files}
    manifest = json.dumps({"schema": "match.lock", "version": version, "files": digests})
    return Sources((*files, SourceFile(NAME, manifest.encode())))


OLD = _program("old", "net.c", "net.h", "only_old.c")
NEW = _program("new", "net.c", "net.h", "match_new.h")
#: What a user added: files, a folder, a link, and names that the new program has too.
ADDED = {"main.c": "mine", "notes/today.txt": "mine too", "match_new.h": "my header"}


def _with_additions(directory: Path) -> None:
    for name, text in ADDED.items():
        (directory / name).parent.mkdir(exist_ok=True)
        (directory / name).write_text(text, encoding="utf-8")
    (directory / "latest").symlink_to("nowhere")
    (directory / "net.h").write_text("a change of mine", encoding="utf-8")


def _version(directory: Path) -> str:
    """Of the program, all of whose files are there; a user's changed file does not count."""
    assert is_ours(directory)
    manifest = json.loads((directory / NAME).read_text(encoding="utf-8"))
    for name, digest in manifest["files"].items():
        content = (directory / name).read_bytes()
        assert sha256(content).hexdigest() == digest or content == b"a change of mine", name
    return str(manifest["version"])


def _texts(directory: Path) -> dict[str, str]:
    files = (path for path in directory.rglob("*") if path.is_file())
    return {path.relative_to(directory).as_posix(): path.read_text(encoding="utf-8") for path in files}


def test_files_of_a_user_stay(tmp_path: Path) -> None:
    directory = tmp_path / "out"
    assert write_sources(OLD, directory) == ()
    _with_additions(directory)
    assert write_sources(NEW, directory) == ("match_new.h", "net.h")
    own = {file.name: file.content.decode() for file in NEW.files}
    kept = {"match_new.h.kept": "my header", "net.h.kept": "a change of mine"}
    assert _texts(directory) == {**own, **ADDED, **kept, "match_new.h": own["match_new.h"]}
    assert (directory / "latest").readlink() == Path("nowhere")
    assert write_sources(NEW, directory) == () and _texts(directory)["net.h.kept"] == "a change of mine"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def _no_exchange(*_: object) -> None:
    raise OSError(22, "not on this file system")


def _killed_at(step: int, work: Callable[[], object]) -> int:
    """Run ``work`` in a child that kills itself before its ``step``-th call of the system, as the interpreter audits
    them; the number of calls that it made in all, 0 if it was killed."""
    receiver, sender = os.pipe()
    child = os.fork()
    if child == 0:
        count, armed = 0, True

        def audit(event: str, _: object) -> None:
            nonlocal count
            if armed and event.startswith(("open", "os.", "shutil.", "tempfile.", "ctypes.", "glob.", "pathlib.")):
                count += 1
                if count == step:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(audit)
        work()
        armed = False
        os.write(sender, str(count).encode())
        os._exit(0)
    os.close(sender)
    with os.fdopen(receiver) as file:
        text = file.read()
    os.waitpid(child, 0)
    return int(text or 0)


@pytest.mark.parametrize("exchange", [True, False], ids=["one step", "two steps"])
def test_killed_at_every_point_of_writing(exchange: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Old program or new one, never neither; the user's files survive; the next command repairs."""
    if not exchange:
        monkeypatch.setattr(swap, "exchange", _no_exchange)
    prepared = tmp_path / "prepared"
    write_sources(OLD, prepared)
    _with_additions(prepared)
    found = []
    for step in range(1, 1000):
        directory = tmp_path / f"step{step}" / "out"
        shutil.copytree(prepared, directory, symlinks=True)
        calls = _killed_at(step, partial(write_sources, NEW, directory))
        found.append(_version(directory))
        texts = _texts(directory)
        assert {name: texts[name] for name in ("main.c", "notes/today.txt")}.items() <= ADDED.items()
        assert "my header" in texts.values() and "a change of mine" in texts.values()
        for path in directory.parent.iterdir():  # as if time had passed
            os.utime(path, (0, 0))
        write_sources(NEW, directory)
        assert _version(directory) == "new" and [path.name for path in directory.parent.iterdir()] == ["out"]
        if calls:
            break
    assert calls > 40 and len(found) == calls + 1
    assert found == ["old"] * found.count("old") + ["new"] * found.count("new")
    assert found.count("old") > 20 and found.count("new") > 2


def test_killed_between_the_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where names cannot be exchanged there is a moment without the directory: whoever reads it next finds it again."""
    directory = tmp_path / "out"
    write_sources(OLD, directory)
    directory.rename(swap.staging_of(directory, "old"))
    assert not directory.exists()
    assert is_ours(directory) and _version(directory) == "old"


def test_the_swap_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The old program is in its place again."""
    monkeypatch.setattr(swap, "exchange", _no_exchange)
    rename = Path.rename

    def refused(path: Path, target: Path) -> Path:
        if "-new-" in path.name:
            raise OSError(28, os.strerror(28))
        return rename(path, target)

    directory = tmp_path / "out"
    write_sources(OLD, directory)
    monkeypatch.setattr(Path, "rename", refused)
    assert _code(lambda: write_sources(NEW, directory)) == "MATCH-U011"
    assert _version(directory) == "old" and [path.name for path in tmp_path.iterdir()] == ["out"]


def _code(work: Callable[[], object]) -> str:
    with pytest.raises(MatchError) as caught:
        work()
    assert caught.value.why and caught.value.help
    return caught.value.code


@pytest.fixture
def small_files() -> Iterator[None]:
    """Files above 1,000 bytes cannot be written, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.usefixtures("small_files")
def test_no_room_is_found_before_the_work(tmp_path: Path) -> None:
    assert _code(lambda: check_output_directory(tmp_path / "out")) == "MATCH-U011"
    assert list(tmp_path.iterdir()) == []


def test_no_room_for_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk fills while the program is written: the old one stays."""
    directory = tmp_path / "out"
    write_sources(OLD, directory)
    large = Sources((*NEW.files, SourceFile("weights.bin", bytes(100_000))))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    monkeypatch.setattr("match_core.emit.write.check_output_directory", lambda _: None)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        assert _code(lambda: write_sources(large, directory)) == "MATCH-U011"
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert _version(directory) == "old" and [path.name for path in tmp_path.iterdir()] == ["out"]


PLACES: dict[str, tuple[Callable[[Path], Path], str]] = {
    "a long name": (lambda folder: folder / ("x" * 256), "MATCH-U011"),
    "a long name in a folder that is not there": (lambda folder: folder / "no" / ("x" * 256) / "out", "MATCH-U011"),
    "a long path": (lambda folder: folder.joinpath(*["y" * 200] * 30), "MATCH-U011"),
    "a zero byte": (lambda folder: folder / "a\0b", "MATCH-U011"),
    "below a file": (lambda folder: models.relu(folder / "model.onnx") / "out", "MATCH-U011"),
    "no such file system": (lambda _: Path("/proc/match-out"), "MATCH-U011"),
    "a file": (lambda folder: models.relu(folder / "model.onnx"), "MATCH-U010"),
    "the folder where match runs": (lambda _: Path(), "MATCH-U010"),
    "above the folder where match runs": (lambda _: Path(".."), "MATCH-U010"),
}


@pytest.mark.parametrize("place", PLACES)
def test_places_that_cannot_be_written(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Found by the check before the work, without a trace."""
    (tmp_path / "parent" / "here").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "parent" / "here")
    make, code = PLACES[place]
    directory = make(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    if place.startswith("above"):  # as if it were a program
        (tmp_path / "parent" / NAME).write_text('{"schema": "match.lock"}', encoding="utf-8")
        before = sorted(tmp_path.rglob("*"))
    assert _code(lambda: check_output_directory(directory)) == code
    assert sorted(tmp_path.rglob("*")) == before


def test_the_longest_name(tmp_path: Path) -> None:
    """Temporary names do not make it longer."""
    directory = tmp_path / ("x" * 255)
    write_sources(OLD, directory)
    write_sources(NEW, directory)
    assert _version(directory) == "new"


def test_the_verb_tells_of_changed_files(tmp_path: Path, match_command: Run) -> None:
    """A program runs whatever C a user keeps next to it."""
    model, out = models.relu(tmp_path / "model.onnx"), tmp_path / "out"
    assert match_command("compile", model, "-t", "host", "-o", out, "--quiet").returncode == 0
    (out / "main.c").write_text("int main(void) { return 7; }\n", encoding="utf-8")
    changed = out / "model.h"
    changed.write_text(changed.read_text(encoding="utf-8") + "/* mine */\n", encoding="utf-8")
    done = match_command("compile", model, "-t", "host", "-o", out)
    assert done.returncode == 0 and "model.h.kept" in done.stderr + done.stdout, done.stderr
    assert (out / "model.h.kept").read_text(encoding="utf-8").endswith("/* mine */\n")
    done = match_command("report", out, "--twin", "--quiet")
    assert done.returncode == 0, done.stderr


def test_files_of_a_user_stay_in_a_programs_folder(tmp_path: Path) -> None:
    directory = tmp_path / "out"
    write_sources(_program("old", "net.c", "example/main.c", "example/old.c"), directory)
    (directory / "example" / "mine.c").write_text("mine", encoding="utf-8")
    (directory / "example" / "main.c").write_text("a change of mine", encoding="utf-8")
    assert write_sources(_program("new", "net.c", "example/main.c"), directory) == ("example/main.c",)
    texts = _texts(directory / "example")
    assert texts == {"main.c": "example/main.c of new\n", "main.c.kept": "a change of mine", "mine.c": "mine"}
