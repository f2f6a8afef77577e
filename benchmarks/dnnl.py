"""Regions on oneDNN against the host unit and ONNX Runtime on this machine: what goes to oneDNN, in how many regions
with and without the choice by cost, and milliseconds of an inference, measured in turns in one process with one thread.

``python -m benchmarks.dnnl NAME...`` takes parts of the networks' names; ``--update`` writes the tables into
plugins/match-dnnl/README.md. Exit code 1 where outputs are far from ONNX Runtime's.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from match_core.contract.compilation import Planned
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_core.summary.regions import regions_json
from numpy.typing import NDArray

from benchmarks import dnnl_models
from benchmarks.host_builds import build
from benchmarks.host_measure import FLOAT_BOUND, Runtime, Subject, Times, times_in_turns
from benchmarks.host_programs import CProgram, Ends, Tensor, ends, program_in
from benchmarks.runs import MODELS, told
from benchmarks.tables import ROOT, Cell, Column, Table

COMMAND = "benchmarks.dnnl"
PAGE = ROOT / "plugins" / "match-dnnl" / "README.md"
#: Networks of ../shared/models; the others are made.
STORED = (
    "resnet18_cifar10_w16_f32",
    "mlperf_resnet8_f32",
    "mlperf_dscnn_f32",
    "mlperf_mobilenetv1_025_f32",
    "mlperf_autoencoder_f32",
    "transformer_enc128_f32",
)
#: How a model is compiled, by name. On the host both presets for cores with vectors are timed; the faster one counts.
PROGRAMS: Mapping[str, Mapping[str, Any]] = {
    "host": {"target": "host", "preset": "generic"},
    "host avx512": {"target": "host", "preset": "avx512"},
    "largest": {"target": "dnnl", "regions": "largest"},
    "cheapest": {"target": "dnnl", "regions": "cheapest"},
}

Arrays = list[NDArray[np.generic]]


@dataclass(frozen=True, slots=True)
class Offload:
    """What a program gives to oneDNN, of the model as the compiler sees it."""

    regions: int
    found: int
    nodes: int
    nodes_total: int
    macs: int
    macs_total: int


@dataclass(frozen=True, slots=True)
class Row:
    """One network. ``times`` and ``offload`` by program; ``distance``: the largest of all programs' outputs to ONNX
    Runtime's, over the largest value; ``fault``: empty where that is small enough."""

    name: str
    times: Mapping[str, Times]
    offload: Mapping[str, Offload]
    distance: float
    fault: str = ""


def main(arguments: Sequence[str]) -> int:
    """Print the tables, write CSV."""
    os.environ["OMP_NUM_THREADS"] = "1"  # read when a program loads the library
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="NAME", help="part of a network's name; default: all")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each subject and network; default: 2")
    parser.add_argument("--update", action="store_true", help="put the tables into the page; all networks")
    options = parser.parse_args(arguments)
    if options.update and options.models:
        parser.error("--update takes no names")
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="match-dnnl-") as work:
        for name, model in models(options.models, Path(work)):
            rows.append(measure(name, model, Path(work) / name, options.seconds))
            told(f"{name}: {', '.join(f'{who} {1e3 * time.median:.3f} ms' for who, time in rows[-1].times.items())}")
    for table in tables(rows):
        sys.stdout.write(f"{table.markdown()}\n\n")
        table.write_csv()
        if options.update:
            table.put(PAGE)
    faults = [row.fault for row in rows if row.fault]
    sys.stdout.write("".join(f"{fault}\n" for fault in faults))
    return 1 if faults else 0


def models(parts: Sequence[str], work: Path) -> list[tuple[str, Path]]:
    """The networks whose names hold one of the parts, made where they are not stored."""
    found = []
    for name in (*STORED, *dnnl_models.MADE):
        if parts and not any(part in name for part in parts):
            continue
        path = MODELS / name / "model.onnx"
        if name in dnnl_models.MADE:
            path = work / f"{name}.onnx"
            onnx.save(dnnl_models.MADE[name](), str(path))
        if path.is_file():
            found.append((name, path))
        else:
            told(f"left out: there is no {path}")
    return found


