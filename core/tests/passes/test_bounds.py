"""Results saturate to a unit's bounds, with a Clip behind where the layer's are narrower: exactly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from match_core.contract.hardware import RequantSpec, Unit
from match_core.ir.reader import constant
from match_core.passes.pipeline import run_passes
from match_core.plugin.facade import Plugins
from match_quant.bounds import saturation_bounds
from match_quant.powers import ShiftUnit, shift_passes
from match_quant.powers.rules import shift_rules
from match_verify.reference import ReferenceRunner

from core.tests.passes.conftest import context

PAIRS = ((-128, 127), (0, 127))
TARGET = context(Unit("core", "a core", "L2", "NHWC", RequantSpec(32, True, 63, shift_max=62, activation_type="int8")))
#: A product and a sum, each clipped to 5.0 at a scale of 0.05: from -40 or 0 to 100.
TEXT = """g (int8[2,9] x, int8[2,9] z) => (int8[2,9] y, int8[2,9] t)
    <float sx = {0.05}, float sw = {0.01}, float sy = {0.05}, int8 n = {0}, float low = {@LOW}, float high = {5.0}> {
    xr = DequantizeLinear (x, sx, n) wr = DequantizeLinear (w, sw, n)
    p = MatMul (xr, wr) c = Clip (p, low, high) y = QuantizeLinear (c, sy, n)
    yr = DequantizeLinear (y, sy, n) zr = DequantizeLinear (z, sx, n)
    s = Add (yr, zr) k = Clip (s, low, high) t = QuantizeLinear (k, sy, n) }"""


@pytest.fixture
def integers(model_of):
    """The network as integers, with its bounds in steps."""

    def make(low: int):
        weights = np.random.default_rng(1).integers(-127, 128, (9, 9)).astype(np.int8)
        model = model_of(TEXT.replace("@LOW", str(low * 0.05)), {"w": weights})
        return run_passes(model, list(Plugins.load().transforms(TARGET.soc)), TARGET, [])

    return make


def _bounds(model):
    nodes = [node for node in model.graph.nodes if "Requant" in node.op]
    return [tuple(int(constant(tensor).reshape(-1)[0]) for tensor in node.inputs[-2:]) for node in nodes]


@pytest.mark.parametrize(("low", "wide"), [(0, (0, 127)), (-40, (-128, 127))])
def test_results_stay_the_same(integers, low, wide):
    model = integers(low)
    assert _bounds(model) == [(low, 100)] * 2
    result = run_passes(model, [saturation_bounds("core", PAIRS)], TARGET, [])
    assert _bounds(result) == [wide] * 2
    assert sum(node.op == "Clip" for node in result.graph.nodes) == 2
    rng = np.random.default_rng(4)
    sample = {name: rng.integers(-128, 128, (2, 9)).astype(np.int8) for name in "xz"}
    before, after = ReferenceRunner(model).run(sample), ReferenceRunner(result).run(sample)
    assert all(np.array_equal(before[name], after[name]) for name in ("y", "t"))
    assert (before["y"].min(), before["y"].max()) == (low, 100)


@pytest.mark.parametrize("pairs", [((-128, 127), (0, 100)), ((0, 64),)])
def test_bounds_that_the_unit_has_or_cannot_have_stay(integers, pairs):
    result = run_passes(integers(0), [saturation_bounds("core", pairs)], TARGET, [])
    assert _bounds(result) == [(0, 100)] * 2


def test_units_with_shifts_use_it():
    spec = RequantSpec(1, False, 32, shift_max=15)
    unit = ShiftUnit("unit", spec, sides=(1, 3))
    assert "unit_bounds" not in [item.name for item in shift_passes(unit)]
    assert shift_rules(unit)[1].description == "results are cut to -128..127, or to 0..127 (ReLU)"
    narrow = replace(unit, requant=replace(spec, bounds=((-64, 63),)))
    assert shift_passes(narrow)[-1].name == "unit_bounds"
    assert shift_rules(narrow)[1].description == "results are cut to -64..63"
