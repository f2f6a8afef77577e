"""The kernels of both clusters by pattern."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from match_core import Kernel, KernelInterface
from match_core.patterns.packing import Pack, nothing

from match_carfield.half import pack
from match_carfield.half.interfaces import (
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
from match_carfield.int8.kernels import INT8_KERNELS


def _kernel(interface: KernelInterface, unit: str, pack_constants: Pack) -> Kernel:
    """The kernel of a unit; it has ended when the function returns."""
    return Kernel(
        interface, launch=f"match_carfield_{unit}_{interface.kind.removeprefix('half_')}", wait="", pack=pack_constants
    )


def _kernels(unit: str) -> dict[str, Kernel]:
    return {
        "conv2d": _kernel(HALF_CONV2D, unit, pack.conv),
        "depthwise2d": _kernel(HALF_DEPTHWISE2D, unit, pack.depthwise),
        "group2d": _kernel(HALF_GROUP2D, unit, pack.group),
        "linear": _kernel(HALF_LINEAR, unit, pack.linear),
        "matmul": _kernel(HALF_MATMUL, unit, nothing),
        "add": _kernel(HALF_ADD, unit, nothing),
        "pool2d": _kernel(HALF_POOL2D, unit, nothing),
        "softmax": _kernel(HALF_SOFTMAX, unit, nothing),
        "layernorm": _kernel(HALF_LAYERNORM, unit, pack.layernorm),
        "gelu": _kernel(HALF_GELU, unit, nothing),
        "transpose": _kernel(HALF_TRANSPOSE, unit, nothing),
    }


SPATZ_KERNELS: Mapping[str, Kernel] = MappingProxyType(_kernels("spatz"))
PULP_KERNELS: Mapping[str, Kernel] = MappingProxyType(
    {
        **_kernels("pulp"),
        "redmule_conv2d": _kernel(HALF_CONV2D, "redmule", pack.conv),
        "redmule_linear": _kernel(HALF_LINEAR, "redmule", pack.linear),
        "redmule_matmul": _kernel(HALF_MATMUL, "redmule", nothing),
        **INT8_KERNELS,
    }
)
