"""``match quantize``: the quantised network is close to the float one, and runs on a target."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
import typer
from match_core.contract.errors import MatchError
from match_core.contract.observe import NullObserver
from match_core.plugin.facade import Plugins
from match_quant.losses import distance, scores_of
from match_quant.quantize import QuantizeRequest, quantize_model
from match_quant.verb import Method, quantize_command
from match_verify.verify import VerifyRequest, verify_model
from onnx import TensorProto, helper

from tests.envelope import opened
from tests.verify.float_network import float_convolution

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def network(tmp_path: Path) -> Path:
    """Floats with a fixed seed, opset 11, and samples."""
    samples = np.random.default_rng(4).standard_normal((16, 1, 3, 8, 8)).astype(np.float32)
    np.savez(tmp_path / "x.npz", x=samples)
    return float_convolution(tmp_path / "net.onnx", 8)


@pytest.mark.parametrize("options", [(), ("--activations", "uint8", "--per-tensor", "--method", "percentile")])
def test_a_network_is_quantised_and_runs(
    options: tuple[str, ...], network: Path, tmp_path: Path, match_command: Run, plugins: Plugins
) -> None:
    output = tmp_path / "int8.onnx"
    done = match_command("quantize", network, "--data", tmp_path / "x.npz", "-o", output, *options, "--json")
    assert done.returncode == 0, done.stderr
    document = opened(done.stdout)
    (distance,) = document["outputs"]
    assert document["samples"] == 16
    assert 0 < distance["mean_abs"] < 0.05 * distance["largest"]
    assert distance["top1_agreement"] >= 0.8
    quantised = onnx.load(str(output))
    assert not any(node.op_type == "BatchNormalization" for node in quantised.graph.node), "folded"
    kinds = {i.data_type for i in quantised.graph.initializer if i.name.endswith("zero_point")}
    assert (TensorProto.UINT8 in kinds) == bool(options)
    found = verify_model(VerifyRequest(model=output, target="gap9", execution="sequential", cache=False), plugins)
    assert found.bit_exact


def test_samples_that_do_not_fit_write_nothing(network: Path, tmp_path: Path, match_command: Run) -> None:
    np.savez(tmp_path / "bad.npz", x=np.zeros((4, 7), np.float32))
    done = match_command("quantize", network, "--data", tmp_path / "bad.npz", "-o", tmp_path / "y.onnx", "--json")
    assert done.returncode == 2
    assert opened(done.stdout)["error"]["code"] == "MATCH-U042"
    assert not (tmp_path / "y.onnx").exists()


def _request(network: Path, output: Path, **options: Any) -> QuantizeRequest:
    return QuantizeRequest(network, network.parent / "x.npz", output, **options)


def test_a_folder_of_images_and_a_search(tmp_path: Path, match_command: Run) -> None:
    """From a dynamic batch and png files to a network that loses least on samples held out."""
    pillow = pytest.importorskip("PIL.Image")
    (tmp_path / "images").mkdir()
    for index in range(8):
        pixels = np.random.default_rng(index).integers(0, 256, (9, 9, 3), np.uint8)
        pillow.fromarray(pixels).save(tmp_path / "images" / f"{index}.png")
    model, output = float_convolution(tmp_path / "net.onnx", 8, "batch"), tmp_path / "int8.onnx"
    np.save(tmp_path / "y.npy", np.arange(8) % 5)
    numbers = (
        "--labels",
        tmp_path / "y.npy",
        "--mean",
        "0.485,0.456,0.406",
        "--std",
        "0.229,0.224,0.225",
        "--dim",
        "batch=1",
    )
    options = ("--search", "--percentile", "99.9", "--layers", "--keep-wider", "1", "--quiet")
    done = match_command("quantize", model, "--data", tmp_path / "images", "-o", output, *numbers, *options, "--json")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    document = opened(done.stdout)
    assert (document["samples"], document["compared"]) == (8, 2)
    tried = [(trial["method"], trial["percentile"], trial["per_channel"]) for trial in document["trials"]]
    assert tried[:3] == [("minmax", None, True), ("percentile", 99.9, True), ("entropy", None, True)]
    assert tried[3][2] is False
    assert document["labels"]["y"]["count"] == 8
    assert 0 <= document["labels"]["y"]["original"]["top1"] <= 1
    best = max(document["trials"], key=lambda trial: trial["sqnr_db"])
    assert (document["method"], document["per_channel"]) == (best["method"], best["per_channel"])
    worst = [layer["sqnr_db"] for layer in document["layers"]]
    assert worst == sorted(worst)
    assert ["conv", "relu"] in [layer["nodes"] for layer in document["layers"]]
    assert document["worst_sqnr_db"] < document["wider"][0]["sqnr_db"]


def test_equal_choices_give_equal_bytes(network: Path, tmp_path: Path) -> None:
    """A search, and the options that it chose, with the samples that it did not hold out."""
    found = quantize_model(_request(network, tmp_path / "a.onnx", search=True))
    kept = np.load(tmp_path / "x.npz")["x"]
    np.savez(tmp_path / "x.npz", x=kept[[index % 4 != 3 for index in range(len(kept))]])
    scheme = found.scheme
    again = _request(
        network,
        tmp_path / "b.onnx",
        method=scheme.method,
        percentile=scheme.percentile,
        per_channel=scheme.per_channel,
    )
    quantize_model(again)
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()
    assert found.best is not None
    assert found.best.sqnr_db == pytest.approx(found.distances[0].sqnr_db, abs=1e-3)


def test_the_layer_that_helps_most_stays_in_float(tmp_path: Path) -> None:
    """One channel is 20 times larger than the others. No other layer in float would help more."""
    samples = np.random.default_rng(4).standard_normal((8, 1, 3, 4, 4)).astype(np.float32)
    np.savez(tmp_path / "x.npz", x=samples)
    network, output = float_convolution(tmp_path / "net.onnx", spread=20.0), tmp_path / "y.onnx"
    result = quantize_model(_request(network, output, layers=True, keep_wider=1))
    weights = [tensor.name for tensor in onnx.load(str(output)).graph.initializer if tensor.data_type == 1]
    alone = {
        loss.nodes: quantize_model(_request(network, output, wider=loss.nodes[:1])).distances[0].sqnr_db
        for loss in result.losses
    }
    (kept,) = result.wider
    assert result.distances[0].sqnr_db == max(alone.values())
    assert kept.sqnr_db == pytest.approx(max(alone.values()), abs=1e-3)
    assert max(alone, key=alone.__getitem__) == kept.nodes
    assert kept.sqnr_db > quantize_model(_request(network, output)).distances[0].sqnr_db
    assert any("scale" not in name for name in weights), "its weights are floats"
    assert min(loss.sqnr_db for loss in result.losses) == result.losses[0].sqnr_db < 40


def test_named_layers_stay_in_float(network: Path, tmp_path: Path, match_command: Run) -> None:
    options = ("--data", tmp_path / "x.npz", "-o", tmp_path / "y.onnx", "--no-layers", "-q", "--json")
    done = match_command("quantize", network, *options, "--wider", "relu", "--wider", "dense")
    document = opened(done.stdout)
    assert [layer["nodes"][0] for layer in document["wider"]] == ["conv", "dense"]
    assert document["layers"] == []
    named = {node.name: node for node in onnx.load(str(tmp_path / "y.onnx")).graph.node}
    assert {"conv", "relu", "dense"} <= named.keys()
    with pytest.raises(MatchError) as caught:
        quantize_model(_request(network, tmp_path / "z.onnx", wider=("danse",)))
    assert (caught.value.exit_code, caught.value.code) == (2, "MATCH-U039")
    assert "did you mean --wider dense?" in caught.value.help


def test_without_the_quantisers_own_preparation(network: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It fails, which a note says; the result is as close."""

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("no shapes today")

    monkeypatch.setattr("onnxruntime.quantization.shape_inference.quant_pre_process", fail)
    seen = _Notes()
    result = quantize_model(_request(network, tmp_path / "y.onnx"), observer=seen)
    assert result.distances[0].sqnr_db > 25
    assert any("no shapes today" in note for note in seen.notes)


