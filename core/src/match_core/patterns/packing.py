"""Packs constants of layers with weights for the kernels of several chips."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from match_core.contract.structure import Match
from match_core.contract.workload import Workload
from match_core.patterns.captures import per_channel

Arrays = Mapping[str, NDArray[np.generic]]
Pack = Callable[[Match, Workload], Arrays]


def nothing(match: Match, workload: Workload) -> Arrays:
    """No constants, for kernels without any."""
    return {}


def rows(match: Match, align: int = 1) -> NDArray[np.generic]:
    """Weights [K][FY][FX][C] of a convolution, [K][C] of a dense layer, as rows [K, bytes] with rows zero-padded to a
    multiple of ``align``."""
    weight = match.const("weight")
    ordered = weight.T if match.has("dense") else weight.transpose(0, 2, 3, 1)
    flat = np.ascontiguousarray(ordered).reshape(len(ordered), -1)
    return np.pad(flat, ((0, 0), (0, -flat.shape[1] % align)))


def packed(match: Match, align: int = 1, addend: str = "int64") -> Arrays:
    """These rows, and the numbers of the requantisation for each output channel."""
    weight = rows(match, align)
    numbers = (("multiplier", "int32"), ("addend", addend))
    return {"weight": weight, **{name: per_channel(match, name, len(weight), kind) for name, kind in numbers}}
