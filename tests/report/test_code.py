"""``match report --code``: bytes of code, measured from objects for the target's processor."""

from __future__ import annotations

import json
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


@pytest.mark.skipif(shutil.which("arm-none-eabi-gcc") is None, reason="arm-none-eabi-gcc is not installed")
def test_code_and_constants_share_the_flash(match_command: Match, tmp_path: Path) -> None:
    build = _compiled(match_command, tmp_path, "stm32l4r5")
    done = match_command("report", build, "--code", "--json")
    assert done.returncode == 0, done.stderr
    code = json.loads(done.stdout)["result"]["code"]
    assert code["code_bytes"] == sum(code["files"].values()) > 500
    assert "-mcpu=cortex-m4" in code["compiler"]
    report = json.loads((build / "report.json").read_text("utf-8"))
    flash = next(memory for memory in report["memories"] if memory["name"] == "flash")
    assert (code["memory"], code["constant_bytes"]) == ("flash", flash["constant_bytes"])
    shown = match_command("report", build, "--code").stdout
    assert f"code: {code['code_bytes']:,} bytes" in shown


def test_a_target_without_a_known_processor(match_command: Match, tmp_path: Path) -> None:
    build = _compiled(match_command, tmp_path, "host")
    done = match_command("report", build, "--code")
    assert done.returncode != 0
    assert "MATCH-T010: code cannot be measured" in done.stderr
    assert "the processor of host is not known" in done.stderr
