"""Every way to fail ends in a coded error in four parts: text and JSON, exit code, no traceback, nothing left behind.

The texts are golden: ``pytest --update-golden tests/errors`` rewrites them.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.base_packages import allowing
from tests.envelope import opened
from tests.errors import models
from tests.errors.faults import BROKEN, broken_plugin

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@dataclass(frozen=True)
class Case:
    """``make`` prepares a folder and returns the arguments after ``match compile``; the output is ``out`` in it."""

    code: str
    exit_code: int
    make: Callable[[Path], list[str]]


def _compile(make: Callable[[Path], Path], *options: str, target: str = "gap9") -> Callable[[Path], list[str]]:
    def arguments(folder: Path) -> list[str]:
        model = make(folder / "model.onnx")
        return [str(model), "-t", target, "-o", str(folder / "out"), *options]

    return arguments


def _dynamic(path: Path) -> Path:
    return models.relu(path, (1, "time"))


def _dynamic_batch(path: Path) -> Path:
    return models.relu(path, ("batch", 8))


def _outside(path: Path) -> Path:
    (path.parent.parent / "secret.bin").write_bytes(bytes(256))
    return models.external(path, "../secret.bin")


def _linked(path: Path) -> Path:
    """The name looks harmless, but it is a link to a file elsewhere."""
    (path.parent.parent / "secret.bin").write_bytes(bytes(256))
    (path.parent / "weights.bin").symlink_to(path.parent.parent / "secret.bin")
    return models.external(path, "weights.bin")


def _broken_target(folder: Path) -> list[str]:
    broken_plugin(folder)
    return _compile(models.relu, target=BROKEN)(folder)


def _not_ours(folder: Path) -> list[str]:
    (folder / "kept").mkdir()
    (folder / "kept" / "thesis.tex").write_text("years of work", encoding="utf-8")
    return [str(models.relu(folder / "model.onnx")), "-t", "gap9", "-o", str(folder / "kept")]


def _parent_is_a_file(folder: Path) -> list[str]:
    (folder / "file").write_text("not a directory", encoding="utf-8")
    return [str(models.relu(folder / "model.onnx")), "-t", "gap9", "-o", str(folder / "file" / "out")]


CASES = {
    "missing_file": Case("MATCH-F001", 2, _compile(lambda path: path)),
    "directory_as_model": Case("MATCH-F001", 2, _compile(lambda path: path.parent)),
    "not_onnx": Case("MATCH-F002", 1, _compile(models.picture)),
    "truncated": Case("MATCH-F002", 1, _compile(models.truncated)),
    "cycle": Case("MATCH-F003", 1, _compile(models.cycle)),
    "unknown_opset": Case("MATCH-F004", 1, _compile(models.unknown_opset)),
    "contradictory_shapes": Case("MATCH-F006", 1, _compile(models.contradictory)),
    "control_flow": Case("MATCH-F007", 1, _compile(models.endless_loop)),
    "strings": Case("MATCH-F008", 1, _compile(models.words)),
    "foreign_operator": Case("MATCH-F009", 1, _compile(models.foreign)),
    "integer_operator": Case("MATCH-F017", 1, _compile(models.wide_requantisation)),
    "dynamic_shape": Case("MATCH-F013", 1, _compile(_dynamic)),
    "dynamic_batch": Case("MATCH-F013", 1, _compile(_dynamic_batch)),
    "data_dependent_shape": Case("MATCH-F014", 1, _compile(models.data_dependent)),
    "many_samples": Case("MATCH-F015", 1, _compile(models.many_samples)),
    "endless_function": Case("MATCH-F003", 1, _compile(models.endless_function)),
    "output_not_computed": Case("MATCH-P003", 1, _compile(models.constant_output)),
    "unsupported_operator": Case("MATCH-P001", 1, _compile(models.training_dropout)),
    "external_outside": Case("MATCH-F010", 1, _compile(_outside)),
    "external_absolute": Case("MATCH-F010", 1, _compile(lambda path: models.external(path, "/etc/passwd"))),
    "external_link": Case("MATCH-F010", 1, _compile(_linked)),
    "external_missing": Case("MATCH-F011", 1, _compile(lambda path: models.external(path, "gone.bin"))),
    "activations_exceed_l2": Case("MATCH-M001", 1, _compile(models.too_large_to_divide)),
    "weights_exceed_l2": Case("MATCH-M001", 1, _compile(models.too_many_weights, "--only-unit", "host")),
    "broken_plugin": Case("MATCH-H001", 3, _broken_target),
    "unknown_target": Case("MATCH-U022", 2, _compile(models.relu, target="gap8")),
    "unknown_unit": Case("MATCH-U020", 2, _compile(models.relu, "--without-unit", "npu")),
    "no_unit_left": Case(
        "MATCH-U021", 2, _compile(models.relu, *(f"--without-unit={unit}" for unit in ("host", "cluster", "ne16")))
    ),
    "unknown_preset": Case("MATCH-U025", 2, _compile(models.relu, "--preset", "published")),
    "memory_size": Case("MATCH-U026", 2, _compile(models.relu, "--memory", "l1=large")),
    "unknown_dim": Case("MATCH-U037", 2, _compile(_dynamic_batch, "--dim", "bach=1")),
    "region_minimum": Case("MATCH-U036", 2, _compile(models.relu, "--region-min", "nodes=few")),
    "program_name": Case("MATCH-U027", 2, _compile(models.relu, "--name", "8bit")),
    "energy_unknown": Case("MATCH-U028", 2, _compile(models.relu, "--objective", "energy")),
    "needed_pass": Case("MATCH-U031", 2, _compile(models.relu, "--without-pass", "integerise")),
    "output_not_ours": Case("MATCH-U010", 2, _not_ours),
    "output_unwritable": Case("MATCH-U011", 2, _parent_is_a_file),
    "no_output_option": Case("MATCH-U001", 2, lambda folder: [str(models.relu(folder / "model.onnx"))]),
}


#: Texts with bytes and choices that any better plan changes; ``test_memory_report`` reads them.
CHANGING = ("activations_exceed_l2", "weights_exceed_l2")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one above it that belongs to the test too."""
    made = tmp_path / "work"
    made.mkdir()
    return made


