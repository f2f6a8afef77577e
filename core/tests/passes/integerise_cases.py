"""Lowering of quantised models to integers, for tests: parameters of a tensor, and what a lowered model may change."""

from __future__ import annotations

import numpy as np
from match_core.contract.model import qualified_op
from match_core.passes.pipeline import run_passes
from match_verify.reference import ReferenceRunner

from tests.all_passes import core_passes

INT8, UINT8 = np.dtype(np.int8), np.dtype(np.uint8)


def parameters(name: str, scale: float, zero: int, dtype) -> dict:
    return {f"{name}s": np.float32(scale), f"{name}z": np.array(zero, dtype)}


def lower(model, context):
    return run_passes(model, core_passes(context.soc, context.units), context)


def ops(model) -> set[str]:
    return {qualified_op(node) for node in model.graph.nodes}


def compare(model, lowered, dtype, shape, share=0.005, samples=4) -> None:
    limits = np.iinfo(dtype)
    differing = total = 0
    before, after = ReferenceRunner(model), ReferenceRunner(lowered)
    random = np.random.default_rng(17)  # of its own: shares must not depend on the order of tests
    for _ in range(samples):
        x = random.integers(limits.min, int(limits.max) + 1, shape).astype(dtype)
        (y,), (z,) = before.run({"x": x}).values(), after.run({"x": x}).values()
        assert y.dtype == z.dtype and y.shape == z.shape
        distance = np.abs(y.astype(np.int64) - z.astype(np.int64))
        assert distance.max() <= 1
        differing += int(np.count_nonzero(distance))
        total += distance.size
    assert differing <= share * total


FLOAT_FORM = {"DequantizeLinear", "QuantizeLinear", "Conv", "Gemm", "MatMul", "Add", "Relu", "Clip"}
