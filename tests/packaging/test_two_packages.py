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


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["tiles", "regions", "library"])
def test_a_scaffold_needs_nothing_that_it_does_not_state(kind: str, wheelhouse: Path, tmp_path: Path) -> None:
    """What ``match new-target`` writes, as a wheel in an environment with nothing else: it is verified there."""
    writer = new_environment(tmp_path / "writer", wheelhouse)
    writer.run("pip", "install", "--no-compile", "match-kit")
    writer.run("match", "new-target", f"sedge_{kind}", "--kind", kind)
    built_wheel(writer.folder / f"match-sedge-{kind}", wheelhouse)
    environment = new_environment(tmp_path / "venv", wheelhouse)
    environment.run("pip", "install", "--no-compile", f"match-sedge-{kind}[test]")
    (tmp_path / "net.py").write_text(
        f"import onnx\nfrom match_sedge_{kind}.conformance import CAPABILITIES\n"
        "onnx.save(next(iter(CAPABILITIES.models)).make(), 'net.onnx')\n",
        "utf-8",
    )
    environment.run("python", tmp_path / "net.py")
    found = opened(environment.run("match", "verify", "net.onnx", "-t", f"sedge_{kind}", "--json"))
    assert found["ok"] and len({node["unit"] for node in found["nodes"]} - {"host"}) == 1
    assert "9 of 9 levels" in environment.run("match", "test-target", f"match-sedge-{kind}", "--quiet")
