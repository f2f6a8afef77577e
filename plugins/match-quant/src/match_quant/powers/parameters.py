"""Decides scale and zero point of every tensor."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from match_core.ir.reader import Quant

from match_quant.expectation import Expectation, graph_input, unknown
from match_quant.powers.graph import Activation, QuantisedGraph, bounds
from match_quant.powers.kernels import ShiftUnit
from match_quant.powers.layers import Layer
from match_quant.powers.scales import CENTRAL, RECTIFIED, WHOLE, Filling, best_scale
from match_quant.powers.sums import sum_groups
from match_quant.powers.weights import Reals, rounded_weights

INT8 = np.dtype(np.int8)
LOW, HIGH = -128, 127
#: Bounds of the unit's results: it clips to int8, and with ReLU to non-negative values.
CLIPS = ((LOW, HIGH), (0, HIGH))
#: Scales are float32: factors this close to a power of two, relative, are one.
_TOLERANCE = 2.0**-20


class Parameters:
    """New parameters of activations, decided in the order of the graph, so that the input of a layer is known where its
    result is decided. Activations that keep theirs have no entry in ``changes``."""

    def __init__(self, graph: QuantisedGraph, layers: Sequence[Layer], unit: ShiftUnit) -> None:
        self._layers, self._unit = layers, unit
        groups = sum_groups(graph)
        self._group = {id(member): group for group in groups for member in group}
        self._central = {id(layer.source) for layer in layers if _needs_zero(layer, unit)} | set(self._group)
        self._decided: set[int] = set()
        self.changes: dict[int, Quant] = {}
        for activation in graph.activations():
            if id(activation) not in self._decided:
                self._decide(self._group.get(id(activation), (activation,)))

    def of(self, activation: Activation) -> Quant:
        """The parameters that an activation will have."""
        return self.changes.get(id(activation), activation.quant)

    def _decide(self, members: Sequence[Activation]) -> None:
        writers = [layer for layer in self._layers if any(layer.result is member for member in members)]
        ready = [layer for layer in writers if id(layer.source) in self._decided]
        central = id(members[0]) in self._central
        self._decided.update(id(member) for member in members)
        read = any(layer.source is members[0] for layer in self._layers)
        if members[0].fixed or not (writers or read or central):
            return
        if self._is_ready(members, writers, central):
            return
        fillings = [_filling(layer, self.of(layer.source), self._unit) for layer in ready]
        scale = best_scale(members, CENTRAL, fillings) if central else 0.0
        for member in members:
            self.changes[id(member)] = _central(scale) if central else _spread(member, fillings)

    def _is_ready(self, members: Sequence[Activation], writers: Sequence[Layer], central: bool) -> bool:
        """Whether the tensors are as the unit has them, and what writes them too, or it is not the unit."""
        first = members[0].quant
        fits = all(
            member.quant.dtype == INT8
            and (member.quant.lo, member.quant.hi) in CLIPS
            and (not central or member.quant.zero == 0)
            and (len(members) == 1 or member.quant.same_values(first))
            for member in members
        )
        return fits and all(
            is_power_of_two(factors(layer, self.of(layer.source), self.of(layer.result))) for layer in writers
        )


def factors(layer: Layer, source: Quant, result: Quant) -> Reals:
    """Steps of the result for a step of the input and of the weights, for each output."""
    return np.asarray(layer.scale * (source.scale / result.scale), np.float64)


def is_power_of_two(factor: Reals) -> bool:
    """Whether all are 2^-n with the same n of at least 0."""
    exponent = np.rint(np.log2(factor[0]))
    return bool(exponent <= 0 and np.all(np.abs(factor * 2.0**-exponent - 1) <= _TOLERANCE))


def expected(activation: Activation, quant: Quant) -> Expectation:
    """The expectation of an activation with these parameters."""
    return (graph_input if activation.from_outside else unknown)(quant)


def _needs_zero(layer: Layer, unit: ShiftUnit) -> bool:
    """Padding reads as 0, the host writes it only where the network's own inputs are padded; arrays of ternary
    cells have no zero points either."""
    return (layer.padded and not layer.source.from_outside) or (unit.ternary and layer.ternary)


def _central(scale: float) -> Quant:
    return Quant(float(np.float32(scale)), 0, INT8, LOW, HIGH)


def _spread(activation: Activation, fillings: Sequence[Filling]) -> Quant:
    """Parameters that use all of int8 for the occurring values. Ranges that begin at their zero point continue to do
    so."""
    quant = activation.quant
    limits = np.iinfo(quant.dtype)
    if activation.from_outside or (not fillings and (quant.lo, quant.hi) == (int(limits.min), int(limits.max))):
        return quant.shifted(INT8)
    low, high = bounds(quant)
    rectified = low == 0.0
    scale = float(np.float32(best_scale((activation,), RECTIFIED if rectified else WHOLE, fillings)))
    spare = 0.0 if rectified else 0.5 * (HIGH - LOW - (high - low) / scale)
    zero = int(np.clip(np.rint(LOW + spare - low / scale), LOW, HIGH))
    return Quant(scale, zero, INT8, LOW, HIGH)


def _filling(layer: Layer, source: Quant, unit: ShiftUnit) -> Filling:
    real = layer.weight * (layer.scale * source.scale)[:, None, None]
    largest = float(np.abs(real).max(initial=0.0))
    inputs, most = expected(layer.source, source), unit.requant.shift_max
    found = rounded_weights(real / largest, inputs, source.zero, most) if largest else None
    return Filling(largest, found.expected_rms**2 * 4.0**found.shift if found is not None else 0.0)
