"""``--quantized-io`` and ``--without-pass`` on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import onnx
import onnx.parser
import pytest

if TYPE_CHECKING:
    from core.tests.cli.conftest import MakeModel, Match
    from core.tests.plugin.distributions import Site

TEXT = """<ir_version: 10, opset_import: ["" : 21]> g (float[1,64] x) => (float[1,64] y)
    <float s = {0.05}, float t = {0.03}, int8 z = {-4}> {
    q = QuantizeLinear (x, s, z)  f = DequantizeLinear (q, s, z)  r = Sigmoid (f)
    p = QuantizeLinear (r, t, z)  y = DequantizeLinear (p, t, z) }"""


@pytest.fixture(autouse=True)
def _example(site: Site) -> None:
    site.install_example()


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "net.onnx"
    onnx.save(onnx.parser.parse_model(TEXT), str(path))
    return path


def test_a_program_of_integers(match: Match, model: Path) -> None:
    """Scales are told in a note, in the header and in the manifest; floats are quantised on the way to the program."""
    compiled = match("compile", model, "-o", "out", "--quantized-io")
    assert compiled.code == 0
    note = "note: x: an 8-bit input or output of the program, scale 0.05, zero point -4"
    assert note in " ".join(compiled.err.split())
    header = (match.directory / "out" / "net.h").read_text()
    assert "/* x: int8 1x64, scale 0.05, zero point -4 */" in header
    assert "const int8_t *x;" in header
    manifest = json.loads((match.directory / "out" / "match.lock.json").read_text())
    assert manifest["options"]["quantized_io"] is True
    assert manifest["inputs"][0]["quantisation"] == {"scale": float(np.float32(0.05)), "zero_point": -4}
    assert manifest["outputs"][0]["dtype"] == "int8"
    floats = np.linspace(-8, 8, 192, dtype=np.float32).reshape(3, 1, 64)
    integers = np.clip(np.rint(floats / np.float32(0.05)) - 4, -128, 127).astype(np.int8)
    results = []
    for name, array in (("floats", floats), ("integers", integers)):
        np.savez(match.directory / f"{name}.npz", x=array)
        assert match("run", "out", "--inputs", f"{name}.npz", "--outputs", f"{name}_y.npz").code == 0
        results.append(np.load(match.directory / f"{name}_y.npz")["y"])
    assert results[0].dtype == np.int8
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("given", ["floats", "integers", "nothing"])
def test_verify_takes_the_same_files(match: Match, model: Path, given: str) -> None:
    floats = np.linspace(-8, 8, 192, dtype=np.float32).reshape(3, 1, 64)
    integers = np.clip(np.rint(floats / np.float32(0.05)) - 4, -128, 127).astype(np.int8)
    np.savez(match.directory / "x.npz", x={"floats": floats, "integers": integers, "nothing": floats}[given])
    files = [] if given == "nothing" else ["--inputs", "x.npz"]
    if given == "floats":  # what the original gives, in floats
        import onnxruntime

        session = onnxruntime.InferenceSession(str(model))
        np.savez(match.directory / "y.npz", y=[session.run(None, {"x": sample})[0] for sample in floats])
        files += ["--expected", "y.npz"]
    done = match("verify", model, "--quantized-io", "--json", *files).json
    assert done["ok"]
    assert done["bit_exact"]
    assert done["max_abs_lsb"] == {"y": 0.0}
    assert [check["ok"] for check in done["expected"].values()] == [True] * (given == "floats")


def test_without_the_option_ends_stay_float(match: Match, model: Path) -> None:
    assert match("compile", model, "-o", "out").code == 0
    manifest = json.loads((match.directory / "out" / "match.lock.json").read_text())
    assert manifest["options"]["quantized_io"] is False
    assert manifest["inputs"][0]["dtype"] == "float32"
    assert "quantisation" not in manifest["inputs"][0]


def test_a_pass_can_be_left_out(match: Match, tmp_path: Path) -> None:
    """Written layer normalisation stays as it is written."""
    text = """<ir_version: 10, opset_import: ["" : 21]> g (float[1,4,16] x) => (float[1,4,16] y)
        <int64[1] last = {-1}, float two = {2.0}, float small = {0.00001}> {
        m = ReduceMean <keepdims = 1> (x, last)  d = Sub (x, m)  p = Pow (d, two)
        v = ReduceMean <keepdims = 1> (p, last)  e = Add (v, small)  r = Sqrt (e)  y = Div (d, r) }"""
    path = tmp_path / "norm.onnx"
    onnx.save(onnx.parser.parse_model(text), str(path))
    plain = match("compile", path, "-o", "plain", "--json").json
    without = match("compile", path, "-o", "without", "--json", "--without-pass", "recognise_functions").json
    assert "host_layer_normalization" in {node["pattern"] for node in plain["nodes"]}
    assert "host_layer_normalization" not in {node["pattern"] for node in without["nodes"]}
    manifest = json.loads((match.directory / "without" / "match.lock.json").read_text())
    assert manifest["options"]["without_passes"] == ["recognise_functions"]
    assert match("verify", path, "--json", "--without-pass", "recognise_functions").json["ok"]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("integerise", "the program would not be correct without it; optional passes are "),
        ("recognize_functions", "there is no such pass; optional passes are "),
    ],
)
def test_passes_that_cannot_be_left_out(match: Match, make_model: MakeModel, name: str, why: str) -> None:
    done = match("compile", make_model(), "-o", "out", "--json", "--without-pass", name)
    error = done.json["error"]
    assert (done.code, error["code"], error["where"]) == (2, "MATCH-U031", "option --without-pass, target example")
    assert error["why"].startswith(why)
    assert "recognise_functions" in error["why"]
    suggested = "did you mean --without-pass recognise_functions?" in error["help"]
    assert suggested == (name == "recognize_functions")
