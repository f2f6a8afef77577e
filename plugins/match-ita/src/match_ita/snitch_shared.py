"""One unit multiplies and divides for all compute cores, so a kernel lasts as long as its busiest core, or as long as
that unit needs for all of them.

Formulas state the work between two barriers as a function of the figures. Evaluated with the cycles of each loop and
eight cores it is the work of the busiest core; evaluated with the uses of each loop and one core it is all use of the
shared unit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from match_core.patterns.formulas import Cycles, Timing, up

_CYCLES, _USES = "_cycles", "_uses"

#: The work of each part of a kernel; barriers separate the parts.
Parts = Callable[[Timing], Sequence[Cycles]]


def kernel_cycles(timing: Timing, call: str, parts: Parts) -> Cycles:
    """Cycles of a kernel on all cores. ``call``: the name of the figures of its call, which every core makes."""
    busiest, uses = parts(timing), parts(uses_of(timing))
    total: Cycles = np.asarray((len(busiest) - 1) * timing["barrier_cycles"], np.int64)
    for number, (work, use) in enumerate(zip(busiest, uses, strict=True)):
        once = (timing[call + _CYCLES], timing["cores"] * timing[call + _USES]) if number == 0 else (0, 0)
        total = total + np.maximum(work + once[0], unit_cycles(timing, use + once[1]))
    return total


def unit_cycles(timing: Timing, uses: Cycles) -> Cycles:
    """Cycles in which the shared unit serves so many uses."""
    return up(1000 * uses, timing["shared_uses_per_1000_cycles"])


def uses_of(timing: Timing) -> Timing:
    """Figures of the shared unit: uses under the names of cycles, for one core that does everything."""
    return {**{cycles: timing[uses] for cycles, uses in _renamed(tuple(timing))}, "cores": 1}


@lru_cache(maxsize=1)
def _renamed(names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """The name of cycles and the name of uses; every call of every kernel asks."""
    return tuple((name.removesuffix(_USES) + _CYCLES, name) for name in names if name.endswith(_USES))
