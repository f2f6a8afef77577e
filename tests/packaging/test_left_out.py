"""Every package can be left out: the core says what is missing, and what does not need the package still works."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.end_to_end.models import QdqBuilder
from tests.envelope import opened

DEMO = ROOT / "examples" / "demo" / "resnet8_shapes.onnx"
Command = Callable[..., subprocess.CompletedProcess[str]]


def test_the_core_alone_starts_and_says_what_to_install(match_command: Command, tmp_path: Path) -> None:
    alone = {"MATCH_ALLOW_PLUGINS": "match-core"}
    plugins = opened(match_command("plugins", "--json", **alone).stdout)
    active = [row["distribution"] for row in plugins["plugins"] if row["status"] == "active"]
    assert active == ["match-core"]
    targets = match_command("targets", **alone)
    assert targets.returncode == 0 and "pip install match-CHIP" in targets.stdout
    assert opened(match_command("targets", "--json", **alone).stdout)["targets"] == []
    done = match_command("compile", DEMO, "-o", tmp_path / "out", **alone)
    assert done.returncode == 2 and "MATCH-U024" in done.stderr and "pip install" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("package", "code"),
    [
        ("match-host", "MATCH-P001"),  # softmax is the host's
        ("match-schedule", "MATCH-H010"),
        ("match-map", "MATCH-H010"),
        ("match-concurrent", ""),
        ("match-beyond", ""),
        ("match-quant", ""),
        ("match-tflite", ""),
        ("match-report", ""),
        ("match-verify", ""),
        ("match-calibrate", ""),
        ("match-export", ""),
        ("match-explore", ""),
        ("match-kit", ""),
        ("match-qemu", ""),
    ],
)
def test_a_chip_without_one_of_the_others(package: str, code: str, match_command: Command, tmp_path: Path) -> None:
    """Either the network is compiled, or a coded error says what is missing; ``match plugins`` always works."""
    without = {"MATCH_DISABLE_PLUGINS": package}
    assert package in match_command("plugins", **without).stdout
    small = QdqBuilder(32, 16, 24, 24).conv(32, 3).conv(16, 1).save(tmp_path / "small.onnx")
    model = DEMO if package == "match-host" else small
    done = match_command("compile", model, "-t", "gap9", "-o", tmp_path / "out", "--sequential", **without)
    assert (done.returncode == 0) == (code == ""), done.stderr
    assert code in done.stderr and "MATCH-X001" not in done.stderr


def test_only_those_who_import_the_library_of_regions_need_it(match_command: Command, tmp_path: Path) -> None:
    (tmp_path / "match_regions.py").write_text("raise ModuleNotFoundError('No module named match_regions')\n", "utf-8")
    without = {"PYTHONPATH": str(tmp_path)}
    model = QdqBuilder(32, 16, 24, 24).conv(32, 3).conv(16, 1).save(tmp_path / "small.onnx")
    options = ("-o", tmp_path / "out", "--sequential")
    assert match_command("compile", model, "-t", "gap9", *options, **without).returncode == 0
    done = match_command("compile", model, "-t", "dnnl", *options, **without)
    assert done.returncode == 3 and "MATCH-H005" in done.stderr and "match_regions" in done.stderr


def test_a_chip_whose_units_cover_a_network_needs_no_host_kernels(match_command: Command, tmp_path: Path) -> None:
    model = QdqBuilder(32, 16, 24, 24).conv(32, 3).conv(16, 1).save(tmp_path / "covered.onnx")
    options = ("-t", "gap9", "--quantized-io", "--sequential", "--json")
    document = opened(match_command("verify", model, *options, MATCH_DISABLE_PLUGINS="match-host").stdout)
    assert document["ok"] and document["bit_exact"]


def test_verbs_of_a_package_go_with_it(match_command: Command) -> None:
    assert " explain " in match_command("--help").stdout
    without = {"MATCH_DISABLE_PLUGINS": "match-report"}
    assert " explain " not in match_command("--help", **without).stdout
    done = match_command("explain", **without)
    assert done.returncode == 2 and "MATCH-U001" in done.stderr
