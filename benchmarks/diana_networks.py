"""The MLPerf Tiny networks on DIANA, with all of L1 and with less of it, and the distance of their integer graphs.

``make bench-diana`` prints milliseconds at 260 MHz beside the published ones. "on the twin" is what running the emitted
program on virtual clocks gives, "modelled" what the compiler predicted; neither is silicon. Kernels of the host have no
twin: the twin charges them what the model says.

Exit code 1 if anything that fits is not bit exact.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from match_core.contract.errors import MatchError
from match_core.contract.program import Program
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, VerifyResult, reference_of_file, verify_model
from numpy.typing import NDArray

from benchmarks.published import CLOCK_HZ, DIANA_NETWORK_MS, DIANA_TVM
from benchmarks.runs import MODELS, NETWORKS, network, told
from benchmarks.tables import PAGE, ROOT, Cell, Column, Table

COMMAND = "benchmarks.diana_networks"
ABOUT = f"*target diana, `python -m {COMMAND}`*"
ACCURACY_PAGE = ROOT / "docs" / "diana.md"
#: Bytes of L1, largest first: all, and down to 16 kB as in the paper's ablation.
L1_BYTES = (256 * 1024, 128_000, 64_000, 48_000, 32_000, 24_000, 16_000)
#: The networks whose output is a class.
CLASSIFIERS = ("resnet8", "dscnn", "mobilenetv1_025")


@dataclass(frozen=True, slots=True)
class Point:
    """A network with so much L1. ``result``: None where it does not fit, ``failure`` says why. ``host``: the program of
    the host alone, which needs no L1."""

    network: str
    l1_bytes: int
    result: VerifyResult | None
    host: Program
    failure: str = ""

    @property
    def cycles(self) -> int | None:
        """Of one inference on the twin."""
        return self.result.run.cycles_total if self.result else None

    @property
    def ms(self) -> float | None:
        """Milliseconds of one inference on the twin at the published clock."""
        return 1e3 * self.cycles / CLOCK_HZ if self.cycles else None

    @property
    def microjoules(self) -> float | None:
        """Modelled energy of one inference."""
        if self.result is None:
            return None
        tasks = self.result.compilation.program.tasks
        return sum(task.assignment.schedule.cost.energy_pj or 0.0 for task in tasks) / 1e6

    @property
    def host_ms(self) -> float:
        """Modelled milliseconds of the host alone."""
        return 1e3 * self.host.predicted_cycles / CLOCK_HZ

    @property
    def host_cycles_per_mac(self) -> float:
        """Modelled cycles of the host alone for a multiply-accumulate, everything else of the network included."""
        macs = sum(task.assignment.candidate.workload.macs for task in self.host.tasks)
        return self.host.predicted_cycles / macs


def measure(networks: Sequence[str], sizes: Sequence[int], plugins: Plugins) -> list[Point]:
    """Every network at every size, on all stored samples."""
    points = []
    for name in networks:
        model, arrays = network(name)
        alone = CompileRequest(model, "diana", without_units=("digital", "analog"))
        host = compile_model(alone, plugins).compilation.program
        for size in sizes:
            request = VerifyRequest(model=model, target="diana", arrays=arrays, memory=(("l1", size),))
            try:
                points.append(Point(name, size, verify_model(request, plugins), host))
            except MatchError as error:
                points.append(Point(name, size, None, host, f"{error.code}: {error.what}"))
        told(f"{name}: done")
    return points


def times(points: Sequence[Point]) -> Table:
    """One row per network with all of L1."""
    rows: list[tuple[Cell, ...]] = []
    for point in (point for point in points if point.l1_bytes == L1_BYTES[0]):
        published, result = DIANA_NETWORK_MS[point.network], point.result
        modelled = result.compilation.program.predicted_cycles if result else None
        home = next((use for use in result.compilation.program.memory if use.memory == "l2"), None) if result else None
        rows.append(
            (
                point.network,
                point.cycles,
                point.ms,
                1e3 * modelled / CLOCK_HZ if modelled else None,
                published["MATCH"],
                published["HTVM"],
                point.host_ms,
                point.host_ms / point.ms if point.ms else None,
                point.host_cycles_per_mac,
                DIANA_TVM.get(point.network),
                point.microjoules,
                home.used_bytes if home else None,
                ", ".join(f"{unit} {share:.0%}" for unit, share in _shares(result)) or point.failure,
                _exact(point),
            )
        )
    columns = (
        Column("network"),
        Column("cycles on the twin", ",d"),
        Column("ms at 260 MHz, twin", ".2f"),
        Column("modelled ms", ".2f"),
        Column("MATCH ms, silicon", ".2f"),
        Column("HTVM ms, silicon", ".2f"),
        Column("host alone, modelled ms", ".1f"),
        Column("host alone / twin", ".1f"),
        Column("host's cycles per MAC", ".2f"),
        Column("TVM on the host, silicon"),
        Column("uJ, modelled", ".1f"),
        Column("L2 bytes", ",d"),
        Column("share of the twin's cycles"),
        Column("bit exact"),
    )
    return Table("diana-networks", ABOUT, columns, tuple(rows))


def sweep(points: Sequence[Point]) -> Table:
    """One row per network and size of L1."""
    full = {point.network: point.ms for point in points if point.l1_bytes == L1_BYTES[0]}
    rows: list[tuple[Cell, ...]] = []
    for point in points:
        whole = full[point.network]
        slower = point.ms / whole if point.ms and whole else None
        shares = ", ".join(f"{unit} {share:.0%}" for unit, share in _shares(point.result))
        rows.append(
            (point.network, point.l1_bytes, point.cycles, point.ms, slower, shares or point.failure, _exact(point))
        )
    columns = (
        Column("network"),
        Column("L1 bytes", ",d"),
        Column("cycles on the twin", ",d"),
        Column("ms at 260 MHz, twin", ".2f"),
        Column("of full L1", ".2f"),
        Column("share of the twin's cycles"),
        Column("bit exact"),
    )
    return Table("diana-l1", ABOUT, columns, tuple(rows))


def accuracy(points: Sequence[Point]) -> Table:
    """How far the program's outputs are from those of the original model, on the stored samples."""
    rows: list[tuple[Cell, ...]] = []
    for point in (point for point in points if point.l1_bytes == L1_BYTES[0] and point.result):
        assert point.result is not None
        model, arrays = network(point.network)
        original = reference_of_file(model, arrays, point.result.samples)
        for output in point.result.outputs:
            ours, theirs = (_flat(outputs[output.name]) for outputs in (point.result.run.outputs, original))
            cosine = float(np.mean([_cosine(a, b) for a, b in zip(ours, theirs, strict=True)]))
            is_class = point.network in CLASSIFIERS
            top1 = output.top1_agreement if is_class else None
            ties = class_agreement(ours, theirs) if is_class else None
            worst = float(np.max(np.abs(ours - theirs)))
            samples, mean = point.result.samples, output.mean_abs_lsb
            rows.append((point.network, output.dtype, samples, cosine, worst, mean, top1, ties))
    columns = (
        Column("network"),
        Column("output"),
        Column("samples", "d"),
        Column("cosine similarity, mean", ".4f"),
        Column("max error", ".3g"),
        Column("mean error", ".3g"),
        Column("first largest at the same place", ".1%"),
        Column("ours among the original's largest", ".1%"),
    )
    return Table("diana-accuracy", ABOUT, columns, tuple(rows))


