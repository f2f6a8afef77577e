"""The example package match-fern, installed as a third party's: what its engines compute, and in which code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest
from match_verify.reference import ReferenceRunner
from numpy.typing import NDArray
from onnx import numpy_helper

from tests import forked
from tests.conftest import ROOT
from tests.envelope import opened
from tests.program_files import program_files
from tests.tiers import in_ci

PACKAGE = ROOT / "docs" / "examples" / "match-fern"
HEAD = '<ir_version: 10, opset_import: ["" : 21]> net '
#: Everything that fern_q takes: strides, dilations, uneven padding, no bias, a kernel that is no square, pooling with
#: and without padding, results read inside and outside.
IMAGES = """(float[1,3,13,11] x, float[1,2,6,5] z) => (float[1,5,7,6] c, float[1,4,3,3] q, float[1,3,6,5] t) {
    c = Conv <kernel_shape=[3,3], pads=[1,1,1,1], strides=[2,2]> (x, w, b)
    r = Relu (c)
    p = MaxPool <kernel_shape=[3,2], strides=[2,2], pads=[0,0,1,0]> (r)
    q = Conv <kernel_shape=[2,3], pads=[1,1,0,1], dilations=[1,1], strides=[1,1]> (p, v)
    s = Conv <kernel_shape=[3,3], pads=[2,2,2,2], dilations=[2,2]> (z, u, a)
    t = MaxPool <kernel_shape=[3,3], pads=[1,1,1,1], strides=[1,1]> (s) }"""
WEIGHTS = {"w": (5, 3, 3, 3), "b": (5,), "v": (4, 5, 2, 3), "u": (3, 2, 3, 3), "a": (3,)}


@dataclass(frozen=True)
class Installed:
    """The package in a folder of its own; programs that see it."""

    folder: Path
    environment: Mapping[str, str]

    def run(self, *command: str, status: int = 0, **more: str) -> str:
        """What a command prints on stdout."""
        environment = {**self.environment, **more}
        if command[0] == "match":
            done = forked.match(command[1:], cwd=self.folder, env=environment)
        else:
            done = subprocess.run(
                [str(Path(sys.executable).parent / command[0]), *command[1:]],
                cwd=self.folder, env=environment, capture_output=True, text=True, check=False,
            )  # fmt: skip
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout

    def verified(self, model: Path, *options: str) -> dict[str, Any]:
        """The document of ``match verify``."""
        document: dict[str, Any] = opened(self.run("match", "verify", str(model), "-t", "fern", "--json", *options))
        return document


@pytest.fixture(scope="module")
def fern(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("fern")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target", str(folder / "site")]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(PACKAGE)], check=True, env={**os.environ})
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MATCH_", "PYTHONPATH"))}
    return Installed(folder, {**kept, "NO_COLOR": "1", "PYTHONPATH": str(folder / "site")})


def net(folder: Path, text: str, shapes: Mapping[str, tuple[int, ...]], name: str = "net") -> Path:
    random = np.random.default_rng(7)
    model = onnx.parser.parse_model(HEAD + text)
    for key, shape in shapes.items():
        values = random.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))
        model.graph.initializer.append(numpy_helper.from_array(values.astype(np.float32), key))
    onnx.save(model, str(folder / f"{name}.onnx"))
    return folder / f"{name}.onnx"


def image(fern: Installed) -> Path:
    path = fern.folder / "image.onnx"
    code = "import onnx; from match_fern.conformance import image; onnx.save(image(), 'image.onnx')"
    fern.run("python", "-c", code)
    return path


def bodies(mapped: Path) -> dict[str, list[onnx.NodeProto]]:
    """The nodes of what each unit runs, by the name of the unit."""
    found: dict[str, list[onnx.NodeProto]] = {}
    for function in onnx.load(mapped).functions:
        if function.domain.startswith("match.fern"):
            found.setdefault(function.domain.removeprefix("match."), []).extend(function.node)
    return found


def test_integers_inside_and_floats_at_the_border(fern: Installed, tmp_path: Path) -> None:
    path = net(tmp_path, IMAGES, WEIGHTS)
    fern.run("match", "compile", str(path), "-t", "fern", "-o", str(tmp_path / "out"), "--quiet")
    nodes = bodies(tmp_path / "out" / "net.onnx")["fern_q"]
    assert [node.op_type for node in nodes].count("QuantizeLinear") == 2
    assert [node.op_type for node in nodes].count("DequantizeLinear") == 3
    kinds = {"QuantizeLinear", "DequantizeLinear", "Transpose", "ConvInteger", "RequantI8", "Relu", "MaxPool"}
    assert {node.op_type for node in nodes} == kinds
    spatial = [node for node in nodes if node.op_type in ("ConvInteger", "MaxPool")]
    assert {node.domain for node in spatial} == {"match.nhwc"}
    made = {name: node.op_type for node in nodes for name in node.output}
    for node in nodes:  # quantisers at the way in, behind which the order changes, and the other way round
        if node.op_type == "QuantizeLinear":
            assert node.input[0] not in made
        if node.op_type == "DequantizeLinear":
            assert made[node.input[0]] == "Transpose"
    mapped = ReferenceRunner(onnx.load(tmp_path / "out" / "net.onnx"))
    arrays = {key: np.random.default_rng(3).standard_normal(shape).astype(np.float32)
              for key, shape in (("x", (1, 3, 13, 11)), ("z", (1, 2, 6, 5)))}  # fmt: skip
    exact = ReferenceRunner(onnx.load(path)).run(arrays)
    for name, values in mapped.run(arrays).items():  # an 8-bit approximation of the float network
        error = np.abs(values - exact[name])
        assert 0 < error.max() < 0.1 * np.abs(exact[name]).max(), name


def special(random: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Ties between two steps of the quantiser, values that saturate, the smallest numbers, signed zeros."""
    values = random.integers(-300, 300, shape).astype(np.float32) / 64
    odd = np.array([1e30, -1e30, 1e-40, -1e-40, 0.0, -0.0, 4.0, -4.03125], np.float32)
    places = random.random(shape) < 0.1
    values[places] = random.choice(odd, int(places.sum()))
    return values


