"""The micro-benchmarks of the MATCH paper on DIANA: one 3x3 convolution per model on the digital array.

IX = IY in 2 to 128, C = K in 1, 16, 64, standard and depthwise; int8 with ReLU, zero points 0, made here with a fixed
seed. Cycles are of the convolution alone, copies to and from L1 included: the programs also convert the graph's input
and output, which is not counted. Layers whose input and output do not fit L2 together say so.

Exit code 1 if anything is not bit exact.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from match_core.contract.errors import MatchError
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, VerifyResult, verify_model

from benchmarks.grid_layers import LAYER_NAME, Layer, layers
from benchmarks.published import DIANA_FIDELITY, DIANA_MACS_PER_CYCLE
from benchmarks.runs import told
from benchmarks.tables import Column, Table

COMMAND = "benchmarks.diana_grid"
ABOUT = f"*target diana, digital array, `python -m {COMMAND}`*"
UNIT = "digital"
#: The layer whose throughput is published.
PUBLISHED = Layer("standard", 64, 32)


@dataclass(frozen=True, slots=True)
class Run:
    """One layer; ``failure`` says why there is no program."""

    layer: Layer
    pattern: str = ""
    cycles: int = 0
    modelled_cycles: int = 0
    bit_exact: bool = False
    failure: str = ""

    @property
    def throughput(self) -> float | None:
        """Multiply-accumulates per cycle on the twin."""
        return self.layer.macs / self.cycles if self.cycles else None


def measure(grid: Iterable[Layer], plugins: Plugins) -> list[Run]:
    """Every layer on one sample, on the digital array alone."""
    runs = []
    with tempfile.TemporaryDirectory(prefix="match-diana-grid-") as folder:
        for layer in grid:
            model = layer.save(Path(folder), zero_point=0)
            random = np.random.default_rng(layer.size)
            arrays = {"input": random.integers(-128, 128, (1, 1, layer.channels, layer.size, layer.size), np.int8)}
            request = VerifyRequest(model=model, target="diana", arrays=arrays, without_units=("analog",))
            try:
                runs.append(_run(layer, verify_model(request, plugins)))
            except MatchError as error:
                runs.append(Run(layer, failure=f"{error.code}: {error.what}"))
            told(f"{layer.kind} {layer.channels} channels {layer.size}x{layer.size}: done")
    return runs


def _run(layer: Layer, result: VerifyResult) -> Run:
    nodes = [node for node in result.run.nodes if LAYER_NAME in node.onnx_names]
    patterns = {task.index: task.assignment.candidate for task in result.compilation.program.tasks}
    named = ", ".join(f"{patterns[node.index].unit}: {patterns[node.index].pattern.name}" for node in nodes)
    cycles, modelled = sum(node.cycles for node in nodes), sum(node.predicted_cycles for node in nodes)
    return Run(layer, named, cycles, modelled, result.bit_exact)


def table(runs: Sequence[Run]) -> Table:
    """One row per layer, the published figures beside those that have them."""
    rows = []
    for run in runs:
        layer = run.layer
        silicon = DIANA_MACS_PER_CYCLE if layer == PUBLISHED else None
        shown = bool(run.cycles)
        rows.append(
            (
                layer.kind,
                layer.channels,
                f"{layer.size}x{layer.size}",
                run.pattern or run.failure,
                layer.macs,
                run.modelled_cycles if shown else None,
                run.cycles if shown else None,
                run.throughput,
                silicon,
                DIANA_FIDELITY[layer.kind] if layer.channels == 64 and layer.size == 32 else None,
                "-" if not shown else "yes" if run.bit_exact else "NO",
            )
        )
    columns = (
        Column("kind"),
        Column("C = K", "d"),
        Column("IX x IY"),
        Column("runs on"),
        Column("MAC", ",d"),
        Column("modelled cycles", ",d"),
        Column("cycles on the twin", ",d"),
        Column("MAC/cycle, twin", ".2f"),
        Column("MAC/cycle, silicon, published", ".2f"),
        Column("silicon / predicted, published", ".0%"),
        Column("bit exact"),
    )
    return Table("diana-grid", ABOUT, columns, tuple(rows))


def main(arguments: Sequence[str]) -> int:
    """Print the table, write CSV, put it into the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="put the table into the page")
    options = parser.parse_args(arguments)
    runs = measure(layers(), Plugins.load())
    made = table(runs)
    made.write_csv()
    sys.stdout.write(f"{made.markdown()}\n")
    if options.update:
        made.put()
    return 0 if all(run.bit_exact or run.failure for run in runs) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
