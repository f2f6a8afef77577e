"""Networks of integers with rounding in elementary operators: units take the sums, and no bit changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, VerifyResult, verify_model

from tests.end_to_end.fixed_point import fixed_point_network, residual_network

SHARED = Path(__file__).resolve().parents[3] / "shared" / "models"


def verify(path: Path, target: str, plugins: Plugins, **options: object) -> VerifyResult:
    result = verify_model(VerifyRequest(path, target, **options), plugins)  # type: ignore[arg-type]
    assert result.ok and result.bit_exact
    assert [output.max_abs_lsb for output in result.outputs] == [0.0] * len(result.outputs)
    return result


def products(result: VerifyResult) -> list[str]:
    """The units that compute convolutions and matrix products."""
    return [
        assignment.candidate.unit
        for assignment in result.compilation.mapping.assignments
        for node in assignment.candidate.match.nodes
        if node.op in ("ConvInteger", "MatMulInteger")
    ]


@pytest.mark.parametrize(
    ("form", "relu", "count"),
    [
        ("away", True, 4),
        ("away", False, 8),  # each sum twice: results up to the zero point, and those above
        ("up", False, 4),
        ("toward", True, 4),
        ("toward", False, 8),
        ("third", False, 4),
    ],
)
def test_units_take_the_sums(form: str, relu: bool, count: int, plugins: Plugins, tmp_path: Path) -> None:
    result = verify(fixed_point_network(tmp_path / "net.onnx", form, relu), "gap9", plugins)
    units = products(result)
    assert len(units) == count
    assert "host" not in units


@pytest.mark.parametrize("target", ["host", "gap9"])
def test_sums_of_two_tensors(target: str, plugins: Plugins, tmp_path: Path) -> None:
    result = verify(residual_network(tmp_path / "net.onnx"), target, plugins)
    assignments = result.compilation.mapping.assignments
    ops = {node.op: a.candidate.unit for a in assignments for node in a.candidate.match.nodes}
    assert "Where" not in ops
    assert ops["AddRequantU8" if target == "gap9" else "AddRequantI8"] == ("cluster" if target == "gap9" else "host")
    assert target == "host" or "host" not in products(result)


@pytest.mark.parametrize("form", ["away", "up"])
def test_the_host_alone_keeps_one_sum(form: str, plugins: Plugins, tmp_path: Path) -> None:
    result = verify(fixed_point_network(tmp_path / "net.onnx", form, relu=False), "host", plugins, sanitize=True)
    assert products(result) == ["host"] * 4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "most_on_host"),
    [("mlperf_autoencoder_int8_int", 0), ("mlperf_dscnn_int8_int", 1), ("mlperf_resnet8_int8_int", 0)],
)
def test_mlperf_tiny_in_integers(name: str, most_on_host: int, plugins: Plugins) -> None:
    path = SHARED / name / "model.onnx"
    if not path.is_file():
        pytest.skip(f"../shared/models/{name} is not on this machine")
    assert products(verify(path, "gap9", plugins)).count("host") <= most_on_host
