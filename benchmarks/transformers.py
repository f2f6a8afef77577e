"""Encoders on ITA and its cluster, on the twin, beside the figures of the paper.

Per network: cycles on the twin with units side by side, one task after another, and on the cores alone; inferences per
second at the paper's clock; how busy ITA is and what part of its peak it does; what keeps its layers from the peak.
``--shares``: the time of each kind of operator on each unit. ``--softmax``: the effect of ITA's softmax on the results.
Graph inputs and outputs are the quantised tensors. One-layer networks are the stored ones; full ones are made by
``../shared/models/make/ita.py --full --int8-only --out DIR`` (needs torch), and are read from DIR with ``--full DIR``.

Exit code 1 if a program does not compute its integer graph bit for bit, or outputs of the three programs differ.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from match_core.deploy.compile_options import CompileOptions
from match_core.plugin.facade import Plugins

from benchmarks.published import (
    ITA_CLOCK_HZ,
    ITA_CORES_GIGA_OPERATIONS_PER_JOULE,
    ITA_GIGA_OPERATIONS_PER_JOULE,
    ITA_MILLIWATTS,
    ITA_NETWORKS,
    ITA_PEAK_MACS,
    ITA_PEAKS,
    ITA_PLATFORM,
)
from benchmarks.runs import MODELS, told
from benchmarks.tables import PAGE, Cell, Column, Table
from benchmarks.transformer_runs import Network, Ran, Reals, measure, run, stored_results

#: Stored networks of one layer, and the names of the full ones behind the number of layers.
ONE_LAYER = (
    "ita_mobilebert_l1_int8_qdq",
    "ita_dinov2_l1_int8_qdq",
    "ita_whisper_l1_int8_qdq",
    "mobilebert_l1_int8_qdq",
    "dinov2_small_l1_int8_qdq",
    "whisper_tiny_l1_int8_qdq",
)
FULL = (
    "ita_mobilebert_l24_int8_qdq",
    "ita_dinov2_l12_int8_qdq",
    "ita_whisper_l4_int8_qdq",
    "mobilebert_l24_int8_qdq",
    "dinov2_small_l12_int8_qdq",
    "whisper_tiny_l4_int8_qdq",
)
COMMAND = "benchmarks.transformers"
#: Pages with tables of this command: cycles, and what the passes cost.
PAGES = (PAGE, PAGE.with_name("ita.md"))

#: The last column beside published figures, and what it says of those that are of other layers.
FIGURES_FROM = Column("figures from")
_TESTS = f"model; {ITA_PLATFORM}, its own tests"

Columns = tuple[Column, ...]
Row = tuple[Cell, ...]


def main_table(networks: Sequence[Network]) -> Table:
    """Cycles, inferences per second and utilisation."""
    columns = (
        Column("network"),
        Column("GMAC", ".2f"),
        Column("cycles", ",.0f"),
        Column("inf/s", ".2f"),
        Column("paper inf/s", ".2f"),
        Column("GOp/s", ".0f"),
        Column("paper GOp/s", ".0f"),
        Column("ITA busy", ".1%"),
        Column("ITA of its peak", ".1%"),
        Column("of its peak while busy", ".1%"),
        Column("one after another", ",.0f"),
        Column("gain", ".1%"),
        Column("cores alone", ",.0f"),
        Column("cores alone inf/s", ".3f"),
        Column("paper cores inf/s", ".2f"),
        FIGURES_FROM,
    )
    what = f"cycles on the twin, {ITA_CLOCK_HZ / 1e6:.0f} MHz"
    return _table("transformers", _names(networks), what, "", columns, (_row(network) for network in networks))


def _table(name: str, names: Sequence[str], what: str, option: str, columns: Columns, rows: Iterable[Row]) -> Table:
    """Of these networks; tables of full ones stand beside those of one layer. ``option``: what prints it."""
    one_layer = all("_l1_" in network for network in names)
    command = f"python -m {COMMAND}{'' if one_layer else ' --full DIR'}{option}"
    return Table(name if one_layer else f"{name}-full", f"*{what}, `{command}`*", columns, tuple(rows))


def _names(networks: Sequence[Network]) -> list[str]:
    return [network.name for network in networks]


def _row(network: Network) -> Row:
    ran, published = network.beside, ITA_NETWORKS.get(_kind(network.name))
    full = published if "_l1_" not in network.name else None
    busy = ran.result.run.cycles_by_clock["ita"]
    on_ita = ran.macs("ita")
    per_second = ITA_CLOCK_HZ / ran.cycles
    return (
        network.name.removesuffix("_int8_qdq"),
        ran.macs() / 1e9,
        ran.cycles,
        per_second,
        full.inferences_per_second if full else None,
        2 * ran.macs() * per_second / 1e9,
        full.giga_operations * full.inferences_per_second if full else None,
        busy / ran.cycles,
        on_ita / ITA_PEAK_MACS / ran.cycles,
        on_ita / ITA_PEAK_MACS / busy if busy else None,
        network.before.cycles,
        1 - ran.cycles / network.before.cycles,
        network.cores.cycles,
        ITA_CLOCK_HZ / network.cores.cycles,
        full.cores_inferences_per_second if full else None,
        f"twin; {ITA_PLATFORM}" if full else "twin",
    )


def energy_table(networks: Sequence[Network]) -> Table:
    """Modelled energy of kernels by the cluster's published power, and what the cores do alone."""
    columns = (
        Column("network"),
        Column("mJ", ".3f"),
        Column("paper mJ", ".2f"),
        Column("mW", ".1f"),
        Column("paper mW"),
        Column("GOp/J", ",.0f"),
        Column("paper GOp/J"),
        Column("cores alone MAC/cycle (calibrated)", ".3f"),
        Column("cores alone GOp/s (calibrated)", ".3f"),
        Column("paper cores GOp/s", ".3f"),
        Column("cores alone GOp/J", ".1f"),
        Column("paper cores GOp/J", ".1f"),
        FIGURES_FROM,
    )
    what = f"modelled energy of kernels, {ITA_CLOCK_HZ / 1e6:.0f} MHz"
    rows = (_energy_row(network) for network in networks)
    return _table("transformers-energy", _names(networks), what, "", columns, rows)


