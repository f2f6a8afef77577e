"""Modelled cycles beside cycles on the twin, layer by layer, and how well copies hide behind kernels.

Prints a summary per preset, precision and unit set, and the layers that miss a goal; the CSV has all layers. "bound" is
what no schedule of the same tiles can beat: the busiest of the kernels with their launches, the core that programs the
DMA, and the two directions of the link, from the first launch to the last kernel's end. Host kernels have no twin: they
are left out.

Exit code 1 if a goal is missed: modelled within 3 % of the twin on the median layer and 10 % on every layer; 95 % of
the bound on every layer of 8 kernel calls or more.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyResult

from benchmarks.runs import HOST, NETWORKS, UNIT_SETS, Setting, about_runs, network, parse, told, verify
from benchmarks.tables import Cell, Column, Table

COMMAND = "benchmarks.prediction"
MEDIAN_GOAL, LAYER_GOAL, BOUND_GOAL = 0.03, 0.10, 0.95
#: Kernel calls from which a layer's copies can hide behind its kernels.
MANY_TILES = 8
#: Kinds of events of the controller that start a kernel.
_LAUNCHES = ("offload team", "ne16 words", "ne16 program")


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of one run. ``cycles``: on the twin; ``kernel_cycles``: of all kernels and launches; ``bound_cycles``
    and ``span_cycles``: the bound, and what the twin took for that part (0 where there are fewer tiles)."""

    network: str
    setting: Setting
    title: str
    unit: str
    pattern: str
    tiles: int
    predicted_cycles: int
    cycles: int
    kernel_cycles: int
    bound_cycles: int = 0
    span_cycles: int = 0

    @property
    def ratio(self) -> float:
        """Modelled cycles over cycles on the twin."""
        return self.predicted_cycles / self.cycles

    @property
    def bound_share(self) -> float | None:
        """The bound over what the twin took; None for a layer of few tiles."""
        return self.bound_cycles / self.span_cycles if self.span_cycles else None

    @property
    def misses(self) -> bool:
        """Whether a goal for single layers is missed."""
        slow = self.bound_share is not None and self.bound_share < BOUND_GOAL
        return slow or abs(self.ratio - 1) > LAYER_GOAL


def _busy(events: Sequence[Mapping[str, Any]], clock: str, start: int, end: int, kind: str | None = None) -> int:
    """Cycles in which a clock works, within [start, end)."""
    chosen = (e for e in events if e["name"] == clock and e["kind"] != "wait" and kind in (None, e["kind"]))
    return sum(max(0, min(e["end"], end) - max(e["start"], start)) for e in chosen)


def _bound(events: Sequence[Mapping[str, Any]], kernel_cycles: int) -> tuple[int, int]:
    """Bound and span of a layer with these events."""
    start = min(e["start"] for e in events if e["kind"] in _LAUNCHES)
    end = max(e["end"] for e in events if e["name"] in ("cluster", "ne16"))
    issue = _busy(events, "control", start, end, "dma issue")
    links = (_busy(events, clock, start, end) for clock in ("dma_in", "dma_out"))
    return max(kernel_cycles, issue, *links), end - start


def layers_of(name: str, setting: Setting, result: VerifyResult) -> list[Layer]:
    """All layers of a run that are not the host's."""
    layers = []
    tasks = {task.index: task.assignment for task in result.compilation.program.tasks}
    for node in result.run.nodes:
        assignment = tasks[node.index]
        if node.unit == HOST or not node.cycles:
            continue
        schedule = assignment.schedule
        kernels = schedule.cost.compute_cycles + schedule.cost.launch_cycles
        events = [event for event in result.run.events if event["node"] == node.index]
        bound, span = _bound(events, kernels) if schedule.steps >= MANY_TILES else (0, 0)
        pattern = assignment.candidate.pattern.name
        counts = (schedule.steps, node.predicted_cycles, node.cycles, kernels, bound, span)
        layers.append(Layer(name, setting, node.title, node.unit, pattern, *counts))
    return layers


