"""The small example packages, each installed by pip as a third party's: what it changes in the command ``match``."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import numpy_helper

from tests import forked
from tests.conftest import ROOT
from tests.end_to_end.models import QdqBuilder
from tests.envelope import opened
from tests.program_files import program_files

EXAMPLES = ROOT / "docs" / "examples"
#: What an example may need at most, in lines of Python.
LINES_MAX = 120
FLOATS = """<ir_version: 10, opset_import: ["" : 21]> net (float[1,4,9,8] x) => (float[1,4,5,4] z) {
    c = Conv <kernel_shape=[3,3], pads=[1,0,1,2], strides=[2,2]> (x, w, b)
    z = Conv <kernel_shape=[3,3], pads=[2,2,2,2], dilations=[2,2], group=2> (c, v) }"""
WEIGHTS = {"w": (6, 4, 3, 3), "b": (6,), "v": (4, 3, 3, 3)}
NET = "match-textnet 1\n\n# two layers\ninput x 2x8\ndense 16 relu seed 3  # wide\ndense 4 softmax seed 4\n"


@dataclass
class Site:
    """A folder into which packages are installed, and the command that sees them."""

    folder: Path
    kept: list[str] = field(default_factory=lambda: [name for name in os.environ if not name.startswith("MATCH_")])

    def install(self, package: str) -> None:
        """Install an example as pip does it."""
        options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target", str(self.folder)]
        subprocess.run([sys.executable, "-m", "pip", "install", *options, str(EXAMPLES / package)], check=True)

    def run(self, *command: object, status: int = 0) -> subprocess.CompletedProcess[str]:
        """What ``match`` prints."""
        paths = [str(self.folder), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {name: os.environ[name] for name in self.kept}
        environment |= {"NO_COLOR": "1", "PYTHONPATH": os.pathsep.join(paths)}
        done = forked.match(command, env=environment)
        assert done.returncode == status, done.stdout + done.stderr
        return done

    def verified(self, model: Path, target: str) -> dict[str, Any]:
        """The document of ``match verify``."""
        document: dict[str, Any] = opened(self.run("verify", model, "-t", target, "--json").stdout)
        return document

    def compiled(self, model: Path, target: str, out: Path) -> dict[str, Any]:
        """The manifest of the compiled program."""
        self.run("compile", model, "-t", target, "-o", out, "--quiet")
        manifest: dict[str, Any] = json.loads((out / "match.lock.json").read_text("utf-8"))
        return manifest


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Site]:
    """A site of its own for an example, made once."""
    sites: dict[str, Site] = {}

    def site(package: str) -> Site:
        if package not in sites:
            sites[package] = Site(tmp_path_factory.mktemp(package))
            sites[package].install(package)
        return sites[package]

    return site


@pytest.fixture(scope="module")
def integers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small QDQ network: convolutions, pooling."""
    builder = QdqBuilder(3, 3, 8, 8).conv(8, 3).conv(8, 3, stride=2).max_pool(2, 2).conv(4, 1, relu=False)
    return builder.save(tmp_path_factory.mktemp("models") / "small.onnx")


@pytest.mark.parametrize("package", ["match-ownconv", "match-greedy", "match-textnet", "match-sizes"])
def test_an_example_is_small(package: str) -> None:
    lines = [line for file in EXAMPLES.glob(f"{package}/src/**/*.py") for line in file.read_text("utf-8").splitlines()]
    assert 0 < len(lines) < LINES_MAX


def test_the_host_runs_the_convolution_of_another_package(
    installed: Callable[[str], Site], integers: Path, tmp_path: Path
) -> None:
    site = installed("match-ownconv")
    manifest = site.compiled(integers, "host", tmp_path / "out")
    assert [node["pattern"] for node in manifest["nodes"]].count("own_conv") == 3
    emitted = (tmp_path / "out" / "small_host.c").read_text("utf-8")
    assert emitted.count("/* ConvInteger in plain loops, by match-ownconv */") == 3
    found = site.verified(integers, "host")
    assert found["ok"] and found["bit_exact"]
    assert found["cycles"]["total"] == found["predicted_cycles"]


def test_that_convolution_takes_floats_padding_dilation_and_groups(
    installed: Callable[[str], Site], tmp_path: Path
) -> None:
    random = np.random.default_rng(7)
    model = onnx.parser.parse_model(FLOATS)
    for name, shape in WEIGHTS.items():
        values = random.standard_normal(shape).astype(np.float32)
        model.graph.initializer.append(numpy_helper.from_array(values, name))
    onnx.save(model, tmp_path / "net.onnx")
    found = installed("match-ownconv").verified(tmp_path / "net.onnx", "host")
    assert found["ok"]
    call, macs = 20, (120 * 4 * 9, 80 * 3 * 9)  # one cycle for each multiply-accumulate tells whose kernels these are
    assert {call + count for count in macs} <= {node["cycles"] for node in found["nodes"]}
    assert found["max_abs_lsb"]["z"] < 1e-4


