"""The tables of the benchmark of units side by side, and what it calls a failure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from match_core.contract.errors import InfeasibleError
from match_core.contract.mapping import Parallel

from benchmarks.beside_runs import Case, Made, Pair, Point
from benchmarks.published import WHOLE_LAYERS_GAIN
from benchmarks.tables import Cell, Column, Table
from benchmarks.waiting import busiest, surcharge, works

COMMAND = "python -m benchmarks.side_by_side"
ORDERS = ("one after another", "side by side")
FIGURES_FROM = "figures from"


def about(case: Case, options: str = "") -> str:
    """The line above a table; ``options``: of the command, beyond those that the case has."""
    preset = f", preset {case.preset}" if case.preset else ""
    precision = f", precision {case.precision}" if case.precision != "exact" else ""
    shown = f" --target {case.target}" if case.target != "carfield" else ""
    shown += f" --preset {case.preset}" if case.preset else ""
    shown += f" --precision {case.precision}" if case.precision != "exact" else ""
    return f"*target {case.target}{preset}{precision}, `{COMMAND}{shown}{options}`*"


def figures_from(case: Case, ours: str) -> str:
    """Where our figures and the paper's come from."""
    return f"{ours}; paper: {case.published_on}" if case.published_on else ours


def _compared(table: Table, case: Case) -> Table:
    """The last column, where figures come from, is only there beside published ones."""
    return table if case.published_on else table.without(FIGURES_FROM)


def pairs_table(name: str, pairs: Sequence[Pair]) -> Table:
    """One row per network: cycles of both programs, gain beside the published one, bound, tasks."""
    rows = [_pair_row(pair) for pair in pairs]
    counts = ("one after another, twin", "side by side, twin", "one after another, modelled", "side by side, modelled")
    columns = [Column("network"), *(Column(heading, ",d") for heading in counts)]
    columns += [Column(heading, ".1f") for heading in ("gain, %", "paper, %", "gain at the bound, %")]
    columns += [Column("work bound", ",d"), Column("path bound", ",d"), Column("cycles / bound", ".2f")]
    columns += [Column("tasks", "d"), Column("same outputs"), Column("compiler keeps"), Column("s to compile", ".0f")]
    columns.append(Column(FIGURES_FROM))
    return _compared(Table(name, about(pairs[0].case), tuple(columns), tuple(rows)), pairs[0].case)


def every_table(name: str, target: str, found: Sequence[tuple[str, Pair | InfeasibleError]]) -> Table:
    """One row per network that fits: cycles of both programs; below the rows, those that do not fit."""
    columns = [
        Column("network"),
        *(Column(f"{one}, {where}", ",d") for where in ("twin", "modelled") for one in ORDERS),
    ]
    columns += [Column("gain, %", ".2f"), Column("same outputs")]
    rows: list[tuple[Cell, ...]] = []
    for network, made in found:
        if isinstance(made, InfeasibleError):
            rows.append((network, None, None, None, None, None, made.code))
            continue
        pair = (made.before, made.beside)
        twin = [None if one.run is None else one.run.cycles_total for one in pair]
        modelled = [one.modelled_cycles for one in pair]
        rows.append((network, *twin, *modelled, 100 * made.gain, _yes(made.equal)))
    return Table(name, about(Case("", target), " --every"), tuple(columns), tuple(rows))


def _pair_row(pair: Pair) -> tuple[Cell, ...]:
    before, beside, bounds = pair.before, pair.beside, pair.bounds
    twin = [None if made.run is None else made.run.cycles_total for made in (before, beside)]
    return (
        short(pair.case.network),
        *twin,
        before.modelled_cycles,
        beside.modelled_cycles,
        100 * pair.gain,
        pair.case.published_gain,
        None if pair.gain_bound is None else 100 * pair.gain_bound,
        None if bounds is None else bounds.work_cycles,
        None if bounds is None else bounds.path_cycles,
        None if bounds is None else beside.cycles / bounds.cycles,
        tasks(beside),
        _yes(pair.equal),
        "side by side" if pair.kept else "one after another",
        beside.seconds,
        figures_from(pair.case, "model" if beside.run is None else "twin"),
    )


def _yes(holds: bool | None) -> str | None:
    return {True: "yes", False: "NO", None: None}[holds]


def tasks(made: Made) -> int:
    """Tasks with code."""
    return sum(not task.assignment.candidate.pattern.view for task in made.compilation.program.tasks)


def short(network: str) -> str:
    """A network's name without what all of a set share."""
    return network.removeprefix("matcha_").removeprefix("mlperf_").removesuffix("_f16").removesuffix("_int8_qdq")


def waiting_table(name: str, pairs: Sequence[Pair]) -> Table:
    """One row per network: what the busiest queue of the program with units side by side does, in modelled cycles."""
    rows: list[tuple[Cell, ...]] = []
    for pair in pairs:
        program, bounds = pair.beside.compilation.program, pair.bounds
        if not program.queues or bounds is None:
            continue
        spent, total = busiest(program), program.predicted_cycles
        parts = [100 * part / total for part in (spent.works, spent.waits, spent.signals)]
        over = (spent.works - bounds.cycles) / total
        binding = "work" if bounds.work_cycles >= bounds.path_cycles else "path"
        dearer = surcharge(pair.before.compilation.program, program)
        cells = (bounds.cycles, binding, 100 * over, None if dearer is None else 100 * dearer)
        rows.append((short(pair.case.network), spent.queue, total, *parts, works(program), *cells))
    columns = [Column("network"), Column("busiest queue"), Column("side by side, modelled", ",d")]
    columns += [Column(heading, ".1f") for heading in ("works, %", "waits, %", "signals, %")]
    columns += [Column("units work"), Column("bound", ",d"), Column("bound by")]
    columns += [Column(heading, ".1f") for heading in ("works longer than the bound, %", "shares dearer by, %")]
    return Table(name, about(pairs[0].case), tuple(columns), tuple(rows))


