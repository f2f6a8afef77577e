"""The product kernels by pattern, and how their constants are packed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from match_core import Kernel, KernelInterface, Match, Workload
from numpy.typing import NDArray

from match_ita import snitch_products_interfaces as interfaces
from match_ita import snitch_products_requant as requant
from match_ita.snitch_products_requant import Scale

Arrays = Mapping[str, NDArray[np.generic]]
Pack = Callable[[Match, Workload], Arrays]


def _weighted(match: Match, workload: Workload) -> Arrays:
    """Weights of an output channel one behind the other."""
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


def _nothing(match: Match, workload: Workload) -> Arrays:
    return {}


def _kernel(interface: KernelInterface, pack: Pack) -> Kernel:
    return Kernel(interface, launch=f"match_{interface.kind}", wait="match_ita_team_wait", pack=pack)


KERNELS: Mapping[str, Kernel] = MappingProxyType(
    {
        "linear": _kernel(interfaces.LINEAR, _weighted),
        "linear_turned": _kernel(interfaces.LINEAR_TURNED, _weighted),
        "matmul": _kernel(interfaces.MATMUL, _product),
        "attention": _kernel(interfaces.ATTENTION, _nothing),
        "softmax": _kernel(interfaces.SOFTMAX, _table),
        "softmax_floor": _kernel(interfaces.SOFTMAX, _table),
        "shift_softmax": _kernel(interfaces.SHIFT_SOFTMAX, _nothing),
        "conv2d": _kernel(interfaces.CONV2D, _weighted),
        "maxpool2d": _kernel(interfaces.MAXPOOL2D, _nothing),
    }
)
