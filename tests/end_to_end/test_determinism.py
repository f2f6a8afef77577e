"""Same input, same bytes: two processes with different hash seeds."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.conftest import ROOT

DEMO = ROOT / "examples" / "demo" / "resnet8_shapes.onnx"


def test_two_processes_give_the_same_bytes(
    tmp_path: Path, match_command: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    trees = []
    for seed in ("1", "4711"):
        output = tmp_path / f"out{seed}"
        done = match_command("compile", DEMO, "-t", "gap9", "-o", output, PYTHONHASHSEED=seed)
        assert done.returncode == 0, done.stderr
        trees.append({path.name: path.read_bytes() for path in sorted(output.iterdir())})
    assert trees[0].keys() == trees[1].keys()
    for name, content in trees[0].items():
        assert content == trees[1][name], name
