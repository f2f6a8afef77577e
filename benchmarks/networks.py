"""Time and accuracy of the MLPerf Tiny networks on GAP9 with all units and with some switched off.

``make bench`` prints, per preset, the milliseconds at 260 MHz beside the published ones, and the tables of cycles and
accuracy.
"on the twin" is what running the emitted program on virtual clocks gives, "modelled" what the compiler predicted.
Neither is silicon. Kernels of the host have no twin: the twin charges them what the model says, so "CPU" says nothing
about the model.

Exit code 1 if anything is not bit exact, or if a subset of the units is faster on the twin than all of them.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from match_core.contract.passes import Precision
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyResult

from benchmarks import charts
from benchmarks.published import CLOCK_HZ, NETWORK_MS
from benchmarks.runs import HOST, NETWORKS, UNIT_SETS, Setting, about_runs, network, parse, told, verify
from benchmarks.tables import PAGE, ROOT, Cell, Column, Table

COMMAND = "benchmarks.networks"
PACKAGE_README = ROOT / "plugins" / "match-gap9" / "README.md"
#: The preset of the tables of cycles and accuracy: the one that is used where none is chosen.
SHOWN_PRESET = "open-sdk"


@dataclass(frozen=True, slots=True)
class Run:
    """One network in one setting."""

    network: str
    setting: Setting
    result: VerifyResult

    @property
    def cycles(self) -> int:
        """Of one inference on the twin."""
        return self.result.run.cycles_total

    @property
    def modelled_cycles(self) -> int:
        """Of one inference as the compiler predicted."""
        return self.result.compilation.program.predicted_cycles


def measure(
    networks: Sequence[str], presets: Sequence[str], precisions: Sequence[Precision], plugins: Plugins
) -> list[Run]:
    """Every network with every preset, precision and unit set, on all stored samples."""
    runs = []
    for name in networks:
        model, arrays = network(name)
        for preset in presets:
            for precision in precisions:
                for units in UNIT_SETS:
                    setting = Setting(preset, precision, units)
                    runs.append(Run(name, setting, verify(model, arrays, setting, plugins)))
                told(f"{name}, {preset}, {precision}: done")
    return runs


def faults(runs: Sequence[Run]) -> list[str]:
    """What is not bit exact, and every subset of the units that is faster on the twin than all of them."""
    found = []
    for run in runs:
        where = f"{run.network}, preset {run.setting.preset}, precision {run.setting.precision}"
        if not run.result.bit_exact:
            found.append(f"FAILURE: {where}, units {run.setting.units}: not bit exact")
        if run.setting.units == "all":
            others = [other for other in _same(runs, run) if other.cycles < run.cycles]
            found += [
                f"FAILURE: {where}: {other.setting.units} takes {other.cycles} cycles on the twin, all {run.cycles}"
                for other in others
            ]
    return found


def _same(runs: Sequence[Run], run: Run) -> list[Run]:
    """The runs that differ in their units only."""
    setting = run.setting
    wanted = (run.network, setting.preset, setting.precision)
    return [other for other in runs if (other.network, other.setting.preset, other.setting.precision) == wanted]


def times(preset: str, runs: Sequence[Run]) -> Table:
    """Milliseconds at 260 MHz by unit set, per network and precision, beside the published ones."""
    rows: list[tuple[Cell, ...]] = []
    for name in dict.fromkeys(run.network for run in runs):
        some = [run for run in runs if run.network == name and run.setting.preset == preset]
        for precision in dict.fromkeys(run.setting.precision for run in some):
            chosen = {run.setting.units: run for run in some if run.setting.precision == precision}
            twin = {units: run.cycles for units, run in chosen.items()}
            modelled = {units: run.modelled_cycles for units, run in chosen.items()}
            exact = "yes" if all(run.result.bit_exact for run in chosen.values()) else "NO"
            rows.append((name, f"on the twin, {precision}", *_columns(twin), exact))
            rows.append((name, f"modelled, {precision}", *_columns(modelled), None))
        rows.append((name, "published, silicon", *_published(NETWORK_MS[name]), None))
    headings = ("CPU", "cluster", "NE16 + CPU", "all", "DORY", "NNTool")
    columns = [Column("network"), Column("ms at 260 MHz"), *(Column(heading, ".2f") for heading in headings)]
    columns += [Column("best subset / all", ".2f"), Column("bit exact")]
    return Table(
        f"networks-{preset}",
        about_runs(COMMAND, (run.setting for run in runs if run.setting.preset == preset)),
        tuple(columns),
        tuple(rows),
    )


def _columns(cycles: Mapping[str, int]) -> tuple[Cell, ...]:
    subsets = [cycles[units] for units in UNIT_SETS if units != "all"]
    return (*(1e3 * cycles[units] / CLOCK_HZ for units in UNIT_SETS), None, None, min(subsets) / cycles["all"])


def _published(ms: Mapping[str, float]) -> tuple[Cell, ...]:
    subsets = [ms[units] for units in UNIT_SETS if units != "all"]
    return (*(ms[name] for name in (*UNIT_SETS, "DORY", "NNTool")), min(subsets) / ms["all"])


def accuracy_table(runs: Sequence[Run]) -> Table:
    """Cycles, shares and distance to the original model of every network and unit set; of precision fast, all units
    only."""
    rows: list[tuple[Cell, ...]] = []
    for run in (run for run in runs if run.setting.precision == "exact" or run.setting.units == "all"):
        (output,) = run.result.outputs
        shares = {unit: cycles for unit, cycles in run.result.run.cycles_by_unit.items() if cycles}
        rows.append(
            (
                run.network,
                f"{run.setting.units}{', fast' if run.setting.precision == 'fast' else ''}",
                run.cycles,
                run.modelled_cycles,
                ", ".join(f"{unit} {cycles / run.cycles:.0%}" for unit, cycles in shares.items()),
                "yes" if run.result.bit_exact else "NO",
                output.mean_abs_lsb,
                None if run.network == "autoencoder" else output.top1_agreement,
                run.result.samples,
            )
        )
    columns = (
        Column("network"),
        Column("units"),
        Column("cycles on the twin", ",d"),
        Column("modelled cycles", ",d"),
        Column("share of the twin's cycles"),
        Column("bit exact"),
        Column("mean LSB", ".3f"),
        Column("top-1 as original", ".1%"),
        Column("samples", "d"),
    )
    return Table("networks", about_runs(COMMAND, (run.setting for run in runs)), columns, tuple(rows))


def model_table(runs: Sequence[Run]) -> Table:
    """Modelled cycles over cycles on the twin, layer by layer and unit by unit."""
    nodes = [node for run in runs for node in run.result.run.nodes if node.unit != HOST and node.cycles]
    rows: list[tuple[Cell, ...]] = []
    for unit in sorted({node.unit for node in nodes}):
        some = [node for node in nodes if node.unit == unit]
        ratios = sorted(node.predicted_cycles / node.cycles for node in some)
        total = sum(node.predicted_cycles for node in some) / sum(node.cycles for node in some)
        rows.append((unit, len(some), total, ratios[0], ratios[len(ratios) // 2], ratios[-1]))
    headings = ("modelled / twin, all", "least", "median", "largest")
    columns = (Column("unit"), Column("layers", "d"), *(Column(heading, ".3f") for heading in headings))
    return Table("model", about_runs(COMMAND, (run.setting for run in runs)), columns, tuple(rows))


def chart(preset: str, precision: Precision, runs: Sequence[Run]) -> None:
    """Bars of one preset and precision beside the published figures."""
    some = [run for run in runs if (run.setting.preset, run.setting.precision) == (preset, precision)]
    names = list(dict.fromkeys(run.network for run in some))
    series: dict[str, list[float]] = {}
    for units in UNIT_SETS:
        cycles = [run.cycles for run in some if run.setting.units == units]
        series[f"{units}, twin"] = [1e3 * count / CLOCK_HZ for count in cycles]
        series[f"{units}, published"] = [NETWORK_MS[name][units] for name in names]
    axes = charts.Axes(f"MLPerf Tiny on GAP9, preset {preset}, {precision}", "", "ms at 260 MHz")
    charts.bars(f"networks-{preset}-{precision}", axes, names, series)


def tables(runs: Sequence[Run], presets: Sequence[str]) -> list[tuple[Table, Path]]:
    """All tables, each with the page that shows it."""
    found = [(times(preset, runs), PAGE) for preset in presets]
    shown = [run for run in runs if run.setting.preset == SHOWN_PRESET]
    if shown:
        found += [(accuracy_table(shown), PAGE), (model_table(shown), PACKAGE_README)]
    return found


def main(arguments: Sequence[str]) -> int:
    """Print the tables, write CSV and SVG."""
    options = parse(__doc__, arguments, {"network": NETWORKS})
    runs = measure(options.network, options.preset, options.precision, Plugins.load())
    for table, page in tables(runs, options.preset):
        sys.stdout.write(f"{table.markdown()}\n\n")
        table.write_csv()
        if options.update:
            table.put(page)
    for preset in options.preset:
        for precision in options.precision:
            chart(preset, precision, runs)
    found = faults(runs)
    sys.stdout.write("".join(f"{fault}\n" for fault in found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