def test_the_engine_computes_the_rewritten_region_bit_for_bit(fern: Installed, tmp_path: Path) -> None:
    path = net(tmp_path, IMAGES, WEIGHTS)
    random = np.random.default_rng(1)
    arrays = {"x": special(random, (6, 1, 3, 13, 11)), "z": special(random, (6, 1, 2, 6, 5))}
    np.savez(tmp_path / "in.npz", **arrays)  # type: ignore[arg-type]  # numpy's stub wants a bool for any keyword
    # the engine's ranges are constants: special values saturate, which is a loss that the test accepts
    for options in ([], ["--inputs", str(tmp_path / "in.npz"), "--accept-loss"]):
        found = fern.verified(path, "--sanitize", *options)
        assert found["ok"] and found["bit_exact"]
        assert {node["unit"] for node in found["nodes"]} == {"fern_q"}
        assert found["cycles"]["total"] == found["predicted_cycles"]


def test_c_and_binary_in_one_program(fern: Installed, tmp_path: Path) -> None:
    path = image(fern)
    found = fern.verified(path, "--sanitize")
    assert found["ok"]
    assert {node["unit"] for node in found["nodes"]} == {"fern_c", "fern_q", "host"}
    told = fern.run("match", "compile", str(path), "-t", "fern", "-o", str(tmp_path / "out"))
    rows = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))["regions"]
    assert [(row["unit"], row["chosen"]) for row in rows] == [("fern_c", 2), ("fern_q", 1)]
    for row in rows:
        assert 0 < row["nodes"] < row["nodes_total"] and row["macs"] <= row["macs_total"]
        assert f"regions on {row['unit']}: {row['chosen']} of {row['found']} found, {row['nodes']} of" in told
    sources = sorted(file.name for file in (tmp_path / "out").glob("image_fern_c_*.c"))
    assert len(sources) == 2
    assert "expf(" in (tmp_path / "out" / sources[0]).read_text("utf-8")
    table = (tmp_path / "out" / "image_regions.c").read_text("utf-8")
    assert table.count("_code[") == 1, "only fern_q has bytes of code"
    assert (tmp_path / "out" / "fern_q.c").is_file()


@pytest.mark.parametrize("without", ["fern_q", "fern_c"])
def test_either_engine_can_be_left_out(fern: Installed, without: str) -> None:
    found = fern.verified(image(fern), "--without-unit", without)
    assert found["ok"]
    assert without not in {node["unit"] for node in found["nodes"]}
    assert (found["max_abs_lsb"]["e"] < 1e-5) == (without == "fern_q"), "only fern_q changes the arithmetic"


def test_the_same_bytes_whatever_the_hash_seed(fern: Installed, tmp_path: Path) -> None:
    path = image(fern)
    for seed in ("1", "2"):
        out = str(tmp_path / seed)
        fern.run("match", "compile", str(path), "-t", "fern", "-o", out, "--quiet", PYTHONHASHSEED=seed)
    assert program_files(tmp_path / "1") == program_files(tmp_path / "2")


