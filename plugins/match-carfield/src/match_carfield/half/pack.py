"""Constants in the order that the binary16 kernels read them: output channels innermost, so that SIMD words and vectors
hold neighbours."""

from __future__ import annotations

import numpy as np
from match_core import Match, Workload
from match_core.patterns.packing import Arrays
from numpy.typing import NDArray

from match_carfield.half.changes import halves


def _with_changes(match: Match, workload: Workload, weight: NDArray[np.generic]) -> Arrays:
    mul, add = halves(match, int(match.output.shape[-1]))
    return {"weight": np.ascontiguousarray(weight), "mul": mul, "add": add}


def conv(match: Match, workload: Workload) -> Arrays:
    """[FY][FX][C][K] of (K, C, FY, FX)."""
    return _with_changes(match, workload, match.const("weight").transpose(2, 3, 1, 0))


def depthwise(match: Match, workload: Workload) -> Arrays:
    """[FY][FX][K] of (K, 1, FY, FX)."""
    return _with_changes(match, workload, match.const("weight")[:, 0].transpose(1, 2, 0))


def group(match: Match, workload: Workload) -> Arrays:
    """[G][FY][FX][CG][KG] of (G * KG, CG, FY, FX)."""
    weight = match.const("weight")
    split = weight.reshape(workload.dim("G").size, -1, *weight.shape[1:])
    return _with_changes(match, workload, split.transpose(0, 3, 4, 2, 1))


def linear(match: Match, workload: Workload) -> Arrays:
    """[C][K]; Gemm may have it the other way."""
    weight = match.const("weight")
    turned = bool(int(match.node("dense").attrs.get("transB", 0)))
    return _with_changes(match, workload, weight.T if turned else weight)


def layernorm(match: Match, workload: Workload) -> Arrays:
    """Scale and bias of each column; zeros where there is no bias."""
    scale, inputs = match.const("scale").reshape(-1), match.node("norm").inputs
    has_bias = len(inputs) > 2 and not inputs[2].is_empty()
    return {"scale": scale, "bias": inputs[2].values.reshape(-1) if has_bias else np.zeros_like(scale)}