def _tree(folder: Path) -> dict[str, bytes | None]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
        if "__pycache__" not in path.parts
    }


def _compile_fails(case: Case, folder: Path, match_command: Run, *options: str) -> subprocess.CompletedProcess[str]:
    arguments = case.make(folder)
    before = _tree(folder.parent)
    variables = {"PYTHONPATH": str(folder / "site"), **allowing("match-gap9", "match-broken")}
    done = match_command("compile", *arguments, *options, **variables)
    assert "Traceback" not in done.stdout + done.stderr
    assert done.returncode == case.exit_code, done.stdout + done.stderr
    assert _tree(folder.parent) == before, "something was left behind or changed"
    return done


@pytest.mark.parametrize("name", CASES)
def test_error_text(name: str, folder: Path, match_command: Run, golden: Callable[[str, str], None]) -> None:
    case = CASES[name]
    done = _compile_fails(case, folder, match_command, "--quiet")
    assert done.stdout == ""
    lines = [line for line in done.stderr.splitlines() if not line.startswith("warning: ")]
    assert lines[0].startswith(f"error: {case.code}: ")
    assert lines[1].startswith("  where: ") and len(lines[1]) > len("  where: ")
    assert lines[2].startswith("  why:   ") and len(lines[2]) > len("  why:   ")
    assert len(lines) > 3 and all(line.startswith("  help:  ") for line in lines[3:])
    if name not in CHANGING:
        golden(f"{name}.txt", done.stderr.replace(str(folder), "FOLDER"))


@pytest.mark.parametrize(
    "name",
    ["missing_file", "truncated", "unsupported_operator", "activations_exceed_l2", "broken_plugin", "no_output_option"],
)
def test_error_json(name: str, folder: Path, match_command: Run) -> None:
    case = CASES[name]
    done = _compile_fails(case, folder, match_command, "--json", "--quiet")
    document = opened(done.stdout)
    assert (document["verb"], document["ok"]) == ("compile", False)
    error = document["error"]
    assert sorted(error) == ["code", "exit_code", "help", "what", "where", "why"]
    assert (error["code"], error["exit_code"]) == (case.code, case.exit_code)
    assert error["what"] and error["where"] and error["why"] and error["help"]
    assert "error:" not in done.stderr


@pytest.mark.parametrize("name", CHANGING)
def test_memory_report(name: str, folder: Path, match_command: Run) -> None:
    """Which memory, how many bytes over, which tensors with their sizes, and what would help: the numbers agree."""
    done = _compile_fails(CASES[name], folder, match_command, "--json", "--quiet")
    error = opened(done.stdout)["error"]
    over = re.fullmatch(r"the program does not fit memory l2: (\d+) bytes too many", error["what"])
    needs = re.match(
        r"needs (\d+) bytes of (\d+): (\d+) for activations, (\d+) for constants, "
        r"(\d+) for graph inputs and outputs; "
        r"alive at task \d+: ('[^']+' \d+(?:, )?)+(; largest constants: ('[^']+' \d+(?:, )?)+)?",
        error["why"],
    )
    assert over is not None and needs is not None, error
    needed, available, activations, constants, caller = (int(text) for text in needs.groups()[:5])
    assert available == 1408 * 1024
    assert int(over[1]) == needed - available
    assert needed == activations + constants + caller
    assert (activations > constants) == (name == "activations_exceed_l2")
    assert ("largest constants" in error["why"]) == (constants > 0)
    assert re.match(r"most bytes are alive at task \d+: '[^']+'(, '[^']+')* \(\w+ on \w+\)", error["where"])
    assert any(f"at least {needed} bytes" in line for line in error["help"])
    assert any("smaller" in line for line in error["help"])