def test_a_greedy_mapping_is_priced_by_the_core(
    installed: Callable[[str], Site], integers: Path, tmp_path: Path
) -> None:
    site = installed("match-greedy")
    manifest = site.compiled(integers, "gap9", tmp_path / "out")
    solver = manifest["solvers"]["mapping"]
    assert (solver["solver"], solver["status"]) == ("greedy", "heuristic")
    assert solver["objective"] == sum(node["predicted_cycles"] for node in manifest["nodes"])
    found = site.verified(integers, "gap9")
    assert found["ok"] and found["bit_exact"]
    assert {"cluster", "ne16"} & {node["unit"] for node in found["nodes"]}
    assert found["predicted_cycles"] == solver["objective"]


def test_a_greedy_mapping_that_claims_another_cost_is_an_error_of_its_package(
    installed: Callable[[str], Site], integers: Path, tmp_path: Path
) -> None:
    site = Site(tmp_path / "site")
    shutil.copytree(installed("match-greedy").folder, site.folder, ignore=shutil.ignore_patterns("__pycache__"))
    source = site.folder / "match_greedy" / "greedy.py"
    text = source.read_text("utf-8")
    assert text.count("objective=cycles") == 1
    source.write_text(text.replace("objective=cycles", "objective=cycles - 1"), "utf-8")
    done = site.run("compile", integers, "-t", "gap9", "-o", tmp_path / "out", "--quiet", status=3)
    assert "error: MATCH-H011: the mapping for gap9 cannot be used" in done.stderr
    assert "plugin greedy of match-greedy 0.1.0, stage: match_map" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_front_end_reads_networks_in_text_files(installed: Callable[[str], Site], tmp_path: Path) -> None:
    (tmp_path / "model.net").write_text(NET, "utf-8")
    found = installed("match-textnet").verified(tmp_path / "model.net", "host")
    assert found["ok"]
    names = {name for node in found["nodes"] for name in node["onnx_names"]}
    assert names == {"dense.5", "dense.5.act", "dense.6", "dense.6.act"}


DAMAGED = {
    "version": ("match-textnet 2\ninput x 1x8\ndense 4\n", "line 1", "'match-textnet 2' is not 'match-textnet 1'"),
    "input": ("match-textnet 1\ndense 4\n", "line 2", "'input NAME BATCHxSIZE' is expected, not 'dense 4'"),
    "cut off": ("match-textnet 1\ninput x 1x8\nden", "line 3", "is expected, not 'den'"),
    "no layer": ("match-textnet 1\ninput x 1x8\n", "line 2", "the network has no layer"),
    "size": ("match-textnet 1\ninput x 1x8\ndense 99999999\n", "line 3", "99999999 is not a size from 1 to 4096"),
    "bytes": ("match-textnet 1\ninput x 1x8\n\udcff\n", "line 3", "it is not UTF-8"),
}


def test_damaged_text_files_are_told_with_code_and_line(installed: Callable[[str], Site], tmp_path: Path) -> None:
    site = installed("match-textnet")
    (tmp_path / "cut.net").write_text(DAMAGED["cut off"][0], "utf-8")
    done = site.run("verify", tmp_path / "cut.net", "-t", "host", "--json", status=1)
    error = opened(done.stdout)["error"]
    assert (error["code"], error["where"]) == ("MATCH-F002", "cut.net, line 3")


@pytest.mark.parametrize("name", DAMAGED)
def test_what_is_wrong_in_a_damaged_text_file(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib import import_module

    from match_core.contract.errors import ModelError

    monkeypatch.syspath_prepend(str(EXAMPLES / "match-textnet" / "src"))
    text, where, why = DAMAGED[name]
    convert = import_module("match_textnet.convert").textnet_to_onnx
    with pytest.raises(ModelError) as caught:
        convert(text.encode("utf-8", "surrogateescape"), "cut.net")
    assert (caught.value.code, caught.value.where) == ("MATCH-F002", f"cut.net, {where}")
    assert why in caught.value.why


def test_a_verb_of_a_package(installed: Callable[[str], Site], integers: Path, tmp_path: Path) -> None:
    site, out = installed("match-sizes"), tmp_path / "out"
    assert "sizes        List the bytes of every file of a compiled program." in site.run("--help").stdout
    site.compiled(integers, "host", out)
    sizes = {name: len(content) for name, content in program_files(out).items()}
    document = opened(site.run("sizes", out, "--json").stdout)
    assert document["ok"] and document["files"] == sizes
    assert document["total_bytes"] == sum(document["kinds"].values()) == sum(sizes.values())
    (out / "small.h").unlink()
    del sizes["small.h"]
    rows = {tuple(line.split()) for line in site.run("sizes", out, status=1).stdout.splitlines()}
    assert {(name, f"{size:,}") for name, size in sizes.items()} < rows
    assert {("all", f"{sum(sizes.values()):,}"), ("small.h", "is", "missing")} < rows
    assert "MATCH-U030" in site.run("sizes", tmp_path, status=2).stderr
