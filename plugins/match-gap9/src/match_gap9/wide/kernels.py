"""Kernels of the patterns with 64-bit requantisation, and the packing of their constants."""

from __future__ import annotations

from collections.abc import Mapping

from match_core import Kernel, KernelInterface, Match, Workload
from match_core.patterns.packing import Arrays, Pack, packed

from match_gap9.interfaces import CONV2D, DEPTHWISE2D, LINEAR
from match_gap9.ne16.weights import packed_weights
from match_gap9.wide.patterns import JOINT, SIMD_BYTES, raised_by

#: Headers that emitted programs include for these kernels.
HEADER = "match_gap9_wide.h"


def _raised(match: Match, arrays: Arrays) -> Arrays:
    """With M and B raised to a whole word (``raised_by``)."""
    factor = 1 << raised_by(match)
    return {**arrays, **{name: (arrays[name] * factor).astype(arrays[name].dtype) for name in ("multiplier", "addend")}}


def _pack_rows(match: Match, workload: Workload) -> Arrays:
    """(Ko, Ky, Kx, Ci) or (Ko, Ci), each row in whole words."""
    return _raised(match, packed(match, SIMD_BYTES))


def _pack_depthwise(match: Match, workload: Workload) -> Arrays:
    """(C, Ky, Kx)."""
    return _raised(match, packed(match))


def _pack_ne16(match: Match, workload: Workload) -> Arrays:
    return _raised(match, {**packed(match), "weight": packed_weights(match, workload)})


def _cores(interface: KernelInterface, name: str, pack: Pack) -> Kernel:
    return Kernel(interface, launch=f"match_gap9_wide_{name}", wait="match_gap9_team_wait", pack=pack)


def _ne16(interface: KernelInterface, name: str, pack: Pack) -> Kernel:
    return Kernel(interface, launch=f"match_gap9_ne16_wide_{name}", wait="match_gap9_team_wait", pack=pack)


WIDE_CLUSTER_KERNELS: Mapping[str, Kernel] = {
    "conv2d_wide": _cores(CONV2D, "conv2d", _pack_rows),
    "depthwise_wide": _cores(DEPTHWISE2D, "depthwise", _pack_depthwise),
    "linear_wide": _cores(LINEAR, "linear", _pack_rows),
}
WIDE_NE16_KERNELS: Mapping[str, Kernel] = {
    "conv3x3_wide": _ne16(CONV2D, "conv3x3", _pack_ne16),
    "conv1x1_wide": _ne16(CONV2D, "conv1x1", _pack_ne16),
    "depthwise3x3_wide": _ne16(DEPTHWISE2D, "depthwise", _pack_ne16),
    "ne16_linear_wide": _ne16(LINEAR, "linear", _pack_ne16),
}
JOINT_KERNELS: Mapping[str, Kernel] = {JOINT + name: kernel for name, kernel in WIDE_NE16_KERNELS.items()}
