"""The 8-bit kernels of the PULP cluster by pattern, and the packing of their constants."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from match_core import Kernel, KernelInterface, Match, Workload
from match_core.patterns.packing import Arrays, Pack, nothing, packed

from match_carfield.int8 import interfaces
from match_carfield.int8.workloads import WORD_BYTES


def _rows(match: Match, workload: Workload) -> Arrays:
    return packed(match, WORD_BYTES)


def _taps(match: Match, workload: Workload) -> Arrays:
    return packed(match)


def _kernel(interface: KernelInterface, pack: Pack) -> Kernel:
    return Kernel(interface, launch=f"match_carfield_pulp_{interface.kind}", wait="", pack=pack)


INT8_KERNELS: Mapping[str, Kernel] = MappingProxyType(
    {
        "int8_conv2d": _kernel(interfaces.INT8_CONV2D, _rows),
        "int8_depthwise2d": _kernel(interfaces.INT8_DEPTHWISE2D, _taps),
        "int8_linear": _kernel(interfaces.INT8_LINEAR, _rows),
        "int8_add": _kernel(interfaces.INT8_ADD, nothing),
        "int8_average": _kernel(interfaces.INT8_POOL2D, nothing),
        "int8_maximum": _kernel(interfaces.INT8_POOL2D, nothing),
        "int8_transpose": _kernel(interfaces.INT8_TRANSPOSE, nothing),
        "int8_offset": _kernel(interfaces.INT8_TRANSPOSE, nothing),
    }
)
