"""Constants in the external RAM: a network that does not fit L2 computes the same bits in the predicted time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, VerifyResult, verify_model

ROOT = next(p for p in Path(__file__).resolve().parents if (p / "core").is_dir() and (p / "plugins").is_dir())
MODEL = ROOT / "examples" / "demo" / "resnet8_shapes.onnx"
#: Some 57 kB less than the network needs with all its constants in L2.
L2_BYTES = 80_000


def _run(
    plugins: Plugins, mode: str, memory: tuple[tuple[str, int], ...], preset: str = "as-published"
) -> VerifyResult:
    request = VerifyRequest(
        MODEL, "gap9", sanitize=mode == "lazy", mode=mode, memory=memory, preset=preset, execution="sequential"
    )
    return verify_model(request, plugins)


@pytest.fixture(scope="module")
def plugins() -> Plugins:
    return Plugins.load()


def test_streamed_constants_change_no_bit(plugins: Plugins) -> None:
    whole = _run(plugins, "eager", ())
    for mode in ("eager", "lazy"):
        streamed = _run(plugins, mode, (("l2", L2_BYTES),))
        assert streamed.bit_exact
        for name, values in whole.run.outputs.items():
            np.testing.assert_array_equal(streamed.run.outputs[name], values)
        use = {memory.memory: memory.used_bytes for memory in streamed.compilation.program.memory}
        assert use["l2"] <= L2_BYTES
        assert use["l3"] > 0
        assert streamed.run.cycles_by_clock["l3"] >= use["l3"]  # a byte per cycle


@pytest.mark.parametrize("preset", ["as-published", "engine"])
def test_streamed_layers_take_about_the_predicted_cycles(plugins: Plugins, preset: str) -> None:
    result = _run(plugins, "eager", (("l2", L2_BYTES),), preset)
    streamed = {task.index for task in result.compilation.program.tasks if task.assignment.schedule.streamed("l2")}
    assert streamed
    for node in result.run.nodes:
        if node.index in streamed:
            assert abs(node.predicted_cycles / node.cycles - 1) < 0.1, node
