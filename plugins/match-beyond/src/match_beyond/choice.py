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

from match_beyond.stripes import crossing_of, stripes_of

if TYPE_CHECKING:
    from match_core.contract.hardware import Link

    from match_beyond.network import Network

#: Numbers of stripes that are tried.
COUNTS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48)
#: The most layers of a run, and the parts of the memory above which a tensor is large, or may leave it.
LAYERS_MAX = 10
LARGE_PART, AWAY_PART = 8, 48
#: Cycles of a layer's call, and bytes per cycle between home memory and unit for constants that each stripe loads.
CALL_CYCLES = 3000
CONSTANT_BYTES_PER_CYCLE = 8


@dataclass(frozen=True, slots=True)
class Run:
    """Layers [first, end) in ``count`` stripes."""

    first: int
    end: int
    count: int


@dataclass(frozen=True, slots=True)
class Choice:
    """Runs that cover all layers, the tensors whose home is the store, and modelled cycles."""

    runs: tuple[Run, ...]
    away: frozenset[str]
    cycles: int


@dataclass(frozen=True)
class _Shape:
    """Numbers of a run in stripes: the most bytes of each tensor in a stripe, bytes of all stripes, and the cycles of
    its kernels. ``exact``: tensors whose stripes do not overlap, so that they may be parts of the whole."""

    most: dict[str, int]
    total: dict[str, int]
    compute: int
    crossing: tuple[str, ...]
    exact: frozenset[str]


@dataclass
class Chooser:
    """Finds choices for one network; shapes of runs are computed once."""

    network: Network
    link: Link
    _shapes: dict[Run, _Shape | None] = field(default_factory=dict)

    def choose(self, capacity: int) -> Choice | None:
        """The cheapest choice whose tensors fit ``capacity`` bytes; None if there is none."""
        count = len(self.network.layers)
        paths: list[dict[frozenset[str], Choice]] = [{} for _ in range(count + 1)]
        paths[0][frozenset()] = Choice((), frozenset(), 0)
        for position in range(count):
            for state, path in paths[position].items():
                for run in self._runs(position, capacity):
                    for away, cycles in self._ways(run, state, capacity):
                        alive = set(self.network.live(run.end))
                        after = frozenset(name for name in (*state, *away) if name in alive)
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
                yield from (Run(first, end, count) for count in COUNTS)

    def _ways(self, run: Run, state: frozenset[str], capacity: int) -> Iterator[tuple[frozenset[str], int]]:
        """Homes of what a run makes (the tensors in the store), and its cycles."""
        shape = self._shape(run)
        if shape is None:
            return
        network = self.network
        sizes = network.sizes
        resident = sum(sizes[name] for name in network.live(run.first) if name not in state)
        movable = [n for n in shape.crossing if n not in network.ends and sizes[n] > capacity // AWAY_PART]
        for number in range(len(movable) + 1):
            for away in combinations(movable, number):
                kept = [name for name in shape.crossing if name not in away]
                if any(name not in shape.exact for name in kept):
                    continue
                whole = sum(sizes[name] for name in kept if name not in network.ends)
                peak, flying, copied, copies = self._stripe(run, shape, state | set(away))
                moved = int(copied / self.link.bytes_per_cycle) + copies * self.link.setup_cycles
                if resident + whole + peak + flying <= capacity:
                    fill = moved // (4 * run.count) if run.count > 1 else moved // 2
                    yield frozenset(away), max(shape.compute, moved) + fill
                elif resident + whole + peak <= capacity:
                    yield frozenset(away), shape.compute + moved

    def _stripe(self, run: Run, shape: _Shape, away: frozenset[str] | set[str]) -> tuple[int, int, int, int]:
        """Bytes alive at one time in a stripe, bytes that are copied meanwhile, and all bytes and number of copies."""
        layers = self.network.layers[run.first : run.end]
        made = {name for layer in layers for name in layer.makes}
        last = {name: position for position, layer in enumerate(layers) for name in layer.reads}
        alive: dict[str, int] = {}
        flying = copied = copies = 0
        for layer in layers:
            for name in layer.reads:
                if name not in made and name in away:
                    alive[name] = shape.most[name]
        loads = [name for name in alive]
        peak = 0
        for position, layer in enumerate(layers):
            for name in layer.makes:
                if name not in shape.crossing or name in away:
                    alive[name] = shape.most[name]
            peak = max(peak, sum(alive.values()))
            done = [name for name in alive if last.get(name, position) <= position and name not in shape.crossing]
            for name in done:
                del alive[name]
        stores = [name for name in shape.crossing if name in away]
        for name in (*loads, *stores):
            flying += shape.most[name]
            copied += shape.total[name] if name in loads else self.network.sizes[name]
            copies += run.count
        return peak, flying, copied, copies

    def _shape(self, run: Run) -> _Shape | None:
        if run not in self._shapes:
            self._shapes[run] = self._whole(run) if run.count == 1 else self._striped(run)
        return self._shapes[run]

    def _whole(self, run: Run) -> _Shape:
        layer = self.network.layers[run.first]
        sizes = {name: self.network.sizes[name] for name in (*layer.reads, *layer.makes)}
        crossing = crossing_of(self.network, run.first, run.end)
        return _Shape(sizes, sizes, layer.cycles, crossing, frozenset(crossing))

    def _striped(self, run: Run) -> _Shape | None:
        stripes = stripes_of(self.network, run.first, run.end, run.count)
        if stripes is None:
            return None
        network, most, total = self.network, {}, {}
        layers = network.layers[run.first : run.end]
        for name in {name for layer in layers for name in (*layer.reads, *layer.makes)}:
            rows = [stripe.rows[name].count for stripe in stripes]
            most[name], total[name] = (number * network.row_bytes(name) for number in (max(rows), sum(rows)))
        compute = 0
        for layer in layers:
            name = layer.makes[0]
            compute += layer.cycles * total[name] // network.sizes[name]
            compute += run.count * CALL_CYCLES + (run.count - 1) * layer.constant_bytes // CONSTANT_BYTES_PER_CYCLE
        crossing = crossing_of(network, run.first, run.end)
        exact = [name for name in crossing if all(stripe.parts[name] == stripe.rows[name] for stripe in stripes)]
        return _Shape(most, total, compute, crossing, frozenset(exact))
