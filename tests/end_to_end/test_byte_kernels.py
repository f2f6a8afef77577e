"""Functions, products and moves of bytes run on GAP9's cluster, in the layout of the convolutions around them, and
give the integer graph's bits; the host gives them too."""

from __future__ import annotations

from pathlib import Path

import pytest
from match_core.contract.passes import Precision
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, VerifyResult, verify_model

from tests.end_to_end import byte_models
from tests.end_to_end.models import QdqBuilder

#: A task of so few cycles stays on the host: its hand-over would take as long.
SMALL = 1500


def check_cluster(
    model: Path, nodes: tuple[str, ...], plugins: Plugins, l1: int | None = None, precision: Precision = "exact"
) -> VerifyResult:
    """Bit exact under sanitizers; the cluster runs these nodes, and the host nothing of size; each task takes about as
    long as modelled."""
    memory = () if l1 is None else (("l1", l1),)
    request = VerifyRequest(
        model, "gap9", sanitize=True, memory=memory, execution="sequential", precision=precision, cache=False
    )
    result = verify_model(request, plugins)
    assert result.bit_exact
    on_cluster = {name for node in result.run.nodes if node.unit == "cluster" for name in node.onnx_names}
    assert set(nodes) <= on_cluster
    assert [node.title for node in result.run.nodes if node.unit == "host" and node.cycles > SMALL] == []
    for node in result.run.nodes:
        assert node.cycles == pytest.approx(node.predicted_cycles, rel=0.06, abs=60), node.title
    return result


@pytest.mark.parametrize("l1", [None, 4200])
@pytest.mark.parametrize("case", byte_models.CASES)
def test_cluster(case: str, l1: int | None, tmp_path: Path, plugins: Plugins) -> None:
    """In whole layers or in tiles; no tensor changes its layout between the graph's ends."""
    model, nodes = byte_models.save(case, tmp_path / "model.onnx")
    result = check_cluster(model, nodes, plugins, l1)
    chosen = {task.assignment.candidate.pattern.name for task in result.compilation.program.tasks}
    assert set(byte_models.CASES[case][2]) <= chosen
    assert [node.op for node in result.compilation.model.graph.nodes].count("Transpose") == 2


def test_rows_of_a_perceptron(tmp_path: Path, plugins: Plugins) -> None:
    check_cluster(*byte_models.save_perceptron(tmp_path / "model.onnx"), plugins)


def test_block_of_a_mobile_network(tmp_path: Path, plugins: Plugins) -> None:
    result = check_cluster(*byte_models.save_mobile_block(tmp_path / "model.onnx"), plugins)
    assert result.run.cycles_by_unit["host"] < 0.03 * result.run.cycles_total


def test_products_in_32_bits(tmp_path: Path, plugins: Plugins) -> None:
    model, nodes = byte_models.save("products", tmp_path / "model.onnx")
    result = check_cluster(model, nodes, plugins, precision="fast")
    assert "product" in {task.assignment.candidate.pattern.name for task in result.compilation.program.tasks}


def test_only_programs_that_call_kernels_of_bytes_have_their_files(tmp_path: Path, plugins: Plugins) -> None:
    def files(model: Path) -> set[str]:
        request = CompileRequest(model, "gap9", execution="sequential")
        return {file.name for file in compile_model(request, plugins).compilation.sources.files}

    plain = files(QdqBuilder(3, 8, 6, 6).conv(8, 3).save(tmp_path / "plain.onnx"))
    called = files(byte_models.save_perceptron(tmp_path / "called.onnx")[0])
    own = {"match_gap9_elements.c", "match_gap9_elements.h", "match_gap9_share.h", "match_lut.h", "match_requant.h"}
    assert own <= called
    assert not own & plain
    assert "match_gap9_moves.c" not in called


@pytest.mark.parametrize("case", byte_models.CASES)
def test_host(case: str, tmp_path: Path, plugins: Plugins) -> None:
    """Nothing is left in float but the graph's ends."""
    model, _ = byte_models.save(case, tmp_path / "model.onnx")
    result = verify_model(VerifyRequest(model, "host", sanitize=True, cache=False), plugins)
    assert result.bit_exact
    assert [node.op for node in result.compilation.model.graph.nodes].count("DequantizeLinear") == 1
    assert result.outputs[0].mean_abs_lsb < 0.01
