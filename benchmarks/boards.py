"""Networks below 1 MB on emulated boards: whether they compute the integer graph (floats: within their bound), and how
many instructions an inference takes. Cortex-M cores run the kernels of match-cortexm, RISC-V the host's.

``make test-boards``, or ``python -m benchmarks.boards [NAME ...]``. Exit code 1 if an output is wrong. ``--layers``
adds the networks of a single layer.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from match_core.contract.errors import MatchError
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_core.run.compiled_program import run_program
from match_verify.float_bounds import float_bounds
from match_verify.outputs import compare_output
from match_verify.places import place_at
from match_verify.verify import reference_outputs
from numpy.typing import NDArray

from benchmarks.cortexm_boards import CORES, made_board
from benchmarks.runs import MODELS, told
from benchmarks.tables import Cell, Column, Table

COMMAND = "benchmarks.boards"
#: Heading -> target or the text of a board, machine, preset.
BOARDS = {
    "M4": (made_board("cortex_m4"), CORES["cortex_m4"][1], None),
    "M55": (made_board("cortex_m55"), CORES["cortex_m55"][1], None),
    "RV32": ("host", "virt32", "scalar"),
}
SAMPLES, MOST_BYTES = 2, 1_000_000


@dataclass(frozen=True, slots=True)
class Run:
    """A network on a board. ``wrong``: outputs that are not those of the integer graph, or the error's code."""

    name: str
    board: str
    instructions: int
    wrong: str
    equal_bits: bool


def networks(parts: Sequence[str], layers: bool) -> list[Path]:
    """Folders of models whose tensors are int8 or float32; float16 if their names are asked for."""
    found = []
    for folder in sorted(MODELS.iterdir()):
        model = folder / "model.onnx"
        if not model.is_file() or model.stat().st_size >= MOST_BYTES:
            continue
        if folder.name.endswith("_f16") and not parts:
            continue
        named = not parts or any(part in folder.name for part in parts)
        if named and (layers or parts or not folder.name.startswith("micro_")):
            found.append(folder)
    return found


def measure(folder: Path, plugins: Plugins) -> Iterator[Run]:
    """A network on all boards; every board computes the same bits."""
    with np.load(folder / "inputs.npz") as archive:
        inputs = {key: archive[key][:SAMPLES] for key in archive.files}
    first: dict[str, bytes] = {}
    for board in BOARDS:
        try:
            count, wrong, bits = run(folder / "model.onnx", board, inputs, plugins)
        except MatchError as error:
            told(str(error))
            yield Run(folder.name, board, 0, error.code, False)
            continue
        first = first or bits
        yield Run(folder.name, board, count, wrong, bits == first)


def run(
    model: Path, board: str, inputs: dict[str, NDArray[np.generic]], plugins: Plugins
) -> tuple[int, str, dict[str, bytes]]:
    """Instructions of the first sample on a board, names of wrong outputs, and the outputs' bytes."""
    target, machine, preset = BOARDS[board]
    with tempfile.TemporaryDirectory(prefix="match-boards-") as work:
        if "\n" in target:
            file = Path(work) / "board.toml"
            file.write_text(target, encoding="utf-8")
            target = str(file)
        program = Path(work) / "net"
        request = CompileRequest(model, target, program, name="net", preset=preset, cache=False)
        compiled = compile_model(request, plugins).compilation
        result = run_program(program, inputs, plugins, place=place_at(f"qemu:{machine}", {}, plugins))
    outputs, expected = result.outputs, reference_outputs(compiled.model, inputs, len(next(iter(inputs.values()))))
    bounds = float_bounds(compiled.model.graph, compiled.program)
    checks = [compare_output(n, outputs[n], expected[n], expected[n], b) for n, b in bounds.items()]
    wrong = ", ".join(check.name for check in checks if not check.within_bound)
    return result.cycles_total, wrong, {name: values.tobytes() for name, values in outputs.items()}


def table(runs: Sequence[Run]) -> Table:
    """A row for each network."""
    rows: list[tuple[Cell, ...]] = []
    for name in dict.fromkeys(run.name for run in runs):
        own = {run.board: run for run in runs if run.name == name}
        failed = [f"{board}: {run.wrong or 'other bits'}" for board, run in own.items() if not _right(run)]
        counts = [own[board].instructions * 1e-6 if own[board].instructions else None for board in BOARDS]
        rows.append((name, *counts, "; ".join(failed) or "yes"))
    columns = [Column("network"), *(Column(f"{board}: million instructions", ".3f") for board in BOARDS)]
    about = f"*gcc -O3, `python -m {COMMAND}`*"
    return Table("boards", about, (*columns, Column("computes the integer graph, equal bits")), tuple(rows))


def _right(run: Run) -> bool:
    return not run.wrong and run.equal_bits


def main(arguments: Sequence[str]) -> int:
    """Print the table, write CSV."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="part of a network's name; default: all")
    parser.add_argument("--layers", action="store_true", help="networks of a single layer too")
    parser.add_argument("--update", action="store_true", help="put the table into the page; takes no names")
    options = parser.parse_args(arguments)
    if options.update and (options.names or options.layers):
        parser.error("--update takes no other option")
    if not MODELS.is_dir():
        told(f"the networks are not on this machine: there is no {MODELS}")
        return 0
    runs: list[Run] = []
    plugins = Plugins.load()
    for folder in networks(options.names, options.layers):
        runs += measure(folder, plugins)
        counts = ", ".join(f"{run.board} {run.instructions:,}" for run in runs[-len(BOARDS) :])
        told(f"{folder.name}: {counts}{'' if all(map(_right, runs[-len(BOARDS) :])) else ' WRONG'}")
    made = table(runs)
    made.write_csv()
    sys.stdout.write(f"{made.markdown()}\n")
    if options.update:
        made.put()
    return 0 if all(map(_right, runs)) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
