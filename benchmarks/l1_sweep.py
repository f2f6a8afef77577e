"""The MLPerf Tiny networks with less and less L1, all units enabled.

L1 goes from what GAP9 gives to layers (116736 bytes) down to 2 kB (1 kB = 1000 bytes). A layer whose smallest tile does
not fit falls to another unit or to the host, which needs no L1. The published figures are for the full L1.

Exit code 1 if a size does not deploy or is not bit exact.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from match_core.contract.errors import MatchError
from match_core.contract.passes import Precision
from match_core.plugin.facade import Plugins
from match_gap9.hardware import L1_LAYER_BYTES
from match_verify.verify import VerifyResult

from benchmarks import charts
from benchmarks.published import CLOCK_HZ, NETWORK_MS
from benchmarks.runs import HOST, NETWORKS, Setting, about_runs, network, parse, told, verify
from benchmarks.tables import Cell, Column, Table

COMMAND = "benchmarks.l1_sweep"
#: The precision of the tables in docs/benchmarks.md.
PAGE_PRECISION: Precision = "exact"
#: Bytes of L1, largest first.
SIZES = (L1_LAYER_BYTES, 96_000, 64_000, 48_000, 32_000, 24_000, 16_000, 12_000, 8_000, 4_000, 2_000)


@dataclass(frozen=True, slots=True)
class Point:
    """A network at one size. ``result``: None where it did not deploy, ``failure`` says why."""

    network: str
    setting: Setting
    result: VerifyResult | None
    failure: str = ""

    @property
    def l1_bytes(self) -> int:
        """Size of L1."""
        return self.setting.l1_bytes or 0

    @property
    def bit_exact(self) -> bool:
        """Deployed and bit exact."""
        return self.result is not None and self.result.bit_exact

    @property
    def host_layers(self) -> tuple[str, ...]:
        """Titles of the tasks that the host computes."""
        nodes = self.result.run.nodes if self.result else ()
        return tuple(node.title for node in nodes if node.unit == HOST and node.cycles)

    @property
    def ms(self) -> float | None:
        """Milliseconds of one inference on the twin at the published clock."""
        return 1e3 * self.result.run.cycles_total / CLOCK_HZ if self.result else None


def measure(networks: Sequence[str], preset: str, precision: Precision, plugins: Plugins) -> list[Point]:
    """Every network at every size, on all stored samples."""
    points = []
    for name in networks:
        model, arrays = network(name)
        for size in SIZES:
            setting = Setting(preset, precision, l1_bytes=size)
            try:
                points.append(Point(name, setting, verify(model, arrays, setting, plugins)))
            except MatchError as error:
                points.append(Point(name, setting, None, str(error)))
        told(f"{name}, {preset}, {precision}: done")
    return points


def sweep_table(name: str, points: Sequence[Point]) -> Table:
    """One row per network and size."""
    rows: list[tuple[Cell, ...]] = []
    for point in points:
        full = next(other for other in points if _same(other, point))
        result = point.result
        rows.append(
            (
                point.network,
                point.setting.preset,
                point.setting.precision,
                point.l1_bytes,
                result.run.cycles_total if result else None,
                result.compilation.program.predicted_cycles if result else None,
                point.ms,
                point.ms / full.ms if point.ms and full.ms else None,
                NETWORK_MS[point.network]["all"] if point is full else None,
                ", ".join(f"{unit} {share:.0%}" for unit, share in _shares(result)),
                _fallen(point, full),
                "yes" if point.bit_exact else "NO",
            )
        )
    columns = (
        Column("network"),
        Column("preset"),
        Column("precision"),
        Column("L1 bytes", ",d"),
        Column("cycles on the twin", ",d"),
        Column("modelled cycles", ",d"),
        Column("ms at 260 MHz, twin", ".2f"),
        Column("of full L1", ".2f"),
        Column("published ms, silicon", ".2f"),
        Column("share of the twin's cycles"),
        Column("fallen to the host"),
        Column("bit exact"),
    )
    return Table(name, about_runs(COMMAND, (point.setting for point in points)), columns, tuple(rows))


def _same(full: Point, point: Point) -> bool:
    setting = point.setting
    wanted = (point.network, setting.preset, setting.precision, SIZES[0])
    return (full.network, full.setting.preset, full.setting.precision, full.l1_bytes) == wanted


def _shares(result: VerifyResult | None) -> list[tuple[str, float]]:
    if result is None:
        return []
    run = result.run
    return [(unit, cycles / run.cycles_total) for unit, cycles in run.cycles_by_unit.items() if cycles]


def _fallen(point: Point, full: Point) -> str:
    """The layers that a unit runs with all of L1 and the host runs here."""
    if point.result is None:
        return point.failure.splitlines()[0]
    before = set(full.host_layers)
    return "; ".join(dict.fromkeys(title for title in point.host_layers if title not in before))


def chart(preset: str, precision: Precision, points: Sequence[Point]) -> None:
    """Milliseconds on the twin over the size of L1, one curve per network."""
    series: dict[str, list[tuple[float, float]]] = {}
    for point in points:
        if (point.setting.preset, point.setting.precision) == (preset, precision) and point.ms:
            series.setdefault(point.network, []).append((point.l1_bytes, point.ms))
    axes = charts.Axes(
        f"Less L1, all units, GAP9's twin, preset {preset}, {precision}",
        "L1 bytes for layers",
        "ms at 260 MHz",
    )
    charts.lines(f"l1-{preset}-{precision}", axes, series)


def page_table(preset: str, points: Sequence[Point]) -> Table:
    """What docs/benchmarks.md shows of a preset (points of PAGE_PRECISION)."""
    some = [point for point in points if point.setting.preset == preset]
    return sweep_table(f"l1-{preset}", some).without("preset", "precision")


def main(arguments: Sequence[str]) -> int:
    """Print the tables, write CSV and SVG."""
    options = parse(__doc__, arguments, {"network": NETWORKS})
    precisions = (PAGE_PRECISION,) if options.update else options.precision
    plugins = Plugins.load()
    points: list[Point] = []
    for preset in options.preset:
        for precision in precisions:
            points += measure(options.network, preset, precision, plugins)
            chart(preset, precision, points)
    sweep_table("l1", points).write_csv()
    for preset in options.preset:
        for precision in precisions:
            table = page_table(preset, [point for point in points if point.setting.precision == precision])
            sys.stdout.write(f"{table.markdown()}\n\n")
            if options.update:
                table.put()
    failed = [point for point in points if not point.bit_exact]
    for point in failed:
        told(f"FAILURE: {point.network}, {point.setting}: {point.failure or 'not bit exact'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
