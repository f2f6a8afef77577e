"""Programs in which CMSIS-NN runs every layer that it computes as the integer graph does, whatever it costs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from match_cmsisnn import cost
from match_cmsisnn.library import FOLDERS

if TYPE_CHECKING:
    from match_core.contract.workload import Workload
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class _Free(cost.LibraryCost):
    name: str = "cmsis_nn_free"

    def kernel_cycles(self, workload: Workload, tile: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        """Next to nothing, so that the library is always chosen; averages are no depthwise convolutions."""
        return np.full(np.shape(tile[workload.dims[0].name]), int(workload.kind != "cmsis_nn_average"), dtype=np.int64)


@contextmanager
def forced() -> Iterator[None]:
    """The library costs nothing. Schedules of such programs must not be cached."""
    kept = cost.COST
    cost.COST = _Free()
    try:
        yield
    finally:
        cost.COST = kept


def library() -> Path | None:
    """The user's copy of the library, None if there is none."""
    folder = os.environ.get(FOLDERS[0])
    return Path(folder) if folder else None
