"""Networks of any size, and the cost of compiling them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from benchmarks.compile_cost import CompileCost
from benchmarks.scale import exponent, exponents, measured, row
from benchmarks.sized_networks import KINDS


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_sized_network_runs_has_its_size_and_depends_on_its_seed(kind: str) -> None:
    model = KINDS[kind](30, 1)
    assert model.SerializeToString() == KINDS[kind](30, 1).SerializeToString() != KINDS[kind](30, 2).SerializeToString()
    operators = [node for node in model.graph.node if not node.op_type.endswith("izeLinear")]
    assert 30 <= len(operators) < 60
    session = onnxruntime.InferenceSession(model.SerializeToString())
    shape = session.get_inputs()[0].shape
    values = np.random.default_rng(1).integers(-128, 128, shape).astype(np.int8)
    (result,) = session.run(None, {"x": values})
    assert result.std() > 1  # no values die out


def test_the_exponent_of_a_power_is_found() -> None:
    assert exponent({size: 3 * size**1.5 for size in (50, 500, 5000)}) == pytest.approx(1.5)
    costs = {size: CompileCost(size / 10, 1.0, 0, 1, {"plan": size / 20, "emit": 0.001}) for size in (10, 50, 500)}
    assert exponents(costs) == "total 1.00, plan 1.00"
    assert exponents({10: costs[10], 50: costs[50]}) == "none: too few sizes"


def test_a_compilation_is_measured_in_a_process_of_its_own(tmp_path: Path) -> None:
    cost = measured("chain", "host", 6)
    assert not cost.error and cost.cycles > 0 and cost.peak_bytes > 10**7
    assert {"load", "transform", "match", "schedule", "map", "plan", "emit"} <= set(cost.stages)
    assert sum(cost.stages.values()) < cost.seconds
    assert "plan" in row("chain", "host", 6, cost)
