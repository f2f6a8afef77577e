"""Layers whose constants travel as one operand, executed on the fake unit under legal schedules by chance."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from match_core.contract.loops import TileLoop
from match_core.contract.workload import Axis, BundlePart, Dim, Operand, Workload
from match_core.lower.bundle import bundle_bytes
from match_core.patterns.bundle import NAME, bundled, pieces
from match_core.plugin.answers import check_workload

from core.tests.emit import layer_program as lp
from core.tests.emit.hand_schedules import PRIVATE_UNIT, UNIT, random_case
from core.tests.emit.interfaces import CONV2D
from core.tests.emit.workloads import Problem, conv2d, sum2d

BUNDLING = replace(UNIT, bundles=True)


def test_parameters_per_channel_join_the_weights() -> None:
    problem = conv2d(np.random.default_rng(3))
    workload = bundled(problem.workload, BUNDLING)
    assert [operand.name for operand in workload.operands] == ["input", NAME, "output"]
    taps = problem.workload.operand("weight").axes[1].size
    bundle = workload.operand(NAME)
    assert bundle.parts == (BundlePart("multiplier", 32), BundlePart("addend", 32), BundlePart("weight", 8 * taps))
    assert bundle.axes[1].size == -(-(taps + 8) // 4) * 4
    check_workload(CONV2D, workload)


def test_what_another_dimension_cuts_or_lies_elsewhere_stays_apart() -> None:
    sums = sum2d(np.random.default_rng(1)).workload  # weights are cut along reductions too
    assert bundled(sums, BUNDLING) is sums
    workload = conv2d(np.random.default_rng(3)).workload
    apart = bundled(workload, replace(PRIVATE_UNIT, bundles=True))
    assert [operand.name for operand in apart.operands] == ["input", "weight", NAME, "output"]
    assert bundled(workload, UNIT) is workload


def test_pieces_of_nested_loops_with_rests() -> None:
    loops = (TileLoop("K", 10, 6), TileLoop("OY", 5, 2), TileLoop("K", 6, 4))
    assert pieces("K", 10, loops) == ((0, 4), (4, 2), (6, 4))
    assert pieces("OX", 7, loops) == ((0, 7),)


def test_elements_of_few_bits_stay_dense() -> None:
    """50 channels of 7 bits, stored as 64: pieces of 32 have 28 bytes of weights and a gap of 4."""
    axis = Axis("k", 50, (("K", 1),), round_up=16)
    weight, scale = Operand("weight", "constant", (axis,), 7), Operand("scale", "constant", (axis,), 32)
    workload = bundled(Workload("packed", (Dim("K", 50, granularity=16),), (weight, scale), 0), BUNDLING)
    weights = np.arange(1, 57, dtype=np.uint8)
    made = bundle_bytes(
        workload.operand(NAME),
        {"weight": weights, "scale": np.zeros(50, np.int32)},
        (TileLoop("K", 50, 32),),
    )
    pieces_made = made.reshape(2, 32 * 8)
    assert np.array_equal(pieces_made[:, 128:156].reshape(-1), weights)
    assert not pieces_made[:, 156:].any()


def test_arrays_of_another_size_are_refused() -> None:
    problem = conv2d(np.random.default_rng(3))
    bundle = bundled(problem.workload, BUNDLING).operand(NAME)
    with pytest.raises(ValueError, match="constant addend has"):
        bundle_bytes(bundle, {**problem.operands, "addend": np.zeros(1, np.int8)}, ())


def _case(random: np.random.Generator) -> lp.Case | None:
    problem = conv2d(random)
    workload = bundled(problem.workload, BUNDLING)
    found = random_case(random, Problem(workload, {**problem.operands, NAME: np.zeros(0)}, problem.expected))
    if found is None:
        return None
    constants = bundle_bytes(workload.operand(NAME), problem.operands, found.schedule.loops)
    operands = {"input": problem.operands["input"], NAME: constants}
    return replace(found, problem=Problem(workload, operands, problem.expected))


def test_any_legal_schedule_computes_the_layer(tmp_path: Path) -> None:
    random = np.random.default_rng(7)
    found = [_case(random) for _ in range(50)]
    cases = [case for case in found if case is not None and case.problem.workload.kind == "conv2d"]
    assert len(cases) >= 35
    assert sum(any(loop.dim == "K" for loop in case.schedule.loops) for case in cases) >= 10
    assert sum(bool(case.streamed()) for case in cases) >= 3
    lp.check(tmp_path, cases)