def measure(name: str, model: Path, work: Path, seconds: float) -> Row:
    """Compile a network in all ways, build, compare outputs, measure."""
    inputs = [np.ascontiguousarray(array) for array in dnnl_models.sample(onnx.load(str(model))).values()]
    plugins, programs, offload = Plugins.load(), {}, {}
    for how, choices in PROGRAMS.items():
        started = time.perf_counter()
        request = CompileRequest(model=model, output=work / how, name="net", cache=False, **choices)
        compilation = compile_model(request, plugins).compilation
        programs[how] = program_in(work / how, model, time.perf_counter() - started)
        offload[how] = offloaded(compilation)
    about = _with_room(ends(model), programs["host"])
    subjects: dict[tuple[str, str], Subject] = {
        (how, "native"): build(program, "native", work / how / "build").library() for how, program in programs.items()
    }
    runtime = Runtime(model)
    expected = runtime.run(inputs, about)
    distance = max(_distance(subject.run(inputs, about), expected) for subject in subjects.values())
    subjects["onnxruntime", "native"] = runtime
    times = {how: time for (how, _), time in times_in_turns(subjects, inputs, about, seconds).items()}
    fault = "" if distance <= FLOAT_BOUND else f"FAILURE: {name}: outputs are {distance:g} from ONNX Runtime's"
    return Row(name, times, offload, distance, fault)


def _with_room(about: Ends, program: CProgram) -> Ends:
    """Results whose size depends on data have that of the program."""
    shapes = [tuple(output["shape"]) for output in program.document["outputs"]]
    outputs = (Tensor(old.name, shape, old.dtype) for old, shape in zip(about.outputs, shapes, strict=True))
    return Ends(about.inputs, tuple(outputs))


def _distance(outputs: Arrays, expected: Arrays) -> float:
    """The largest over the largest value; integers must be equal, rows that stay free hold -1."""
    worst = 0.0
    for ours, theirs in zip(outputs, expected, strict=True):
        if ours.shape != theirs.shape:
            found = len(theirs)
            if ours.shape[1:] != theirs.shape[1:] or (ours[found:] != -1).any():
                return float("inf")
            ours = ours[:found]
        apart = np.abs(ours.astype(np.float64) - theirs.astype(np.float64))
        if not np.issubdtype(theirs.dtype, np.floating):
            worst = max(worst, 0.0 if not apart.any() else float("inf"))
        elif apart.size:
            worst = max(worst, float(apart.max() / np.abs(theirs).max()))
    return worst


def offloaded(planned: Planned) -> Offload:
    """What a program gives to oneDNN; nothing where no region was found."""
    for row in regions_json(planned):
        totals = (row["nodes"], row["nodes_total"], row["macs"], row["macs_total"])
        return Offload(row["chosen"], row["found"], *totals)
    return Offload(0, 0, 0, 0, 0, 0)


def tables(rows: Sequence[Row]) -> tuple[Table, Table]:
    """What goes to oneDNN, and times."""
    about = f"*one thread, gcc -O3 -march=native, `python -m {COMMAND}`*"
    parts = [Column("network"), Column("operators", "d"), Column("M MACs", ".1f")]
    parts += [Column(f"regions, {how}", "d") for how in ("largest", "cheapest")]
    parts += [Column(f"{what}, {how}", ".1%") for how in ("largest", "cheapest") for what in ("operators", "MACs")]
    times = [Column("network"), *(Column(f"{who}, ms", ".3f") for who in ("host", "largest", "cheapest"))]
    times += [Column("ONNX Runtime, ms", ".3f"), Column("host / cheapest", ".2f"), Column("largest / cheapest", ".2f")]
    times += [Column("cheapest / ONNX Runtime", ".2f"), Column("largest difference", ".0e")]
    return (
        Table("dnnl-offload", f"*`python -m {COMMAND}`*", tuple(parts), tuple(map(_parts, rows))),
        Table("dnnl-times", about, tuple(times), tuple(map(_times, rows))),
    )


def _parts(row: Row) -> tuple[Cell, ...]:
    largest, cheapest = row.offload["largest"], row.offload["cheapest"]
    cells: list[Cell] = [row.name, largest.nodes_total, largest.macs_total / 1e6, largest.regions, cheapest.regions]
    for one in (largest, cheapest):
        cells += [one.nodes / one.nodes_total, one.macs / one.macs_total if one.macs_total else None]
    return tuple(cells)


def _times(row: Row) -> tuple[Cell, ...]:
    median = {who: 1e3 * time.median for who, time in row.times.items()}
    host = min(median["host"], median["host avx512"])
    largest, cheapest, runtime = (median[who] for who in ("largest", "cheapest", "onnxruntime"))
    ratios = (host / cheapest, largest / cheapest, cheapest / runtime)
    return (row.name, host, largest, cheapest, runtime, *ratios, row.distance)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
