"""The cheapest way to run a network in a home memory of some size, by a model of cycles and bytes.

Dynamic programming over the layers in their order. A step takes a run of layers and executes it in stripes; the state
is which live tensors have their home in the store. Three means are special cases: a run of several layers whose inner
tensors never exist whole; one layer whose tensors are in the store, so that stripes are copied there and back while it
computes; and one layer in one stripe, before and after which a tensor is swapped. The model is coarse (copies hide
behind kernels, or they do not), so the compiler makes the programs of several choices and takes the fastest one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from match_beyond.stripes import Extents, crossing_of, extents_of

if TYPE_CHECKING:
    from match_core.contract.hardware import Link

    from match_beyond.network import Network

#: Numbers of stripes that are tried.
COUNTS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48)
#: The most layers of a run, and the parts of the memory above which a tensor is large, or may leave it.
LAYERS_MAX = 10
LARGE_PART, AWAY_PART = 8, 48
#: Estimates: cycles of a layer's call, bytes per cycle between home memory and unit for constants that each stripe
#: loads, bytes per cycle of rows that a stripe keeps for the next one, and cycles of a copy of such rows.
CALL_CYCLES = 3000
CONSTANT_BYTES_PER_CYCLE = 8
KEPT_BYTES_PER_CYCLE, KEPT_CYCLES = 1, 200


@dataclass(frozen=True, slots=True)
class Run:
    """Layers [first, end) in ``count`` stripes; ``kept``: results whose rows at borders are not computed twice."""

    first: int
    end: int
    count: int
    kept: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Choice:
    """Runs that cover all layers, the tensors whose home is the store, and modelled cycles."""

    runs: tuple[Run, ...]
    away: frozenset[str]
    cycles: int

    @property
    def keeps(self) -> bool:
        """Whether stripes keep rows for the next one."""
        return any(run.kept for run in self.runs)


@dataclass(frozen=True)
class _Shape:
    """Numbers of a run in stripes: the most bytes of each tensor in a stripe, bytes of all stripes, and the cycles of
    its kernels. ``exact``: tensors whose stripes do not overlap, so that they may be parts of the whole;
    ``kept``: the most bytes of rows that are kept for the next stripe."""

    most: dict[str, int]
    total: dict[str, int]
    compute: int
    crossing: tuple[str, ...]
    exact: frozenset[str]
    kept: dict[str, int]


@dataclass(frozen=True, slots=True)
class _Need:
    """Bytes alive at one time in a stripe, bytes that are copied meanwhile, and all bytes and number of copies."""

    peak: int
    flying: int
    copied: int
    copies: int


@dataclass
class Chooser:
    """Finds choices for one network; shapes of runs are computed once. ``link`` to the store, if it can be written;
    ``keep``: whether rows may be kept for the next stripe."""

    network: Network
    link: Link | None
    keep: bool = True
    _shapes: dict[Run, _Shape] = field(default_factory=dict)
    _needs: dict[tuple[Run, frozenset[str]], _Need] = field(default_factory=dict)
    _possible: dict[tuple[int, int], tuple[Run, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        count = len(self.network.layers)
        self.live = [self.network.live(position) for position in range(count + 1)]
        self._shapes.update((Run(n, n + 1, 1), self._whole(n)) for n in range(count))

    def choose(self, capacity: int) -> Choice | None:
        """The cheapest choice whose tensors fit ``capacity`` bytes; None if there is none."""
        count = len(self.network.layers)
        paths: list[dict[frozenset[str], Choice]] = [{} for _ in range(count + 1)]
        paths[0][frozenset()] = Choice((), frozenset(), 0)
        for position in range(count):
            for state, path in paths[position].items():
                for run in self._runs(position, capacity):
                    for away, cycles in self._ways(run, state, capacity):
                        after = frozenset((*state, *away)) & frozenset(self.live[run.end])
                        total = path.cycles + cycles
                        known = paths[run.end].get(after)
                        if known is None or total < known.cycles:
                            paths[run.end][after] = Choice((*path.runs, run), path.away | away, total)
        found = paths[count].values()
        return min(found, key=lambda choice: choice.cycles, default=None)

    def _runs(self, first: int, capacity: int) -> Iterator[Run]:
        yield Run(first, first + 1, 1)
        large = False
        for end in range(first + 1, min(first + LAYERS_MAX, len(self.network.layers)) + 1):
            layer = self.network.layers[end - 1]
            if not layer.steps:
                return
            large = large or any(self.network.sizes[n] > capacity // LARGE_PART for n in (*layer.reads, *layer.makes))
            if large:
                yield from self._striped_runs(first, end)

    def _ways(self, run: Run, state: frozenset[str], capacity: int) -> Iterator[tuple[frozenset[str], int]]:
        """Homes of what a run makes (the tensors in the store), and its cycles."""
        shape, network = self._shapes[run], self.network
        resident = sum(network.sizes[name] for name in self.live[run.first] if name not in state)
        # Rows of a stripe that are not its part of the whole tensor: such parts can be neither in place nor copied.
        if resident > capacity or not shape.exact.issuperset(shape.crossing):
            return
        touched = frozenset(shape.most)
        fixed = {*network.ends, *network.lent, *network.axes}
        movable = [n for n in shape.crossing if n not in fixed and network.sizes[n] > capacity // AWAY_PART]
        # Nothing would be computed between a copy to a view and one away from it.
        view = run.count == 1 and network.layers[run.first].view and not state.isdisjoint(shape.most)
        movable = [] if self.link is None or view else movable
        for number in range(len(movable) + 1):
            for away in combinations(movable, number):
                kept = [name for name in shape.crossing if name not in away]
                used = resident + sum(network.sizes[name] for name in kept if name not in network.ends | network.lent)
                used -= self._saved(run, state) if not away else 0
                need = self._need(run, frozenset((*state, *away)) & touched)
                moved = 0
                if self.link is not None:
                    moved = int(need.copied / self.link.bytes_per_cycle) + need.copies * self.link.setup_cycles
                if used + need.peak + need.flying <= capacity:
                    fill = moved // (4 * run.count) if run.count > 1 else moved // 2
                    yield frozenset(away), max(shape.compute, moved) + fill
                elif used + need.peak <= capacity:
                    yield frozenset(away), shape.compute + moved

    def _saved(self, run: Run, state: frozenset[str]) -> int:
        """Bytes that the result of one whole layer shares with inputs that nothing else reads."""
        if run.count > 1:
            return 0
        reads = self.network.layers[run.first].reads
        own = (name for name in reads if name not in state and name not in self.network.ends)
        return self.network.saved_bytes(run.first, {name for name in own if self.network.last[name] == run.first})

    def _need(self, run: Run, away: frozenset[str]) -> _Need:
        if (run, away) not in self._needs:
            self._needs[run, away] = self._stripe(run, self._shapes[run], away)
        return self._needs[run, away]

    def _stripe(self, run: Run, shape: _Shape, away: frozenset[str]) -> _Need:
        layers = self.network.layers[run.first : run.end]
        made = {name: position for position, layer in enumerate(layers) for name in layer.makes}
        last = {name: position for position, layer in enumerate(layers) for name in layer.reads}
        loads = list(dict.fromkeys(n for layer in layers for n in layer.reads if n not in made and n in away))
        stores = [name for name in shape.crossing if name in away]
        alive = {name: shape.most[name] for name in loads}
        peak = 0
        for position, layer in enumerate(layers):
            if layer.view and last[layer.reads[0]] == position and layer.reads[0] in alive:
                alive.pop(layer.reads[0])  # its bytes are those of the result from now on
            alive.update((n, shape.most[n]) for n in layer.makes if n not in shape.crossing or n in away)
            # Rows are kept from before their last reader runs until those of the next stripe are added.
            rows = sum(size for n, size in shape.kept.items() if not made[n] < position < last[n])
            peak = max(peak, sum(alive.values()) + rows)
            alive = {n: size for n, size in alive.items() if last.get(n, -1) > position or n in shape.crossing}
        flying = sum(shape.most[name] for name in (*loads, *stores))
        copied = sum(shape.total[name] for name in loads) + sum(self.network.sizes[name] for name in stores)
        return _Need(peak, flying, copied, run.count * (len(loads) + len(stores)))

    def _striped_runs(self, first: int, end: int) -> tuple[Run, ...]:
        """The possible runs in stripes; their shapes are known then."""
        if (first, end) not in self._possible:
            network, runs = self.network, []
            least = min(network.height(name) for layer in network.layers[first:end] for name in layer.makes)
            counts = tuple(count for count in COUNTS if count <= least)
            found = extents_of(network, first, end, counts) if counts else None
            kept: frozenset[str] = frozenset()
            while found is not None:
                for number in (number for number, legal in enumerate(found.legal) if legal):
                    runs.append(Run(first, end, counts[number], kept))
                    self._shapes[runs[-1]] = self._striped(runs[-1], found, number)
                kept = self._kept(first, end, found) if self.keep and not kept else frozenset()
                found = extents_of(network, first, end, counts, kept) if kept else None
            self._possible[first, end] = tuple(runs)
        return self._possible[first, end]

    def _kept(self, first: int, end: int, found: Extents) -> frozenset[str]:
        """The results between layers that take fewer cycles to copy than to compute, with rows in several stripes."""
        network, kept = self.network, set()
        crossing = crossing_of(network, first, end)
        for layer in network.layers[first:end]:
            (name,) = layer.makes
            twice = (found.first[name][1:] < found.end[name][:-1]) & (found.first[name][1:] > 0)
            cheaper = layer.cycles * KEPT_BYTES_PER_CYCLE > 2 * network.sizes[name]
            contiguous = name not in network.axes  # what is kept is joined to new rows without a copy
            if name not in crossing and contiguous and cheaper and twice.any():
                kept.add(name)
        return frozenset(kept)

    def _whole(self, position: int) -> _Shape:
        layer = self.network.layers[position]
        sizes = {name: self.network.sizes[name] for name in (*layer.reads, *layer.makes)}
        crossing = crossing_of(self.network, position, position + 1)
        return _Shape(sizes, sizes, layer.cycles, crossing, frozenset(crossing), {})

    def _striped(self, run: Run, found: Extents, number: int) -> _Shape:
        network, most, total = self.network, {}, {}
        layers = network.layers[run.first : run.end]
        place = slice(int(found.starts[number]), int(found.starts[number]) + run.count)
        compute, kept = 0, {}
        for name in {name for layer in layers for name in (*layer.reads, *layer.makes)}:
            rows = np.maximum(found.end[name][place] - found.first[name][place], 0)
            most[name], total[name] = (int(count) * network.row_bytes(name) for count in (rows.max(), rows.sum()))
            if name in run.kept:
                again = np.maximum(found.made[name] - found.first[name], 0)[place] * network.row_bytes(name)
                total[name] -= int(again.sum())
                kept[name] = int(again.max())
                compute += 2 * (int(again.sum()) // KEPT_BYTES_PER_CYCLE + (run.count - 1) * KEPT_CYCLES)
        for layer in layers:
            name = layer.makes[0]
            compute += layer.cycles * total[name] // network.sizes[name]
            if not layer.view:
                compute += run.count * CALL_CYCLES + (run.count - 1) * layer.constant_bytes // CONSTANT_BYTES_PER_CYCLE
        crossing = crossing_of(network, run.first, run.end)
        exact = [
            name
            for name in crossing
            if (found.part_first[name][place] == found.first[name][place]).all()
            and (found.part_end[name][place] == found.end[name][place]).all()
        ]
        return _Shape(most, total, compute, crossing, frozenset(exact), kept)