def _energy_row(network: Network) -> Row:
    published = ITA_NETWORKS.get(_kind(network.name))
    full = published if "_l1_" not in network.name else None
    ran, cores = network.beside, network.cores
    joules = ran.picojoules / 1e12
    cores_rate = cores.macs() / cores.cycles
    return (
        network.name.removesuffix("_int8_qdq"),
        1e3 * joules,
        full.millijoules if full else None,
        1e3 * joules * ITA_CLOCK_HZ / ran.cycles,
        "{:.1f}-{:.1f}".format(*ITA_MILLIWATTS),
        2 * ran.macs() / joules / 1e9,
        "{:,.0f}-{:,.0f}".format(*ITA_GIGA_OPERATIONS_PER_JOULE),
        cores_rate,
        2 * cores_rate * ITA_CLOCK_HZ / 1e9,
        full.cores_inferences_per_second * full.giga_operations if full else None,
        2e3 * cores.macs() / cores.picojoules,
        ITA_CORES_GIGA_OPERATIONS_PER_JOULE,
        f"model; {ITA_PLATFORM}",
    )


def _kind(name: str) -> str:
    return next((kind for kind in ITA_NETWORKS if kind in name), "")


def utilisation_table(networks: Sequence[Network]) -> Table:
    """What ITA does of its peak in the tasks of each kind: in jobs with their programming, and with copies that it
    waits for and signals. Rows that a short block lacks are no work."""
    columns = (
        Column("network"),
        Column("layers"),
        Column("jobs", ".1%"),
        Column("paper", ".1%"),
        Column("with copies and signals", ".1%"),
        FIGURES_FROM,
    )
    kinds = (("products", "ita_linear", "GEMM"), ("attention", "ita_attention", "attention"))
    rows = [
        (network.name.removesuffix("_int8_qdq"), kind, jobs, ITA_PEAKS[published].utilisation, whole, _TESTS)
        for network in networks
        for kind, prefix, published in kinds
        for jobs, whole in _utilisation(network.beside, prefix)
    ]
    return _table("transformers-utilisation", _names(networks), "modelled cycles of ITA's tasks", "", columns, rows)


def _utilisation(ran: Ran, prefix: str) -> Iterator[tuple[float, float]]:
    """Parts of the peak of the tasks whose pattern begins with ``prefix``, if there are any."""
    chosen = [task.assignment for task in ran.result.compilation.program.tasks]
    chosen = [a for a in chosen if a.candidate.unit == "ita" and a.candidate.pattern.name.startswith(prefix)]
    macs = sum(a.candidate.workload.macs for a in chosen) / ITA_PEAK_MACS
    if macs:
        costs = [a.schedule.cost for a in chosen]
        yield macs / sum(cost.compute_cycles for cost in costs), macs / sum(cost.total_cycles for cost in costs)


