"""Which figures of a cost model are estimates for one layer, found by what its formulas read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.cost import TransferShape
from match_core.patterns.formulas import Timing

if TYPE_CHECKING:
    from match_core.contract.cost import CostModel
    from match_core.contract.hardware import Constant
    from match_core.contract.workload import Workload


class _Read(dict[str, int]):
    """Figures, and the names of those that were read."""

    def __init__(self, figures: Timing) -> None:
        super().__init__(figures)
        self.names: set[str] = set()

    def __getitem__(self, name: str) -> int:
        self.names.add(name)
        return super().__getitem__(name)


def estimates_read(
    figures: Timing, table: Iterable[Constant], workload: Workload, model: Callable[[Timing], CostModel]
) -> str:
    """The estimates of a table, by name, that a model with these figures reads for a layer: its kernels, its hand-over,
    copies between the home memory and the unit's (for ``Estimating.estimate``). Figures with another value than the
    table's are no estimates, because a figures file states them."""
    read, one = _Read(figures), np.ones(1, dtype=np.int64)
    reader, tile = model(read), {dim.name: dim.size * one for dim in workload.dims}
    reader.kernel_cycles(workload, tile)
    reader.launch_cycles(workload, tile)
    reader.layer_cycles(workload)
    for direction in ("in", "out"):
        reader.transfer_cycles(workload, TransferShape(direction, one, one, one))
    found = (constant for constant in table if constant.estimate and constant.name in read.names)
    return ", ".join(constant.name for constant in found if constant.value == figures[constant.name])
