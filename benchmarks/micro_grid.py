"""The micro-benchmarks of the MATCH paper: one 3x3 convolution per model, on the cluster and on NE16.

IX = IY in 2 to 128, C = K in 1, 16, 64, standard and depthwise; int8 with ReLU, made here with a fixed seed. Cycles are
of the convolution alone: the programs also change the layout of the graph's input and output, which is not counted.

"cluster" is a program without NE16, "NE16" one without the cluster as a unit of its own; the host is in both, and the
column "runs on" tells which unit took the layer. With precision exact, NE16 leaves 32-bit sums and the cluster's cores
requantise them in 64 bits (patterns named wide), so those rows measure both. The layer of 128x128x64
needs 4 MiB for input and output in both layouts: its L2 is enlarged to 8 MiB.

Exit code 1 if anything is not bit exact.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from match_core.contract.hardware import Soc
from match_core.contract.passes import Precision
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyResult

from benchmarks import charts
from benchmarks.grid_layers import CHANNELS, LAYER_NAME, SIZES, Layer, layers
from benchmarks.published import FIDELITY
from benchmarks.runs import Setting, about_runs, parse, told, verify
from benchmarks.tables import Cell, Column, Table

COMMAND = "benchmarks.micro_grid"
UNITS = ("cluster", "NE16")
#: The precision of the tables in docs/benchmarks.md: the one whose kernels the paper measured.
PAGE_PRECISION: Precision = "fast"
ENLARGED_L2_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Run:
    """One layer in one setting. ``nodes``: the unit and the pattern of each task that computes the layer, one but
    for the host."""

    layer: Layer
    setting: Setting
    nodes: tuple[tuple[str, str], ...]
    cycles: int
    modelled_cycles: int
    bit_exact: bool

    @property
    def throughput(self) -> float:
        """Multiply-accumulates per cycle on the twin."""
        return self.layer.macs / self.cycles

    @property
    def of_model(self) -> float:
        """Throughput on the twin over the modelled one."""
        return self.modelled_cycles / self.cycles

    @property
    def of_formula(self) -> float:
        """Throughput on the twin over the published formula's."""
        return self.layer.published_cycles(self.setting.units) / self.cycles

    @property
    def on_its_unit(self) -> bool:
        """Whether the unit that the setting is about took the layer."""
        return {unit for unit, _ in self.nodes} == {self.setting.units.lower()}

    @property
    def runs_on(self) -> str:
        """Unit and patterns in words."""
        return f"{self.nodes[0][0]}: {', '.join(pattern for _, pattern in self.nodes)}"


class LargeL2(Plugins):
    """GAP9 with an L2 that the chip does not have."""

    def soc(self, name: str | None = None) -> Soc:
        """The Soc with ENLARGED_L2_BYTES of L2."""
        soc = super().soc(name)
        memories = (replace(m, size_bytes=ENLARGED_L2_BYTES) if m.name == "l2" else m for m in soc.memories)
        return replace(soc, memories=tuple(memories))


def measure(grid: Iterable[Layer], presets: Sequence[str], precisions: Sequence[Precision]) -> list[Run]:
    """Every layer in every setting on one sample."""
    normal, large = Plugins.load(), LargeL2.load()
    runs = []
    with tempfile.TemporaryDirectory(prefix="match-grid-") as folder:
        for layer in grid:
            model = layer.save(Path(folder))
            plugins = large if 2 * layer.channels * layer.size**2 > 2**20 else normal
            random = np.random.default_rng(layer.size)
            arrays = {"input": random.integers(-128, 128, (1, 1, layer.channels, layer.size, layer.size), np.int8)}
            for preset in presets:
                for precision in precisions:
                    for units in UNITS:
                        setting = Setting(preset, precision, units)
                        runs.append(_run(layer, setting, verify(model, arrays, setting, plugins)))
            told(f"{layer.kind} {layer.channels} channels {layer.size}x{layer.size}: done")
    return runs


def _run(layer: Layer, setting: Setting, result: VerifyResult) -> Run:
    nodes = [node for node in result.run.nodes if LAYER_NAME in node.onnx_names]
    tasks = result.compilation.program.tasks
    patterns = {task.index: task.assignment.candidate.pattern.name for task in tasks}
    return Run(
        layer,
        setting,
        tuple((node.unit, patterns[node.index]) for node in nodes),
        sum(node.cycles for node in nodes),
        sum(node.predicted_cycles for node in nodes),
        result.bit_exact,
    )


