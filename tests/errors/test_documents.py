"""Documents of match that a stranger edited, truncated or nested end in coded errors, in every verb that reads them."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from match_core.contract.element_types import _C_TYPES
from match_core.contract.errors import MatchError
from match_core.emit.manifest import NAME, SCHEMA_FILE
from match_core.io.documents import read_document
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_core.run.build import compile_program
from match_core.run.compiled_program import read_manifest, run_program, units_of_program
from match_report.diff import diff_programs
from match_report.read import read_report
from match_report.render import render

from tests.end_to_end.models import QdqBuilder
from tests.end_to_end.side_by_side import two_branches
from tests.errors import models
from tests.errors.edits import edited
from tests.report.documents import small_report

if TYPE_CHECKING:
    import subprocess

    Run = Callable[..., "subprocess.CompletedProcess[str]"]

#: Edits of one document. More of them: make fuzz.
COUNT = 60


def _outcome(work: Callable[[], object]) -> str:
    """The code of the error, empty if there is none. Other exceptions pass."""
    try:
        work()
    except MatchError as error:
        assert error.what and error.where and error.why and error.help
        str(error).encode()
        return error.code
    return ""


def _written(path: Path, document: object) -> None:
    path.write_text(json.dumps(document), encoding="utf-8")


@pytest.mark.parametrize("seed", range(3))
def test_edited_reports(seed: int, tmp_path: Path) -> None:
    """What is accepted is rendered and compared without an exception."""
    refused = set()
    for change, document in edited(small_report(), seed, COUNT):
        _written(tmp_path / "report.json", document)

        def work() -> None:
            texts = render(read_report(tmp_path))
            for text in texts.values():
                text.encode()
            diff_programs(tmp_path, tmp_path)

        try:
            refused.add(_outcome(work))
        except Exception as error:
            raise AssertionError(change) from error
    assert refused == {"", "MATCH-U032"}


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Programs whose manifests have queues and swaps, a store, and neither."""
    folder = tmp_path_factory.mktemp("programs")
    QdqBuilder(3, 16, 8, 8).conv(64, 3).conv(64, 3).save(folder / "streamed.onnx")
    two_branches(folder / "beside.onnx")
    models.relu(folder / "plain.onnx")
    memory = {"streamed": (("l2", 40_000),)}
    for name, target in (("streamed", "gap9"), ("beside", "carfield"), ("plain", "host")):
        request = CompileRequest(folder / f"{name}.onnx", target, folder / name, memory=memory.get(name, ()))
        compile_model(request, Plugins.load())
    return {path.name: path for path in folder.iterdir() if path.is_dir()}


