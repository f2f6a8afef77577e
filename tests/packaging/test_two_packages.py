"""Two packages for one board, one of tiles and one of regions: wheels that pip installs into a fresh environment."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.end_to_end.test_moss import two_branches
from tests.envelope import opened
from tests.packaging.environment import built_wheel, new_environment


@pytest.mark.slow
def test_tiles_and_regions_installed_by_pip_run_at_the_same_time(wheelhouse: Path, tmp_path: Path) -> None:
    """match-ita computes tiles, match-moss a region, in one program for a board that is a file outside of both."""
    built_wheel(ROOT / "docs" / "examples" / "match-moss", wheelhouse)
    environment = new_environment(tmp_path / "venv", wheelhouse)
    environment.run("pip", "install", "--no-compile", "match-ita", "match-moss")
    listed = opened(environment.run("match", "plugins", "--json"))["plugins"]
    chips = {row["distribution"] for row in listed} & {"match-ita", "match-moss", "match-gap9", "match-diana"}
    assert chips == {"match-ita", "match-moss"}
    board = shutil.copy(ROOT / "examples" / "boards" / "ita_moss.toml", tmp_path / "board.toml")
    model = two_branches(tmp_path / "two.onnx")
    shown = environment.run("match", "verify", model, "-t", board, "--concurrent")
    assert "lower bound " in shown and "ok: the program is bit exact against the integer graph" in shown
    found = opened(environment.run("match", "verify", model, "-t", board, "--concurrent", "--json"))
    assert found["bit_exact"] and {"ita", "moss_conv"} <= {node["unit"] for node in found["nodes"]}
    assert max(found["bounds"].values()) <= found["predicted_cycles"] < found["sequential_cycles"]
    assert found["cycles"]["total"] < min(found["sequential_cycles"], sum(found["cycles"]["units"].values()))
