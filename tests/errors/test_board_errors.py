"""Errors of board files as the command prints them. The texts are golden: ``pytest --update-golden tests/errors``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.conftest import ROOT
from tests.errors import models

if TYPE_CHECKING:
    import subprocess

    Run = Callable[..., "subprocess.CompletedProcess[str]"]

BOARD = ROOT / "examples" / "boards" / "carfield_ita.toml"
#: What is changed in the example, and the code that the change is told with.
CHANGES = {
    "no_board": ("home =", "hom =", "MATCH-U060"),
    "unit_of_another_package": ('package = "match-carfield"', 'package = "match-gap9"', "MATCH-U061"),
    "unknown_memory": ('from = "ita.l1"', 'from = "ita.l0"', "MATCH-U062"),
    "figures_without_source": ('from = "ita.dma"', 'from = "ita.dma"\nsetup_cycles = 9', "MATCH-U062"),
    "no_way_home": ('from = "ita.dma"', 'from = "ita.dma"\nfar = "l1_pulp"', "MATCH-U063"),
    "name_of_a_target": ('name = "carfield_ita"', 'name = "carfield"', "MATCH-U064"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_error_of_a_board(name: str, tmp_path: Path, match_command: Run, golden: Callable[[str, str], None]) -> None:
    before, after, code = CHANGES[name]
    text = BOARD.read_text(encoding="utf-8")
    assert before in text
    board = tmp_path / "board.toml"
    board.write_text(text.replace(before, after, 1), encoding="utf-8")
    model = models.relu(tmp_path / "model.onnx")
    done = match_command("check", model, "-t", board, "--quiet")
    assert done.returncode == 2, done.stdout + done.stderr
    assert code in done.stderr
    golden(f"{name}.txt", done.stderr.replace(str(tmp_path), "FOLDER"))