@pytest.mark.parametrize("name", ["streamed", "beside", "plain"])
def test_edited_manifests(
    name: str, programs: dict[str, Path], tmp_path: Path, plugins: Plugins, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything that `match run` does with a manifest before it calls the compiler."""
    monkeypatch.setattr("match_core.run.build.compile_sources", lambda *_: None)
    program = shutil.copytree(programs[name], tmp_path / "program")
    whole = json.loads((program / NAME).read_text(encoding="utf-8"))
    kept = {key: whole[key] for key in whole if key not in ("files", "versions", "solvers", "images", "memory")}
    refused = set()
    for change, document in edited(kept, 7, COUNT):
        _written(program / NAME, document)

        def work() -> None:
            found = read_manifest(program)
            host, apis = units_of_program(found, plugins)
            compile_program(program, tmp_path / "work", apis, host, _options())

        try:
            refused.add(_outcome(work))
        except Exception as error:
            raise AssertionError(change) from error
    assert "MATCH-U030" in refused


def _options() -> Any:
    from match_core.run.compiler import BuildOptions

    return BuildOptions()


#: What stands in a file instead of a document.
CONTENTS: dict[str, bytes] = {
    "nothing": b"",
    "half": b'{"schema": "match.lock", "schema_ver',
    "nested": b"[" * 100_000,
    "nested objects": b'{"a":' * 100_000,
    "binary": bytes(range(256)),
    "a long number": b"9" * 100_000,
    "a number": b"7",
    "UTF-16": '{"schema": "match.lock"}'.encode("utf-16"),
    "half a character": b'{"schema": "match.lock", "name": "\xff"}',
    "a list": b"[]",
    "only the heading": b'{"schema": "match.lock", "schema_version": 1}',
}


@pytest.mark.parametrize("content", CONTENTS)
def test_every_verb_names_the_fault(
    content: str, programs: dict[str, Path], tmp_path: Path, match_command: Run
) -> None:
    """`run`, `report`, `diff` and `calibrate`, on the command line."""
    program = shutil.copytree(programs["plain"], tmp_path / "program")
    for name in (NAME, "report.json"):
        (program / name).write_bytes(CONTENTS[content])
    np.savez(tmp_path / "x.npz", x=np.zeros((1, 8), np.float32))
    (tmp_path / "counters.csv").write_text("index,cycles\n0,100\n", encoding="utf-8")
    model = programs["plain"].with_suffix(".onnx")
    calls: dict[str, tuple[list[object], str]] = {
        "run": (["run", program, "--inputs", tmp_path / "x.npz", "--outputs", tmp_path / "y.npz"], "MATCH-U030"),
        "report": (["report", program], "MATCH-U032"),
        "diff": (["diff", programs["plain"], program], "MATCH-U032"),
        "calibrate": (
            ["calibrate", model, "--counters", f"{program}={tmp_path / 'counters.csv'}", "-o", tmp_path / "f.json"],
            "MATCH-U030",
        ),
    }
    for arguments, code in calls.values():
        done = match_command(*arguments)
        assert done.returncode == 2 and code in done.stderr, done.stderr
        assert "Traceback" not in done.stderr


def test_a_document_that_is_no_plain_file(tmp_path: Path) -> None:
    """Reading a pipe would never end."""
    os.mkfifo(tmp_path / "report.json")
    assert _outcome(lambda: read_report(tmp_path)) == "MATCH-U032"


def test_a_store_outside_of_the_program(programs: dict[str, Path], tmp_path: Path) -> None:
    """A manifest names no file elsewhere: it would be copied into, and read by, the program."""
    program = shutil.copytree(programs["streamed"], tmp_path / "program")
    document = json.loads((program / NAME).read_text(encoding="utf-8"))
    assert document["stores"]
    for name in ("../secret.bin", "/etc/passwd", "missing.bin"):
        document["stores"][0]["file"] = name
        _written(program / NAME, document)
        assert _outcome(lambda: read_manifest(program)) == "MATCH-U030"


def test_a_program_whose_files_are_gone(programs: dict[str, Path], tmp_path: Path, plugins: Plugins) -> None:
    program = shutil.copytree(programs["plain"], tmp_path / "program")
    for path in program.glob("*.[ch]"):
        path.unlink()
    inputs = {"x": np.zeros((1, 8), np.float32)}
    assert _outcome(lambda: run_program(program, inputs, plugins)) == "MATCH-T002"


def test_the_schema_names_the_element_types_of_programs() -> None:
    schema = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    assert schema["$defs"]["tensor"]["properties"]["dtype"]["enum"] == list(_C_TYPES)


FAULTS: dict[str, tuple[object, dict[str, Any], str]] = {
    "a truth value is no number": (True, {"type": "integer"}, "not of type integer"),
    "one is not true": (1, {"const": True}, "not True"),
    "infinite": (float("inf"), {"type": "number"}, "not of type number"),
    "too large": (1 << 64, {"type": "integer"}, "outside of"),
    "below": (-1, {"type": "integer", "minimum": 0}, "outside of 0"),
    "half a pair": ("\ud800", {"type": "string"}, "does not match"),
    "pattern": ("a/b", {"type": "string", "pattern": "^[a-z]*$"}, "does not match"),
    "a key": ({"\ud800": 1}, {"type": "object"}, "not text"),
    "missing": ({}, {"type": "object", "required": ["a"]}, "has no 'a'"),
    "deep": ({"a": [{"b": 1}, {"b": "x"}]}, {"$ref": "#/$defs/a"}, "a[1].b is 'x', not of type integer"),
    "no choice": ({"a": 1}, {"anyOf": [{"type": "null"}, {"type": "string"}]}, "not of type"),
    "count": ([1], {"type": "array", "minItems": 2, "items": {}}, "has 1 elements"),
}
_ROW = {"type": "object", "properties": {"b": {"type": "integer"}}}
_DEFINITIONS = {"a": {"type": "object", "properties": {"a": {"type": "array", "items": _ROW}}}}


@pytest.mark.parametrize("name", FAULTS)
def test_what_a_schema_refuses(name: str, tmp_path: Path) -> None:
    value, schema, why = FAULTS[name]
    _written(tmp_path / "document.json", value)
    with pytest.raises(ValueError, match=re.escape(why)):
        read_document(tmp_path / "document.json", {**schema, "$defs": _DEFINITIONS})
