"""``--state``: outputs of one sample are inputs of the next, on the twin and in the reference."""

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

#: y = (x + s) / 2 is also the next s; t counts down.
TEXT = """<ir_version: 10, opset_import: ["" : 21]> g (float[1,4] x, float[1,4] s, int32[1] t)
    => (float[1,4] y, float[1,4] next, int32[1] u) <float half = {0.5}, int32 one = {1}> {
    a = Add (x, s)  y = Mul (a, half)  next = Identity (y)  u = Sub (t, one) }"""
PAIRS = ("--state", "s=next", "--state", "t=u")


@pytest.fixture(autouse=True)
def _example(site: Site) -> None:
    site.install_example()


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "net.onnx"
    onnx.save(onnx.parser.parse_model(TEXT), str(path))
    return path


def _arrays(match: Match, **arrays: np.ndarray) -> np.ndarray:
    x = np.arange(20, dtype=np.float32).reshape(5, 1, 4)
    np.savez(match.directory / "x.npz", x=x, **arrays)
    return x


@pytest.mark.parametrize("start", [None, 8.0])
def test_samples_are_consecutive(match: Match, model: Path, start: float | None) -> None:
    given = {} if start is None else {"s": np.full((1, 4), start, np.float32)}
    x = _arrays(match, **given)
    compiled = match("compile", model, "-o", "out", *PAIRS)
    assert "note: s: state, initially 0, then next of the previous inference" in " ".join(compiled.err.split())
    assert (
        "s: float32 1x4, state, initially 0, then next of the previous"
        in (match.directory / "out" / "net.h").read_text()
    )
    manifest = json.loads((match.directory / "out" / "match.lock.json").read_text())
    assert manifest["states"] == [
        {"input": "s", "output": "next", "initial": 0},
        {"input": "t", "output": "u", "initial": 0},
    ]
    assert match("run", "out", "--inputs", "x.npz", "--outputs", "y.npz").code == 0
    got, expected = np.load(match.directory / "y.npz"), np.full((1, 4), start or 0.0)
    for sample in range(5):
        expected = (x[sample] + expected) / 2
        np.testing.assert_array_equal(got["y"][sample], expected)
        assert got["u"][sample] == -1 - sample


def test_verify_compares_sequences(match: Match, model: Path) -> None:
    _arrays(match)
    done = match("verify", model, "--inputs", "x.npz", *PAIRS, "--json").json
    assert done["ok"] and done["bit_exact"] and set(done["max_abs_lsb"].values()) == {0.0}


def test_without_state_samples_are_independent(match: Match, model: Path) -> None:
    _arrays(match)
    assert (
        match("verify", model, "--inputs", "x.npz", "--state", "s=next", "--state", "t=", "--json").json["error"][
            "code"
        ]
        == "MATCH-U041"
    )


@pytest.mark.parametrize("pair", ["s=u", "q=next", "s=nothing", "y=next", "s"])
def test_a_pair_that_does_not_fit(match: Match, model: Path, pair: str) -> None:
    done = match("verify", model, "--state", pair, "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "MATCH-U080") if pair != "s" else done.json["ok"]


def test_a_file_declares_its_states(match: Match, model: Path) -> None:
    proto = onnx.load(model)
    for key, value in (("match.state:s", "-3 next"), ("match.state:t", "seven u"), ("other", "1 u")):
        proto.metadata_props.add(key=key, value=value)
    onnx.save(proto, model)
    x = _arrays(match, t=np.zeros((5, 1), np.int32))
    assert match("compile", model, "-o", "out").code == 0
    assert match("run", "out", "--inputs", "x.npz", "--outputs", "y.npz").code == 0
    np.testing.assert_array_equal(np.load(match.directory / "y.npz")["y"][0], (x[0] - 3) / 2)


def test_states_keep_their_types(match: Match, make_model: MakeModel, tmp_path: Path) -> None:
    """With quantised ends, other inputs and outputs become integers."""
    text = """<ir_version: 10, opset_import: ["" : 21]> g (float[1,4] x, float[1,4] s) => (float[1,4] y, float[1,4] n)
        <float c = {0.05}, int8 z = {-4}> {
        q = QuantizeLinear (x, c, z)  f = DequantizeLinear (q, c, z)
        p = QuantizeLinear (s, c, z)  g = DequantizeLinear (p, c, z)
        a = Add (f, g)  r = QuantizeLinear (a, c, z)  y = DequantizeLinear (r, c, z)
        o = QuantizeLinear (f, c, z)  n = DequantizeLinear (o, c, z) }"""
    onnx.save(onnx.parser.parse_model(text), str(tmp_path / "kept.onnx"))
    done = match("verify", tmp_path / "kept.onnx", "--state", "s=n", "--quantized-io", "--json").json
    assert done["ok"] and done["bit_exact"]
    assert sum("8-bit" in note for note in done["notes"]) == 2


def test_a_first_value_that_the_type_does_not_hold(match: Match, make_model: MakeModel, tmp_path: Path) -> None:
    text = """<ir_version: 10, opset_import: ["" : 21]> g (float[1,4] x, int8[1,4] s) => (float[1,4] y, int8[1,4] n)
        { y = Relu (x)  n = Identity (s) }"""
    proto = onnx.parser.parse_model(text)
    proto.metadata_props.add(key="match.state:s", value="300 n")
    onnx.save(proto, str(tmp_path / "wide.onnx"))
    done = match("verify", tmp_path / "wide.onnx", "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "MATCH-U080")