def class_agreement(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> float:
    """The share of samples [N, classes] whose class has the original's largest value. Outputs of 8 bits often have that
    value in several places, and then the original does not tell these classes apart."""
    chosen = np.take_along_axis(theirs, ours.argmax(axis=1)[:, None], axis=1)[:, 0]
    return float(np.mean(chosen == theirs.max(axis=1)))


def _flat(values: NDArray[np.generic]) -> NDArray[np.float64]:
    return np.asarray(values, np.float64).reshape(len(values), -1)


def _cosine(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> float:
    return float(ours @ theirs / (np.linalg.norm(ours) * np.linalg.norm(theirs)))


def _shares(result: VerifyResult | None) -> list[tuple[str, float]]:
    if result is None:
        return []
    by_unit: Mapping[str, int] = result.run.cycles_by_unit
    return [(unit, cycles / result.run.cycles_total) for unit, cycles in by_unit.items() if cycles]


def _exact(point: Point) -> str:
    return "-" if point.result is None else "yes" if point.result.bit_exact else "NO"


def main(arguments: Sequence[str]) -> int:
    """Print the tables, write CSV, put them into the pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="put the tables into the pages")
    parser.add_argument("--network", choices=NETWORKS, action="append", help="may be repeated; default: all")
    parser.add_argument("--no-sweep", action="store_true", help="all of L1 only")
    options = parser.parse_args(arguments)
    if not MODELS.is_dir():
        parser.exit(1, f"the networks are not on this machine: there is no {MODELS}\n")
    points = measure(options.network or NETWORKS, L1_BYTES[:1] if options.no_sweep else L1_BYTES, Plugins.load())
    for made in (times(points), accuracy(points), *(() if options.no_sweep else (sweep(points),))):
        made.write_csv()
        sys.stdout.write(f"{made.markdown()}\n\n")
        if options.update:
            made.put(ACCURACY_PAGE if made.name == "diana-accuracy" else PAGE)
    return 0 if all(point.result is None or point.result.bit_exact for point in points) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
