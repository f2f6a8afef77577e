"""From a study to its points: the product of models, targets and axes, without what a target does not have."""

from __future__ import annotations

from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from match_core.board.compose import compose
from match_core.board.document import is_board_file, read_board
from match_core.contract.errors import did_you_mean
from match_core.deploy.compile_options import adapted_soc, enabled_units

from match_explore.document import CAPACITY, CLOCK, FIGURE, MEMORY
from match_explore.errors import axis_error, study_error
from match_explore.hardware import open_figures
from match_explore.points import ALL, Point

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from match_core.contract.hardware import Soc, Unit
    from match_core.plugin.facade import Plugins

    from match_explore.study import Axis, ModelFile, Study, Value

#: The memory of an axis that means all memories of level 1, whatever a target calls them.
NEAREST = "level1"


class Target:
    """A target of a study: its Soc, units, and the text of its board file. Errors: as
    ``match_core.board.target.target_soc``."""

    def __init__(self, name: str, plugins: Plugins) -> None:
        self.name, self.board = name, ""
        self.soc: Soc
        self.units: tuple[Unit, ...]
        if is_board_file(name):
            document = read_board(Path(name))
            board = compose(document, plugins.targets)
            self.board, self.soc, self.units = document.text, board.soc, board.units
        else:
            self.soc = plugins.soc(name)
            self.units = plugins.units_of(self.soc)
        self.open = open_figures(self.units, self.soc.preset)

    def choices(self, axis: Axis) -> tuple[Value | None, ...]:
        """The values of an axis that the target has; (None,) if the axis does not apply to it."""
        name = axis.name
        if name.startswith(MEMORY):
            known = self.sizes(name)
            fits = tuple(v for v in axis.values if not isinstance(v, int) or v <= max(known.values(), default=0))
            return fits if known else (None,)
        if name.startswith(CAPACITY):
            memories = {memory.name for memory in self.soc.memories}
            return axis.values if name.removeprefix(CAPACITY) in memories else (None,)
        if name.startswith(FIGURE):
            return axis.values if name.removeprefix(FIGURE) in self.open else (None,)
        if name == CLOCK:
            return axis.values if self.soc.clock_hz is not None else (None,)
        if name == "preset":
            return tuple(v for v in axis.values if v in self.soc.presets) or (None,)
        if name == "units":
            units = {unit.name for unit in self.units}
            return tuple(v for v in axis.values if v == ALL or set(v if isinstance(v, tuple) else ()) <= units)
        return axis.values

    def sizes(self, name: str) -> dict[str, int]:
        """Bytes of the memories that an axis of memories names."""
        wanted = name.removeprefix(MEMORY)
        return {
            memory.name: memory.size_bytes
            for memory in self.soc.memories
            if memory.name == wanted or (wanted == NEAREST and memory.level == 1 and memory.name != self.soc.home)
        }

    def options(self, chosen: Sequence[tuple[str, Value | None]]) -> dict[str, Any]:
        """Arguments of ``CompileOptions``."""
        made: dict[str, Any] = {"memory": {}}
        for name, value in chosen:
            if value is None or name.startswith((CAPACITY, FIGURE, CLOCK)):
                continue
            if name.startswith(MEMORY):
                for memory, size in self.sizes(name).items():
                    share = float(value.rstrip("%")) / 100 if isinstance(value, str) else 0.0
                    # Whole sixteens: the coarsest alignment of the targets' memories.
                    wanted = int(size * share) // 16 * 16 or 16 if isinstance(value, str) else int(value)  # type: ignore[arg-type]
                    made["memory"][memory] = min(size, wanted)
            elif name == "units":
                made["only_units"] = [] if value == ALL else list(value)  # type: ignore[arg-type]
            else:
                made[name] = value
        return made


