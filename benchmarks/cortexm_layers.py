"""Instructions of each layer on emulated Cortex-M cores beside the model's, for networks that were not used to fit it.

``python -m benchmarks.cortexm_layers [--core CORE] [--all] [NAME ...]`` needs arm-none-eabi-gcc and qemu-system-arm.
The networks are those of ../shared/models, and ``made``: layers that cortexm_made.py makes from another seed than the
fit's. A name may be that of a set of networks, too (cortexm_sets.py). ``--all`` prints all layers, not only the ten
worst. ``--update`` replaces the rows of the sets that were counted on a page of the documentation. Writes a CSV file.
On cores without an FPU, float32 layers take fewer instructions for numbers that are 0: the mean of the stored samples,
five at most, is printed beside the model with the shares of zeros that ``match compile`` expects, and with theirs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import numpy as np
import onnx
from match_cortexm.cores import CORE_NAMED
from match_cortexm.figures import GENERAL, LIKE, estimate_of, figures_of
from numpy.typing import NDArray
from onnx import helper

from benchmarks.cortexm_counts import CORES, Layer, in_processes, layers_of, layers_of_model, made_layers
from benchmarks.cortexm_sets import BUILT, LONG, SETS, STORED
from benchmarks.runs import MODELS
from benchmarks.tables import Cell, Column, Table

COMMAND = "benchmarks.cortexm_layers"
#: Of made layers; the figures come from another seed.
SEED, MADE = 1, "made"
#: Samples of stored networks that are counted where instructions depend on the numbers.
SAMPLES = 5
#: What has a row of the summary: the sets, and the stored networks of all.
SHOWN = {**SETS, **STORED}
Row = tuple[str, str, Layer]


def _layers(core: str, name: str) -> list[Layer]:
    if name in BUILT:
        return _of(BUILT[name](), (), core)
    if name.startswith("quantlib/"):  # one sample, whose arrays have other names than the network's inputs
        folder = MODELS.parent / "data" / name
        with np.load(folder / "inputs.npz") as archive:
            return _of(onnx.load(folder / "network.onnx"), [archive[key] for key in archive.files], core)
    folder, most = MODELS / name, SAMPLES if "f32" in name and not CORE_NAMED[core].fpu else 1
    with np.load(folder / "inputs.npz") as archive:
        arrays = {key: archive[key][:most] for key in archive.files}
    places = range(min(len(array) for array in arrays.values()))
    samples = ({key: array[[place]] for key, array in arrays.items()} for place in places)
    counted = [layers_of(folder / "model.onnx", sample, core) for sample in samples]
    return [mean(layers) for layers in zip(*counted, strict=True)]


def mean(layers: Sequence[Layer]) -> Layer:
    """A layer whose instructions differ between samples."""
    counted, informed, zeros = (
        np.mean([getattr(layer, name) for layer in layers]) for name in ("counted", "informed", "zeros")
    )
    return replace(layers[0], counted=round(counted), informed=round(informed), zeros=float(zeros))


def _of(model: onnx.ModelProto, sample: Sequence[NDArray[np.generic]], core: str) -> list[Layer]:
    """The layers of a network; inputs of which ``sample`` has none are random numbers."""
    rng = np.random.default_rng(SEED)
    inputs: dict[str, NDArray[np.generic]] = {}
    for place, value in enumerate(model.graph.input):
        kind = value.type.tensor_type
        dtype, sizes = helper.tensor_dtype_to_np_dtype(kind.elem_type), [axis.dim_value for axis in kind.shape.dim]
        numbers = rng.integers(0, 128, (1, *sizes)) if dtype.kind in "iu" else rng.normal(0, 1, (1, *sizes))
        inputs[value.name] = (sample[place].reshape(1, *sizes) if sample else numbers).astype(dtype)
    return layers_of_model(core, (model, inputs))


def rows_of(names: Sequence[str], cores: Sequence[str]) -> Iterator[Row]:
    """Core, network and layer."""
    for core in cores:
        stored = [name for name in names if name != MADE and (CORE_NAMED[core].fpu or name not in LONG)]
        for name, layers in zip(stored, in_processes(partial(_layers, core), stored), strict=True):
            yield from ((core, name, layer) for layer in layers)
        if MADE in names:
            yield from ((core, MADE, layer) for layer in made_layers(core, SEED, 1))


def error(layer: Layer, informed: bool = False) -> float:
    """The model's difference in percent; ``informed``: with the sample's share of zeros."""
    return 100 * ((layer.informed if informed else layer.modelled) / layer.counted - 1)


_figures = cache(figures_of)


def figures_key(core: str, layer: Layer) -> str:
    """The figures that a layer has."""
    return next((key for key in layer.keys if key in _figures(core)), GENERAL)


def guessed(core: str, layer: Layer) -> bool:
    """Whether these are an estimate, as too few made layers have the layer's form."""
    return bool(estimate_of(core, layer.keys, figures_key(core, layer)))


