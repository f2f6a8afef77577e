"""ITA's kernels by pattern, and the packing of their constants: blocks of 64x64 bytes, biases of 24 bits."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

import numpy as np
from match_core import Kernel, KernelInterface, Match, Workload
from match_core.patterns.packing import Arrays, Pack, nothing
from numpy.typing import NDArray

from match_ita.ita import attention_rules as rules
from match_ita.ita import interfaces
from match_ita.ita import structures as s
from match_ita.ita.limits import BIAS_END, BLOCK


def pack_weight(weight: NDArray[np.generic]) -> NDArray[np.int8]:
    """[K1][C1][64 k][64 c] of a matrix [C, K]."""
    c, k = weight.shape
    blocks = weight.reshape(c // BLOCK, BLOCK, k // BLOCK, BLOCK).transpose(2, 0, 3, 1)
    return np.ascontiguousarray(blocks, dtype=np.int8)


def pack_bias(bias: NDArray[np.int64], columns: int) -> NDArray[np.uint8]:
    """[columns][3]: 24 bits of each bias, the lowest byte first; one bias may apply to all columns."""
    spread = np.broadcast_to(bias, (columns,)).astype("<i4")
    return np.ascontiguousarray(spread.view(np.uint8).reshape(columns, 4)[:, :3])


def _pack_linear(match: Match, workload: Workload) -> Arrays:
    weight, requant = match.const("weight"), s.requant_of(match)
    assert not isinstance(requant, str)  # a rule says so
    return {"weight": pack_weight(weight), "bias": pack_bias(requant.bias, weight.shape[1])}


def _pack_attention(match: Match, workload: Workload, softmax: tuple[int, int]) -> Arrays:
    """The lowest bias for columns of the last block that are beyond the keys. ValueError where the graph has another
    softmax than the chip: the passes of a preset make only its own."""
    if rules.softmax_of(match) != softmax:
        raise ValueError(f"shift and numerator of a softmax are {rules.softmax_of(match)}, those of ITA are {softmax}")
    keys = match.shape("k")[-2] % BLOCK or BLOCK
    return {"mask": pack_bias(np.where(np.arange(BLOCK) < keys, 0, -BIAS_END), BLOCK)}


def _kernel(interface: KernelInterface, pack: Pack) -> Kernel:
    """The kernel has ended when the function returns: programming jobs keeps the DM core busy."""
    return Kernel(interface, launch=f"match_{interface.kind}", wait="", pack=pack)


def ita_kernels(softmax: tuple[int, int]) -> Mapping[str, Kernel]:
    """The kernels of a chip with this shift and numerator of the softmax."""
    return MappingProxyType(
        {
            "ita_linear": _kernel(interfaces.ITA_LINEAR, _pack_linear),
            "ita_linear_part": _kernel(interfaces.ITA_LINEAR, _pack_linear),
            "ita_linear_turned": _kernel(interfaces.ITA_LINEAR_TURNED, _pack_linear),
            "ita_attention": _kernel(interfaces.ITA_ATTENTION, partial(_pack_attention, softmax=softmax)),
            "ita_matmul": _kernel(interfaces.ITA_MATMUL, nothing),
        }
    )
