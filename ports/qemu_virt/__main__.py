"""``python -m ports.qemu_virt DIR --inputs X.npz``: runs a compiled program on harts of QEMU, as ``match run``
does on the twin."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from match_core.contract.errors import MatchError
from match_core.io.arrays import Samples, TensorSpec, as_sequence, read_arrays, write_arrays
from match_core.run.compiled_program import read_manifest
from numpy.typing import NDArray

from ports.qemu_virt.build import BuildError, Image, Options, build
from ports.qemu_virt.machine import MachineError, Result, run


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m ports.qemu_virt", description=__doc__)
    parser.add_argument(
        "program", type=Path, metavar="DIR", help="what match compile wrote for Carfield or the host alone"
    )
    parser.add_argument("--inputs", type=Path, required=True, metavar="X.npz", help="one array per graph input")
    parser.add_argument("--outputs", type=Path, metavar="Y.npz", help="where to write the outputs")
    parser.add_argument("--expect", type=Path, metavar="Y.npz", help="fail unless the outputs are these, bit for bit")
    parser.add_argument("--width", type=int, choices=(32, 64), default=64, help="bits of the harts' registers")
    parser.add_argument("--counted", action="store_true", help="harts take turns, and instructions are counted")
    parser.add_argument("--work", type=Path, metavar="DIR", help="where to build; else in a place that is deleted")
    return parser.parse_args()


def _samples(program: Path, inputs: Path) -> Samples:
    document = read_manifest(program)
    specs = [TensorSpec(t["name"], tuple(t["shape"]), t["dtype"]) for t in document["inputs"]]
    return as_sequence(read_arrays(inputs, specs), specs, str(inputs), ())


def _report(image: Image, result: Result, counted: bool) -> None:
    for name, size in image.text_bytes.items():
        sys.stdout.write(f"{name:<8} {size:>9,} bytes of text\n")
    for index, seconds in enumerate(result.run_seconds):
        instructions = f" {result.run_instructions[index]:>13,} instructions" if counted else ""
        sys.stdout.write(f"run {index:<4} {seconds:9.2f} s{instructions}\n")
    sys.stdout.write(f"{result.status}\n")


def _differing(outputs: Mapping[str, NDArray[np.generic]], expected: Mapping[str, NDArray[np.generic]]) -> list[str]:
    return [n for n in outputs if n not in expected or outputs[n].tobytes() != expected[n].tobytes()]


def _run(arguments: argparse.Namespace, work: Path) -> int:
    samples = _samples(arguments.program, arguments.inputs)
    image = build(arguments.program, samples.arrays, work, Options(width=arguments.width))
    result = run(image, counted=arguments.counted)
    _report(image, result, arguments.counted)
    if result.exit_status != 0:
        return 1
    outputs = samples.restore(result.outputs)
    if arguments.outputs is not None:
        write_arrays(arguments.outputs, outputs)
    if arguments.expect is None:
        return 0
    differing = _differing(outputs, read_arrays(arguments.expect))
    sys.stdout.write(f"outputs differ: {', '.join(differing)}\n" if differing else "outputs are equal\n")
    return 1 if differing else 0


def main() -> int:
    """Exit status 0 if every run gave its outputs, and the expected ones."""
    arguments = _arguments()
    try:
        if arguments.work is not None:
            return _run(arguments, arguments.work)
        with tempfile.TemporaryDirectory() as folder:
            return _run(arguments, Path(folder))
    except (BuildError, MachineError, MatchError) as error:
        sys.stderr.write(f"{error}\n")
        return 1


if __name__ == "__main__":
    raise SystemExit(main())
