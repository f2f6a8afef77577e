"""Programs for boards: units of two packages in one program, bit for bit on both packages' twins together."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_core.run.compiled_program import run_program
from match_verify.verify import VerifyRequest, VerifyResult, verify_model

from tests.conftest import ROOT, load_inputs
from tests.end_to_end.qdq_encoders import Encoder, image, inputs, save, save_vision
from tests.end_to_end.side_by_side import compiled, differences

BOARD = ROOT / "examples" / "boards" / "carfield_ita.toml"
#: Both packages call a memory l1 and clocks control and dma_in.
GAP9_ITA = """
[soc]
name = "gap9_ita"
description = "GAP9's cluster and the Snitch cluster with ITA"
home = "l2"
[[units]]
name = "host"
[[units]]
name = "cluster"
soc = "gap9"
[[units]]
name = "snitch"
soc = "ita"
[[units]]
name = "ita"
soc = "ita"
[[memories]]
name = "l2"
from = "gap9"
[[memories]]
name = "l1"
from = "gap9"
[[memories]]
name = "l1_ita"
from = "ita.l1"
[[links]]
name = "mchan"
from = "gap9"
[[links]]
name = "ita_dma"
from = "ita.dma"
"""
BLOCK = Encoder(rows=64, width=128, heads=2, inner=256, seed=3)


def units(result: VerifyResult) -> Counter[str]:
    """Tasks by unit, views left out."""
    tasks = result.compilation.program.tasks
    found = [task.assignment.candidate for task in tasks]
    return Counter(candidate.unit for candidate in found if candidate.pattern.name != "host_view")


def test_a_vision_transformer_runs_on_clusters_of_two_packages(plugins: Plugins, tmp_path: Path) -> None:
    """Convolutions on Carfield's cluster, the encoder's products on ITA, normalisation and sums on its cores."""
    model = save_vision(BLOCK, tmp_path / "vision.onnx")
    arrays = {"x": image(BLOCK)}
    request = VerifyRequest(model, str(BOARD), arrays=arrays, mode="lazy", sanitize=True, execution="sequential")
    result = verify_model(request, plugins)
    assert result.bit_exact
    found = units(result)
    assert found["pulp"] >= 2
    assert found["ita"] == 7
    assert found["snitch"] >= 4
    assert result.compilation.soc.mode == "sequential"


def test_clusters_of_two_packages_run_side_by_side(plugins: Plugins, tmp_path: Path) -> None:
    """All modes of the twin give the same bytes: no queue misses a need, nothing races."""
    model = save_vision(BLOCK, tmp_path / "vision.onnx")
    made = compiled(model, tmp_path, plugins, str(BOARD))
    assert [queue["name"] for queue in made.document["queues"]] == ["host", "pulp", "snitch", "ita"]
    assert {mode: fault for mode, _, fault in differences(made.runs(tmp_path, sanitize=False)) if fault} == {}


def test_side_by_side_is_bit_exact_and_no_slower(plugins: Plugins, tmp_path: Path) -> None:
    model = save_vision(BLOCK, tmp_path / "vision.onnx")
    request = VerifyRequest(model, str(BOARD), arrays={"x": image(BLOCK)}, execution="concurrent")
    result = verify_model(request, plugins)
    program = result.compilation.program
    assert result.bit_exact
    assert result.compilation.sequential_cycles is not None
    assert program.predicted_cycles < result.compilation.sequential_cycles
    assert abs(result.run.cycles_total - program.predicted_cycles) < program.predicted_cycles // 50
    shared = Counter(task.assignment.candidate.node_names for task in program.tasks)
    assert any(
        {t.assignment.candidate.unit for t in program.tasks if t.assignment.candidate.node_names == nodes}
        >= {"pulp", "snitch"}
        for nodes, count in shared.items()
        if count > 1
    ), "no operator is divided among units of two packages"


def test_a_transformer_block_shared_by_two_packages(plugins: Plugins, tmp_path: Path) -> None:
    """Without ITA's cores Carfield's cluster adds what ITA multiplies, in ITA's type of activations."""
    model = save(BLOCK, tmp_path / "block.onnx")
    request = VerifyRequest(
        model, str(BOARD), arrays={"x": inputs(BLOCK)}, execution="sequential", without_units=("snitch",)
    )
    result = verify_model(request, plugins)
    assert result.bit_exact
    found = units(result)
    assert (found["pulp"], found["ita"], found["snitch"]) == (2, 7, 0)


def test_a_program_keeps_its_board(tmp_path: Path, plugins: Plugins) -> None:
    """Whoever runs it needs the packages, not the board file."""
    board = tmp_path / "board.toml"
    board.write_text(BOARD.read_text(encoding="utf-8"), encoding="utf-8")
    model, out = save(BLOCK, tmp_path / "block.onnx"), tmp_path / "out"
    compile_model(CompileRequest(model, str(board), out, execution="sequential", without_units=("snitch",)), plugins)
    board.unlink()
    sample = {"x": inputs(BLOCK)}
    request = VerifyRequest(model, str(BOARD), arrays=sample, execution="sequential", without_units=("snitch",))
    expected = verify_model(request, plugins).run
    again = run_program(out, sample, Plugins.load())
    np.testing.assert_array_equal(again.outputs["y"], expected.outputs["y"])
    assert again.cycles_total == expected.cycles_total
    assert json.loads((out / "match.lock.json").read_text(encoding="utf-8"))["target"] == "carfield_ita"


def test_packages_that_have_memories_and_clocks_of_one_name(plugins: Plugins, tmp_path: Path) -> None:
    """GAP9's cluster multiplies and adds uint8, the Snitch cores take the rest of the attention; ITA needs int8."""
    board = tmp_path / "board.toml"
    board.write_text(GAP9_ITA, encoding="utf-8")
    small = Encoder(rows=64, width=64, heads=1, seed=3)
    request = VerifyRequest(save(small, tmp_path / "block.onnx"), str(board), arrays={"x": inputs(small)}, mode="lazy")
    result = verify_model(request, plugins)
    assert result.bit_exact
    found = units(result)
    assert found["cluster"] >= 4
    assert found["snitch"] >= 2
    assert found["ita"] == 0
    assert abs(result.run.cycles_total - result.compilation.program.predicted_cycles) < result.run.cycles_total // 50


def test_clocks_of_two_packages_are_told_apart(plugins: Plugins, tmp_path: Path) -> None:
    from match_core.board.target import target_soc
    from match_core.run.merge import merge

    soc = target_soc(plugins, str(BOARD))
    apis = {unit.name: plugins.emit_api(soc, unit) for unit in plugins.units_of(soc)}
    merged = merge(apis, "net")
    assert {"host", "pulp", "snitch", "ita", "control", "dma_in", "pulp_dma_in"} <= set(merged.twin.clocks)
    assert set(merged.twin.arenas) == {"l1_pulp", "l1_spatz", "l3", "l1_ita"}
    assert set(merged.own) == {"ita", "pulp"}


@pytest.mark.slow
def test_an_encoder_of_the_reference_data(
    plugins: Plugins, tmp_path: Path, shared_model: Callable[[str], Path]
) -> None:
    folder = shared_model("ita_mobilebert_l1_int8_qdq")
    request = VerifyRequest(
        folder / "model.onnx", str(BOARD), arrays=load_inputs(folder, 1), without_units=("snitch",), quantized_io=True
    )
    result = verify_model(request, plugins)
    assert result.bit_exact
    assert {"pulp", "ita"} <= set(units(result))
