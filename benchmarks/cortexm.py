"""MLPerf Tiny's networks on emulated Cortex-M cores: instructions, text, constants, RAM and stack, with peers.

``python -m benchmarks.cortexm [NAME ...]`` needs arm-none-eabi-gcc, qemu-system-arm and ../shared/models.
CMSIS-NN's figures are this project's own measurement of commit 99f736a (single rounding, gcc 12.2 -O3, whole networks,
the emulator's instruction counts); its RAM is without input and output.
Instructions beside the model's: ``python -m benchmarks.cortexm_layers``. Instructions are not cycles of
silicon: loads and branches take more than one cycle there.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from match_core.contract.runner import Place, RunResult
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_core.run.compiled_program import run_program

from benchmarks.runs import MODELS, NETWORKS
from benchmarks.tables import Cell, Column, Table

COMMAND = "benchmarks.cortexm"
#: Core -> target, machine of the emulator.
CORES = {"M4": ("stm32l4r5", "mps2-an386"), "M55": ("corstone300", "mps3-an547")}
#: CMSIS-NN: million instructions by core, bytes of RAM.
CMSIS = {
    "resnet8": ({"M4": 29.0, "M55": 4.72}, 49_728),
    "dscnn": ({"M4": 7.41, "M55": 1.74}, 16_000),
    "mobilenetv1_025": ({"M4": 23.3, "M55": 6.30}, 55_296),
    "autoencoder": ({"M4": 0.576, "M55": 0.146}, 256),
}


def run(name: str, target: str, machine: str, plugins: Plugins, preset: str | None = None) -> tuple[RunResult, int]:
    """A network on a machine, and bytes of its arena."""
    folder = MODELS / f"mlperf_{name}_int8_qdq"
    with np.load(folder / "inputs.npz") as archive:
        inputs = {key: archive[key][:2] for key in archive.files}
    runner = next(runner for runner in plugins.runners() if runner.name == "qemu")
    with tempfile.TemporaryDirectory(prefix="match-cortexm-") as work:
        request = CompileRequest(folder / "model.onnx", target, Path(work) / "net", name="net", preset=preset)
        program = compile_model(request, plugins).compilation.program
        place = Place(runner, machine)
        result = run_program(Path(work) / "net", inputs, plugins, place=place)
        twin = run_program(Path(work) / "net", inputs, plugins)
    if any(result.outputs[key].tobytes() != twin.outputs[key].tobytes() for key in twin.outputs):
        sys.exit(f"FAILURE: {name} on {machine}: outputs differ from the twin's")
    return result, program.memory[0].arena_bytes


def table(names: Sequence[str], plugins: Plugins) -> Table:
    """A row for each network and core."""
    rows: list[tuple[Cell, ...]] = []
    for name in names:
        for core, (target, machine) in CORES.items():
            ours, arena = run(name, target, machine, plugins)
            plain, _ = run(name, "host", machine, plugins, "scalar")
            peer, ram = CMSIS[name][0][core], CMSIS[name][1]
            million = ours.cycles_total * 1e-6
            sizes = ours.sizes
            counts = (million, plain.cycles_total * 1e-6, peer, million / peer)
            rows.append((name, core, *counts, arena, ram, sizes["text"], sizes["constants"], sizes["stack"]))
    columns = (
        Column("network"),
        Column("core"),
        Column("ours, M instructions", ".3f"),
        Column("portable C", ".3f"),
        Column("CMSIS-NN", ".3f"),
        Column("ours / CMSIS-NN", ".2f"),
        Column("RAM, bytes", ",d"),
        Column("CMSIS-NN's RAM", ",d"),
        Column("text", ",d"),
        Column("constants", ",d"),
        Column("stack", ",d"),
    )
    return Table("cortexm", f"*emulated, gcc -O3, `python -m {COMMAND}`*", columns, tuple(rows))


def main(arguments: Sequence[str]) -> int:
    """Print a table, write CSV."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NETWORKS)}; default: all")
    parser.add_argument("--update", action="store_true", help="put the table into docs/deploy-cortexm.md")
    options = parser.parse_args(arguments)
    if not MODELS.is_dir():
        parser.exit(1, f"the networks are not on this machine: there is no {MODELS}\n")
    plugins = Plugins.load()
    made = table(options.names or NETWORKS, plugins)
    made.write_csv()
    sys.stdout.write(f"{made.markdown()}\n")
    if options.update:
        made.put(Path(__file__).resolve().parents[1] / "docs" / "deploy-cortexm.md")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
