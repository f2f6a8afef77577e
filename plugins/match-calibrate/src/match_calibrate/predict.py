"""Modelled cycles of measured layers as a function of the target's constants: the core's evaluator prices the schedule
that was measured again for every set of constants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.loops import ScheduleRequest
from match_core.schedule.candidates import plain
from match_core.schedule.evaluate import price

if TYPE_CHECKING:
    from match_core.contract.hardware import Constant, Soc, Unit
    from match_core.contract.mapping import Assignment
    from match_core.plugin.facade import Plugins
    from numpy.typing import NDArray

#: (unit, constant)
Name = tuple[str, str]
Values = Mapping[Name, int]
#: A value that is large for any constant: this many times its own, and this many more.
_FAR_FACTOR, _FAR_CYCLES = 8, 1000


def fittable(soc: Soc, units: Sequence[Unit]) -> dict[Name, Constant]:
    """The constants that the packages of the units let counters replace, with the values of the Soc's preset and
    figures."""
    given = {(unit, name): value for unit, name, value in soc.figures}
    found = {(unit.name, c.name): c for unit in units for c in unit.constants_of(soc.preset) if c.may_fit}
    return {name: replace(c, value=given.get(name, c.value)) for name, c in found.items()}


@dataclass(frozen=True)
class Layer:
    """A layer of a measured program. ``request``: what its schedule was searched for; ``key``: equal for layers that no
    constant can tell apart."""

    assignment: Assignment
    request: ScheduleRequest
    key: str

    @classmethod
    def of(cls, assignment: Assignment, soc: Soc, units: Sequence[Unit], plugins: Plugins) -> Layer:
        """The layer of a program for a Soc."""
        candidate, schedule = assignment.candidate, assignment.schedule
        unit = next(unit for unit in units if unit.name == candidate.unit)
        workload, model = plain(candidate.workload), plugins.cost(soc, unit, candidate.pattern)
        streamed = schedule.streamed(soc.home)
        request = ScheduleRequest(soc, unit, candidate.pattern.name, workload, model, 0, streamed=streamed)
        shape = (schedule.loops, schedule.tile, schedule.placements, streamed)
        return cls(assignment, request, repr((unit.name, candidate.pattern.name, workload, shape)))


@dataclass(frozen=True)
class Predictor:
    """Prices layers with other constants. A layer is priced once for the values of the constants that it depends on."""

    layers: tuple[Layer, ...]
    constants: Mapping[Name, Constant]
    plugins: Plugins
    _prices: dict[tuple[str, tuple[int, ...]], int] = field(default_factory=dict)

    @cached_property
    def start(self) -> dict[Name, int]:
        """The values of the constants before a fit."""
        return {name: int(constant.value) for name, constant in self.constants.items()}

    @cached_property
    def used(self) -> tuple[Name, ...]:
        """The constants that any layer depends on."""
        found = frozenset[Name]().union(*self._depends.values())
        return tuple(name for name in self.constants if name in found)

    def cycles(self, values: Values) -> NDArray[np.float64]:
        """Modelled cycles of each layer with these values of all constants, float64 (layers,)."""
        return np.array([self._known(layer, values) for layer in self.layers], dtype=np.float64)

    @cached_property
    def groups(self) -> NDArray[np.int64]:
        """A number for each layer, equal for layers that no constant tells apart."""
        numbers = {key: number for number, key in enumerate(self._distinct)}
        return np.array([numbers[layer.key] for layer in self.layers], dtype=np.int64)

    @cached_property
    def _distinct(self) -> dict[str, Layer]:
        return {layer.key: layer for layer in self.layers}

    @cached_property
    def _depends(self) -> dict[str, frozenset[Name]]:
        """The constants that change the price of a layer when they become much larger. Much: time that now hides behind
        other work must show."""
        found: dict[str, set[Name]] = {key: set() for key in self._distinct}
        before = {key: self._price(layer, self.start) for key, layer in self._distinct.items()}
        for name, value in self.start.items():
            far = {**self.start, name: value * _FAR_FACTOR + _FAR_CYCLES}
            for key, layer in self._distinct.items():
                if self._price(layer, far) != before[key]:
                    found[key].add(name)
        return {key: frozenset(names) for key, names in found.items()}

    def _known(self, layer: Layer, values: Values) -> int:
        depends = self._depends[layer.key]
        key = (layer.key, tuple(values[name] for name in self.constants if name in depends))
        if key not in self._prices:
            self._prices[key] = self._price(layer, values)
        return self._prices[key]

    def _price(self, layer: Layer, values: Values) -> int:
        figures = tuple((unit, name, value) for (unit, name), value in values.items())
        request = layer.request
        soc = replace(request.soc, figures=figures)
        model = self.plugins.cost(soc, request.unit, layer.assignment.candidate.pattern)
        return price(replace(request, soc=soc, cost_model=model), layer.assignment.schedule).total_cycles