def _known(layer: Layer) -> tuple[float, float]:
    return 100 * layer.zeros, error(layer, informed=True)


def table(rows: Sequence[Row]) -> Table:
    """Every layer."""
    cells: list[tuple[Cell, ...]] = [
        (core, name, layer.title, figures_key(core, layer), layer.counted, layer.modelled, error(layer), *_known(layer))
        for core, name, layer in rows
    ]
    columns = (
        Column("core"),
        Column("network"),
        Column("layer"),
        Column("figures"),
        Column("instructions", ",d"),
        Column("modelled", ",d"),
        Column("difference, %", "+.1f"),
        Column("zeros, %", ".0f"),
        Column("difference with them, %", "+.1f"),
    )
    return Table("cortexm-layers", f"*emulated, gcc -O3, `python -m {COMMAND}`*", columns, tuple(cells))


def summary(rows: Sequence[Row]) -> Table:
    """Errors by core and set of networks."""
    cells: list[tuple[Cell, ...]] = []
    for core in dict.fromkeys(core for core, _, _ in rows):
        for kind, names in SHOWN.items():
            layers = [layer for place, name, layer in rows if place == core and name in names]
            known = any(layer.informed != layer.modelled for layer in layers)
            for informed in (False, True) if known else (False,) if layers else ():
                errors = [abs(error(layer, informed)) for layer in layers]
                over, title = [value > 20 for value in errors], f"{kind}, zeros known" if informed else kind
                guesses = [guessed(core, layer) for layer in layers]
                both = sum(one and other for one, other in zip(over, guesses, strict=True))
                found = len(errors), float(np.median(errors)), max(errors), sum(over), sum(guesses), both
                cells.append((core, title, *found))
    columns = (
        Column("core"),
        Column("networks"),
        Column("layers", ",d"),
        Column("median, %", ".1f"),
        Column("worst, %", ".1f"),
        Column("over 20 %", ",d"),
        Column("estimates", ",d"),
        Column("of these over 20 %", ",d"),
    )
    return Table("cortexm-model", f"*emulated, gcc -O3, `python -m {COMMAND} --update`*", columns, tuple(cells))


def main(arguments: Sequence[str]) -> int:
    """Print the tables, write CSV."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [name for group in SETS.values() for name in group]
    parser.add_argument("names", nargs="*", metavar="NAME", help="networks or sets of these; default: all")
    parser.add_argument("--core", action="append", choices=list(CORES), help="default: those with figures")
    parser.add_argument("--all", action="store_true", help="print all layers")
    parser.add_argument("--update", action="store_true", help="put what was counted into docs/deploy-cortexm.md")
    options = parser.parse_args(arguments)
    if not MODELS.is_dir() and options.names != [MADE]:
        parser.exit(1, f"the networks are not on this machine: there is no {MODELS}\n")
    cores, page = options.core or [core for core in CORES if core not in LIKE], "deploy-cortexm.md"
    if options.names:
        names = list(dict.fromkeys(name for given in options.names for name in SHOWN.get(given, (given,))))
    rows = list(rows_of(names, cores))
    table(rows).write_csv()
    worst = rows if options.all else sorted(rows, key=lambda row: -abs(error(row[2], informed=True)))[:10]
    sys.stdout.write(f"{table(worst).markdown()}\n\n{summary(rows).markdown()}\n")
    if options.update:
        path = Path(__file__).resolve().parents[1] / "docs" / page
        merged(whole(summary(rows), names), path).put(path)
    return 0


def whole(found: Table, names: Sequence[str]) -> Table:
    """The rows of sets of which all networks were counted."""
    kinds = {kind for kind, members in SHOWN.items() if set(members) <= set(names)}
    return replace(found, rows=tuple(row for row in found.rows if str(row[1]).removesuffix(", zeros known") in kinds))


def merged(found: Table, page: Path) -> Table:
    """The table with those rows of a page that were not counted now."""
    every = [title for kind in SHOWN for title in (kind, f"{kind}, zeros known")]
    shown = [line.strip("| ").split(" | ") for line in found.shown(page).splitlines() if line.startswith("| cortex")]
    rows: dict[tuple[str, str], tuple[Cell, ...]] = {}
    for core, title, *numbers in shown:
        count, median, worst, *others = (number.replace(",", "") for number in numbers)
        rows[core, title] = (core, title, int(count), float(median), float(worst), *map(int, others))
    rows |= {(str(row[0]), str(row[1])): row for row in found.rows}
    order = sorted(rows, key=lambda row: (list(CORES).index(row[0]), every.index(row[1])))
    return replace(found, rows=tuple(rows[key] for key in order))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
