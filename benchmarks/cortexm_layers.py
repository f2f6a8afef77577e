"""Instructions of each layer on emulated Cortex-M cores beside the model's, for networks that were not used to fit it.

``python -m benchmarks.cortexm_layers [--core CORE] [--all] [NAME ...]`` needs arm-none-eabi-gcc and qemu-system-arm.
The networks are those of ../shared/models, and ``made``: layers that cortexm_made.py makes from another seed than the
fit's. ``--all`` prints all layers, not only the ten worst. Writes a CSV file.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from match_core.plugin.facade import Plugins
from match_cortexm.figures import LIKE

from benchmarks.cortexm_counts import CORES, Layer, layers_of, made_layers
from benchmarks.runs import MODELS
from benchmarks.tables import Cell, Column, Table

COMMAND = "benchmarks.cortexm_layers"
#: Sets of networks that fit all boards, and the layers that are made.
SETS = {
    "int8": (
        *(f"mlperf_{name}_int8_qdq" for name in ("resnet8", "dscnn", "mobilenetv1_025", "autoencoder")),
        *(f"mlperf_{name}_int8_int" for name in ("resnet8", "dscnn", "autoencoder", "streaming_wakeword")),
        "mlperf_resnet8_int8_qop",
        "mlperf_streaming_wakeword_int8_qdq",
        *(f"micro_conv_{name}_qdq" for name in ("std_16x16_c16_relu_u8", "dw_16x16_c16_relu_u8", "std_8x8_c64")),
        "ita_mobilebert_l1_int8_qdq",
    ),
    "float32": ("mlperf_resnet8_f32", "mlperf_dscnn_f32", "mlperf_mobilenetv1_025_f32", "transformer_enc128_f32"),
    "made": ("made",),
}
#: Of made layers; the figures come from another seed.
SEED = 1
Row = tuple[str, str, Layer]


def _layers(name: str, core: str, plugins: Plugins) -> list[Layer]:
    if name == "made":
        return made_layers(core, SEED, 1, plugins)
    folder = MODELS / name
    with np.load(folder / "inputs.npz") as archive:
        inputs = {key: archive[key][:1] for key in archive.files}
    return layers_of(folder / "model.onnx", inputs, core, plugins)


def rows_of(names: Sequence[str], cores: Sequence[str], plugins: Plugins) -> Iterator[Row]:
    """Core, network and layer."""
    for core in cores:
        for name in names:
            for layer in _layers(name, core, plugins):
                yield core, name, layer


def error(layer: Layer) -> float:
    """The model's difference in percent."""
    return 100 * (layer.modelled / layer.counted - 1)


def table(rows: Sequence[Row]) -> Table:
    """Every layer."""
    cells: list[tuple[Cell, ...]] = [
        (core, name, layer.title, layer.keys[0], layer.counted, layer.modelled, error(layer))
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
    )
    return Table("cortexm-layers", f"*emulated, gcc -O3, `python -m {COMMAND}`*", columns, tuple(cells))


def summary(rows: Sequence[Row]) -> Table:
    """Errors by core and set of networks."""
    cells: list[tuple[Cell, ...]] = []
    for core in dict.fromkeys(core for core, _, _ in rows):
        for kind, names in SETS.items():
            errors = [abs(error(layer)) for place, name, layer in rows if place == core and name in names]
            if errors:
                over = sum(value > 20 for value in errors)
                cells.append((core, kind, len(errors), float(np.median(errors)), max(errors), over))
    columns = (
        Column("core"),
        Column("networks"),
        Column("layers", ",d"),
        Column("median, %", ".1f"),
        Column("worst, %", ".1f"),
        Column("over 20 %", ",d"),
    )
    return Table("cortexm-model", f"*emulated, gcc -O3, `python -m {COMMAND} --update`*", columns, tuple(cells))


def main(arguments: Sequence[str]) -> int:
    """Print the tables, write CSV."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [name for group in SETS.values() for name in group]
    parser.add_argument("names", nargs="*", metavar="NAME", help="folders of ../shared/models, or made; default: all")
    parser.add_argument("--core", action="append", choices=list(CORES), help="default: those with figures")
    parser.add_argument("--all", action="store_true", help="print all layers")
    parser.add_argument("--update", action="store_true", help="put the summary into docs/deploy-cortexm.md")
    options = parser.parse_args(arguments)
    if not MODELS.is_dir() and options.names != ["made"]:
        parser.exit(1, f"the networks are not on this machine: there is no {MODELS}\n")
    cores, page = options.core or [core for core in CORES if core not in LIKE], "deploy-cortexm.md"
    rows = list(rows_of(options.names or names, cores, Plugins.load()))
    table(rows).write_csv()
    worst = rows if options.all else sorted(rows, key=lambda row: -abs(error(row[2])))[:10]
    sys.stdout.write(f"{table(worst).markdown()}\n\n{summary(rows).markdown()}\n")
    if options.update:
        summary(rows).put(Path(__file__).resolve().parents[1] / "docs" / page)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
