"""Units side by side against one task after another on the best unit each, with the same kernels.

Per network: cycles of both programs on the twin and modelled, the gain beside the published one, the lower bounds (all
work shared ideally among all units; the longest chain of operators), and where the time of the busiest queue goes.
``--alone``: against the host alone. ``--ablation``: with parts of the mapper switched off.
``--sensitivity``: with kernels of a unit 30 % slower or faster.
``--shrink``: one network with less and less home memory, until it does not fit.
``--every``: both programs of every stored network that is more than one layer, one sample each.

Exit code 1 if outputs differ, if a program with units side by side that the compiler keeps is slower (with ``--every``:
any), or if a gain is below the published one although the bound allows it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from match_core.contract.errors import InfeasibleError
from match_core.contract.mapping import Parallel
from match_core.plugin.facade import Plugins

from benchmarks.beside_alone import against_host, alone_table
from benchmarks.beside_runs import NETWORKS_OF, Case, Made, Pair, Point, make, pair, shrunk, stored_networks
from benchmarks.beside_tables import (
    ablation_table,
    every_table,
    faults,
    pairs_table,
    sensitivity_table,
    short,
    shrink_table,
    waiting_table,
)
from benchmarks.runs import MODELS, told
from benchmarks.tables import Table

#: Speeds of the kernels of one unit, off by 30 % either way; None: as they are.
SENSITIVITY: tuple[str | None, ...] = (None, "pulp-30", "pulp+30", "spatz-30", "spatz+30")
#: The network of ``--shrink`` where none is named.
SHRUNK = "matcha_resnet8_f16"
KINDS: tuple[Parallel, ...] = ("whole", "tiles", "views", "pipeline")


def measure(cases: Sequence[Case], plugins: Plugins, run: bool, samples: int | None = None) -> list[Pair]:
    """Both programs of every case."""
    pairs = []
    for case in cases:
        pairs.append(pair(case, plugins, samples, run))
        told(f"{case.target}, {case.network}{f', {case.preset}' if case.preset else ''}: done")
    return pairs


def compare(options: argparse.Namespace, plugins: Plugins) -> tuple[list[Table], list[str]]:
    """The main table and where time goes."""
    parts = [options.target, options.preset, options.precision if options.precision != "exact" else None]
    name = "-".join(["side-by-side", *(part for part in parts if part)])
    pairs = measure(_cases(options), plugins, not options.modelled, options.samples)
    return [pairs_table(name, pairs), waiting_table(f"{name}-time", pairs)], faults(pairs)


def alone(options: argparse.Namespace, plugins: Plugins) -> tuple[list[Table], list[str]]:
    """Speed-ups over the host alone."""
    pairs = measure(_cases(options), plugins, not options.modelled, options.samples)
    table = alone_table(f"side-by-side-{options.target}-alone", [against_host(pair, plugins) for pair in pairs])
    return [table], faults(pairs)


def ablate(options: argparse.Namespace, plugins: Plugins) -> tuple[list[Table], list[str]]:
    """Gains with parts of the mapper switched off."""
    befores: dict[str, Made] = {}
    found: dict[str, dict[Parallel, Made]] = {}
    run, cases = not options.modelled, _cases(options)
    for case in cases:
        befores[case.network] = make(case, "sequential", plugins, options.samples, run=run)
        found[case.network] = {
            kind: make(case, "concurrent", plugins, options.samples, kind, run and kind != "tiles") for kind in KINDS
        }
        told(f"{case.target}, {case.network}: done")
    pairs = [
        Pair(case, befores[case.network], made)
        for case in cases
        for kind, made in found[case.network].items()
        if kind != "tiles"
    ]
    wrong = [f"FAILURE: {pair.case.network}: outputs differ" for pair in pairs if pair.equal is False]
    shown = " --ablation" + ("" if run else " --modelled")
    return [ablation_table(f"side-by-side-{options.target}-ablation", cases[0], befores, found, shown)], wrong


def sensitivity(options: argparse.Namespace, plugins: Plugins) -> tuple[list[Table], list[str]]:
    """Gains and bounds with other speeds of kernels, modelled."""
    cases = [Case(case.network, case.target, preset) for case in _cases(options) for preset in SENSITIVITY]
    pairs = measure(cases, plugins, run=False)
    return [sensitivity_table(f"side-by-side-{options.target}-sensitivity", pairs)], []


def shrink(options: argparse.Namespace, plugins: Plugins) -> tuple[list[Table], list[str]]:
    """One network with less and less home memory."""
    points: list[Point] = []
    case = Case((options.network or (SHRUNK,))[0], options.target, options.preset)
    for point in shrunk(case, plugins, not options.modelled, options.samples):
        points.append(point)
        told(f"{case.network}, {point.size_bytes} bytes: {point.failure or 'done'}")
    wrong = [
        f"FAILURE: {case.network}, {point.size_bytes} bytes: {point.failure or 'outputs differ'}"
        for point in points
        if point.same is False
    ]
    return [shrink_table(f"side-by-side-{options.target}-shrink", points)], wrong


def every(options: argparse.Namespace, plugins: Plugins) -> tuple[list[Table], list[str]]:
    """Both programs of every stored network, whether or not the compiler would keep the one with units side by side."""
    found: list[tuple[str, Pair | InfeasibleError]] = []
    for network in options.network or stored_networks():
        case = Case(network, options.target, options.preset, precision=options.precision)
        try:
            found.append((network, pair(case, plugins, 1, not options.modelled)))
        except InfeasibleError as error:
            found.append((network, error))
        told(f"{case.target}, {network}: done")
    wrong = [
        f"FAILURE: {name}: slower side by side, or other outputs"
        for name, made in found
        if isinstance(made, Pair) and (made.gain < 0 or made.equal is False)
    ]
    return [every_table(f"side-by-side-{options.target}-every", options.target, found)], wrong


def _cases(options: argparse.Namespace) -> list[Case]:
    networks = options.network or NETWORKS_OF[options.target]
    return [Case(network, options.target, options.preset, precision=options.precision) for network in networks]


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    names = sorted({name for networks in NETWORKS_OF.values() for name in networks} | set(stored_networks()))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", choices=tuple(NETWORKS_OF), default="carfield")
    parser.add_argument("--network", choices=(*names, *map(short, names)), action="append", help="may be repeated")
    parser.add_argument("--preset", help="the target's set of cost figures")
    parser.add_argument("--precision", choices=("exact", "fast"), default="exact", help="of integer networks")
    parser.add_argument("--samples", type=int, help="stored samples that are run; default: all")
    parser.add_argument("--modelled", action="store_true", help="compile only, nothing is run")
    kinds = parser.add_mutually_exclusive_group()
    for kind in (alone, ablate, sensitivity, shrink, every):
        flag = {"ablate": "ablation"}.get(kind.__name__, kind.__name__)
        kinds.add_argument(
            f"--{flag}", dest="kind", action="store_const", const=kind, default=compare, help=kind.__doc__
        )
    parser.add_argument("--update", action="store_true", help="put the tables into docs/benchmarks.md")
    options = parser.parse_args(arguments)
    if not MODELS.is_dir():
        parser.exit(1, f"the networks are not on this machine: there is no {MODELS}\n")
    full = {name: name for name in names} | {short(name): name for name in NETWORKS_OF[options.target]}
    options.network = tuple(full[name] for name in options.network or ())
    some = options.samples or (options.network and options.kind is not shrink)
    if options.update and (some or (options.modelled and options.kind in (compare, alone, every))):
        parser.error("--update takes neither --network nor --samples, and where programs are run no --modelled")
    return options


def main(arguments: Sequence[str]) -> int:
    """Print the tables, write CSV."""
    options = _parse(arguments)
    tables, found = options.kind(options, Plugins.load())
    for table in tables:
        sys.stdout.write(f"{table.markdown()}\n\n")
        table.write_csv()
        if options.update:
            table.put()
    sys.stdout.write("".join(f"{fault}\n" for fault in found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
