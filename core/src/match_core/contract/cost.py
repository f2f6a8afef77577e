"""Predicted cost: the frozen result, and what a unit's cost model must offer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from match_core.contract.workload import Workload

#: How modelled cycles relate to the true ones; "fitted": they may be higher or lower.
Bound = Literal["exact", "upper", "lower", "fitted"]
#: What can overlap with a running kernel. "none": nothing, copies block the core that starts kernels; "data": data
#: move, but this core is busy until the kernel ends, so copies are issued before the launch; "all": the core is free
#: and issues copies.
Overlap = Literal["none", "data", "all"]


@dataclass(frozen=True, slots=True)
class Cost:
    """Modelled cycles of one layer on one unit, all in cycles of the Soc's clock; the total is derived. ``energy_pj``
    is None if the unit publishes no energy figures; ``estimate``: what in it is an estimate, and why (``Estimating``).
    """

    compute_cycles: int = 0
    transfer_cycles: int = 0
    launch_cycles: int = 0
    sync_cycles: int = 0
    overlapped_cycles: int = 0  # cycles hidden behind others: copies behind kernels, copies behind copies
    energy_pj: float | None = None
    model: str = ""
    bound: Bound = "fitted"
    estimate: str = field(default="", compare=False)

    @property
    def total_cycles(self) -> int:
        """Cycles from start to end of the layer."""
        around = self.launch_cycles + self.sync_cycles - self.overlapped_cycles
        return self.compute_cycles + self.transfer_cycles + around


@dataclass(frozen=True, slots=True)
class TransferShape:
    """Strided copies over one link, vectorised: each field is an int64 array of the same shape (N candidate tilings).
    ``planes`` copies of ``rows`` rows of ``row_bytes`` contiguous bytes. ``far`` and ``near`` name the memories;
    ``direction`` "in" is towards ``near``."""

    direction: Literal["in", "out"]
    row_bytes: NDArray[np.int64]
    rows: NDArray[np.int64]
    planes: NDArray[np.int64]
    far: str = ""
    near: str = ""


@dataclass(frozen=True, slots=True)
class TransferCycles:
    """Cycles of copies, int64 arrays of one shape. ``issue``: cycles that the core that starts kernels spends
    programming them; ``data``: cycles that the link is busy; ``wait``: cycles until this core resumes after it has
    slept until the end of the data."""

    issue: NDArray[np.int64]
    data: NDArray[np.int64]
    wait: NDArray[np.int64]


class EnergyModel(Protocol):
    """Vectorised energy, for units that publish figures. All results are float64 (N,), in pJ."""

    def kernel_energy_pj(self, workload: Workload, tile: Mapping[str, NDArray[np.int64]]) -> NDArray[np.float64]:
        """Energy of one kernel call on a tile of these sizes."""
        ...

    def transfer_energy_pj(self, workload: Workload, transfer: TransferShape) -> NDArray[np.float64]:
        """Energy of the copies."""
        ...


class CostModel(Protocol):
    """Vectorised cost of one pattern on one unit of one Soc. Pure functions: no state, no I/O. Models with figures that
    no public source states are ``Estimating`` too.

    ``tile`` maps every dimension name of the workload to an int64 array (N,) of tile sizes; results are int64 (N,).
    """

    @property
    def name(self) -> str:
        """The model's name in reports. Together with ``version`` it identifies the model in the schedule cache."""
        ...

    @property
    def version(self) -> str:
        """Changes when results change."""
        ...

    @property
    def bound(self) -> Bound:
        """How the estimate relates to the true cycles."""
        ...

    @property
    def overlap(self) -> Overlap:
        """What can overlap with a running kernel."""
        ...

    @property
    def energy(self) -> EnergyModel | None:
        """Energy figures, None if none are published."""
        ...

    def kernel_cycles(self, workload: Workload, tile: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        """Cycles of one kernel call on a tile of these sizes (launch not included)."""
        ...

    def launch_cycles(self, workload: Workload, tile: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        """Cycles to start one kernel call and to notice that it is done; copies cannot be issued during them."""
        ...

    def transfer_cycles(self, workload: Workload, transfer: TransferShape) -> TransferCycles:
        """Cycles of one operand's transfer."""
        ...

    def layer_cycles(self, workload: Workload) -> int:
        """Cycles once per layer: handing the layer to the unit and back."""
        ...


class Estimating(Protocol):
    """What a ``CostModel`` with estimated figures has besides; models without it state that all have a source."""

    def estimate(self, workload: Workload) -> str:
        """The figures of this layer's kernels that are estimates, and why; empty if none is. Reports state it."""
        ...
