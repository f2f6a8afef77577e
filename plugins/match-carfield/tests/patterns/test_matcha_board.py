"""The board of the MATCHA paper: a target whose RedMulE runs only what the paper's firmware gives to it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from match_carfield.hardware import redmule_of
from match_carfield.patterns import PULP_FIRMWARE_PATTERNS, PULP_PATTERNS
from match_core.deploy.compile_options import adapted_soc
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, VerifyResult, verify_model

from .half_models import HalfModel

if TYPE_CHECKING:
    from .conftest import Half

BOARD = "carfield_matcha"


def firmware_model() -> HalfModel:
    """A convolution and dense layers that RedMulE could run, then the layer that the firmware gives to it."""
    model = HalfModel(3, 1, 16, 8, 8)
    model.conv(32, 3).relu().pool("AveragePool", 8).flatten()
    return model.dense(64).dense(64).dense(10)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return firmware_model().save(tmp_path_factory.mktemp("board") / "model.onnx")


def verified(path: Path, target: str, **choices: object) -> VerifyResult:
    return verify_model(VerifyRequest(path, target, cache=False, **choices), Plugins.load())  # type: ignore[arg-type]


def on_redmule(result: VerifyResult) -> list[str]:
    names = (a.candidate.pattern.name for a in result.compilation.mapping.assignments)
    return [name for name in names if name.startswith("redmule_")]


def test_the_board_is_a_target_beside_ours() -> None:
    plugins = Plugins.load()
    found = {}
    for name in ("carfield", BOARD, "carfield_poll"):
        soc = plugins.soc(name)
        pulp = next(unit for unit in plugins.units_of(soc) if unit.name == "pulp")
        found[name] = [pattern.name for pattern in plugins.patterns(soc, pulp)]
    assert found["carfield"] == found["carfield_poll"] == [pattern.name for pattern in PULP_PATTERNS]
    left_out = {"redmule_conv2d", "redmule_matmul"}
    assert found[BOARD] == [name for name in found["carfield"] if name not in left_out]


def test_options_keep_the_use_of_redmule() -> None:
    soc = adapted_soc(Plugins.load().soc(BOARD), "pulp-30", (("l2", 400_000),))
    assert redmule_of(soc) == "firmware"


@pytest.mark.parametrize(("rows", "features", "outputs"), [(2, 64, 10), (1, 128, 10), (1, 64, 12)])
def test_firmware_gives_one_size_to_redmule(half: Callable[[], Half], rows: int, features: int, outputs: int) -> None:
    graph = half()
    x = graph.node("Gemm", [graph.input(rows, features), graph.constant(features, outputs)], (rows, outputs))
    refused = [r for r in graph.candidates(x, PULP_FIRMWARE_PATTERNS).refused if r.pattern == "redmule_linear"]
    assert [(r.rule, r.value) for r in refused] == [
        (
            "there is one row of 64 features, with 10 outputs",
            f"rows: {rows}, features: {features}, outputs: {outputs}",
        )
    ]


def test_it_is_never_divided(half: Callable[[], Half]) -> None:
    graph = half()
    x = graph.node("Gemm", [graph.input(1, 64), graph.constant(64, 10)], (1, 10))
    (found,) = [c for c in graph.candidates(x, PULP_FIRMWARE_PATTERNS).legal if c.pattern.name == "redmule_linear"]
    assert not any(dim.tileable for dim in found.workload.dims)


def test_programs_of_the_board_are_right(model: Path) -> None:
    """RedMulE runs the firmware's layer only; outputs are those of the other board, also with units side by side."""
    ours = verified(model, "carfield", only_units=("pulp",), execution="sequential")
    theirs = verified(model, BOARD, only_units=("pulp",), execution="sequential")
    beside = verified(model, BOARD, execution="concurrent")
    assert "redmule_conv2d" in on_redmule(ours)
    assert on_redmule(theirs) == ["redmule_linear"]
    assert set(on_redmule(beside)) <= {"redmule_linear"}
    assert theirs.run.cycles_total > ours.run.cycles_total
    assert ours.ok and theirs.ok and beside.ok
    first, *others = (next(iter(result.run.outputs.values())).tobytes() for result in (ours, theirs, beside))
    assert others == [first, first]
