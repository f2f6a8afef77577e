"""The product kernels by pattern, and the packing of their constants."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from match_core import Kernel, KernelInterface, Match, Workload
from match_core.patterns.packing import Arrays, Pack, nothing

from match_ita.snitch_products import interfaces, requant
from match_ita.snitch_products.requant import Scale


def _weighted(match: Match, workload: Workload) -> Arrays:
    """Weights with those of an output channel contiguous."""
    found, weight = requant.weighted(match), match.const("weight")
    assert isinstance(found, Scale)  # a rule says so
    rows = weight.T if match.has("dense") else weight.reshape(weight.shape[0], -1)
    return {"weight": np.ascontiguousarray(rows), "multiplier": found.multiplier, "addend": found.addend}


def _product(match: Match, workload: Workload) -> Arrays:
    found = requant.of_product(match)
    assert isinstance(found, Scale)  # a rule says so
    return {"multiplier": found.multiplier, "addend": found.addend}


def _table(match: Match, workload: Workload) -> Arrays:
    return {"table": match.const("table").reshape(-1)[:256].astype(np.int32)}


def _kernel(interface: KernelInterface, pack: Pack) -> Kernel:
    return Kernel(interface, launch=f"match_{interface.kind}", wait="match_ita_team_wait", pack=pack)


KERNELS: Mapping[str, Kernel] = MappingProxyType(
    {
        "linear": _kernel(interfaces.LINEAR, _weighted),
        "linear_turned": _kernel(interfaces.LINEAR_TURNED, _weighted),
        "matmul": _kernel(interfaces.MATMUL, _product),
        "attention": _kernel(interfaces.ATTENTION, nothing),
        "softmax": _kernel(interfaces.SOFTMAX, _table),
        "softmax_floor": _kernel(interfaces.SOFTMAX, _table),
        "shift_softmax": _kernel(interfaces.SHIFT_SOFTMAX, nothing),
        "conv2d": _kernel(interfaces.CONV2D, _weighted),
        "maxpool2d": _kernel(interfaces.MAXPOOL2D, nothing),
    }
)
