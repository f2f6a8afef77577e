"""Processor time of compilations, cold and warm: ``python -m benchmarks.compile_time [--beside CHECKOUT]``.

``--beside``: another checkout or work tree, for example of the commit before; both are measured in turns, because the
speed of a machine changes with its load. Cold: no cache; warm: with the schedules and mappings of an earlier
compilation, but without its program, as after a change that leaves layers as they are; again: ``match compile`` of what
it has compiled before. Goal: seconds of a cold compilation to reach on a machine without other load. ``--full``: the
folder of a whole MobileBERT, which ``../shared/models/make/ita.py --full --int8-only --out DIR`` writes (needs torch).
``--stacked N``: N copies of its stored layer instead, with shuffled weights, on ITA (stacked.py).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.compile_cost import command_seconds, compile_cost
from benchmarks.runs import MODELS
from benchmarks.stacked import write_stack
from benchmarks.tables import Cell, Column, Table

TINY = ("resnet8", "dscnn", "mobilenetv1_025", "autoencoder")
#: Networks of each target.
NETWORKS = {
    **{target: tuple(f"mlperf_{name}_int8_qdq" for name in TINY) for target in ("gap9", "diana", "host", "carfield")},
    "ita": ("ita_dinov2_l1_int8_qdq", "ita_mobilebert_l1_int8_qdq", "ita_whisper_l1_int8_qdq"),
}
#: The network of ``--full``, on ITA.
FULL = "ita_mobilebert_l24_int8_qdq"
#: The layer of ``--stacked``.
LAYER = "ita_mobilebert_l1_int8_qdq"

#: Seconds of a cold compilation to reach, of a network or of those of a target.
GOALS = {"gap9": 2.0, "diana": 2.0, "host": 2.0, "carfield": 4.0, "ita": 3.0, FULL: 20.0}


def main(arguments: Sequence[str]) -> None:
    """Print the table, write CSV."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--targets", nargs="+", choices=sorted(NETWORKS), default=list(NETWORKS))
    parser.add_argument("--networks", nargs="+", default=())
    parser.add_argument("--beside", type=Path, metavar="CHECKOUT")
    parser.add_argument("--full", type=Path, metavar="DIR")
    parser.add_argument("--stacked", type=int, metavar="N", help="only copies of MobileBERT's layer, on ITA")
    parser.add_argument("--jobs", type=int, default=1, help="processes; the time of more than one is not counted")
    parser.add_argument("--update", action="store_true", help="put the table into docs/benchmarks.md")
    chosen = parser.parse_args(arguments)
    roots = [None, *([chosen.beside] if chosen.beside is not None else [])]
    rows = []
    with tempfile.TemporaryDirectory() as made_here:
        for target in chosen.targets if chosen.stacked is None else ("ita",):
            models = [MODELS / name for name in chosen.networks or NETWORKS[target]]
            models += [chosen.full / FULL] if chosen.full is not None and target == "ita" else []
            if chosen.stacked is not None:
                layer = MODELS / LAYER / "model.onnx"
                models = [write_stack(layer, chosen.stacked, Path(made_here) / f"{chosen.stacked} x {LAYER}")]
            if absent := [str(folder) for folder in models if not (folder / "model.onnx").is_file()]:
                parser.error(f"no model.onnx in {', '.join(absent)}")
            for root in roots:  # compiles the modules, as those of installed packages are
                compile_cost(models[0] / "model.onnx", target, root=root, jobs=chosen.jobs)
            for folder in models:
                figures = [_measured(folder / "model.onnx", target, root, chosen.jobs) for root in roots]
                goal = GOALS.get(folder.name, GOALS[target])
                rows.append((target, folder.name, goal, *(cell for row in figures for cell in row)))
                sys.stderr.write(f"{rows[-1]}\n")
    made = table(rows, chosen.stacked)
    sys.stdout.write(f"{made.markdown()}\n\n")
    made.write_csv()
    if chosen.update:
        made.put()


def table(rows: Sequence[tuple[Cell, ...]], stacked: int | None = None) -> Table:
    """One row per network; figures of the other checkout behind those of this one."""
    columns = [Column("target"), Column("network"), Column("goal, s", ".0f")]
    for suffix in ("", ", before")[: (len(rows[0]) - len(columns)) // 4]:
        columns += [Column(f"{name}{suffix}", ".2f") for name in ("cold, s", "warm, s", "again, s")]
        columns.append(Column(f"cycles{suffix}", ",d"))
    options = " --beside CHECKOUT" if len(columns) > 7 else ""
    options += " [--full DIR]" if stacked is None else f" --stacked {stacked}"
    about = f"*processor seconds, modelled cycles, `python -m benchmarks.compile_time{options}`*"
    return Table("compile-time" if stacked is None else "compile-time-stacked", about, tuple(columns), tuple(rows))


def _measured(model: Path, target: str, root: Path | None, jobs: int) -> tuple[Cell, ...]:
    """Seconds without a cache, with that of an earlier compilation, and of the command that it is the second time; and
    cycles, None if this match refuses the model."""
    with tempfile.TemporaryDirectory() as folder:
        out, cache = Path(folder) / "out", Path(folder) / "cache"
        cold = compile_cost(model, target, root=root, output=out, jobs=jobs)
        compile_cost(model, target, root=root, output=out, cache=cache, jobs=jobs)
        warm = compile_cost(model, target, root=root, output=out, cache=cache, jobs=jobs)
        again = [command_seconds(model, target, out, cache, root=root) for _ in range(2)]
        return cold.seconds, warm.seconds, again[-1], cold.cycles or None


if __name__ == "__main__":
    main(sys.argv[1:])
