"""Models whose weights exceed L2 run from L3, bit exact."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, VerifyResult, verify_model

from tests.end_to_end.residual import resnet18

#: Less than half of the 185 kB of the small network's constants, more than the 12 KiB of its activations.
SMALL_L2_BYTES = 80_000
SMALL_L2 = (("l2", SMALL_L2_BYTES),)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return resnet18(tmp_path_factory.mktemp("models") / "small.onnx", width=16, stages=3, size=16)


def verify(model: Path, plugins: Plugins, samples: int = 1, **options: object) -> VerifyResult:
    size = onnx.load(model).graph.input[0].type.tensor_type.shape.dim[-1].dim_value
    shape = (samples, 1, 3, size, size)
    pictures = np.clip(np.rint(np.random.default_rng(1).standard_normal(shape) * 127 / 3), -128, 127).astype(np.int8)
    request = VerifyRequest(model, "gap9", arrays={"input": pictures}, execution="sequential", **options)  # type: ignore[arg-type]
    return verify_model(request, plugins)


def assert_streamed(result: VerifyResult) -> None:
    """Bit exact, and constants lie both in L2 and in L3, within what L2 has."""
    assert result.bit_exact
    use = {entry.memory: entry for entry in result.compilation.program.memory}
    assert use["l3"].constant_bytes > 0
    assert use["l2"].used_bytes <= use["l2"].available_bytes
    for values in result.run.outputs.values():  # the random network says something
        assert np.ptp(values.astype(int)) > 128


def test_the_small_network_fits_l2(small: Path, plugins: Plugins) -> None:
    result = verify(small, plugins)
    assert result.bit_exact
    use = {entry.memory: entry for entry in result.compilation.program.memory}
    assert use["l2"].constant_bytes > SMALL_L2_BYTES
    assert "l3" not in use or use["l3"].constant_bytes == 0


@pytest.mark.parametrize("precision", ["exact", "fast"])
def test_weights_beyond_a_small_l2_are_streamed(precision: str, small: Path, plugins: Plugins) -> None:
    resident = verify(small, plugins, precision=precision)
    streamed = verify(small, plugins, precision=precision, memory=SMALL_L2)
    assert_streamed(streamed)
    assert streamed.run.cycles_total >= resident.run.cycles_total
    for name, values in resident.run.outputs.items():
        np.testing.assert_array_equal(values, streamed.run.outputs[name])


@pytest.mark.parametrize("mode", ["eager", "lazy"])
def test_streaming_under_sanitizers(mode: str, small: Path, plugins: Plugins) -> None:
    """Two inferences in a row: the second finds the staging buffers used."""
    options = {"memory": SMALL_L2, "sanitize": True, "mode": mode}
    assert_streamed(verify(small, plugins, samples=2, **options))


@pytest.mark.parametrize("without", ["ne16", "cluster"])
def test_every_unit_streams(without: str, small: Path, plugins: Plugins) -> None:
    assert_streamed(verify(small, plugins, memory=SMALL_L2, without_units=(without,)))


@pytest.mark.slow
def test_resnet18_of_standard_width_runs_from_l3(tmp_path: Path, plugins: Plugins) -> None:
    """11.2 MB of weights, 1408 KiB of L2."""
    result = verify(resnet18(tmp_path / "resnet18.onnx"), plugins, samples=2)
    assert_streamed(result)
    use = {entry.memory: entry for entry in result.compilation.program.memory}
    assert use["l2"].constant_bytes + use["l3"].constant_bytes > 11_000_000
