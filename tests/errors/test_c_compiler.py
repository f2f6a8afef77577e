"""C compilers that hang, write nothing, print garbage, cannot be started or are no name at all: coded errors, in time;
cached objects that were damaged are compiled again."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pytest
from match_core.contract.errors import ToolError
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_core.run import compiler, object_cache
from match_core.run.compiled_program import run_program

from tests.errors import models


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("program")
    compile_model(CompileRequest(models.relu(folder / "model.onnx"), "host", folder / "out"), Plugins.load())
    return folder / "out"


def _script(folder: Path, text: str) -> str:
    path = folder / "compiler"
    path.write_bytes(text.encode("latin-1"))
    path.chmod(0o755)
    return str(path)


#: Text of a script, the code and a part of the reason.
SCRIPTS: dict[str, tuple[str, str, str]] = {
    "hangs": ("#!/bin/sh\nexec sleep 100\n", "MATCH-T002", "did not end within 2 s"),
    "leaves a child that hangs": ("#!/bin/sh\nsleep 100 &\n", "MATCH-T002", "did not end within 2 s"),
    "writes nothing": ("#!/bin/sh\nexit 0\n", "MATCH-T002", "wrote no"),
    "prints garbage": ("#!/bin/sh\nprintf 'error: \\377\\376\\000\\033[31m\\n' >&2\nexit 1\n", "MATCH-T002", "error: "),
    "prints without end": ("#!/bin/sh\nhead -c 3000000 /dev/zero | tr '\\0' e\nexit 1\n", "MATCH-T002", "eee"),
    "says nothing": ("#!/bin/sh\nexit 3\n", "MATCH-T002", "exit status 3"),
    "is killed": ("#!/bin/sh\nkill -9 $$\n", "MATCH-T002", "exit status -9"),
    "is no program": ("\x7fELFgarbage", "MATCH-T001", "cannot be started"),
    "names no interpreter": ("#!/no/such/shell\n", "MATCH-T001", "cannot be started"),
}


def _run(program: Path, plugins: Plugins) -> ToolError:
    with pytest.raises(ToolError) as caught:
        run_program(program, {"x": np.zeros((1, 8), np.float32)}, plugins)
    assert caught.value.help and len(caught.value.why) < 2000
    assert "\x1b" not in str(caught.value) and "\0" not in str(caught.value)
    return caught.value


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_compiler_that(
    name: str, program: Path, tmp_path: Path, plugins: Plugins, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, code, why = SCRIPTS[name]
    monkeypatch.setenv("CC", _script(tmp_path, text))
    monkeypatch.setattr(compiler, "LIMIT_SECONDS", 2)
    monkeypatch.setattr(object_cache, "ASK_SECONDS", 1)
    monkeypatch.setenv("MATCH_CACHE_DIR", str(tmp_path / "cache"))
    begin = time.monotonic()
    error = _run(program, plugins)
    assert (error.code, why in error.why) == (code, True), error
    assert time.monotonic() - begin < 30


@pytest.mark.parametrize("name", ["", " ", "no-such-compiler", "/", "a\tb"])
def test_a_name_that_names_no_compiler(
    name: str, program: Path, plugins: Plugins, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", name)
    assert _run(program, plugins).code == "MATCH-T001"


def test_a_linker_that_makes_a_program_without_results(
    program: Path, tmp_path: Path, plugins: Plugins, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It writes its target, whatever that is: objects that are empty, and a program that does nothing."""
    text = '#!/bin/sh\n[ "$1" = --version ] && exit\nwhile [ $# -gt 1 ]; do shift; done\n'
    text += 'printf "#!/bin/sh\\n" > "$1"\nchmod +x "$1"\n'
    monkeypatch.setenv("CC", _script(tmp_path, text))
    monkeypatch.setenv("MATCH_CACHE_DIR", str(tmp_path / "cache"))
    error = _run(program, plugins)
    assert error.code == "MATCH-T003" and "results cannot be read" in error.why


def test_damaged_objects_are_compiled_again(
    program: Path, tmp_path: Path, plugins: Plugins, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MATCH_CACHE_DIR", str(tmp_path))
    inputs = {"x": np.ones((1, 8), np.float32)}
    run_program(program, inputs, plugins)
    entries = {path: path.read_bytes() for path in tmp_path.rglob("*.o")}
    assert entries
    for number, path in enumerate(sorted(entries)):
        content = entries[path]
        path.write_bytes([b"", content[:40], content[:-1] + b"\0", bytes(100)][number % 4])
    run_program(program, inputs, plugins)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.o")} == entries


def test_a_cache_that_cannot_be_written(
    program: Path, tmp_path: Path, plugins: Plugins, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("MATCH_CACHE_DIR", os.fspath(tmp_path / "file"))
    run_program(program, {"x": np.ones((1, 8), np.float32)}, plugins)
