"""One output of a program: against the integer graph, and the integer graph against the original model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from match_verify.finite import distances, largest
from match_verify.float_bounds import FloatBound


@dataclass(frozen=True, slots=True)
class OutputCheck:
    """One output: the program against the integer graph, and the integer graph against the original model.

    ``max_abs_lsb`` and ``mean_abs_lsb`` are in steps of the output for integer outputs, absolute for float ones.
    ``top1_agreement`` is the fraction of samples whose largest element is at the same position (None for one element).
    """

    name: str
    dtype: str
    bit_exact: bool
    within_bound: bool
    bound: str
    worst_difference: float
    max_abs_lsb: float
    mean_abs_lsb: float
    top1_agreement: float | None


def compare_output(
    name: str,
    got: NDArray[np.generic],
    expected: NDArray[np.generic],
    original: NDArray[np.generic],
    float_bound: FloatBound,
) -> OutputCheck:
    """Compare one output over all samples (first axis)."""
    floating = expected.dtype.kind == "f" or "float" in expected.dtype.name
    bit_exact = got.dtype == expected.dtype and got.tobytes() == expected.tobytes()
    worst = _worst(got, expected)
    scale = largest(expected) if floating else 1.0
    within = bit_exact or (floating and worst <= float_bound.relative * max(scale, 1e-30))
    distance = distances(expected, original)
    flat_expected = _wide(expected).reshape(len(expected), -1)
    top1 = None
    if flat_expected.shape[1] > 1:
        same = flat_expected.argmax(1) == _wide(original).reshape(len(original), -1).argmax(1)
        top1 = float(same.mean())
    return OutputCheck(
        name=name,
        dtype=str(expected.dtype),
        bit_exact=bit_exact,
        within_bound=bool(within),
        bound=str(float_bound) if floating else "bit exact",
        worst_difference=worst,
        max_abs_lsb=float(distance.max()) if distance.size else 0.0,
        mean_abs_lsb=float(distance.mean()) if distance.size else 0.0,
        top1_agreement=top1,
    )


def _wide(array: NDArray[np.generic]) -> NDArray[np.float64]:
    return array.astype(np.float64)


def _worst(got: NDArray[np.generic], expected: NDArray[np.generic]) -> float:
    if got.shape != expected.shape:
        return float("inf")
    return float(np.max(distances(got, expected))) if got.size else 0.0
