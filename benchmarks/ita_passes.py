"""What each pass for ITA changes in the results of an encoder, in ONNX Runtime.

Per network and pass: cosine similarity of the graph's output before and after the pass. Then the distance of the whole
integer graph to the quantised model and to the float model it was made of, with ITA's softmax and with an integer
softmax on the cores. Programs compute these graphs bit for bit. Networks and inputs are the stored ones, first sample;
``--full DIR``: those at full size (see benchmarks.transformers).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from match_core import Model, PassContext
from match_core.contract.passes import Phase
from match_core.load.load import load_model
from match_core.passes.order import order_passes
from match_core.passes.pipeline import run_passes
from match_core.plugin.facade import Plugins
from match_verify.reference import Arrays, ReferenceRunner

from benchmarks.runs import MODELS, told
from benchmarks.tables import ROOT, Column, Table
from benchmarks.transformer_runs import Reals, stored_results
from benchmarks.transformers import FULL, cosine
from tests.all_passes import core_passes

NETWORKS = (
    "ita_mobilebert_l1_int8_qdq",
    "ita_mobilebert_l1_int8_pc_qdq",
    "ita_dinov2_l1_int8_qdq",
    "ita_whisper_l1_int8_qdq",
    "mobilebert_l1_int8_qdq",
    "dinov2_small_l1_int8_qdq",
    "whisper_tiny_l1_int8_qdq",
)
COMMAND = "benchmarks.ita_passes"
PAGE = ROOT / "docs" / "ita.md"
SOFTMAX = "ita_softmax"


@dataclass(frozen=True, slots=True)
class Lowered:
    """Similarity of the results before and after each pass that changes them, by name, and the result behind all."""

    effects: dict[str, float]
    result: Reals


def lowered(model: Model, feeds: Arrays, context: PassContext, plugins: Plugins, *without: str) -> Lowered:
    """Run the passes for ITA one by one on the integer graph."""
    passes = order_passes((*core_passes(context.soc, context.units), *plugins.transforms(context.soc)))
    graph = run_passes(model, [item for item in passes if item.phase < Phase.TARGET], context)
    result, effects = _result(graph, feeds), {}
    for item in passes:
        if item.phase is Phase.TARGET and item.name not in without:
            graph = run_passes(graph, [item], context)
            after = _result(graph, feeds)
            if not np.array_equal(result, after):
                effects[item.name] = cosine(result, after)
            result = after
    return Lowered(effects, result)


def _result(graph: Model, feeds: Arrays) -> Reals:
    (output,) = ReferenceRunner(graph).run(feeds).values()
    return np.asarray(output, np.float64)


def tables(folders: Sequence[Path], plugins: Plugins) -> tuple[Table, Table]:
    """Effects of single passes; distances of the whole."""
    soc = plugins.soc("ita")
    context = PassContext(soc, tuple(plugins.units_of(soc)))
    single: list[dict[str, float]] = []
    whole: list[tuple[str | float, ...]] = []
    for folder in folders:
        model = load_model(folder / "model.onnx")
        with np.load(folder / "inputs.npz") as archive:
            feeds = {key: archive[key][0] for key in archive.files}
        quantised, real = stored_results(folder)
        itamax = lowered(model, feeds, context, plugins)
        cores = lowered(model, feeds, context, plugins, SOFTMAX)
        single.append({**itamax.effects, "ita_attention": cores.effects["ita_attention"]})
        results = (itamax.result, cores.result)
        distances = (*(cosine(r, quantised) for r in results), *(cosine(r, real) for r in (*results, quantised)))
        whole.append((_short(folder), *distances))
        told(f"{folder.name}: done")
    names = [item.name for item in order_passes(plugins.transforms(soc)) if any(item.name in one for one in single)]
    rows = tuple((_short(f), *(one.get(name) for name in names)) for f, one in zip(folders, single, strict=True))
    about = f"*first sample, `python -m {COMMAND}`*"
    columns = (Column("network"), *(Column(f"`{name}`", ".5f") for name in names))
    headings = (
        "ITAMax, to quantised",
        "softmax on the cores, to quantised",
        "ITAMax, to float",
        "softmax on the cores, to float",
        "quantised, to float",
    )
    ends = (Column("network"), *(Column(heading, ".5f") for heading in headings))
    return Table("ita-passes", about, columns, rows), Table("ita-distances", about, ends, tuple(whole))


def _short(folder: Path) -> str:
    return folder.name.removesuffix("_qdq")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--network", action="append", help="only these; may be repeated")
    parser.add_argument("--full", type=Path, metavar="DIR", help="the full networks in this folder")
    parser.add_argument("--update", action="store_true", help=f"put the tables into {PAGE.relative_to(ROOT)}")
    options = parser.parse_args(sys.argv[1:] if arguments is None else arguments)
    base, names = (options.full, FULL) if options.full else (MODELS, NETWORKS)
    folders = [base / name for name in names if not options.network or name in options.network]
    if not folders or not all((folder / "model.onnx").is_file() for folder in folders):
        parser.exit(1, f"the networks are not on this machine: not all of {', '.join(names)} are in {base}\n")
    for table in tables(folders, Plugins.load()):
        shown = table
        if options.full:
            command = f"`python -m {COMMAND} --full DIR`"
            shown = replace(table, name=f"{table.name}-full", about=f"*first sample, {command}*")
        shown.write_csv()
        sys.stdout.write(f"{shown.markdown()}\n\n")
        if options.update and shown.is_in(PAGE):
            shown.put(PAGE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