def points_of(study: Study, plugins: Plugins) -> tuple[Point, ...]:
    """All points of the product, in the order of the study; two with the same content count once. UsageError MATCH-U110
    (no point), MATCH-U111 (an axis or value that no target has), and the errors of ``Target`` and of options."""
    targets = [Target(name, plugins) for name in study.targets]
    _check(study, targets)
    found: dict[str, Point] = {}
    for model, target in product(study.models, targets):
        for chosen, places in _chosen(study.axes, target):
            point = _point(study, model, target, chosen, places, len(found))
            found.setdefault(point.key(""), point)
    if not found:
        raise study_error(str(study.file), "it has no point", "give values that its targets have: match targets")
    return tuple(found.values())


def _chosen(
    axes: Sequence[Axis], target: Target
) -> Iterator[tuple[tuple[tuple[str, Value | None], ...], tuple[int, ...]]]:
    """Names with values, and the position of each value on its axis."""
    values = [tuple(enumerate(target.choices(axis))) for axis in axes]
    for some in product(*values):
        names = tuple((axis.name, value) for axis, (_, value) in zip(axes, some, strict=True))
        yield names, tuple(place for place, _ in some)


def _point(
    study: Study,
    model: ModelFile,
    target: Target,
    chosen: tuple[tuple[str, Value | None], ...],
    places: tuple[int, ...],
    index: int,
) -> Point:
    options = target.options((*study.options, *chosen))
    files = {"inputs": model.inputs, "labels": model.labels} if study.evaluate == "twin" else {}
    return Point(
        index=index,
        model=model.name,
        file=model.path.name,
        sha256=model.sha256,
        target=target.name if not target.board else target.soc.name,
        axes=chosen,
        options=tuple(sorted(options.items())),
        what_if=tuple(
            (name, float(value))
            for name, value in chosen
            if name.startswith((CAPACITY, FIGURE, CLOCK))
            and isinstance(value, (int, float))
            and _differs(name, value, target)
        ),
        board=target.board,
        evaluate=study.evaluate,
        data=tuple((key, sha256(file.read_bytes()).hexdigest()) for key, file in files.items() if file),
        places=places,
    )


def _differs(name: str, value: float, target: Target) -> bool:
    """Whether a value is not the target's own."""
    soc = target.soc
    if name == CLOCK:
        return soc.clock_hz is None or soc.clock_hz.value != value
    if name.startswith(CAPACITY):
        return soc.memory(name.removeprefix(CAPACITY)).size_bytes != value
    return target.open[name.removeprefix(FIGURE)].value != value


def _check(study: Study, targets: Sequence[Target]) -> None:
    """Every axis means something on some target, and every fixed option on all."""
    where = str(study.file)
    for axis in study.axes:
        offered = [target.choices(axis) for target in targets]
        unused = [v for v in axis.values if not any(v in some for some in offered)]
        if axis.name == "preset" and unused:
            adapted_soc(targets[0].soc, str(unused[0]), ())
        if all(some == (None,) for some in offered):
            known = sorted({name for target in targets for name in _names(axis.name, target)})
            kind = axis.name.partition(".")[0] + "."
            help_ = did_you_mean(axis.name, known) or (f"there are {', '.join(known[:12]) or 'none'}",)
            raise axis_error(where, f"no target of the study has {axis.name!r}, open to studies as {kind}*", *help_)
        if axis.name == "units":
            for value in unused:  # the message of the target that has most of them
                names = tuple(value if isinstance(value, tuple) else ())
                closest = max(targets, key=lambda t: len(set(names) & {unit.name for unit in t.units}))
                enabled_units(closest.soc, closest.units, names, ())
        if unused:
            raise axis_error(f"{where}, {axis.name}", f"no target of the study has {unused[0]!r}", "leave it out")
    for target in targets:
        options = target.options(study.options)
        adapted_soc(target.soc, options.get("preset"), tuple(options["memory"].items()))
        enabled_units(target.soc, target.units, tuple(options.get("only_units", ())), ())


def _names(axis: str, target: Target) -> list[str]:
    """The names that a target has for the kind of an axis."""
    memories = [memory.name for memory in target.soc.memories]
    if axis.startswith(FIGURE):
        return [f"{FIGURE}{name}" for name in target.open]
    return [f"{axis.partition('.')[0]}.{name}" for name in memories]
