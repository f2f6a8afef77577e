"""Bytes of code, measured from objects for the target's processor: ``match report --code``, and MATCH-M001."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.end_to_end.models import QdqBuilder

Match = Callable[..., subprocess.CompletedProcess[str]]


def _compiled(match_command: Match, folder: Path, target: str) -> Path:
    model = QdqBuilder(3, 3, 8, 8).conv(8, 3).conv(4, 1, relu=False).save(folder / "small.onnx")
    done = match_command("compile", model, "-t", target, "-o", folder / "build", "--quiet")
    assert done.returncode == 0, done.stderr
    return folder / "build"


ARM = pytest.mark.skipif(shutil.which("arm-none-eabi-gcc") is None, reason="arm-none-eabi-gcc is not installed")
#: A board with a flash of so many bytes.
BOARD = """
[soc]
name = "small_flash"
description = "a chip with little flash"
home = "ram"
host = "cortex_m4"
host_machine = "scalar"
store = "flash"

[[units]]
name = "cortex_m4"
soc = "stm32l4r5"

[[memories]]
name = "ram"
from = "stm32l4r5"

[[memories]]
name = "flash"
from = "stm32l4r5"
size_bytes = SIZE
source = "made up for this test"
"""


@ARM
def test_code_and_constants_share_the_flash(match_command: Match, tmp_path: Path) -> None:
    build = _compiled(match_command, tmp_path, "stm32l4r5")
    done = match_command("report", build, "--code", "--json")
    assert done.returncode == 0, done.stderr
    code = json.loads(done.stdout)["result"]["code"]
    assert code["code_bytes"] == sum(code["files"].values()) > code["linked_bytes"] > 500
    assert "-mcpu=cortex-m4" in code["compiler"]
    assert json.loads(done.stdout)["result"]["offload"] is None, "no unit takes regions"
    report = json.loads((build / "report.json").read_text("utf-8"))
    flash = next(memory for memory in report["memories"] if memory["name"] == "flash")
    assert (code["memory"], code["constant_bytes"]) == ("flash", flash["constant_bytes"])
    shown = match_command("report", build, "--code").stdout
    assert f"code: {code['linked_bytes']:,} bytes" in shown


def test_a_target_without_a_known_processor(match_command: Match, tmp_path: Path) -> None:
    build = _compiled(match_command, tmp_path, "host")
    done = match_command("report", build, "--code")
    assert done.returncode != 0
    assert "MATCH-T010: code cannot be measured" in done.stderr
    assert "the processor of host is not known" in done.stderr


def _on_board(match_command: Match, folder: Path, flash: int, **variables: str) -> subprocess.CompletedProcess[str]:
    model = QdqBuilder(3, 3, 8, 8).conv(8, 3).conv(4, 1, relu=False).save(folder / "small.onnx")
    board = folder / "small_flash.toml"
    board.write_text(BOARD.replace("SIZE", str(flash)), encoding="utf-8")
    return match_command("compile", model, "-t", board, "-o", folder / "build", "--quiet", "--json", **variables)


@ARM
def test_code_beside_constants_exceeds_a_small_flash(match_command: Match, tmp_path: Path) -> None:
    """Constants alone fit; the smallest flash that is accepted is that of constants and code."""
    done = _on_board(match_command, tmp_path, 1024)
    assert done.returncode != 0
    error = json.loads(done.stdout)["error"]
    assert error["code"] == "MATCH-M001" and "does not fit memory flash" in error["what"]
    found = re.match(r"needs (\d+) bytes of 1024 for constants \((\d+)\) and code \((\d+); ", error["why"])
    assert found is not None, error["why"]
    need, constants, code = map(int, found.groups())
    assert 0 < constants < 1024 < need == constants + code
    assert "'small_cortex_m4.c'" in error["why"] and "arm-none-eabi-gcc -mcpu=cortex-m4" in error["why"]
    assert not (tmp_path / "build").exists()
    done = _on_board(match_command, tmp_path, need)
    assert done.returncode == 0 and not json.loads(done.stdout)["notes"], done.stdout


@pytest.mark.parametrize(("flash", "noted"), [(1024, True), (1 << 20, False)])
def test_without_a_compiler_a_note_says_so_where_it_matters(
    flash: int, noted: bool, match_command: Match, tmp_path: Path
) -> None:
    (tmp_path / "bin").mkdir()
    done = _on_board(match_command, tmp_path, flash, PATH=str(tmp_path / "bin"))
    assert done.returncode == 0, done.stderr
    notes = [note for note in json.loads(done.stdout)["notes"] if "not counted" in note]
    assert len(notes) == noted
    if noted:
        assert "of 1024 bytes of flash, and code that lies there too is not counted: arm-none-eabi-gcc" in notes[0]
