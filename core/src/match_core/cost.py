"""Predicted cost: the frozen result, and what a unit's cost model must offer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from match_core.schedule.workload import Workload

Bound = Literal["exact", "upper", "lower", "fitted"]


@dataclass(frozen=True, slots=True)
class Cost:
    """Modelled cycles of one layer on one unit. Everything is cycles of the Soc's clock; the total is derived."""

    compute_cycles: int = 0
    transfer_cycles: int = 0
    launch_cycles: int = 0
    sync_cycles: int = 0
    overlapped_cycles: int = 0  # transfer cycles hidden behind compute (0 without double buffering)
    model: str = ""
    bound: Bound = "fitted"

    @property
    def total_cycles(self) -> int:
        """Cycles from start to end of the layer."""
        return (
            self.compute_cycles + self.transfer_cycles + self.launch_cycles + self.sync_cycles - self.overlapped_cycles
        )


@dataclass(frozen=True, slots=True)
class TransferShape:
    """Strided copies between the home memory and the unit's memory, vectorised: each field is an int64 array of the
    same shape (N candidate tilings). ``planes`` copies of ``rows`` rows of ``row_bytes`` contiguous bytes."""

    direction: Literal["in", "out"]
    row_bytes: NDArray[np.int64]
    rows: NDArray[np.int64]
    planes: NDArray[np.int64]


class CostModel(Protocol):
    """Vectorised cost of one pattern on one unit of one Soc. Pure functions: no state, no I/O.

    ``tile`` maps every dimension name of the workload to an int64 array (N,) of tile sizes; results are int64 (N,).
    """

    @property
    def name(self) -> str:
        """The model's name, in every report."""
        ...

    @property
    def version(self) -> str:
        """Changes when results change."""
        ...

    @property
    def bound(self) -> Bound:
        """How the estimate relates to the truth."""
        ...

    def kernel_cycles(self, workload: Workload, tile: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        """Cycles of one kernel call on a tile of these sizes (launch not included)."""
        ...

    def launch_cycles(self, workload: Workload, tile: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        """Cycles to start one kernel call and learn that it is done."""
        ...

    def transfer_cycles(self, workload: Workload, transfer: TransferShape) -> NDArray[np.int64]:
        """Cycles of one operand's transfer, issue and wait included."""
        ...

    def layer_cycles(self, workload: Workload) -> int:
        """Cycles once per layer: handing the layer to the unit and back."""
        ...
