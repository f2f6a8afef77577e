"""Answers of packages for a board whose memories have other names than in the package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from match_core.contract.cost import CostModel, EnergyModel, TransferCycles, TransferShape
    from match_core.contract.unit_api import UnitApi
    from match_core.contract.workload import Workload


_Names = tuple[tuple[str, str], ...]


def _of_package(transfer: TransferShape, names: _Names) -> TransferShape:
    known = dict(names)
    return replace(transfer, far=known.get(transfer.far, transfer.far), near=known.get(transfer.near, transfer.near))


@dataclass(frozen=True)
class _Renamed:
    """A model of the package, and (board's, package's) names of memories; what is not defined here is the model's."""

    model: Any
    names: _Names

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.model, name)


class RenamedEnergy(_Renamed):
    """An energy model that receives the package's names of memories."""

    def transfer_energy_pj(self, workload: Workload, transfer: TransferShape) -> NDArray[np.float64]:
        """The package's, of the copy between the memories as it calls them."""
        return cast("NDArray[np.float64]", self.model.transfer_energy_pj(workload, _of_package(transfer, self.names)))


class RenamedCost(_Renamed):
    """A cost model that receives the package's names of memories."""

    @property
    def energy(self) -> EnergyModel | None:
        """The package's."""
        energy = self.model.energy
        return None if energy is None else cast("EnergyModel", RenamedEnergy(energy, self.names))

    def transfer_cycles(self, workload: Workload, transfer: TransferShape) -> TransferCycles:
        """The package's, of the copy between the memories as it calls them."""
        return cast("TransferCycles", self.model.transfer_cycles(workload, _of_package(transfer, self.names)))


def renamed_cost(model: CostModel, names: Mapping[str, str]) -> CostModel:
    """The model for a board whose memories have these names (board's -> package's)."""
    return cast("CostModel", RenamedCost(model, tuple(sorted(names.items())))) if names else model


def renamed_api(api: UnitApi, names: Mapping[str, str]) -> UnitApi:
    """The interface whose twin has the arenas of the board's memories."""
    if not names:
        return api
    here = {there: name for name, there in names.items()}
    arenas = {here.get(memory, memory): text for memory, text in api.twin.arenas.items()}
    return replace(api, twin=replace(api.twin, arenas=arenas))
