"""Layers in forms that units do not run as they stand: bit exact, and on the units."""

from __future__ import annotations

from pathlib import Path

import pytest
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, VerifyResult, verify_model

from tests.end_to_end import layer_networks as nets

#: Networks with the shape of one sample, and the units of GAP9 that compute their products.
LAYERS = {
    "decoder": (nets.decoder, nets.PICTURE),
    "volume": (nets.volume, nets.VOLUME),
    "sequence": (nets.sequence, nets.SEQUENCE),
}


def verified(path: Path, target: str, plugins: Plugins) -> VerifyResult:
    result = verify_model(VerifyRequest(path, target, execution="sequential"), plugins)
    assert result.bit_exact
    return result


def units_of_products(result: VerifyResult) -> set[str]:
    """The units of all convolutions and matrix products."""
    return {
        assignment.candidate.unit
        for assignment in result.compilation.mapping.assignments
        if assignment.candidate.workload.macs and "pool" not in assignment.candidate.pattern.name
    }


def in_float(result: VerifyResult) -> set[str]:
    """The operators that multiply floats."""
    return {node.op for node in result.compilation.model.graph.nodes} & {"Conv", "ConvTranspose", "Gemm", "MatMul"}


@pytest.fixture(scope="module")
def classifiers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The classifier in both forms, for one sample."""
    path = nets.classifier(tmp_path_factory.mktemp("classifier") / "net.onnx")
    return {form: nets.quantised(path, nets.CLASSES, form) for form in ("QDQ", "QOperator")}


@pytest.mark.parametrize("form", ["QDQ", "QOperator"])
def test_samples_of_a_batch_take_the_units_way(form: str, classifiers: dict[str, Path], plugins: Plugins) -> None:
    single = verified(classifiers[form], "gap9", plugins)
    batch = verified(nets.with_batch(classifiers[form], 4), "gap9", plugins)
    assert units_of_products(batch) == {"cluster", "ne16"}
    assert not in_float(batch)
    assert batch.run.cycles_total < 4.1 * single.run.cycles_total
    memories = (result.compilation.program.memory for result in (single, batch))
    alone, together = (sum(memory.constant_bytes for memory in found) for found in memories)
    assert together <= alone + 64  # samples share weights; the dense layer's may be packed for another unit


@pytest.mark.parametrize(
    ("target", "form", "units"),
    [
        ("host", "QDQ", {"host"}),
        ("host", "QOperator", {"host"}),
        ("diana", "QDQ", {"digital", "host"}),
        ("carfield", "QDQ", {"pulp"}),
        ("ita", "QDQ", {"ita", "snitch", "host"}),
    ],
)
def test_batches_on_every_target(
    target: str, form: str, units: set[str], classifiers: dict[str, Path], plugins: Plugins
) -> None:
    batch = verified(nets.with_batch(classifiers[form], 2), target, plugins)
    assert units_of_products(batch) == units
    assert not in_float(batch)


@pytest.mark.parametrize("target", ["gap9", "host"])
def test_batches_of_integer_networks(target: str, tmp_path: Path, plugins: Plugins) -> None:
    batch = verified(nets.with_batch(nets.integers(tmp_path / "net.onnx"), 3), target, plugins)
    assert units_of_products(batch) <= ({"ne16", "cluster"} if target == "gap9" else {"host"})
    assert max(output.max_abs_lsb for output in batch.outputs) == 0


@pytest.mark.parametrize("target", ["gap9", "host"])
@pytest.mark.parametrize("name", LAYERS)
def test_layers_that_become_convolutions(name: str, target: str, tmp_path: Path, plugins: Plugins) -> None:
    build, shape = LAYERS[name]
    result = verified(nets.quantised(build(tmp_path / "net.onnx"), shape), target, plugins)
    assert not in_float(result)
    if target == "gap9":
        assert "host" not in units_of_products(result) - ({"host"} if name == "sequence" else set())
    assert max(output.max_abs_lsb for output in result.outputs) <= 1


@pytest.mark.parametrize("target", ["gap9", "host"])
@pytest.mark.parametrize("form", ["QDQ", "QOperator"])
def test_unsigned_weights(form: str, target: str, tmp_path: Path, plugins: Plugins) -> None:
    path = nets.quantised(nets.classifier(tmp_path / "net.onnx"), nets.CLASSES, form, unsigned_weights=True)
    result = verified(path, target, plugins)
    assert not in_float(result)
    assert units_of_products(result) == ({"cluster", "ne16"} if target == "gap9" else {"host"})


@pytest.mark.parametrize("target", ["gap9", "host"])
@pytest.mark.parametrize("move", nets.MOVES)
def test_moves_between_quantisers_and_layers(move: str, target: str, tmp_path: Path, plugins: Plugins) -> None:
    result = verified(nets.moved(tmp_path / "net.onnx", move), target, plugins)
    assert not in_float(result)
    assert "host" not in units_of_products(result) or target == "host"


def test_parts_with_different_scales_stay_in_float(tmp_path: Path, plugins: Plugins) -> None:
    result = verified(nets.moved(tmp_path / "net.onnx", "concat", (0.0625, 0.09)), "gap9", plugins)
    assert in_float(result) == {"Conv"}
    (note,) = (note for note in result.compilation.model.notes if "stays in float" in note)
    assert "its input joins tensors with scales 0.0625 and 0.09" in note