def measure(networks: Sequence[str], settings: Sequence[Setting], plugins: Plugins) -> list[Layer]:
    """The layers of every network in every setting."""
    layers: list[Layer] = []
    for name in networks:
        model, arrays = network(name)
        some = {key: values[:1] for key, values in arrays.items()}
        for setting in settings:
            layers += layers_of(name, setting, verify(model, some, setting, plugins))
            told(f"{name}, {setting.preset}, {setting.precision}, {setting.units}: done")
    return layers


def _cells(layer: Layer) -> tuple[Cell, ...]:
    setting = layer.setting
    where = (layer.network, setting.preset, setting.precision, setting.units, layer.title, layer.unit, layer.pattern)
    cycles = (layer.tiles, layer.predicted_cycles, layer.cycles, layer.ratio)
    return (*where, *cycles, layer.kernel_cycles, layer.bound_cycles, layer.span_cycles, layer.bound_share)


def layer_table(name: str, layers: Sequence[Layer]) -> Table:
    """One line per layer."""
    texts = ("network", "preset", "precision", "units", "layer", "unit", "pattern")
    counts = ("tiles", "modelled", "twin")
    columns = [*(Column(text) for text in texts), *(Column(count, ",d") for count in counts)]
    columns += [Column("modelled / twin", ".3f"), *(Column(text, ",d") for text in ("kernels", "bound", "span"))]
    columns.append(Column("bound / span", ".3f"))
    about = about_runs(COMMAND, (layer.setting for layer in layers))
    return Table(name, about, tuple(columns), tuple(_cells(layer) for layer in layers))


def summary(layers: Sequence[Layer]) -> Table:
    """One line per setting: layers, the ratios' spread, and the worst share of the bound."""
    rows: list[tuple[Cell, ...]] = []
    for setting in dict.fromkeys(layer.setting for layer in layers):
        some = [layer for layer in layers if layer.setting == setting]
        ratios = sorted(layer.ratio for layer in some)
        shares = [layer.bound_share for layer in some if layer.bound_share is not None]
        where = (setting.preset, setting.precision, setting.units, len(some))
        spread = (ratios[0], ratios[len(ratios) // 2], ratios[-1])
        total = sum(layer.predicted_cycles for layer in some) / sum(layer.cycles for layer in some)
        rows.append((*where, total, *spread, len(shares), min(shares, default=None)))
    columns = [Column("preset"), Column("precision"), Column("units"), Column("layers", "d")]
    columns += [Column(text, ".3f") for text in ("modelled / twin, all", "least", "median", "largest")]
    columns += [Column(f"layers of {MANY_TILES} tiles", "d"), Column("least bound / span", ".3f")]
    about = about_runs(COMMAND, (layer.setting for layer in layers))
    return Table("prediction", about, tuple(columns), tuple(rows))


def far_medians(layers: Sequence[Layer]) -> list[str]:
    """Settings whose median layer is not predicted well enough."""
    found = []
    for setting in dict.fromkeys(layer.setting for layer in layers):
        distances = sorted(abs(layer.ratio - 1) for layer in layers if layer.setting == setting)
        middle = distances[len(distances) // 2]
        if middle > MEDIAN_GOAL:
            where = f"{setting.preset}, {setting.precision}, {setting.units}"
            found.append(f"FAILURE: {where}: the median layer is {middle:.1%} off")
    return found


def main(arguments: Sequence[str]) -> int:
    """Print the summary and the layers that miss a goal, write the CSV."""
    units = tuple(name for name in UNIT_SETS if name != "CPU")
    options = parse(__doc__, arguments, {"network": NETWORKS, "units": units})
    settings = [
        Setting(preset, precision, chosen)
        for preset in options.preset
        for precision in options.precision
        for chosen in options.units
    ]
    layers = measure(options.network, settings, Plugins.load())
    table, path = summary(layers), layer_table("prediction-layers", layers).write_csv()
    table.write_csv()
    sys.stdout.write(f"{table.markdown()}\n\nall layers: {path}\n")
    missed = [layer for layer in layers if layer.misses]
    if missed:
        sys.stdout.write(f"\n{layer_table('prediction-missed', missed).markdown()}\n")
    found = far_medians(layers)
    sys.stdout.write("".join(f"{line}\n" for line in found))
    return 1 if missed or found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
