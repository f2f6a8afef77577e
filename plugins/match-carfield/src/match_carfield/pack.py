"""Constants in the order that the binary16 kernels read them: output channels innermost, so that SIMD words and vectors
hold neighbours; and the kernels that take them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from match_core import Kernel, KernelInterface, Match, Workload
from numpy.typing import NDArray

from match_carfield.changes import halves
from match_carfield.interfaces import (
    HALF_ADD,
    HALF_CONV2D,
    HALF_DEPTHWISE2D,
    HALF_GELU,
    HALF_GROUP2D,
    HALF_LAYERNORM,
    HALF_LINEAR,
    HALF_MATMUL,
    HALF_POOL2D,
    HALF_SOFTMAX,
    HALF_TRANSPOSE,
)

Arrays = Mapping[str, NDArray[np.generic]]
Pack = Callable[[Match, Workload], Arrays]


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
    """Scale and bias of each column; ones and zeros where there are none."""
    columns = match.shape("input")[-1]
    scale = match.const("scale") if match.has("scale") else np.ones(1)
    bias = match.const("bias") if match.has("bias") else np.zeros(1)
    if match.has("norm") and len(match.node("norm").inputs) > 2 and not match.node("norm").inputs[2].is_empty():
        bias = match.node("norm").inputs[2].values
    return {
        name: np.broadcast_to(values.reshape(-1), (columns,)).astype(np.float16)
        for name, values in (("scale", scale), ("bias", bias))
    }


def nothing(match: Match, workload: Workload) -> Arrays:
    """There are no constants."""
    return {}


def _kernel(interface: KernelInterface, unit: str, pack: Pack) -> Kernel:
    """The kernel of a unit; it has ended when the function returns."""
    return Kernel(interface, launch=f"match_carfield_{unit}_{interface.kind.removeprefix('half_')}", wait="", pack=pack)


def _kernels(unit: str) -> dict[str, Kernel]:
    return {
        "conv2d": _kernel(HALF_CONV2D, unit, conv),
        "depthwise2d": _kernel(HALF_DEPTHWISE2D, unit, depthwise),
        "group2d": _kernel(HALF_GROUP2D, unit, group),
        "linear": _kernel(HALF_LINEAR, unit, linear),
        "matmul": _kernel(HALF_MATMUL, unit, nothing),
        "add": _kernel(HALF_ADD, unit, nothing),
        "pool2d": _kernel(HALF_POOL2D, unit, nothing),
        "softmax": _kernel(HALF_SOFTMAX, unit, nothing),
        "layernorm": _kernel(HALF_LAYERNORM, unit, layernorm),
        "layernorm_written": _kernel(HALF_LAYERNORM, unit, layernorm),
        "gelu": _kernel(HALF_GELU, unit, nothing),
        "transpose": _kernel(HALF_TRANSPOSE, unit, nothing),
    }


SPATZ_KERNELS: Mapping[str, Kernel] = MappingProxyType(_kernels("spatz"))
PULP_KERNELS: Mapping[str, Kernel] = MappingProxyType(
    {
        **_kernels("pulp"),
        "redmule_conv2d": _kernel(HALF_CONV2D, "redmule", conv),
        "redmule_linear": _kernel(HALF_LINEAR, "redmule", linear),
        "redmule_matmul": _kernel(HALF_MATMUL, "redmule", nothing),
    }
)
