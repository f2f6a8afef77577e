"""The MLPerf Tiny networks on GAP9: program on the twin against the integer graph and the original."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, VerifyResult, verify_model

from tests.tiers import in_ci

NETWORKS = ("resnet8", "dscnn", "mobilenetv1_025", "autoencoder")
FORMS = ("qdq", "qop")
#: What CI compiles for GAP9: convolutions in one form, dense layers in the other. The rest is slow.
IN_CI = (("dscnn", "qdq"), ("autoencoder", "qop"))


@pytest.fixture(scope="module")
def whole(plugins: Plugins) -> Callable[[Path], VerifyResult]:
    """A network verified with all units, once for all tests."""
    return lru_cache(maxsize=1)(lambda folder: verify(folder, plugins))


def verify(folder: Path, plugins: Plugins, **options: object) -> VerifyResult:
    request = VerifyRequest(folder / "model.onnx", "gap9", folder / "inputs.npz", **options)  # type: ignore[arg-type]
    return verify_model(request, plugins)


@pytest.mark.parametrize(("network", "form"), in_ci(product(NETWORKS, FORMS), IN_CI.__contains__))
def test_network_is_bit_exact_and_close(
    network: str, form: str, shared_model: Callable[[str], Path], whole: Callable[[Path], VerifyResult]
) -> None:
    result = whole(shared_model(f"mlperf_{network}_int8_{form}"))
    assert result.ok and result.bit_exact
    (output,) = result.outputs
    assert output.mean_abs_lsb <= 1.0
    if network != "autoencoder":
        assert output.top1_agreement is not None and output.top1_agreement >= 0.95
    units = {node.unit for node in result.run.nodes if node.cycles}
    # Dense layers of one row are cheaper on the cluster; everywhere else both units have their share.
    assert units >= ({"cluster"} if network == "autoencoder" else {"cluster", "ne16"})
    assert max(result.run.cycles_by_unit.values()) <= result.run.cycles_total * 1.01
    if not result.compilation.program.queues:
        assert sum(node.cycles for node in result.run.nodes) <= result.run.cycles_total * 1.01


@pytest.mark.parametrize("network", in_ci(("dscnn", "resnet8"), "dscnn".__eq__))
@pytest.mark.parametrize("mode", ["eager", "lazy"])
def test_network_under_sanitizers(
    mode: str, network: str, shared_model: Callable[[str], Path], plugins: Plugins
) -> None:
    """The demo's tests do this with the sums of a residual network."""
    folder = shared_model(f"mlperf_{network}_int8_qdq")
    with np.load(folder / "inputs.npz") as archive:
        arrays = {name: archive[name][:2] for name in archive.files}
    request = VerifyRequest(folder / "model.onnx", "gap9", arrays=arrays, sanitize=True, mode=mode)
    assert verify_model(request, plugins).bit_exact


@pytest.mark.parametrize("network", in_ci(NETWORKS, "dscnn".__eq__))
def test_disabling_a_unit_changes_cycles_not_values(
    network: str, shared_model: Callable[[str], Path], plugins: Plugins, whole: Callable[[Path], VerifyResult]
) -> None:
    folder = shared_model(f"mlperf_{network}_int8_qdq")
    full = whole(folder)
    used = {node.unit for node in full.run.nodes}
    for unit in ("ne16", "cluster"):
        part = verify(folder, plugins, without_units=(unit,))
        assert part.bit_exact
        assert unit not in {node.unit for node in part.run.nodes}
        if unit in used:
            assert part.run.cycles_total > full.run.cycles_total
        else:
            assert part.run.cycles_total == full.run.cycles_total
        for name, values in full.run.outputs.items():
            np.testing.assert_array_equal(values, part.run.outputs[name])


@pytest.mark.parametrize("network", in_ci((*NETWORKS, "streaming_wakeword"), lambda name: "mobilenet" not in name))
def test_integer_form_equals_tflite_on_the_host(
    network: str, shared_model: Callable[[str], Path], plugins: Plugins
) -> None:
    """The ``_int`` forms are TFLite's arithmetic in standard operators; stored outputs are TFLite's own."""
    folder = shared_model(f"mlperf_{network}_int8_int")
    result = verify(folder, plugins, only_units=("host",))
    assert result.bit_exact
    assert {node.unit for node in result.run.nodes} == {"host"}
    with np.load(folder / "outputs.npz") as stored:
        for name, values in result.run.outputs.items():
            np.testing.assert_array_equal(values, stored[name])
            if f"tflite__{name}" in stored.files:
                np.testing.assert_array_equal(values, stored[f"tflite__{name}"])
