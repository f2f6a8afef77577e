"""Lower bounds of a point without a schedule: each node on the unit that computes it fastest, in one tile, no copies.

Cycles: the kernel cycles of a candidate's whole workload as one tile, shared by the nodes that it covers; the sum over
nodes of the least share. Units that may run concurrently divide the sum. Kernel costs round up, so several tiles never
take less than one. Memory: the inputs and outputs of the graph stand in the home memory. Both are bounds of what the
models predict, not of a chip.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core.deploy.compile_options import adapted_soc, enabled_units

if TYPE_CHECKING:
    from match_core.contract.candidate import Candidate
    from match_core.contract.hardware import Soc, Unit
    from match_core.pipeline import Prepared
    from match_core.plugin.facade import Plugins


@dataclass(frozen=True, slots=True)
class Bounds:
    """Least cycles, and least bytes in the home memory."""

    cycles: int
    peak_bytes: int


def bounds(prepared: Prepared, soc: Soc, only_units: tuple[str, ...], plugins: Plugins, *, concurrent: bool) -> Bounds:
    """Of a model that was prepared for all units of a target, on that target with other figures."""
    units = {unit.name: unit for unit in enabled_units(soc, plugins.units_of(soc), only_units, ())}
    least: dict[str, float] = {}
    for candidate in prepared.candidates.legal:
        unit = units.get(candidate.unit)
        if unit is None or candidate.pattern.view:
            continue
        share = _kernel_cycles(candidate, soc, unit, plugins) / len(candidate.node_names)
        for node in candidate.node_names:
            least[node] = min(share, least.get(node, share))
    for candidate in prepared.candidates.legal:  # views compute nothing
        if candidate.pattern.view and candidate.unit in units:
            least.update(dict.fromkeys(candidate.node_names, 0.0))
    ways = len(units) if concurrent and soc.signalling is not None else 1
    return Bounds(int(sum(least.values()) / ways), _home_bytes(prepared))


def adapted(soc: Soc, options: Mapping[str, object]) -> Soc:
    """The Soc with the preset and the memory sizes of a point."""
    memory = options.get("memory")
    preset = options.get("preset")
    sizes = tuple(memory.items()) if isinstance(memory, Mapping) else ()
    return adapted_soc(soc, preset if isinstance(preset, str) else None, sizes)


def _kernel_cycles(candidate: Candidate, soc: Soc, unit: Unit, plugins: Plugins) -> int:
    model = plugins.cost(soc, unit, candidate.pattern)
    tile = {dim.name: np.array([dim.size], dtype=np.int64) for dim in candidate.workload.dims}
    return int(model.kernel_cycles(candidate.workload, tile)[0])


def _home_bytes(prepared: Prepared) -> int:
    """Of the graph's inputs and outputs."""
    graph = prepared.model.graph
    return sum(_size(tensor) for tensor in (*graph.inputs, *graph.outputs))


def _size(tensor: object) -> int:
    shape, kind = getattr(tensor, "shape", None) or (), getattr(tensor, "dtype", None)
    numbers = [size for size in shape if isinstance(size, int)]
    return int(np.prod(numbers, dtype=np.int64)) * np.dtype(kind if kind is not None else np.int8).itemsize