def grid_table(name: str, runs: Sequence[Run]) -> Table:
    """One row per run."""
    rows = tuple(
        (
            run.setting.preset,
            run.setting.precision,
            run.layer.kind,
            run.layer.channels,
            f"{run.layer.size}x{run.layer.size}",
            run.setting.units,
            run.runs_on,
            run.layer.macs,
            run.modelled_cycles,
            run.cycles,
            run.throughput,
            run.of_model,
            run.of_formula,
            "yes" if run.bit_exact else "NO",
        )
        for run in runs
    )
    columns = (
        Column("preset"),
        Column("precision"),
        Column("kind"),
        Column("C = K", "d"),
        Column("IX x IY"),
        Column("units"),
        Column("runs on"),
        Column("MAC", ",d"),
        Column("modelled cycles", ",d"),
        Column("cycles on the twin", ",d"),
        Column("MAC/cycle, twin", ".2f"),
        Column("of modelled", ".1%"),
        Column("of published formula", ".1%"),
        Column("bit exact"),
    )
    return Table(name, about_runs(COMMAND, (run.setting for run in runs)), columns, rows)


def summary(runs: Sequence[Run]) -> Table:
    """Layers of 64 channels: share of the predicted throughput, beside what the paper measured on silicon."""
    rows: list[tuple[Cell, ...]] = []
    groups: dict[tuple[str, ...], list[Run]] = {}
    for run in runs:
        if run.layer.channels == 64 and run.on_its_unit:
            setting = run.setting
            groups.setdefault((setting.units, run.layer.kind, setting.preset, setting.precision), []).append(run)
    for (units, kind, preset, precision), some in sorted(groups.items()):
        best = max(some, key=lambda run: run.throughput)
        of_model = sum(run.of_model for run in some) / len(some)
        size = f"{best.layer.size}x{best.layer.size}"
        published = FIDELITY[units, kind]
        rows.append((units, kind, preset, precision, of_model, published, best.throughput, size, best.of_formula))
    columns = (
        Column("units"),
        Column("kind"),
        Column("preset"),
        Column("precision"),
        Column("twin / modelled throughput, mean", ".1%"),
        Column("silicon / predicted, published", ".0%"),
        Column("best MAC/cycle on the twin", ".2f"),
        Column("at"),
        Column("of published formula", ".1%"),
    )
    return Table("grid-summary", about_runs(COMMAND, (run.setting for run in runs)), columns, tuple(rows))


def chart(preset: str, precision: Precision, runs: Sequence[Run]) -> None:
    """Throughput on the twin over the size, one curve per unit, kind and number of channels."""
    series: dict[str, list[tuple[float, float]]] = {}
    for run in runs:
        if (run.setting.preset, run.setting.precision) == (preset, precision) and run.layer.channels > 1:
            label = f"{run.setting.units}, {run.layer.kind}, {run.layer.channels} channels"
            series.setdefault(label, []).append((run.layer.size, run.throughput))
    title = f"3x3 convolutions on GAP9's twin, preset {preset}, {precision}"
    axes = charts.Axes(title, "IX = IY", "MAC per cycle")
    charts.lines(f"grid-{preset}-{precision}", axes, series)


def page_table(preset: str, runs: Sequence[Run]) -> Table:
    """What docs/benchmarks.md shows of a preset (runs of PAGE_PRECISION)."""
    some = [run for run in runs if run.setting.preset == preset]
    return grid_table(f"grid-{preset}", some).without("preset", "precision")


def main(arguments: Sequence[str]) -> int:
    """Print the tables, write CSV and SVG."""
    options = parse(__doc__, arguments, {"size": SIZES, "channels": CHANNELS})
    runs = measure(layers(options.size, options.channels), options.preset, options.precision)
    grid_table("grid", runs).write_csv()
    shown = [summary(runs)]
    shown[0].write_csv()
    for preset in options.preset:
        for precision in options.precision:
            chart(preset, precision, runs)
            table = page_table(preset, [run for run in runs if run.setting.precision == precision])
            shown += [table] if precision == PAGE_PRECISION or len(options.precision) == 1 else []
    for table in shown:
        sys.stdout.write(f"{table.markdown()}\n\n")
        if options.update:
            table.put()
    return 0 if all(run.bit_exact for run in runs) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
