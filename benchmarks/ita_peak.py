"""Products and attention of one head on ITA and on the cores alone, on the twin, beside the tests of the paper.

The sizes of the paper's tests are not known here, so several are run. Nothing is calibrated to the paper's figures of
ITA (741 GOp/s and 85.1 % of the peak, 74.9 % in attention). The cores' rate of products is (0.884 a cycle), so the rows
of the cores show the calibration and are no prediction. Layers are made with a fixed seed; graph inputs and outputs are
the quantised tensors; programs run one task after another.

Exit code 1 if a program does not compute its integer graph bit for bit.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, VerifyResult, verify_model

from benchmarks.published import ITA_CLOCK_HZ, ITA_CORES_GEMM, ITA_PEAK_MACS, ITA_PEAKS, ITA_PLATFORM
from benchmarks.runs import told
from benchmarks.tables import Cell, Column, Table
from tests.end_to_end.qdq_encoders import Encoder, inputs, save_attention, save_product

COMMAND = "benchmarks.ita_peak"
#: Rows, columns and products of each sum; rows and width of one head of 64 columns.
PRODUCTS = ((128, 128, 128), (256, 256, 256), (512, 512, 512))
HEADS = ((128, 128), (256, 256), (512, 512))


@dataclass(frozen=True, slots=True)
class Case:
    """``kind``: GEMM or attention; ``inner``: columns of a GEMM."""

    kind: str
    rows: int
    width: int
    inner: int = 0

    @property
    def name(self) -> str:
        """With its sizes."""
        sizes = f"{self.rows} x {self.width}"
        return f"GEMM, {sizes} x {self.inner}" if self.inner else f"attention, {sizes}, one head of 64"

    def save(self, folder: Path) -> tuple[Path, Encoder]:
        """The model, and what its inputs are made from."""
        encoder = Encoder(self.rows, self.width, heads=0 if self.inner else 1, inner=self.inner)
        make = save_product if self.inner else save_attention
        return make(encoder, folder / "model.onnx"), encoder


def cases() -> tuple[Case, ...]:
    """All cases."""
    products = (Case("GEMM", rows, width, columns) for rows, columns, width in PRODUCTS)
    return (*products, *(Case("attention", rows, width) for rows, width in HEADS))


@dataclass(frozen=True, slots=True)
class Ran:
    """A case on one unit, ``ita`` or ``snitch``."""

    case: Case
    unit: str
    result: VerifyResult

    @property
    def cycles(self) -> int:
        """Of one inference, on the twin."""
        return self.result.run.cycles_total

    @property
    def macs(self) -> int:
        """Multiply-accumulates of all tasks."""
        return sum(task.assignment.candidate.workload.macs for task in self.result.compilation.program.tasks)

    @property
    def giga_operations_per_second(self) -> float:
        """At the published clock, two operations for a multiply-accumulate."""
        return 2 * self.macs / self.cycles * ITA_CLOCK_HZ / 1e9

    @property
    def giga_operations_per_joule(self) -> float:
        """By the modelled energy of kernels."""
        tasks = self.result.compilation.program.tasks
        return 2e3 * self.macs / sum(task.assignment.schedule.cost.energy_pj or 0.0 for task in tasks)

    @property
    def of_peak(self) -> float:
        """What of ITA's peak the whole program computes."""
        return self.macs / self.cycles / ITA_PEAK_MACS


def run(case: Case, unit: str, plugins: Plugins) -> Ran:
    """Compile and run a case on one unit."""
    with tempfile.TemporaryDirectory() as folder:
        path, encoder = case.save(Path(folder))
        request = VerifyRequest(
            model=path,
            target="ita",
            arrays={"x": inputs(encoder)},
            quantized_io=True,
            execution="sequential",
            without_units=() if unit == "ita" else ("ita",),
        )
        return Ran(case, unit, verify_model(request, plugins))


def _row(ran: Ran) -> tuple[Cell, ...]:
    busy = ran.result.run.cycles_by_clock.get("ita", 0)
    cores = ITA_CORES_GEMM if ran.case.kind == "GEMM" else None
    paper = ITA_PEAKS[ran.case.kind] if ran.unit == "ita" else cores
    parts = (ran.of_peak, ran.macs / busy / ITA_PEAK_MACS, paper.utilisation) if busy and paper else (None, None, None)
    return (
        ran.case.name,
        "ITA" if ran.unit == "ita" else "cores alone (rate calibrated)",
        ran.cycles,
        ran.macs / ran.cycles,
        ran.giga_operations_per_second,
        paper.giga_operations_per_second if paper else None,
        *parts,
        ran.giga_operations_per_joule,
        paper.giga_operations_per_joule if paper else None,
        f"twin; {ITA_PLATFORM}" if paper else "twin",
    )


def table(rows: Sequence[tuple[Cell, ...]]) -> Table:
    """All cases."""
    columns = (
        Column("layer"),
        Column("on"),
        Column("cycles", ",.0f"),
        Column("MAC/cycle", ",.3g"),
        Column("GOp/s", ",.3g"),
        Column("paper GOp/s", ",.3g"),
        Column("of ITA's peak", ".1%"),
        Column("while it is busy", ".1%"),
        Column("paper", ".1%"),
        Column("GOp/J", ",.0f"),
        Column("paper GOp/J", ",.0f"),
        Column("figures from"),
    )
    about = f"*cycles on the twin, {ITA_CLOCK_HZ / 1e6:.0f} MHz, modelled energy of kernels, `python -m {COMMAND}`*"
    return Table("ita-peak", about, columns, tuple(rows))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="put the table into the page that shows it")
    options = parser.parse_args(sys.argv[1:] if arguments is None else arguments)
    plugins, rows, faults = Plugins.load(), [], []
    for unit in ("ita", "snitch"):
        for case in cases():
            ran = run(case, unit, plugins)
            faults += [] if ran.result.bit_exact else [f"FAILURE: {case.name} on {unit}: not bit exact"]
            rows.append(_row(ran))
            told(f"{case.name} on {unit}: {ran.cycles:,} cycles")
    made = table(rows)
    made.write_csv()
    sys.stdout.write(f"{made.markdown()}\n")
    if options.update:
        made.put()
    for fault in faults:
        sys.stderr.write(f"{fault}\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
