"""Kernels of the patterns with 64-bit requantisation, and how their constants are packed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from match_core import Kernel, KernelInterface, Match, Workload
from match_core.emit.interfaces import CONV2D, DEPTHWISE2D, LINEAR
from numpy.typing import NDArray

from match_gap9.ne16_weights import encode_weights
from match_gap9.patterns import multiplier_array
from match_gap9.wide import column_bytes, raised_by

Arrays = Mapping[str, NDArray[np.generic]]
_Pack = Callable[[Match, Workload], Arrays]

#: What emitted programs include for these kernels.
HEADER = "match_gap9_wide.h"


def _packed(match: Match, weight: NDArray[np.generic], channels: int) -> Arrays:
    factor = 1 << raised_by(match)
    addend = np.broadcast_to(match.const("addend").reshape(-1), (channels,)).astype(np.int64) * factor
    multiplier = (multiplier_array(match, channels).astype(np.int64) * factor).astype(np.int32)
    return {"weight": weight, "multiplier": multiplier, "addend": addend}


def _rows(weight: NDArray[np.generic]) -> NDArray[np.generic]:
    """(K, ...) as rows of whole SIMD words, zeros at their ends."""
    flat = np.ascontiguousarray(weight).reshape(weight.shape[0], -1)
    return np.pad(flat, ((0, 0), (0, column_bytes(flat.shape[1]) - flat.shape[1])))


def _pack_conv(match: Match, workload: Workload) -> Arrays:
    """(Ko, Ky, Kx, Ci), each row in whole words."""
    weight = match.const("weight")
    return _packed(match, _rows(weight.transpose(0, 2, 3, 1)), weight.shape[0])


def _pack_depthwise(match: Match, workload: Workload) -> Arrays:
    """(C, Ky, Kx)."""
    weight = match.const("weight")
    return _packed(match, np.ascontiguousarray(weight[:, 0]), weight.shape[0])


def _pack_dense(match: Match, workload: Workload) -> Arrays:
    """(Ko, Ci), each row in whole words."""
    weight = match.const("weight")
    return _packed(match, _rows(weight.T), weight.shape[1])


def _pack_ne16(match: Match, workload: Workload) -> Arrays:
    weight = match.const("weight").astype(np.int8)
    return _packed(match, encode_weights(weight, bits=workload.parameters["weight_bits"]), weight.shape[0])


def _pack_ne16_depthwise(match: Match, workload: Workload) -> Arrays:
    weight = match.const("weight").astype(np.int8)
    encoded = encode_weights(weight, bits=workload.parameters["weight_bits"], depthwise=True)
    return _packed(match, encoded, weight.shape[0])


def _pack_ne16_dense(match: Match, workload: Workload) -> Arrays:
    weight = match.const("weight").astype(np.int8).T[:, :, np.newaxis, np.newaxis]
    return _packed(match, encode_weights(weight, bits=workload.parameters["weight_bits"]), weight.shape[0])


def _cores(interface: KernelInterface, name: str, pack: _Pack) -> Kernel:
    return Kernel(interface, launch=f"match_gap9_wide_{name}", wait="match_gap9_team_wait", pack=pack)


def _ne16(interface: KernelInterface, name: str, pack: _Pack) -> Kernel:
    return Kernel(interface, launch=f"match_gap9_ne16_wide_{name}", wait="match_gap9_team_wait", pack=pack)


WIDE_CLUSTER_KERNELS: Mapping[str, Kernel] = {
    "conv2d_wide": _cores(CONV2D, "conv2d", _pack_conv),
    "depthwise_wide": _cores(DEPTHWISE2D, "depthwise", _pack_depthwise),
    "linear_wide": _cores(LINEAR, "linear", _pack_dense),
}
WIDE_NE16_KERNELS: Mapping[str, Kernel] = {
    "conv3x3_wide": _ne16(CONV2D, "conv3x3", _pack_ne16),
    "conv1x1_wide": _ne16(CONV2D, "conv1x1", _pack_ne16),
    "depthwise3x3_wide": _ne16(DEPTHWISE2D, "depthwise", _pack_ne16_depthwise),
    "ne16_linear_wide": _ne16(LINEAR, "linear", _pack_ne16_dense),
}
