"""Answers of packages for a board whose memories have other names than in the package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from match_core.contract.cost import Bound, CostModel, EnergyModel, Overlap, TransferCycles, TransferShape
    from match_core.contract.unit_api import UnitApi
    from match_core.contract.workload import Workload


_Names = tuple[tuple[str, str], ...]


def _of_package(transfer: TransferShape, names: _Names) -> TransferShape:
    known = dict(names)
    return replace(transfer, far=known.get(transfer.far, transfer.far), near=known.get(transfer.near, transfer.near))


@dataclass(frozen=True, slots=True)
class RenamedEnergy:
    """An energy model that receives the package's names of memories."""

    model: EnergyModel
    names: _Names

    def kernel_energy_pj(self, workload: Workload, tile: Mapping[str, NDArray[np.int64]]) -> NDArray[np.float64]:
        """The package's."""
        return self.model.kernel_energy_pj(workload, tile)

    def transfer_energy_pj(self, workload: Workload, transfer: TransferShape) -> NDArray[np.float64]:
        """The package's, of the copy between the memories as it calls them."""
        return self.model.transfer_energy_pj(workload, _of_package(transfer, self.names))


@dataclass(frozen=True, slots=True)
class RenamedCost:
    """A cost model that receives the package's names of memories: ``names`` are (board's, package's) pairs."""

    model: CostModel
    names: _Names

    @property
    def name(self) -> str:
        """The package's."""
        return self.model.name

    @property
    def version(self) -> str:
        """The package's."""
        return self.model.version

    @property
    def bound(self) -> Bound:
        """The package's."""
        return self.model.bound

    @property
    def overlap(self) -> Overlap:
        """The package's."""
        return self.model.overlap

    @property
    def energy(self) -> EnergyModel | None:
        """The package's."""
        return None if self.model.energy is None else RenamedEnergy(self.model.energy, self.names)

    def kernel_cycles(self, workload: Workload, tile: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        """The package's."""
        return self.model.kernel_cycles(workload, tile)

    def launch_cycles(self, workload: Workload, tile: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        """The package's."""
        return self.model.launch_cycles(workload, tile)

    def transfer_cycles(self, workload: Workload, transfer: TransferShape) -> TransferCycles:
        """The package's, of the copy between the memories as it calls them."""
        return self.model.transfer_cycles(workload, _of_package(transfer, self.names))

    def layer_cycles(self, workload: Workload) -> int:
        """The package's."""
        return self.model.layer_cycles(workload)


def renamed_cost(model: CostModel, names: Mapping[str, str]) -> CostModel:
    """The model for a board whose memories have these names (board's -> package's)."""
    return RenamedCost(model, tuple(sorted(names.items()))) if names else model


def renamed_api(api: UnitApi, names: Mapping[str, str]) -> UnitApi:
    """The interface whose twin has the arenas of the board's memories."""
    if not names:
        return api
    here = {there: name for name, there in names.items()}
    arenas = {here.get(memory, memory): text for memory, text in api.twin.arenas.items()}
    return replace(api, twin=replace(api.twin, arenas=arenas))
