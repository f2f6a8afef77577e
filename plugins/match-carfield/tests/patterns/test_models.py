"""Small models through the whole compiler: right on every unit, and units agree bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from match_core import CostModel, Pattern, Soc, Unit, Workload
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, VerifyResult, verify_model

from .half_models import HalfModel, image_model, sequence_model

CASES: dict[str, tuple[Callable[[], HalfModel], set[str]]] = {
    # model, patterns of either cluster that it must use
    "image": (image_model, {"conv2d", "depthwise2d", "group2d", "add", "pool2d", "linear"}),
    "sequence": (sequence_model, {"linear", "matmul", "softmax", "layernorm", "gelu", "add"}),
}


class DearHost:
    """A cost model that drives work away from the host, however small it is: its sums are rounded otherwise."""

    def __init__(self, model: CostModel) -> None:
        self._model = model

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def layer_cycles(self, workload: Workload) -> int:
        return self._model.layer_cycles(workload) + 10**7


class UnitsFirst:
    """The plugins, with the host as the last resort."""

    def __init__(self, plugins: Plugins) -> None:
        self._plugins = plugins

    def __getattr__(self, name: str) -> Any:
        return getattr(self._plugins, name)

    def cost(self, soc: Soc, unit: Unit, pattern: Pattern) -> CostModel:
        model = self._plugins.cost(soc, unit, pattern)
        return DearHost(model) if unit.name == soc.host and not pattern.view else model


@pytest.fixture(scope="module")
def plugins() -> UnitsFirst:
    return UnitsFirst(Plugins.load())


def verified(path: Path, plugins: Any, *units: str) -> VerifyResult:
    request = VerifyRequest(path, "carfield", only_units=units, execution="sequential", cache=False)
    return verify_model(request, plugins)


def kinds(result: VerifyResult, unit: str) -> set[str]:
    """Patterns that run on a unit; those of RedMulE by the product they do."""
    chosen = (a.candidate for a in result.compilation.mapping.assignments if a.candidate.unit == unit)
    return {candidate.pattern.name.removeprefix("redmule_") for candidate in chosen}


@pytest.mark.parametrize("name", sorted(CASES))
def test_models_on_each_unit(name: str, plugins: UnitsFirst, tmp_path: Path) -> None:
    build, patterns = CASES[name]
    path = build().save(tmp_path / f"{name}.onnx")
    results = [verified(path, plugins, unit) for unit in ("pulp", "spatz")]
    for unit, result in zip(("pulp", "spatz"), results, strict=True):
        assert result.ok, result.outputs
        assert patterns <= kinds(result, unit)
        nodes = [node for node in result.run.nodes if node.unit == unit]
        assert sum(node.cycles for node in nodes) == pytest.approx(sum(n.predicted_cycles for n in nodes), rel=0.02)
    first, second = (list(result.run.outputs.values()) for result in results)
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(np.asarray(one).view(np.uint16), np.asarray(other).view(np.uint16))


def test_tensors_that_do_not_fit_l2_lie_in_dram(tmp_path: Path) -> None:
    """One task after another; the result is that of the program with room."""
    path, plugins = image_model().save(tmp_path / "image.onnx"), Plugins.load()
    results = []
    for memory in ((), (("l2", 10_000),)):
        request = VerifyRequest(path, "carfield", execution="sequential", cache=False, memory=memory)
        results.append(verify_model(request, plugins))
    roomy, tight = results
    assert roomy.ok and tight.ok
    assert {buffer.memory for buffer in roomy.compilation.program.buffers} == {"l2"}
    assert {buffer.memory for buffer in tight.compilation.program.buffers} == {"l2", "l3"}
    assert tight.run.cycles_total > roomy.run.cycles_total
    units = [node for node in tight.run.nodes if node.unit != "host"]
    assert sum(node.cycles for node in units) == pytest.approx(sum(n.predicted_cycles for n in units), rel=0.02)
    for one, other in zip(roomy.run.outputs.values(), tight.run.outputs.values(), strict=True):
        np.testing.assert_array_equal(np.asarray(one).view(np.uint16), np.asarray(other).view(np.uint16))
