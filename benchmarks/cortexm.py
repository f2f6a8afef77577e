"""MLPerf Tiny's networks on emulated Cortex-M cores: instructions, text, constants, RAM and stack, with peers.

``python -m benchmarks.cortexm [NAME ...]`` needs arm-none-eabi-gcc, qemu-system-arm and ../shared/models;
for emx-onnx-cgen ``make build/emx/.stamp``, for CMSIS-NN its folder in CMSIS_NN_DIR. Programs that are not there are
left out. All programs run in one application, built with gcc -O3. Instructions beside the model's: ``python -m
benchmarks.cortexm_layers``. Instructions are not cycles of silicon: loads and branches take more than one cycle there.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from match_core.contract.errors import ToolError
from match_core.contract.runner import Place, RunResult
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_core.run.compiled_program import run_program

from benchmarks.cortexm_peers import CMSIS, EMX_CGEN, EMX_STACK_BYTES, OURS, PORTABLE, measure, missing
from benchmarks.runs import MODELS, NETWORKS, told
from benchmarks.tables import Cell, Column, Table

COMMAND = "benchmarks.cortexm"
#: Core -> target, machine of the emulator.
CORES = {"M4": ("stm32l4r5", "mps2-an386"), "M55": ("corstone300", "mps3-an547")}
#: Samples whose outputs are compared.
SAMPLES = 5
#: CMSIS-NN alone, whole networks, by an application written by hand (commit 99f736a, single rounding, gcc 12.2 -O3,
#: counts of the same emulator): million instructions by core, bytes of RAM without input and output.
ALONE = "CMSIS-NN alone"
CMSIS_ALONE = {
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
    """A row for each network, core and program."""
    rows: list[tuple[Cell, ...]] = []
    absent = missing()
    for program, why in absent.items():
        told(f"without {program}: {why}")
    for name in names:
        folder = MODELS / f"mlperf_{name}_int8_qdq"
        with np.load(folder / "inputs.npz") as archive:
            inputs = {key: archive[key][:SAMPLES] for key in archive.files}
        for core, (target, machine) in CORES.items():
            ours = 0.0
            for program in (OURS, PORTABLE, EMX_CGEN, CMSIS):
                if program in absent:
                    continue
                with tempfile.TemporaryDirectory(prefix="match-cortexm-") as work:
                    path = Path(work) / "net"
                    try:
                        found = measure(program, folder / "model.onnx", target, machine, inputs, path, plugins)
                    except ToolError as error:
                        if program != EMX_CGEN:
                            raise
                        told(f"{name} {core} {program}: {error}")
                        note = f"stack above {EMX_STACK_BYTES[machine] >> 10:,} KiB"
                        rows.append((name, core, program, *[None] * 6, "none", note))
                        continue
                count, sizes = found.result.cycles_total * 1e-6, found.result.sizes
                ours = ours or count
                bits = f"{found.differing:,} of {found.outputs:,} differ" if found.differing else "bit exact"
                memory = (sizes["text"], sizes["constants"], found.ram_bytes, sizes["stack"])
                rows.append((name, core, program, count, ours / count, *memory, bits, found.note))
                told(f"{name} {core} {program}: {count:.3f} million instructions, {bits} {found.note}")
            counts, ram = CMSIS_ALONE[name]
            rows.append((name, core, ALONE, counts[core], ours / counts[core], None, None, ram, None, "-", ""))
    columns = (
        Column("network"),
        Column("core"),
        Column("program"),
        Column("M instructions", ".3f"),
        Column("ours / it", ".2f"),
        Column("text", ",d"),
        Column("constants", ",d"),
        Column("RAM", ",d"),
        Column("stack", ",d"),
        Column("outputs"),
        Column("note"),
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
