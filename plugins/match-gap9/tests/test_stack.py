"""The stacks that the runtime asks the SDK for hold what the deepest path of an emitted program needs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from match_gap9.timing import HEADER_NAME, render_timing_header

from tests.forked import match
from tests.stack import stack_depth

RISCV = "riscv64-unknown-elf-gcc"
ROOT = next(p for p in Path(__file__).resolve().parents if (p / "core").is_dir())
PACKAGE = ROOT / "plugins/match-gap9/src/match_gap9"
#: Bytes left for functions of the SDK and of PULP-NN, whose sources are not here. An estimate.
OUTSIDE_BYTES = 256


def _stack_bytes(who: str) -> int:
    text = (PACKAGE / "runtime/match_gap9_platform.c").read_text(encoding="utf-8")
    found = re.search(rf"#define MATCH_GAP9_{who}_STACK_BYTES (\d+)u", text)
    assert found is not None
    return int(found[1])


def _graphs(program: Path) -> list[str]:
    """Call graphs of all files of a program, built for GAP9's instructions without its multimedia extension."""
    objects = program / "objects"
    objects.mkdir()
    (objects / HEADER_NAME).write_text(render_timing_header(), encoding="utf-8")
    folders = (program, objects, PACKAGE / "twin/include", ROOT / "core/src/match_core/run/runtime")
    flags = ("-march=rv32imc", "-mabi=ilp32", "-O3", "-fcallgraph-info=su", "-specs=picolibc.specs")
    includes = [f"-I{folder}" for folder in folders]
    for source in sorted(program.glob("*.c")):
        command = [RISCV, *flags, *includes, "-c", source, "-o", objects / f"{source.stem}.o"]
        subprocess.run(command, check=True, capture_output=True, timeout=60)
    return [path.read_text(encoding="utf-8") for path in sorted(objects.glob("*.ci"))]


def _functions(graphs: list[str], ending: str) -> list[str]:
    """Functions with such a name that have a frame in one of the graphs."""
    titles = (re.findall(r'^node: \{ title: "([^"]+)" label: "[^"]*bytes', text, re.MULTILINE) for text in graphs)
    return [title for some in titles for title in some if re.search(ending, title)]


@pytest.mark.parametrize("execution", ["--sequential", "--concurrent"])
def test_stacks_hold_the_deepest_path(tmp_path: Path, execution: str) -> None:
    if shutil.which(RISCV) is None:
        assert not os.environ.get("CI"), f"{RISCV} is not installed"
        pytest.skip(f"{RISCV} is not installed")
    model = ROOT / "examples/demo/resnet8_shapes.onnx"
    # Exact requantisation keeps the cluster busy with NE16, so NE16 has no tasks of its own side by side.
    precision = "exact" if execution == "--sequential" else "fast"
    options = [execution, "--precision", precision, "-o", tmp_path / "p", "--name", "net", "--quiet"]
    done = match(["compile", model, "-t", "gap9", *options])
    assert done.returncode == 0, done.stderr
    graphs = _graphs(tmp_path / "p")
    cores, loop = _functions(graphs, r"_core$"), "net_cluster_loop"
    tasks = {unit: _functions(graphs, rf"^net_{unit}_\d+$") for unit in ("cluster", "ne16")}
    assert len(cores) > 10 and len(tasks["cluster"]) > 5 and len(tasks["ne16"]) > 5
    pointed = {"match_gap9_team_launch": cores, "match_gap9_team_follow": cores}
    pointed |= {f"net_{unit}_loop": some for unit, some in tasks.items()}
    # Side by side, core 0 of the team runs the cluster's loop, and the others follow it; the controller runs NE16's.
    workers = cores if execution == "--sequential" else [*cores, loop, "match_gap9_team_follow"]
    controller = [*tasks["ne16"], *(tasks["cluster"] if execution == "--sequential" else ["net_ne16_loop"])]
    for who, entries in (("WORKER", workers), ("CONTROLLER", controller)):
        depths = [stack_depth(graphs, entry, pointed) for entry in entries]
        deepest = max(depths, key=lambda depth: depth.size_bytes)
        assert 200 < deepest.size_bytes <= _stack_bytes(who) - OUTSIDE_BYTES, deepest.path
