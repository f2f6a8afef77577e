"""Cycles, bytes and energies of all tilings together.

A tiling is a choice of one tile size per cut dimension. Results are arrays with one axis per cut dimension, in the
order of the cuts; index 0 along an axis is the whole dimension. Sums over the tiles of one part of each dimension
(``Part``) are computed on demand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from match_schedule.operand_copies import OperandCopies
from match_schedule.space import Cut, operand_cuts
from match_schedule.sums import Quantity, Sums
from match_schedule.tile_kinds import along, kinds_of, no_features

if TYPE_CHECKING:
    from match_core.contract.loops import ScheduleRequest
    from numpy.typing import NDArray

    from match_schedule.operand_options import Choice

    Array = NDArray[np.int64]


class Tables:
    """All data of a request for the search, for all tilings."""

    def __init__(self, request: ScheduleRequest, cuts: tuple[Cut, ...]) -> None:
        self.request = request
        self.cuts = cuts
        #: Number of axes of all arrays; 1 if nothing can be cut.
        self.dimensions = max(1, len(cuts))
        self.tiles = [along(np.array(cut.tiles, dtype=np.int64), n, len(cuts)) for n, cut in enumerate(cuts)]
        self.steps = [-(-cut.dim.size // tile) for cut, tile in zip(cuts, self.tiles, strict=True)]
        self.shape = tuple(len(cut.tiles) for cut in cuts) or (1,)
        workload = request.workload
        self.own = tuple(operand_cuts(operand, cuts) for operand in workload.operands)
        self._copies: dict[tuple[int, tuple[int, ...]], Sums] = {}
        self._stages: dict[int, Sums] = {}
        #: Sums over copies that ``OrderSums`` of several orders share.
        self.shared: dict[tuple[object, ...], Array] = {}
        #: Choices that ``OrderBounds`` of several orders share.
        self.choices: dict[tuple[object, ...], Choice] = {}
        self.sizes = tuple(self.copies(number).largest("bytes") for number in range(len(workload.operands)))
        self.scratch = self._scratch()
        self._calls: Sums | None = None

    def copies(self, number: int, source: tuple[int, ...] = ()) -> Sums:
        """Copies of an operand between the memory that kernels use and the home memory. ``source``: the cuts of the
        home memory's buffer if it is a staging buffer."""
        key = (number, tuple(sorted(source)))
        if key not in self._copies:
            request, operand = self.request, self.request.workload.operands[number]
            near = request.unit.memory_of(operand.name, operand.role) or ""
            far = request.soc.home if operand.name in request.streamed else operand.far or request.soc.home
            route = (far, near)
            self._copies[key] = OperandCopies(request, operand, self.cuts, route, source).sums()
        return self._copies[key]

    def stages(self, number: int) -> Sums:
        """Copies of a streamed operand from the Soc's store to the home memory."""
        if number not in self._stages:
            request, operand = self.request, self.request.workload.operands[number]
            route = (request.soc.store or request.soc.home, request.soc.home)
            self._stages[number] = OperandCopies(request, operand, self.cuts, route, ()).sums()
        return self._stages[number]

    @property
    def calls(self) -> Sums:
        """Kernel and launch cycles (and energy) of kernel calls; computed on first use."""
        if self._calls is None:
            self._calls = self._kernel_calls()
        return self._calls

    def _scratch(self) -> Array:
        workload = self.request.workload
        one: Array = np.ones((1,) * self.dimensions, dtype=np.int64)
        sizes = {dim.name: dim.size * one for dim in workload.dims}
        sizes.update({cut.dim.name: tile for cut, tile in zip(self.cuts, self.tiles, strict=True)})
        total = 0 * one
        for names, coefficient in workload.scratch:
            term = coefficient * one
            for name in names:
                term = term * sizes[name]
            total = total + term
        return total

    def _kernel_calls(self) -> Sums:
        workload, model, cuts = self.request.workload, self.request.cost_model, self.cuts
        kinds = [kinds_of(cut, no_features, windowed=False) for cut in cuts]
        shape = tuple(kind.size for kind in kinds)
        tile = {dim.name: np.full(int(np.prod(shape)), dim.size, dtype=np.int64) for dim in workload.dims}
        for position, (cut, kind) in enumerate(zip(cuts, kinds, strict=True)):
            varying = along(kind.features[0], position, len(cuts))
            tile[cut.dim.name] = np.broadcast_to(varying, shape).reshape(-1).copy()
        values: dict[Quantity, Array] = {
            "kernel": np.asarray(model.kernel_cycles(workload, tile), dtype=np.int64).reshape(shape),
            "launch": np.asarray(model.launch_cycles(workload, tile), dtype=np.int64).reshape(shape),
        }
        energy = None
        if model.energy is not None and self.request.objective != "latency":
            energy = model.energy.kernel_energy_pj(workload, tile).reshape(shape)
        return Sums(range(len(cuts)), kinds, values, energy, self.dimensions)