def ablation_table(
    name: str,
    case: Case,
    befores: Mapping[str, Made],
    found: Mapping[str, Mapping[Parallel, Made]],
    options: str = " --ablation",
) -> Table:
    """One row per network: gains in per cent with parts of the mapper switched off. Those of ``tiles`` are the
    mapper's, since copies are not emitted; the others are on the twin, or modelled where nothing was run."""
    rows: list[tuple[Cell, ...]] = []
    for network, before in befores.items():
        gains = [
            100 * (1 - ablated_cycles(kind, made) / cycles_for(kind, before)) for kind, made in found[network].items()
        ]
        published = (WHOLE_LAYERS_GAIN.get(network), Case(network, case.target).published_gain)
        ours = figures_from(case, "model" if before.run is None else "twin")
        rows.append((short(network), before.cycles, *gains, *published, ours))
    kinds = {"tiles": "tiles, modelled"}
    columns = [Column("network"), Column("one after another", ",d")]
    columns += [Column(kinds.get(kind, kind), ".1f") for kind in next(iter(found.values()))]
    columns += [Column("paper, whole layers", ".1f"), Column("paper, tiles", ".1f"), Column(FIGURES_FROM)]
    return _compared(Table(name, about(case, options), tuple(columns), tuple(rows)), case)


def ablated_cycles(kind: Parallel, made: Made) -> int:
    """Cycles of a program; for ``tiles`` the mapper's, which hold the copies."""
    if kind != "tiles":
        return made.cycles
    compilation = made.compilation
    signalling = compilation.soc.signalling
    return compilation.mapping.predicted_cycles + (signalling.session_cycles if signalling is not None else 0)


def cycles_for(kind: Parallel, before: Made) -> int:
    """What the gain of such a program is measured by."""
    return before.modelled_cycles if kind == "tiles" else before.cycles


def sensitivity_table(name: str, pairs: Sequence[Pair]) -> Table:
    """One row per network and preset, modelled: how the gain moves when the speeds of kernels are others."""
    rows: list[tuple[Cell, ...]] = []
    for pair in pairs:
        cycles = (pair.before.modelled_cycles, pair.beside.modelled_cycles)
        bound = None if pair.gain_bound is None else 100 * pair.gain_bound
        rows.append((short(pair.case.network), pair.case.preset or "as it is", *cycles, 100 * pair.gain, bound))
    columns = [Column("network"), Column("preset")]
    columns += [Column(heading, ",d") for heading in ("one after another, modelled", "side by side, modelled")]
    columns += [Column("gain, %", ".1f"), Column("gain at the bound, %", ".1f")]
    return Table(name, about(Case("", pairs[0].case.target), " --sensitivity"), tuple(columns), tuple(rows))


def shrink_table(name: str, points: Sequence[Point]) -> Table:
    """One row per size of the home memory, from all of it downward."""
    full = points[0].made
    rows: list[tuple[Cell, ...]] = []
    for point in points:
        if point.made is None:
            rows.append((point.size_bytes, None, None, None, None, _yes(point.same), point.failure))
            continue
        program = point.made.compilation.program
        twin = None if point.made.run is None else point.made.run.cycles_total
        of_full = None if full is None else point.made.cycles / full.cycles
        kind = "side by side" if program.queues else "one after another"
        rows.append(
            (point.size_bytes, twin, program.predicted_cycles, of_full, len(program.swaps), _yes(point.same), kind)
        )
    columns = (
        Column("L2 bytes", ",d"),
        Column("cycles on the twin", ",d"),
        Column("modelled cycles", ",d"),
        Column("of full L2", ".2f"),
        Column("swaps", "d"),
        Column("same outputs"),
        Column("program"),
    )
    case = points[0].case
    return Table(name, about(case, f" --shrink --network {case.network}"), columns, tuple(rows))


def faults(pairs: Sequence[Pair]) -> list[str]:
    """Programs that the compiler keeps although they are slower, outputs that differ, and gains below the published
    ones where the bound allows more."""
    found = []
    for pair in pairs:
        where = f"FAILURE: {pair.case.target}, {pair.case.network}"
        if pair.equal is False:
            found.append(f"{where}: outputs differ")
        if not (pair.before.within_bound and pair.beside.within_bound):
            found.append(f"{where}: outputs are not those of the model")
        if pair.kept and pair.gain < 0:
            found.append(f"{where}: {pair.beside.cycles} cycles side by side, {pair.before.cycles} one after another")
        published, bound = pair.case.published_gain, pair.gain_bound
        if published is not None and bound is not None and 100 * pair.gain < published <= 100 * bound:
            found.append(f"{where}: gain {pair.gain:.1%}, published {published} %, the bound allows {bound:.1%}")
        if published == 0 and pair.gain <= 0:
            found.append(f"{where}: no gain")
    return found