#: A convolution and a sum that the host does faster than it starts an engine, and a larger convolution behind.
SMALL = """(float[1,1,2,2] x, float[1,4,12,12] z) => (float[1,1,2,2] y, float[1,8,12,12] v) {
    c = Conv <kernel_shape=[1,1]> (x, w)
    s = Mul (c, x)
    y = Add (s, x)
    v = Conv <kernel_shape=[3,3], pads=[1,1,1,1]> (z, u) }"""


@pytest.mark.parametrize(
    ("options", "units"),
    [
        (["--regions", "cheapest"], ["host", "host", "fern_q"]),
        (["--regions", "largest"], ["fern_q", "fern_c", "fern_q"]),
        (["--regions", "largest", "--region-min", "nodes=2"], ["host", "fern_c", "host"]),
        (["--regions", "largest", "--region-min", "macs=1000"], ["host", "host", "fern_q"]),
    ],
    ids=lambda value: "-".join(value[1:]),
)
def test_regions_that_pay_or_all_of_them(fern: Installed, tmp_path: Path, options: list[str], units: list[str]) -> None:
    path = net(tmp_path, SMALL, {"w": (1, 1, 1, 1), "u": (8, 4, 3, 3)})
    found = fern.verified(path, *options)
    assert found["ok"]
    by_node = {name.split("_")[0] + name[-1]: node["unit"] for node in found["nodes"] for name in node["onnx_names"]}
    assert [by_node[name] for name in ("Conv0", "Add2", "Conv3")] == units


LOADER = """
#include <stdio.h>
#include "fern.h"
void fern_wait(int engine, uint32_t cycles) { (void)engine; (void)cycles; }
int fern_begin(int (*work)(void *), void *argument, uint32_t cycles) { (void)cycles; return work(argument); }
int main(void)
{
    static uint8_t code[256];
    const uint32_t bytes = (uint32_t)fread(code, 1u, sizeof code, stdin);
    const match_region_t region = {.name = "r", .code = code, .code_bytes = bytes};
    void *handle = NULL;
    const int status = fern_q_load(&region, &handle);
    fern_q_unload(handle);
    return status;
}
"""
HEADER = b"FERN" + bytes([1, 0, 1, 0]) + bytes(8)
PROGRAMS: dict[str, Callable[[], bytes]] = {
    "whole": lambda: HEADER + bytes(72),
    "empty": lambda: b"",
    "header cut": lambda: HEADER[:12],
    "step cut": lambda: HEADER + bytes(71),
    "more": lambda: HEADER + bytes(73),
    "other format": lambda: b"FERM" + HEADER[4:] + bytes(72),
    "other version": lambda: HEADER[:4] + bytes([2]) + HEADER[5:] + bytes(72),
    "big-endian version": lambda: HEADER[:4] + bytes([0, 1, 0, 1]) + HEADER[8:] + bytes(72),
}


@pytest.fixture(scope="module")
def loader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("loader")
    (folder / "main.c").write_text(LOADER, "utf-8")
    code, core = PACKAGE / "src" / "match_fern" / "c", ROOT / "core" / "src" / "match_core" / "templates" / "core"
    options = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined", f"-I{code}", f"-I{core}"]
    command = ["cc", *options, "-o", str(folder / "loader"), str(folder / "main.c"), str(code / "fern_q.c"), "-lm"]
    subprocess.run(command, check=True)
    return folder / "loader"


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_that_is_not_whole_is_refused(loader: Path, name: str) -> None:
    done = subprocess.run([str(loader)], input=PROGRAMS[name](), capture_output=True, check=False)
    assert done.stderr == b""
    assert done.returncode == (0 if name == "whole" else 1)


VERIFIED = """
import sys
sys.path.insert(0, sys.argv[2])
from match_core.contract.hardware import Unit
from match_verify.reference import ReferenceRunner
from match_core.contract.observe import NullObserver
from match_core.pipeline import CompileRequest, prepare
from match_core.plugin.facade import Plugins
from match_core.regions.body import region_body
from match_core.contract.region import Region
from match_core.contract.passes import PassContext
from tests.pass_checks import VerifyPass
from pathlib import Path
from tests.envelope import opened
from tests.program_files import program_files

from tests.program_files import program_files
prepared = prepare(CompileRequest(Path(sys.argv[1]), "fern"), Plugins.load(), NullObserver())
(candidate,) = [c for c in prepared.candidates.legal if c.unit == "fern_q"]
match, claims = candidate.match, candidate.pattern.claims
context = PassContext(prepared.soc, prepared.units)
body = region_body(Region.of(match.nodes, match.outputs), claims, context, [VerifyPass(seed=4)])
print(*(item.exact for item in claims.passes), len(ReferenceRunner(body).output_names))
"""