class _Notes(NullObserver):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


def test_nothing_is_written_if_the_quantiser_fails(
    network: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyError("a fault of theirs")

    monkeypatch.setattr("onnxruntime.quantization.create_calibrator", fail)
    with pytest.raises(MatchError) as caught:
        quantize_model(_request(network, tmp_path / "y.onnx"))
    assert caught.value.code == "MATCH-R004" and "a fault of theirs" in caught.value.why
    assert not (tmp_path / "y.onnx").exists()


def test_a_percentile_belongs_to_its_method() -> None:
    with pytest.raises(typer.BadParameter, match="percentile"):
        quantize_command(Path("net.onnx"), Path("x.npz"), Path("y.onnx"), method=Method.ENTROPY, percentile=99)


def test_what_a_batch_chooses_is_compared_by_row() -> None:
    before = np.zeros((3, 2, 4))
    before[:, :, 1] = [[1, 2], [1, 3], [1, 4]]
    after = before.copy()
    after[0, 0, 2] = 5
    assert distance("y", before, after).top1_agreement == pytest.approx(5 / 6)
    assert distance("y", before[:, :1], after[:, :1]).top1_agreement == pytest.approx(2 / 3)
    assert distance("y", before[..., None], after[..., None]).top1_agreement is None, "no class scores"


def test_scores_are_compared_before_softmax() -> None:
    """In float, and behind the quantisers of a quantised network."""
    model = onnx.parser.parse_model(
        """<ir_version: 8, opset_import: ["": 17]> net (float[1,3] x) => (float[1,3] y, float[1,3] z)
        <float s = {0.25}, int8 n = {0}> {
        l = Mul (x, s) p = Softmax (l) q = QuantizeLinear (p, s, n) y = DequantizeLinear (q, s, n) z = Relu (l) }"""
    )
    found = scores_of(model, [{"x": np.array([[4, 8, -8]], np.float32)}])
    assert found["y"].tolist() == [[[1, 2, -2]]]
    assert found["z"].tolist() == [[[1, 2, 0]]]


def test_nodes_without_names_have_names() -> None:
    from match_quant.static import Quantiser

    nodes = [helper.make_node("Relu", ["x"], ["a"]), helper.make_node("Relu", ["a"], ["b"], name="Relu_0")]
    nodes += [helper.make_node("Relu", ["b"], ["y"], name="Relu_0")]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, (1, 4)) for name in "xy"]
    model = helper.make_model(
        helper.make_graph(nodes, "net", ends[:1], ends[1:]), opset_imports=[helper.make_opsetid("", 17)]
    )
    names = [node.name for node in Quantiser(model, [], "net", prepared=False).network.graph.node]
    assert names[1] == "Relu_0" and len(set(names)) == 3
