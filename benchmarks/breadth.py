"""Networks times targets: what runs where, how much of it on accelerators, and why the rest does not.

``make bench-breadth`` compiles (nothing is run) representative networks of the shared set and small networks of many
kinds (``benchmarks.breadth_models``) for every target, one task after another, and prints three tables:

- for every network and target, the share of multiply-accumulates on units other than the host and the modelled cycles
  of one inference, or the code of the error;
- where less than all of them run there: steps by unit, and the most expensive cause of a fallback;
- refusals: how often each error code occurs by target, with an example.

Words are parts of names of the networks to take; all without. ``--update`` writes the tables into docs/breadth.md.
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from match_core.contract.compilation import Planned
from match_core.contract.errors import MatchError
from match_core.contract.fallback import Fallback
from match_core.contract.observe import NullObserver
from match_core.pipeline import CompileRequest, decide, prepare
from match_core.plugin.facade import Plugins
from match_core.summary.fallbacks import fallbacks

from benchmarks.breadth_models import write
from benchmarks.runs import MODELS, told
from benchmarks.tables import ROOT, Cell, Column, Table
from tests.tflite_files.builder import quantised_network, quantised_operators

COMMAND = "benchmarks.breadth"
PAGE = ROOT / "docs" / "breadth.md"
TARGETS = ("host", "gap9", "carfield", "diana", "ita")
#: Of the shared set: the MLPerf Tiny networks in all their forms, one of each other kind.
SHARED = (
    *(
        f"mlperf_{name}_int8_qdq"
        for name in ("resnet8", "dscnn", "mobilenetv1_025", "autoencoder", "streaming_wakeword")
    ),
    *(f"mlperf_resnet8_{form}" for form in ("f32", "int8_int", "int8_qop")),
    *("mlperf_dscnn_int8_int", "mlperf_autoencoder_int8_int", "mlperf_dscnn_w8f32"),
    *("micro_conv_std_16x16_c16_qdq", "micro_conv_dw_16x16_c16_pc_qop", "micro_conv_std_16x16_c16_relu_u8_int"),
    *(
        "mobilebert_l1_int8_qdq",
        "whisper_tiny_l1_int8_qdq",
        "ita_mobilebert_l1_int8_qdq",
        "transformer_enc128_gelu_f16",
    ),
    *("matcha_resnet8_f16", "matcha_transformer_block_f16", "resnet18_cifar10_w16_f16"),
)
_LONGEST = 110


@dataclass(frozen=True, slots=True)
class Result:
    """One network on one target: the share of multiply-accumulates on accelerators (None: there are none), modelled
    cycles, steps by unit, what falls to the host; or the error."""

    network: str
    target: str
    share: float | None = None
    cycles: int = 0
    steps: Mapping[str, int] | None = None
    fallen: tuple[Fallback, ...] = ()
    error: MatchError | None = None

    @property
    def cell(self) -> str:
        """Share and cycles, or the code."""
        if self.error is not None:
            return self.error.code
        share = "-" if self.share is None else f"{self.share:.0%}"
        return f"{share}, {self.cycles / 1e6:,.3f}"


def networks(folder: Path, words: Sequence[str] = ()) -> dict[str, Path]:
    """Paths of the networks by name; those made here are written to ``folder``."""
    found = {name: MODELS / name / "model.onnx" for name in SHARED if (MODELS / name / "model.onnx").is_file()}
    found |= write(folder)
    for name, content in (("TFLite", quantised_network()), ("TFLite, operators", quantised_operators())):
        found[name] = folder / f"{name.replace(', ', '_')}.tflite"
        found[name].write_bytes(content)
    return {name: path for name, path in found.items() if not words or any(word in name for word in words)}


def measure(network: str, path: Path, target: str, plugins: Plugins) -> Result:
    """Compile up to the plan."""
    request = CompileRequest(path, target, execution="sequential")
    try:
        planned, _ = decide(prepare(request, plugins, NullObserver()), plugins, NullObserver())
    except MatchError as error:
        return Result(network, target, error=error)
    steps = [task.assignment.candidate for task in planned.program.tasks if not task.assignment.candidate.pattern.view]
    counts = Counter(candidate.unit for candidate in steps)
    return Result(network, target, _share(planned), planned.program.predicted_cycles, counts, fallbacks(planned))


def _share(planned: Planned) -> float | None:
    """Multiply-accumulates on units other than the host, as a share of all."""
    macs: Counter[bool] = Counter()
    for task in planned.program.tasks:
        macs[task.assignment.candidate.unit != planned.soc.host] += task.assignment.candidate.workload.macs
    return macs[True] / macs.total() if macs.total() else None


def tables(results: Sequence[Result]) -> tuple[Table, Table, Table]:
    """The three tables."""
    about = f"*default presets, precision exact, one task after another, `python -m {COMMAND}`*"
    names = list(dict.fromkeys(result.network for result in results))
    targets = [target for target in TARGETS if any(result.target == target for result in results)]
    cells = {(result.network, result.target): result.cell for result in results}
    shares = [(name, *(cells.get((name, target), "") for target in targets)) for name in names]
    columns = (Column("network"), *(Column(target) for target in targets))
    causes = tuple(_cause(result) for result in results if result.error is None and _is_partial(result))
    told_columns = tuple(map(Column, ("network", "target", "steps", "the most expensive cause", "share of cycles")))
    return (
        Table(
            "breadth", f"{about}: share of multiply-accumulates on accelerators, million cycles", columns, tuple(shares)
        ),
        Table("breadth-causes", f"{about}: where less than all run on accelerators", told_columns, causes),
        Table(
            "breadth-refusals",
            f"{about}: errors",
            _columns("target", "code", "networks", "example"),
            _refusals(results),
        ),
    )


def _columns(*headings: str) -> tuple[Column, ...]:
    return tuple(map(Column, headings))


def _is_partial(result: Result) -> bool:
    return result.target != "host" and (result.share is None or result.share < 1)


def _cause(result: Result) -> tuple[Cell, ...]:
    steps = ", ".join(f"{unit} {count}" for unit, count in sorted((result.steps or {}).items()))
    if not result.fallen:
        return (result.network, result.target, steps, "the host is cheaper", "-")
    first = result.fallen[0]
    text = f"{first.rule}; {first.value}".replace("|", "/")
    return (
        result.network,
        result.target,
        steps,
        text[:_LONGEST] + "..." * (len(text) > _LONGEST),
        f"{first.share:.1%}",
    )


def _refusals(results: Sequence[Result]) -> tuple[tuple[Cell, ...], ...]:
    counted: dict[tuple[str, str], list[MatchError]] = {}
    for result in results:
        if result.error is not None:
            counted.setdefault((result.target, result.error.code), []).append(result.error)
    rows: list[tuple[Cell, ...]] = []
    for (target, code), errors in sorted(counted.items()):
        text = errors[0].what.replace("|", "/")
        rows.append((target, code, str(len(errors)), text[:_LONGEST] + "..." * (len(text) > _LONGEST)))
    return tuple(rows)


def _results(words: Sequence[str], targets: Sequence[str], plugins: Plugins) -> Iterator[Result]:
    with tempfile.TemporaryDirectory(prefix="breadth-") as folder:
        for name, path in networks(Path(folder), words).items():
            for target in targets:
                yield measure(name, path, target, plugins)
            told(f"{name}: done")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="parts of names of networks")
    parser.add_argument("--target", action="append", choices=TARGETS, help="only this target; may be repeated")
    parser.add_argument("--update", action="store_true", help=f"write the tables into {PAGE.relative_to(ROOT)}")
    options = parser.parse_args(arguments)
    logging.disable(logging.WARNING)  # the quantiser's advice on files that nobody sees
    results = list(_results(options.words, options.target or TARGETS, Plugins.load()))
    for table in tables(results):
        table.write_csv()
        print(f"{table.markdown()}\n")
        if options.update:
            table.put(PAGE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