def test_the_passes_keep_what_they_promise(fern: Installed, tmp_path: Path) -> None:
    """The model runs behind each pass, and the layout changes no bit."""
    path = net(tmp_path, IMAGES.replace(", float[1,3,6,5] t", "").split("s = Conv")[0] + "}", WEIGHTS)
    model = onnx.load(path)
    del model.graph.input[1:]
    onnx.save(model, path)
    assert fern.run("python", "-c", VERIFIED, str(path), str(ROOT)).split() == ["None", "True", "2"]


def test_advice_and_reports_tell_of_the_rewritten_region(fern: Installed, tmp_path: Path) -> None:
    path = str(image(fern))
    told = opened(fern.run("match", "explain", path, "Relu_1", "-t", "fern", "--json"))
    chosen = [entry for entry in told["considered"] if entry["chosen"]]
    assert [(entry["unit"], entry["macs"]) for entry in chosen] == [("fern_q", 92_160)]
    assert {entry["unit"] for entry in told["considered"]} == {"fern_q", "host"}
    for budget, status in (("cycles=8k", 0), ("cycles=1k", 1)):
        fern.run("match", "fit", path, "-t", "fern", "--budget", budget, "--quiet", status=status)
    fern.run("match", "compile", path, "-t", "fern", "-o", str(tmp_path / "out"), "--quiet")
    report = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))
    (layer,) = [layer for layer in report["layers"] if layer["unit"] == "fern_q"]
    assert layer["onnx_names"] == ["Conv_0", "Relu_1", "MaxPool_2", "Conv_3"]
    assert {tuple(rival["onnx_names"]) for rival in layer["alternatives"]} >= {("Relu_1",), ("Conv_3",)}
    fern.run("match", "report", str(tmp_path / "out"), "--twin", "--quiet")
    assert "fern_q" in (tmp_path / "out" / "report" / "layers.csv").read_text("utf-8")


def test_ranges_are_those_that_quantize_measured(fern: Installed) -> None:
    """With inputs ten times as large as the package guesses, its guess saturates."""
    path = image(fern)
    arrays = {"x": 10 * np.random.default_rng(3).standard_normal((8, 3, 16, 16)).astype(np.float32)}
    np.savez(fern.folder / "x10.npz", **arrays)
    fern.run("match", "quantize", str(path), "--data", "x10.npz", "--ranges", "--no-layers", "-o", "ranges.onnx")
    ratios = []
    for name in ("image.onnx", "ranges.onnx"):
        found = fern.verified(fern.folder / name, "--inputs", "x10.npz", "--accept-loss")
        ratios.append([found["loss"]["outputs"][output]["sqnr_db"] for output in ("y", "e")])
    assert max(ratios[0]) < 10 and min(ratios[1]) > 24, ratios


#: An image for fern_q, and rows for the host, which do not wait for each other; then both.
BRANCHES = """(float[1,3,16,16] x, float[40,60] q) => (float[1,8,16,16] c, float[40,60] m, float[1,8,16,16] y) {
    c = Conv <kernel_shape=[3,3], pads=[1,1,1,1]> (x, w, b)
    m = Softmax (q)
    h = ReduceMax <keepdims=0> (m)
    y = Mul (c, h) }"""


@pytest.mark.parametrize("mode", in_ci(["eager", "lazy", "lazy:fern_q", "threads:3"], lambda mode: mode == "eager"))
def test_the_host_goes_on_while_fern_q_computes(fern: Installed, tmp_path: Path, mode: str) -> None:
    model = net(tmp_path, BRANCHES, {"w": (8, 3, 3, 3), "b": (8,)})
    board = str(ROOT / "examples" / "boards" / "fern_events.toml")
    found = opened(fern.run("match", "verify", str(model), "-t", board, "--concurrent", "--mode", mode, "--json"))
    assert found["ok"] and {"fern_q", "host"} == {queue["name"] for queue in found["queues"]}
    if mode == "eager":
        nodes = {node["onnx_names"][0]: node for node in found["nodes"]}
        assert nodes["Conv_0"]["cycles"] == nodes["Conv_0"]["predicted_cycles"]
        assert abs(found["cycles"]["total"] - found["predicted_cycles"]) < 0.01 * found["predicted_cycles"]
        assert max(found["bounds"].values()) <= found["predicted_cycles"] < found["sequential_cycles"]
