"""The tables of host_speed.py."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.host_builds import FLAGS, Build
from benchmarks.host_measure import COUNTED, Measured, Wanted
from benchmarks.host_programs import Tool
from benchmarks.tables import Cell, Column, Table

COMMAND = "benchmarks.host_speed"
#: Of the kernels that take most of a network's time so many are named.
TOP = 3
#: Whose C is compiled here.
TOOLS: tuple[Tool, ...] = ("match", "emx")


def line(one: Measured) -> str:
    """One line of progress."""
    ours, emx, runtime = (_ms(one, tool, _first(one)) for tool in ("match", "emx", "onnxruntime"))
    parts = [f"{one.name}, {' '.join(FLAGS[_first(one)])}: ours {ours:.3f} ms" if ours else one.name]
    parts += [f"emx {emx:.3f} ms, {emx / ours:.2f} times ours"] if ours and emx else []
    parts += [f"onnxruntime {runtime:.3f} ms, ours {ours / runtime:.2f} times that"] if ours and runtime else []
    return "; ".join(parts)


def tables(measured: Sequence[Measured], wanted: Wanted) -> list[Table]:
    """All tables of what was measured."""
    found = [speed(measured, wanted.builds[0])]
    others = wanted.builds[1:]
    found += [builds(measured, others)] if others else []
    found += [instructions(measured)] if wanted.instructions else []
    found += [operators(measured)]
    return [*found, sizes(measured), compiling(measured)] if wanted.sizes else found


def speed(measured: Sequence[Measured], build: Build) -> Table:
    """Milliseconds of an inference, the best and the median of all runs, and ratios of the best."""
    rows: list[tuple[Cell, ...]] = []
    for one in measured:
        ours, emx, runtime = (_ms(one, tool, build) for tool in ("match", "emx", "onnxruntime"))
        mac_rate = one.macs / ours * 1e-6 if one.macs is not None and ours else None
        rows.append(
            (
                *(one.name, ours, _median_ms(one, "match", build), emx, _median_ms(one, "emx", build)),
                *(runtime, _median_ms(one, "onnxruntime", "native")),
                *(_ratio(emx, ours), _ratio(ours, runtime), mac_rate),
                *(one.differences.get(tool) for tool in ("match", "emx", "onnxruntime")),
            )
        )
    headings = ("ours, ms", "median", "emx, ms", "median", "onnxruntime, ms", "median")
    columns = [Column("network"), *(Column(heading, ".3f") for heading in headings)]
    columns += [Column("emx / ours", ".2f"), Column("ours / onnxruntime", ".2f"), Column("ours, GMAC/s", ".2f")]
    columns += [Column(f"{tool}: distance", ".2g") for tool in ("ours", "emx", "onnxruntime")]
    return Table("host-speed", _about(build), tuple(columns), tuple(rows))


def builds(measured: Sequence[Measured], kinds: Sequence[Build]) -> Table:
    """The same with other flags."""
    rows: list[tuple[Cell, ...]] = []
    columns = [Column("network")]
    for kind in kinds:
        flags = " ".join(FLAGS[kind])
        columns += [Column(f"{flags}: ours, ms", ".3f"), Column("emx, ms", ".3f"), Column("emx / ours", ".2f")]
    for one in measured:
        row: list[Cell] = [one.name]
        for kind in kinds:
            ours, emx = _ms(one, "match", kind), _ms(one, "emx", kind)
            row += [ours, emx, _ratio(emx, ours)]
        rows.append(tuple(row))
    return Table("host-builds", _about(), tuple(columns), tuple(rows))


def instructions(measured: Sequence[Measured]) -> Table:
    """Millions of x86 instructions of an inference, counted by callgrind."""
    columns = [Column("network")]
    for kind in COUNTED:
        flags = " ".join(FLAGS[kind])
        columns += [Column(f"{flags}: ours, million", ".3f"), Column("emx", ".3f"), Column("emx / ours", ".2f")]
    rows: list[tuple[Cell, ...]] = []
    for one in measured:
        row: list[Cell] = [one.name]
        for kind in COUNTED:
            ours, emx = (one.instructions.get((tool, kind)) for tool in TOOLS)
            row += [ours and ours * 1e-6, emx and emx * 1e-6, _ratio(emx, ours)]
        rows.append(tuple(row))
    return Table("host-instructions", _about(), tuple(columns), tuple(rows))


def operators(measured: Sequence[Measured]) -> Table:
    """Where our time goes: patterns by their part of the time of all tasks."""
    rows: list[tuple[Cell, ...]] = []
    for one in measured:
        shares: dict[str, tuple[float, int]] = {}
        for node in one.nodes:
            share, count = shares.get(node.pattern, (0.0, 0))
            shares[node.pattern] = (share + node.share, count + 1)
        most = sorted(shares.items(), key=lambda item: (-item[1][0], item[0]))[:TOP]
        names = [f"{name.removeprefix('host_')} x{count} {share:.0%}" for name, (share, count) in most]
        rows.append((one.name, len(one.nodes), *names, *([None] * (TOP - len(names)))))
    columns = (Column("network"), Column("tasks", "d"), *(Column(f"kernels, {n + 1}") for n in range(TOP)))
    return Table("host-operators", _about("native"), columns, tuple(rows))


def nodes(measured: Sequence[Measured]) -> list[Table]:
    """Every task of every network, the slowest first."""
    columns = (Column("node"), Column("pattern"), Column("us", ".2f"), Column("share", ".1%"))
    return [
        Table(
            f"host-nodes-{one.name}",
            f"*{one.name}*",
            columns,
            tuple((node.title, node.pattern, 1e6 * node.seconds, node.share) for node in one.nodes),
        )
        for one in measured
    ]


def sizes(measured: Sequence[Measured]) -> Table:
    """Bytes of a program built with -Os."""
    rows: list[tuple[Cell, ...]] = []
    for one in measured:
        row: list[Cell] = [one.name]
        found = [one.sizes.get((tool, "small")) for tool in TOOLS]
        row += [size.text_bytes if size else None for size in found]
        row += [size.constant_bytes if size else None for size in found]
        stacks = [one.stacks.get((tool, "small")) for tool in TOOLS]
        row += [one.programs["match"].arena_bytes, *(stack.size_bytes if stack else None for stack in stacks)]
        rows.append(tuple(row))
    headings = (
        "text, ours",
        "text, emx",
        "constants, ours",
        "constants, emx",
        "arena, ours",
        "stack, ours",
        "stack, emx",
    )
    columns = (Column("network"), *(Column(heading, ",d") for heading in headings))
    return Table("host-sizes", _about("small"), columns, tuple(rows))


def compiling(measured: Sequence[Measured]) -> Table:
    """Seconds of the processes that compile: ONNX to C, then C to objects."""
    rows: list[tuple[Cell, ...]] = []
    for one in measured:
        programs = [one.programs.get(tool) for tool in TOOLS]
        row: list[Cell] = [one.name, *(program.compile_seconds if program else None for program in programs)]
        row += [one.compile_seconds.get((tool, "native")) for tool in TOOLS]
        rows.append(tuple(row))
    headings = ("ONNX to C, ours, s", "emx, s", f"gcc {' '.join(FLAGS['native'])}, ours, s", "emx, s")
    columns = (Column("network"), *(Column(heading, ".2f") for heading in headings))
    return Table("host-compile", _about(), columns, tuple(rows))


def _about(build: Build | None = None) -> str:
    flags = f"gcc {' '.join(FLAGS[build])}, " if build is not None else ""
    return f"*{flags}one thread, `python -m {COMMAND}`*"


def _first(one: Measured) -> Build:
    """The build that was timed first."""
    return next(kind for kind in FLAGS if ("match", kind) in one.times)


def _ms(one: Measured, tool: str, build: str) -> float | None:
    times = one.times.get((tool, "native" if tool == "onnxruntime" else build))
    return 1e3 * times.best if times is not None else None


def _median_ms(one: Measured, tool: str, build: str) -> float | None:
    times = one.times.get((tool, build))
    return 1e3 * times.median if times is not None else None


def _ratio(a: float | None, b: float | None) -> float | None:
    return a / b if a is not None and b else None
