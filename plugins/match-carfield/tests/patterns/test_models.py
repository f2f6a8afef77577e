"""Small models through the whole compiler: right on every unit, and units agree bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from match_core.plugin.host import Plugins
from match_core.verify import VerifyRequest, VerifyResult, verify_model

from .half_models import HalfModel, image_model, sequence_model

CASES: dict[str, tuple[Callable[[], HalfModel], set[str]]] = {
    # model, patterns of either cluster that it must use
    "image": (image_model, {"conv2d", "depthwise2d", "group2d", "add", "pool2d", "linear"}),
    "sequence": (sequence_model, {"linear", "matmul", "softmax", "layernorm", "gelu", "add"}),
}


@pytest.fixture(scope="module")
def plugins() -> Plugins:
    return Plugins.load()


def verified(path: Path, plugins: Plugins, *units: str) -> VerifyResult:
    request = VerifyRequest(path, "carfield", only_units=units, execution="sequential", cache=False)
    return verify_model(request, plugins)


def kinds(result: VerifyResult, unit: str) -> set[str]:
    """Patterns that run on a unit; those of RedMulE by the product they do."""
    chosen = (a.candidate for a in result.compilation.mapping.assignments if a.candidate.unit == unit)
    return {candidate.pattern.name.removeprefix("redmule_") for candidate in chosen}


@pytest.mark.parametrize("name", sorted(CASES))
def test_models_on_each_unit(name: str, plugins: Plugins, tmp_path: Path) -> None:
    build, patterns = CASES[name]
    path = build().save(tmp_path / f"{name}.onnx")
    results = [verified(path, plugins, unit) for unit in ("pulp", "spatz")]
    for unit, result in zip(("pulp", "spatz"), results, strict=True):
        assert result.ok, result.outputs
        assert patterns <= kinds(result, unit)
        assert result.compilation.program.predicted_cycles == result.run.cycles_total
    first, second = (list(result.run.outputs.values()) for result in results)
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(np.asarray(one).view(np.uint16), np.asarray(other).view(np.uint16))
