"""Kernels of the analog array by pattern, and the packing of their constants."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from match_core import Kernel, KernelInterface, Match, Workload
from numpy.typing import NDArray

from match_diana.analog import structures as s
from match_diana.analog.cells import pack_cells, pack_norm

#: A convolution on tiles in the stored form "channels": input [words][input_y][ix][64], output [k / 64][oy][ox][64];
#: ``weights`` G groups of ``weight_bytes``, ``channels`` input channels each, the layer's last group ``last_channels``;
#: ``norm`` multipliers and addends. Between two calls on an output tile it holds the sums of the groups so far.
ANALOG_CONV = KernelInterface(
    "analog_conv",
    (("input", "input"), ("weights", "constant"), ("norm", "constant"), ("output", "output")),
    ("OY", "FY", "G", "B"),
    (("input", "words"), ("input", "y")),
    (
        *("channels", "last_channels", "k", "fx", "stride", "ix", "ox", "unroll", "pad_left", "pad_right"),
        *("weight_bytes", "gain_shift", "shift", "relu"),
    ),
    accumulates=True,
)
ANALOG_INTERFACES: tuple[KernelInterface, ...] = (ANALOG_CONV,)


def _pack(match: Match, workload: Workload) -> Mapping[str, NDArray[np.generic]]:
    """Cells of every group, the last one filled up to the size of the others, and the parameters of the stage behind
    the converters."""
    size = workload.parameters["weight_bytes"]
    cells = [pack_cells(match.const(f"cells{index}")) for index in range(s.group_count(match))]
    filled = [np.pad(part, (0, size - part.size)) for part in cells]
    return {"weights": np.stack(filled), "norm": pack_norm(s.norm_of(match))}


ANALOG_KERNELS: Mapping[str, Kernel] = MappingProxyType(
    {"analog_conv": Kernel(ANALOG_CONV, launch="match_diana_analog_conv", wait="", pack=_pack)}
)
