"""Options of a compilation, and their effect on the Soc: preset, memory sizes, units."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal

from match_core.contract.errors import UsageError, did_you_mean
from match_core.io.sizes import parse_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from match_core.contract.hardware import Memory, MemoryPart, Soc, Unit
    from match_core.contract.loops import Objective
    from match_core.contract.mapping import Parallel
    from match_core.contract.passes import Pass, Precision
    from match_core.deploy.figures import Figures

Execution = Literal["auto", "sequential", "concurrent"]
Regions = Literal["cheapest", "largest"]
#: Sizes of regions that may have a minimum.
REGION_MEASURES = ("nodes", "macs")
_DIGITS_MAX = 18


@dataclass(frozen=True, kw_only=True)
class CompileOptions:
    """All options except model, target and output.

    ``only_units``: the host and these; ``without_units`` are disabled (``host`` may be named there too).
    ``without_passes``: optional passes to skip. ``quantized_io``: graph inputs and outputs that are float only because
    a quantiser follows or precedes them become the 8-bit tensors of the quantiser. ``preset``: the target's set of cost
    figures, None for its default. ``memory``: (name, bytes) of memories to shrink. ``objective``: what schedules and
    mapping minimise. ``name``: C prefix, None for one made from the file name. ``cache``: read and write the cache of
    schedules and mappings on disk. ``jobs``: processes that search schedules, None for as many as reduce the time.
    ``execution``: "auto": concurrent units if the model predicts fewer cycles; "sequential": one task after another;
    "concurrent": always concurrent. ``parallel``: what concurrent units may do: whole operators only; shares of
    operators with copied parts ("tiles", modelled only) or as views; and start on parts that are ready. ``regions``:
    the regions of units that take whole regions: those that reduce the cost ("cheapest"), or every legal one
    ("largest"). ``region_min``: (measure of REGION_MEASURES, minimum) of regions. ``figures``: fitted constants that
    replace those of the preset. ``dims``: (name, size) of the model's dynamic sizes. ``states``: (graph input, graph
    output that it gets in the next inference, or ""). ``exact``: names of source nodes whose arithmetic lossy passes do
    not change, or PASS:NODE for one pass. ``max_loss``: a package chooses more of them, so that outputs have this
    signal to quantisation noise ratio in dB, with ``samples`` of inputs or random ones.

    A script that requests more than one job needs ``if __name__ == "__main__"``, as multiprocessing does.
    """

    only_units: tuple[str, ...] = ()
    without_units: tuple[str, ...] = ()
    without_passes: tuple[str, ...] = ()
    quantized_io: bool = False
    precision: Precision = "exact"
    preset: str | None = None
    memory: tuple[tuple[str, int], ...] = ()
    objective: Objective = "latency"
    name: str | None = None
    cache: bool = True
    jobs: int | None = 1
    execution: Execution = "auto"
    parallel: Parallel = "pipeline"
    regions: Regions = "cheapest"
    region_min: tuple[tuple[str, int], ...] = ()
    figures: Figures | None = None
    dims: tuple[tuple[str, int], ...] = ()
    states: tuple[tuple[str, str], ...] = ()
    exact: tuple[str, ...] = ()
    max_loss: float | None = None
    samples: Path | None = None

    def choices(self) -> dict[str, Any]:
        """These fields by name, without those that a subclass adds."""
        return {entry.name: getattr(self, entry.name) for entry in fields(CompileOptions)}


def memory_size(text: str) -> tuple[str, int]:
    """(name, bytes) of ``NAME=SIZE``. UsageError MATCH-U026 if the text has another form."""
    name, equals, size = text.partition("=")
    size_bytes = parse_bytes(size)
    if not name.strip() or not equals or not size_bytes:
        forms = "NAME=SIZE with a whole number of bytes, kB, MB, GB, KiB, MiB or GiB from 1"
        raise _memory_error(f"{text!r} is not {forms}", (f"for example --memory {name.strip() or 'NAME'}=8kB",))
    return name.strip(), size_bytes


def region_minima(texts: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """(measure, number) of each ``NAME=N``, by name. UsageError MATCH-U036 if one has another form, or a measure is
    given twice."""
    found: dict[str, int] = {}
    for text in texts:
        name, equals, number = text.partition("=")
        is_number = number.isascii() and number.isdigit() and len(number) <= _DIGITS_MAX
        if name not in REGION_MEASURES or not equals or not is_number:
            forms = " or ".join(f"{measure}=N" for measure in REGION_MEASURES)
            raise _minimum_error(f"{text!r} is not {forms} with a whole number N")
        if name in found:
            raise _minimum_error(f"{name} is given twice, as {found[name]} and as {int(number)}")
        found[name] = int(number)
    return tuple(sorted(found.items()))


def _minimum_error(why: str) -> UsageError:
    help_ = "give each minimum once, for example --region-min nodes=4 --region-min macs=100000"
    return UsageError("MATCH-U036", "the minimum size of regions is not valid", "option --region-min", why, (help_,))


def adapted_soc(soc: Soc, preset: str | None, memory: Sequence[tuple[str, int]]) -> Soc:
    """The Soc with another preset and smaller memories. UsageError MATCH-U025 (preset), MATCH-U026 (memory)."""
    return _with_memory(soc if preset is None else _with_preset(soc, preset), memory)


def enabled_units(
    soc: Soc, units: tuple[Unit, ...], only: tuple[str, ...], without: tuple[str, ...]
) -> tuple[Unit, ...]:
    """The units that ``--only-unit`` and ``--without-unit`` leave. The host stays unless it is named in ``without``: it
    runs the program and the operators that no other enabled unit runs. UsageError MATCH-U020 for an unknown name,
    MATCH-U021 if the options contradict each other or no unit is left."""
    known = tuple(unit.name for unit in units)
    for option, names in (("--only-unit", only), ("--without-unit", without)):
        for name in (name for name in names if name not in known):
            why = f"its {len(known)} units are {', '.join(known)}"
            help_ = did_you_mean(name, known, f"{option} {{}}") or tuple(f"use {option} {each}" for each in known)
            raise UsageError("MATCH-U020", f"unit {name!r} is not known", f"target {soc.name}", why, help_)
    keep = set(only) | {soc.host} if only else set(known)
    left = tuple(unit for unit in units if unit.name in keep - set(without))
    both = [name for name in only if name in without]
    if both or not left:
        why = f"--only-unit and --without-unit both name {both[0]}" if both else f"all {len(known)} units were disabled"
        help_ = tuple(f"omit --without-unit {name}" for name in both or without)
        raise UsageError("MATCH-U021", "the choice of units cannot be used", f"target {soc.name}", why, help_)
    return left


def kept_passes(passes: Sequence[Pass], without: Sequence[str], target: str) -> tuple[Pass, ...]:
    """The passes that are not skipped. UsageError MATCH-U031 for a name that no optional pass of the target has."""
    optional = sorted(item.name for item in passes if item.optional)
    for name in without:
        if name in optional:
            continue
        known = any(item.name == name for item in passes)
        raise UsageError(
            code="MATCH-U031",
            what=f"pass {name!r} cannot be skipped",
            where=f"option --without-pass, target {target}",
            why=("the program would not be correct without it" if known else "there is no such pass")
            + (f"; optional passes are {', '.join(optional)}" if optional else "; the target has no optional passes"),
            help=(*did_you_mean(name, optional, "--without-pass {}"), f"omit --without-pass {name}"),
        )
    return tuple(item for item in passes if item.name not in without)


def check_exact(names: Sequence[str], known: Iterable[str], passes: Sequence[Pass]) -> None:
    """UsageError MATCH-U039 for a name that no source node has, alone or behind the name of a lossy pass."""
    nodes = tuple(known)
    prefixes = tuple(f"{item.name}:" for item in passes if item.lossy)
    for name in names:
        own = next((name.removeprefix(prefix) for prefix in prefixes if name.startswith(prefix)), name)
        if name not in nodes and own not in nodes:
            why = f"none of the {len(nodes)} nodes of the model has this name"
            help_ = (*did_you_mean(own, nodes, "--exact {}"), f"omit --exact {name}")
            raise UsageError("MATCH-U039", f"node {name!r} is not known", "option --exact", why, help_)


def _with_preset(soc: Soc, preset: str) -> Soc:
    if preset in soc.presets:
        return replace(soc, preset=preset)
    where = f"option --preset, target {soc.name}"
    why = f"its presets are {', '.join(soc.presets)}" if soc.presets else "it has no presets"
    help_ = (*did_you_mean(preset, soc.presets, "--preset {}"), "see the presets with: match targets")
    raise UsageError("MATCH-U025", f"preset {preset!r} is not known", where, why, help_)


def _with_memory(soc: Soc, memory: Sequence[tuple[str, int]]) -> Soc:
    sizes = dict(memory)
    known = {entry.name: entry.size_bytes for entry in soc.memories}
    sizes_known = ", ".join(f"{name} ({size} bytes)" for name, size in known.items())
    if len(sizes) < len(memory):
        given = " and ".join(f"{name}={size}" for name, size in memory)
        raise _memory_error(f"a memory is given twice: {given}", ("give each memory once",), soc)
    for name, size in memory:
        if name not in known:
            raise _memory_error(
                f"there is no memory {name!r}; the memories are {sizes_known}",
                did_you_mean(name, known, f"--memory {{}}={size}")
                or tuple(f"use --memory {other}={min(size, there)}" for other, there in known.items()),
                soc,
            )
        if not 0 < size <= known[name]:
            help_ = (
                f"at most --memory {name}={known[name]}",
                f"omit --memory to use all {known[name]} bytes of {name}",
            )
            raise _memory_error(f"{name} has {known[name]} bytes, not {size}; --memory can only reduce it", help_, soc)
    memories = tuple(replace(m, size_bytes=sizes.get(m.name, m.size_bytes)) for m in soc.memories)
    return replace(soc, memories=memories, parts=tuple(_with_memories(part, soc, memories) for part in soc.parts))


def _with_memories(part: MemoryPart, soc: Soc, memories: Sequence[Memory]) -> MemoryPart:
    """The same share of a memory that may be smaller now."""
    before = soc.memory(part.memory)
    now = next(memory for memory in memories if memory.name == part.memory)

    def scaled(size: int) -> int:
        return size * now.size_bytes // before.size_bytes // now.alignment_bytes * now.alignment_bytes

    return replace(part, offset_bytes=scaled(part.offset_bytes), size_bytes=scaled(part.size_bytes))


def _memory_error(why: str, help_: tuple[str, ...], soc: Soc | None = None) -> UsageError:
    where = f"option --memory, target {soc.name}" if soc else "option --memory"
    return UsageError("MATCH-U026", "the size of a memory cannot be changed", where, why, help_)
