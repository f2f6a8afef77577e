"""The float16 networks of the model set on the host alone, on its twin: within the stated bound of ONNX Runtime and of
the stored outputs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from match_core.contract.hardware import Hardware, Memory, Soc, Unit
from match_core.contract.pattern import Pattern
from match_core.contract.unit_api import PlatformApi, UnitApi
from match_core.plugin.discovery import Found
from match_core.plugin.facade import Plugins
from match_core.plugin.markers import hookimpl
from match_host.headers.half import HALF_HEADER
from match_verify.verify import VerifyRequest, verify_model

from tests.base_packages import base_plugins
from tests.tiers import in_ci

SHARED_MODELS = Path(__file__).resolve().parents[3] / "shared" / "models"
NAMES = (
    "matcha_autoencoder_f16",
    "matcha_convnext_block_f16",
    "matcha_dscnn_f16",
    "matcha_mobilenet_f16",
    "matcha_resnet8_f16",
    "matcha_resnet_block_f16",
    "matcha_resnext_block_f16",
    "matcha_transformer_block_f16",
    "resnet18_cifar10_w16_f16",
    "resnet50_block1_f16",
    "resnext50_block1_f16",
    "transformer_enc128_f16",
    "transformer_enc128_gelu_f16",
)
#: One of each kind: depthwise, residual, grouped, ConvNeXt, dense, attention. The others are larger, and slow.
IN_CI = (
    "matcha_autoencoder_f16",
    "matcha_convnext_block_f16",
    "matcha_dscnn_f16",
    "matcha_resnet_block_f16",
    "matcha_resnext_block_f16",
    "matcha_transformer_block_f16",
)
IDLE = Unit("idle", "runs nothing, but keeps float16 in NCHW", layout="NCHW", spatial_types=("float16",))


class Chips:
    """Two Socs with enough memory for every network: NCHW as the models have it, and the host's NHWC."""

    match_contract = 1

    @hookimpl
    def match_hardware(self) -> Hardware:
        return Hardware(units=(IDLE,), socs=(self._soc("nchw", "idle"), self._soc("nhwc")))

    def _soc(self, name: str, *units: str) -> Soc:
        return Soc(name, "for tests", "host", ("host", *units), (Memory("ram", 2, 16 << 20),), (), "ram")

    @hookimpl
    def match_patterns(self, unit: Unit) -> tuple[Pattern, ...] | None:
        return () if unit.name == "idle" else None

    @hookimpl
    def match_emit_api(self, soc: Soc, unit: Unit) -> UnitApi | None:
        return UnitApi(PlatformApi(), None, {}) if unit.name == "idle" else None


@pytest.fixture(scope="module")
def plugins() -> Iterator[Plugins]:
    yield base_plugins(Found("chips", "chips", "0", Chips))


@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
@pytest.mark.parametrize("name", in_ci(NAMES, IN_CI.__contains__))
def test_network(plugins: Plugins, name: str, layout: str) -> None:
    folder = SHARED_MODELS / name
    if not folder.is_dir():
        pytest.skip(f"../shared/models/{name} is not on this machine")
    result = verify_model(
        VerifyRequest(folder / "model.onnx", layout, folder / "inputs.npz", expected=folder / "outputs.npz"), plugins
    )
    (output,), (stored,) = result.outputs, result.stored
    print(f"{name} {layout}: off by {output.worst_difference:.2g}, stored {stored.max_abs:.2g}; {output.bound}")
    assert result.ok
    assert output.dtype == "float16" and "float16 roundings" in output.bound
    assert output.top1_agreement == 1.0
    ops = {node.op for node in result.compilation.model.graph.nodes if node.domain == "match.nhwc"}
    assert bool(ops) == (layout == "nhwc" and "transformer" not in name and "autoencoder" not in name)
    assert HALF_HEADER in {file.name for file in result.compilation.sources.files}
