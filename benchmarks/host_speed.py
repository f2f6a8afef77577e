"""The emitted C on this machine beside emx-onnx-cgen's and ONNX Runtime with one thread: time and instructions of an
inference, where the time goes, sizes, stack, and how long compiling takes.

``make bench-host`` installs emx-onnx-cgen into an environment of its own. ``python -m benchmarks.host_speed
NAME...`` takes parts of the networks' names; with ``--quick`` only times of ``-O3 -march=native``, with ``--nodes`` the
time of every node. Exit code 1 where outputs are not the stored ones.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks import host_tables
from benchmarks.host_measure import TIMED, Measured, Wanted, measure
from benchmarks.host_programs import EMX
from benchmarks.runs import MODELS, NETWORKS, told

#: The networks of the tables.
FORMS = ("f32", "int8_qdq", "int8_qop")
MODEL_NAMES = (
    *(f"mlperf_{network}_{form}" for form in FORMS for network in NETWORKS),
    *("resnet18_cifar10_w16_f32", "transformer_enc128_f32"),
)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "models", nargs="*", metavar="NAME", help="part of a network's name; default: all of the tables"
    )
    parser.add_argument("--build", choices=TIMED, action="append", help="may be repeated; default: all")
    parser.add_argument("--seconds", type=float, default=0.5, help="for each subject and network; default: 0.5")
    parser.add_argument("--quick", action="store_true", help="only times of -O3 -march=native")
    parser.add_argument("--nodes", action="store_true", help="the time of every node")
    parser.add_argument("--update", action="store_true", help="put the tables into the page; takes no other option")
    options = parser.parse_args(arguments)
    if options.update and len(arguments) > 1:
        parser.error("--update takes no other option")
    if not MODELS.is_dir():
        parser.exit(1, f"the networks are not on this machine: there is no {MODELS}\n")
    return options


def chosen(parts: Sequence[str]) -> list[str]:
    """The networks whose names hold one of these; any of ../shared/models by its full name."""
    if not parts:
        return list(MODEL_NAMES)
    names = [name for name in MODEL_NAMES if any(part in name for part in parts)]
    return [*names, *(part for part in parts if part not in names and (MODELS / part / "model.onnx").is_file())]


def main(arguments: Sequence[str]) -> int:
    """Print the tables, write CSV."""
    options = _options(arguments)
    names = chosen(options.models)
    if not names:
        told("no network has such a name")
        return 2
    has_emx, counts = EMX.exists(), not options.quick and shutil.which("valgrind") is not None
    if not has_emx:
        told(f"without emx-onnx-cgen: there is no {EMX} (make bench-host)")
    if not counts and not options.quick:
        told("no instructions are counted: valgrind is not installed")
    builds = ("native",) if options.quick else tuple(options.build or TIMED)
    wanted = Wanted(builds, options.seconds, not options.quick, counts, has_emx, kept=options.quick)
    measured: list[Measured] = []
    with tempfile.TemporaryDirectory(prefix="match-host-") as work:
        for name in names:
            measured.append(measure(name, Path(work), wanted))
            told(host_tables.line(measured[-1]))
    tables = host_tables.nodes(measured) if options.nodes else host_tables.tables(measured, wanted)
    for table in tables:
        sys.stdout.write(f"{table.markdown()}\n\n")
        table.write_csv()
        if options.update:
            table.put()
    faults = [fault for one in measured for fault in one.faults]
    sys.stdout.write("".join(f"{text}\n" for one in measured for text in (*one.notes, *one.faults)))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
