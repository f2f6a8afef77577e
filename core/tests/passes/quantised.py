"""Small quantised models: parameters by name, lowering, and comparison with ONNX Runtime on the original."""

from __future__ import annotations

import numpy as np
from match_core.contract.model import Model, qualified_op
from match_core.contract.passes import PassContext
from match_core.passes.pipeline import run_passes
from match_verify.reference import ReferenceRunner
from numpy.typing import DTypeLike, NDArray

from tests.all_passes import core_passes

#: What is left of quantised operators without an integer form.
FLOAT_FORM = {
    "DequantizeLinear",
    "QuantizeLinear",
    "Conv",
    "Gemm",
    "MatMul",
    "Add",
    "Sub",
    "Mul",
    "Div",
    "Relu",
    "Clip",
}


def parameters(name: str, scale: float, zero: int, dtype: DTypeLike) -> dict[str, NDArray[np.generic]]:
    """Scale ``<name>s`` and zero point ``<name>z``."""
    return {f"{name}s": np.array(scale, np.float32), f"{name}z": np.array(zero, dtype)}


def lower(model: Model, context: PassContext) -> Model:
    """The model after all passes of the core."""
    return run_passes(model, core_passes(context.soc, context.units), context)


def ops(model: Model) -> set[str]:
    """The operators of a model."""
    return {qualified_op(node) for node in model.graph.nodes}


def count(model: Model, op: str) -> int:
    """How many nodes of a kind (without domain) a model has."""
    return sum(node.op == op for node in model.graph.nodes)


def samples_of(model: Model, generator: np.random.Generator, number: int) -> list[dict[str, NDArray[np.generic]]]:
    """Inputs over the whole range of their types."""
    result = []
    for _ in range(number):
        feeds: dict[str, NDArray[np.generic]] = {}
        for tensor in model.graph.inputs:
            limits = np.iinfo(np.dtype(tensor.dtype))
            values = generator.integers(int(limits.min), int(limits.max) + 1, tuple(tensor.shape))
            feeds[tensor.name] = values.astype(tensor.dtype)
        result.append(feeds)
    return result


def compare(model: Model, lowered: Model, share: float = 0.005, samples: int = 4, seed: int = 17) -> None:
    """Outputs are at most 1 LSB apart, and of all values no larger share differs."""
    differing = total = 0
    before, after = ReferenceRunner(model), ReferenceRunner(lowered)
    for feeds in samples_of(model, np.random.default_rng(seed), samples):
        expected, got = before.run(feeds), after.run(feeds)
        assert list(expected) == list(got)
        for name, y in expected.items():
            z = got[name]
            assert y.dtype == z.dtype
            assert y.shape == z.shape
            distance = np.abs(y.astype(np.int64) - z.astype(np.int64))
            assert distance.max() <= 1
            differing += int(np.count_nonzero(distance))
            total += distance.size
    assert differing <= share * total, f"{differing} of {total}"