def shares_table(networks: Sequence[Network]) -> Table:
    """The part of all tasks' cycles that each pattern of each unit takes, in the program with units side by side."""
    spent = [_spent(network.beside) for network in networks]
    keys = sorted({key for one in spent for key in one}, key=lambda key: -max(one.get(key, 0) for one in spent))
    columns = (
        Column("unit"),
        Column("operator"),
        *(Column(n.name.removesuffix("_int8_qdq"), ".1%") for n in networks),
    )
    totals = [network.beside.cycles for network in networks]
    rows = tuple(
        (*key, *(one[key] / total if key in one else None for one, total in zip(spent, totals, strict=True)))
        for key in keys
    )
    what = "part of the cycles of one inference that tasks are busy (modelled)"
    return _table("transformers-shares", _names(networks), what, " --shares", columns, rows)


def _spent(ran: Ran) -> dict[tuple[str, str], int]:
    spent: dict[tuple[str, str], int] = {}
    for task in ran.result.compilation.program.tasks:
        candidate = task.assignment.candidate
        key = (candidate.unit, candidate.pattern.name)
        spent[key] = spent.get(key, 0) + task.assignment.schedule.cost.total_cycles
    return spent


def softmax_table(folders: Sequence[Path], plugins: Plugins) -> Table:
    """Distance to the quantised model's stored results and to the float model's, with and without ITA's softmax."""
    columns = (
        Column("network"),
        Column("softmax"),
        Column("cosine to quantised", ".5f"),
        Column("largest error", ".3f"),
        Column("cosine to float", ".5f"),
        Column("largest error to float", ".3f"),
        Column("cosine quantised to float", ".5f"),
    )
    rows: list[Row] = []
    for folder in folders:
        for softmax, without in (("ITAMax", ()), ("integer, on the cores", ("ita_softmax",))):
            ran = run(folder, CompileOptions(execution="sequential", without_passes=without), plugins)
            rows.append((folder.name.removesuffix("_int8_qdq"), softmax, *_distances(ran, *stored_results(folder))))
            told(f"{folder.name}, softmax {softmax}: done")
    return _table("transformers-softmax", [f.name for f in folders], "first sample", " --softmax", columns, rows)


def _distances(ran: Ran, quantised: Reals, real: Reals) -> Iterator[float]:
    """As the columns of ``softmax_table``."""
    found = np.asarray(ran.result.run.outputs["output"][0], np.float64)
    yield cosine(found, quantised)
    yield float(abs(found - quantised).max())
    yield cosine(found, real)
    yield float(abs(found - real).max())
    yield cosine(quantised, real)


def cosine(one: Reals, two: Reals) -> float:
    """Cosine similarity of two results."""
    a, b = one.reshape(-1), two.reshape(-1)
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", type=Path, metavar="DIR", help="the full networks in this folder")
    parser.add_argument("--network", action="append", help="only these; may be repeated")
    parser.add_argument("--shares", action="store_true", help="the time of each kind of operator")
    parser.add_argument("--softmax", action="store_true", help="the effect of ITA's softmax, and nothing else")
    parser.add_argument("--preset", help="another set of figures")
    parser.add_argument("--update", action="store_true", help="put the tables into the pages that show them")
    options = parser.parse_args(sys.argv[1:] if arguments is None else arguments)
    base = options.full or MODELS
    names = [n for n in (FULL if options.full else ONE_LAYER) if not options.network or n in options.network]
    folders = [base / name for name in names if (base / name / "model.onnx").is_file()]
    if not folders:
        parser.exit(1, f"the networks are not on this machine: none of {', '.join(names)} is in {base}\n")
    plugins = Plugins.load()
    if options.softmax:
        tables, faults = [softmax_table(folders, plugins)], []
    else:
        networks = [measure(folder, plugins, options.preset) for folder in folders]
        tables = [main_table(networks), energy_table(networks), utilisation_table(networks)]
        tables += [shares_table(networks)] if options.shares else []
        faults = [network.fault for network in networks if network.fault]
    for table in tables:
        table.write_csv()
        sys.stdout.write(f"{table.markdown()}\n\n")
        for page in PAGES:
            if options.update and table.is_in(page):
                table.put(page)
    for fault in faults:
        sys.stderr.write(f"{fault}\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
