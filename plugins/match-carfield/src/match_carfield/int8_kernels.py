"""The 8-bit kernels of the PULP cluster by pattern, and how their constants are packed."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from match_core import Kernel, KernelInterface, Match, Workload
from numpy.typing import NDArray

from match_carfield import int8_interfaces as interfaces
from match_carfield.int8_workloads import row_bytes
from match_carfield.pack import Arrays, Pack, nothing


def _requantised(match: Match, weight: NDArray[np.generic], channels: int) -> Arrays:
    def spread(name: str, kind: type[np.generic]) -> NDArray[np.generic]:
        return np.broadcast_to(match.const(name).reshape(-1), (channels,)).astype(kind)

    multiplier, addend = spread("multiplier", np.int32), spread("addend", np.int64)
    return {"weight": np.ascontiguousarray(weight), "multiplier": multiplier, "addend": addend}


def _rows(weight: NDArray[np.generic]) -> NDArray[np.generic]:
    """(K, ...) as rows of whole words, zeros at their ends."""
    flat = np.ascontiguousarray(weight).reshape(weight.shape[0], -1)
    return np.pad(flat, ((0, 0), (0, row_bytes(flat.shape[1]) - flat.shape[1])))


def _pack_conv(match: Match, workload: Workload) -> Arrays:
    """[K][FY][FX][C] of (K, C, FY, FX)."""
    weight = match.const("weight")
    return _requantised(match, _rows(weight.transpose(0, 2, 3, 1)), weight.shape[0])


def _pack_depthwise(match: Match, workload: Workload) -> Arrays:
    """[K][FY][FX] of (K, 1, FY, FX)."""
    weight = match.const("weight")
    return _requantised(match, weight[:, 0], weight.shape[0])


def _pack_linear(match: Match, workload: Workload) -> Arrays:
    """[K][C] of (C, K)."""
    weight = match.const("weight")
    return _requantised(match, _rows(weight.T), weight.shape[1])


def _kernel(interface: KernelInterface, pack: Pack) -> Kernel:
    return Kernel(interface, launch=f"match_carfield_pulp_{interface.kind}", wait="", pack=pack)


INT8_KERNELS: Mapping[str, Kernel] = MappingProxyType(
    {
        "int8_conv2d": _kernel(interfaces.INT8_CONV2D, _pack_conv),
        "int8_depthwise2d": _kernel(interfaces.INT8_DEPTHWISE2D, _pack_depthwise),
        "int8_linear": _kernel(interfaces.INT8_LINEAR, _pack_linear),
        "int8_add": _kernel(interfaces.INT8_ADD, nothing),
        "int8_average": _kernel(interfaces.INT8_POOL2D, nothing),
        "int8_maximum": _kernel(interfaces.INT8_POOL2D, nothing),
        "int8_transpose": _kernel(interfaces.INT8_TRANSPOSE, nothing),
        "int8_offset": _kernel(interfaces.INT8_TRANSPOSE, nothing),
    }
)
