"""``python -m ports.qemu_virt PROGRAM --inputs X.npz --outputs Y.npz``: as ``match run``, on three harts of QEMU."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np

from ports.qemu_virt.build import BuildError, Options, build
from ports.qemu_virt.machine import MachineError, run


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m ports.qemu_virt", description=__doc__)
    parser.add_argument("program", type=Path, help="what match compile wrote for carfield or carfield_poll")
    parser.add_argument("--inputs", type=Path, required=True, help="one array per graph input, samples first")
    parser.add_argument("--outputs", type=Path, help="where to write the outputs")
    parser.add_argument("--width", type=int, choices=(32, 64), default=64, help="of the harts' registers")
    parser.add_argument("--samples", type=int, help="only so many of the first")
    parser.add_argument("--work", type=Path, help="where to build; else in a directory that is deleted")
    return parser.parse_args()


def _run(arguments: argparse.Namespace, work: Path) -> int:
    with np.load(arguments.inputs) as archive:
        inputs = {name: archive[name][: arguments.samples] for name in archive.files}
    image = build(arguments.program, inputs, work, Options(width=arguments.width))
    sys.stdout.write("".join(f"{name:<8} {size:>9,} bytes of text\n" for name, size in image.text_bytes.items()))
    result = run(image)
    for index, seconds in enumerate(result.run_seconds):
        sys.stdout.write(f"run {index}    {seconds:9.2f} s\n")
    sys.stdout.write(f"{result.status}\n")
    if arguments.outputs is not None:
        np.savez(arguments.outputs, **result.outputs)
    return 0 if result.status.endswith("_OK") else 1


def main() -> int:
    """Exit status 0 if every run gave its outputs."""
    arguments = _arguments()
    try:
        if arguments.work is not None:
            return _run(arguments, arguments.work)
        with tempfile.TemporaryDirectory() as folder:
            return _run(arguments, Path(folder))
    except (BuildError, MachineError) as error:
        sys.stderr.write(f"{error}\n")
        return 1


if __name__ == "__main__":
    raise SystemExit(main())
