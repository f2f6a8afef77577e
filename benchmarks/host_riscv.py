"""The emitted C for the host on bare RISC-V harts of QEMU, of 64 and of 32 bits: the outputs are those of x86 bit for
bit, and so many instructions are retired for an inference.

``make bench-riscv``. gcc of Debian and picolibc, contraction off; host_vectors.py does the same with vectors. Exit code
1 where outputs are not equal.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from match_core.contract.runner import Place, Runner
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_core.run.compiled_program import run_program
from match_qemu.emulator import run_emulated
from numpy.typing import NDArray

from benchmarks import host_vectors
from benchmarks.host_builds import Sizes
from benchmarks.host_measure import macs_of
from benchmarks.runs import MODELS, NETWORKS, told
from benchmarks.tables import Cell, Column, Table

COMMAND = "benchmarks.host_riscv"
MODEL_NAMES = tuple(f"mlperf_{network}_{form}" for form in ("int8_qdq", "f32") for network in NETWORKS)
WIDTHS = (64, 32)
PROCESSORS = {64: "rv64imafdc", 32: "rv32imafc"}
LEVELS = ("-O3", "-Os")
#: The host's description: harts without vectors.
PRESET = "scalar"
#: Of the stored ones.
SAMPLES = 2

Arrays = Mapping[str, NDArray[np.generic]]


@dataclass(frozen=True, slots=True)
class Run:
    """A network built with a level of optimisation. ``instructions``: of the first sample; ``wrong``: outputs that are
    not those of x86."""

    name: str
    width: int
    level: str
    instructions: int
    sizes: Sizes
    wrong: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Network:
    """A compiled network with samples and what x86 makes of them."""

    name: str
    program: Path
    inputs: Arrays
    expected: Arrays


def network(name: str, work: Path, plugins: Plugins) -> Network:
    """One of ../shared/models."""
    program = work / name
    request = CompileRequest(MODELS / name / "model.onnx", "host", program, name="net", preset=PRESET, cache=False)
    compile_model(request, plugins)
    with np.load(MODELS / name / "inputs.npz") as archive:
        inputs = {key: archive[key][-SAMPLES:] for key in archive.files}
    return Network(name, program, inputs, run_program(program, inputs, plugins).outputs)


def measure(network: Network, widths: Sequence[int] = WIDTHS) -> list[Run]:
    """A network with all widths and levels."""
    return [run_once(network, width, level) for width in widths for level in LEVELS]


def run_once(network: Network, width: int, level: str) -> Run:
    """A compiled program on one hart."""
    runner = Runner("qemu", "", partial(run_emulated, flags=(level,)))
    result = run_program(network.program, network.inputs, Plugins.load(), place=Place(runner, f"virt{width}"))
    sizes = Sizes(result.sizes["text"], result.sizes["constants"], result.sizes["data"])
    outputs, expected = result.outputs, network.expected
    wrong = tuple(n for n in expected if n not in outputs or outputs[n].tobytes() != expected[n].tobytes())
    return Run(network.name, width, level, result.cycles_total, sizes, wrong)


def table(runs: Sequence[Run]) -> Table:
    """A row for each network and width."""
    rows: list[tuple[Cell, ...]] = []
    for name, width in dict.fromkeys((r.name, r.width) for r in runs):
        fast, small = ({r.level: r for r in runs if (r.name, r.width) == (name, width)}[level] for level in LEVELS)
        macs = macs_of(MODELS / name)
        row: list[Cell] = [name, f"RV{width}"]
        for one in (fast, small):
            row += [one.instructions * 1e-6, one.instructions / macs if macs else None]
        row += [small.sizes.text_bytes, small.sizes.constant_bytes, "NO" if fast.wrong or small.wrong else "yes"]
        rows.append(tuple(row))
    columns = [Column("network"), Column("hart")]
    for level in LEVELS:
        columns += [Column(f"{level}: million instructions", ".3f"), Column("per MAC", ".2f")]
    columns += [Column("-Os: text, bytes", ",d"), Column("constants, bytes", ",d"), Column("outputs as on x86")]
    flags = " and ".join(f"-march={PROCESSORS[width]}" for width in WIDTHS)
    return Table("host-riscv", f"*preset {PRESET}, gcc {flags}, `python -m {COMMAND}`*", tuple(columns), tuple(rows))


def main(arguments: Sequence[str]) -> int:
    """Print the table, write CSV."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="NAME", help="part of a network's name; default: all of the table")
    parser.add_argument("--update", action="store_true", help="put the table into the page; takes no other option")
    options = parser.parse_args(arguments)
    if options.update and options.models:
        parser.error("--update takes no other option")
    if not MODELS.is_dir():
        parser.exit(1, f"the networks are not on this machine: there is no {MODELS}\n")
    runs: list[Run] = []
    with_vectors: list[host_vectors.VectorRun] = []
    plugins = Plugins.load()
    if not host_vectors.available():
        told("without vectors: qemu-riscv64 or build/zig is not there (make bench-riscv)")
    with tempfile.TemporaryDirectory(prefix="match-host-") as work:
        for name in MODEL_NAMES:
            if not options.models or any(part in name for part in options.models):
                one = network(name, Path(work), plugins)
                runs += measure(one)
                if host_vectors.available():
                    with tempfile.TemporaryDirectory(prefix="match-vectors-") as folder:
                        with_vectors.append(host_vectors.measure(name, one.inputs, one.expected, Path(folder)))
                told(f"{name}: {', '.join(f'RV{r.width} {r.level} {r.instructions:,}' for r in runs[-4:])}")
    for made in (table(runs), *([host_vectors.table(with_vectors, COMMAND)] if with_vectors else [])):
        made.write_csv()
        sys.stdout.write(f"{made.markdown()}\n\n")
        if options.update:
            made.put()
    faults = [f"FAILURE: {r.name}, RV{r.width}, {r.level}: {', '.join(r.wrong)}" for r in runs if r.wrong]
    faults += [f"FAILURE: {v.name}, vectors: {', '.join(v.wrong)}" for v in with_vectors if v.wrong]
    sys.stdout.write("".join(f"{fault}\n" for fault in faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
