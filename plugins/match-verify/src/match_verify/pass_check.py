"""Whether a pass keeps what it claims: the model before and after it in ONNX Runtime, on the same random inputs."""

from __future__ import annotations

import numpy as np
from match_core.contract.model import Model
from match_core.ir.functions import ARITH
from numpy.typing import NDArray

#: Float results may differ by this, relative to the largest value of the tensor.
FLOAT_TOLERANCE = 1e-5
#: The same for float16: 2 u sqrt(n) with u = 2^-11 and n = 16 roundings that a pass moves or leaves out (see
#: match_verify/float_bounds.py).
HALF_TOLERANCE = 2.0**-8


def difference(expected: NDArray[np.generic], got: NDArray[np.generic], exact: bool | None) -> str | None:
    """What is wrong with ``got``, None if nothing is. ``exact`` as in ``Pass``: equal bits; within ``FLOAT_TOLERANCE``,
    and 1 for integers, where a value lay between two; or equal types and shapes."""
    if expected.shape != got.shape or expected.dtype != got.dtype:
        return f"{expected.dtype}{list(expected.shape)} became {got.dtype}{list(got.shape)}"
    if exact is None:
        return None
    equal = np.array_equal(expected, got, equal_nan=expected.dtype.kind == "f")
    if equal or expected.size == 0:
        return None
    if exact:
        return f"{int(np.count_nonzero(expected != got))} of {expected.size} values differ"
    a, b = expected.astype(np.float64), got.astype(np.float64)
    finite = np.isfinite(a)
    if not np.array_equal(finite, np.isfinite(b)):
        return "other values are infinite or not a number"
    worst = float(np.max(np.abs(a - b), where=finite, initial=0.0))
    scale = float(np.max(np.abs(a), where=finite, initial=0.0))
    tolerance = HALF_TOLERANCE if expected.dtype == np.float16 else FLOAT_TOLERANCE
    allowed = tolerance * scale if expected.dtype.kind == "f" else 1.0
    return None if worst <= allowed else f"it differs by {worst:g} where {allowed:g} is allowed"


def random_inputs(model: Model, seed: int = 0) -> dict[str, NDArray[np.generic]]:
    """One seeded random value for every graph input: whole range of 8-bit types, small others, normal floats (integers
    where the model takes integers out of floats)."""
    generator = np.random.default_rng(seed)
    whole = any(node.op == "AsInteger" and node.domain == ARITH for node in model.graph.nodes)
    result: dict[str, NDArray[np.generic]] = {}
    for tensor in model.graph.inputs:
        dtype, shape = np.dtype(tensor.dtype), tuple(int(size) for size in tensor.shape)
        if dtype.kind == "b":
            result[tensor.name] = generator.integers(0, 2, shape).astype(dtype)
        elif dtype.kind in "iu":
            limits = np.iinfo(dtype)
            low, high = max(int(limits.min), -128), min(int(limits.max), 255)
            result[tensor.name] = generator.integers(low, high + 1, shape).astype(dtype)
        elif whole:
            result[tensor.name] = generator.integers(-128, 256, shape).astype(dtype)
        else:
            result[tensor.name] = generator.standard_normal(shape).astype(dtype)
    return result
