"""A study file: TOML in, a frozen study or a coded error out."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

from match_core.contract.errors import did_you_mean
from match_core.io.sizes import parse_bytes

from match_explore.errors import aim_error, axis_error, model_error, study_error
from match_explore.study import OBJECTIVES, Axis, Constraint, Facts, Limits, ModelFile, Strategy, Study, Value

#: Options of a compilation that may be axes, or fixed for all points, with their values; None: the target decides.
CHOICES: Mapping[str, tuple[Value, ...] | None] = {
    "preset": None,
    "units": None,
    "precision": ("exact", "fast"),
    "regions": ("cheapest", "largest"),
    "execution": ("auto", "sequential", "concurrent"),
    "parallel": ("whole", "tiles", "views", "pipeline", "joint", "long"),
    "objective": ("latency", "energy", "edp"),
    "quantized_io": (False, True),
}
#: Beginnings of the names of axes that end in a name of the target.
MEMORY, CAPACITY, FIGURE, CLOCK = "memory.", "capacity.", "figure.", "clock_hz"
_KEYS = {
    "": ("study", "axes", "what_if", "options", "constraints", "strategy", "limits", "targets"),
    "study": ("name", "models", "targets", "objectives", "evaluate", "inputs", "labels"),
    "strategy": ("kind", "points", "seed", "batch", "prune"),
    "limits": ("time", "memory"),
}
_SECONDS = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
_POINTS_MAX = 1_000_000


def read_study(path: Path) -> Study:
    """The study in a file; paths in it begin at its folder. UsageError MATCH-U110 to U113."""
    try:
        text = path.read_text(encoding="utf-8") if path.is_file() or not path.exists() else ""
        root: dict[str, Any] = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli").loads(text)
    except (OSError, ValueError, RecursionError) as error:
        why = error.strerror if isinstance(error, OSError) else f"it is not TOML in UTF-8: {error}"
        raise study_error(str(path), str(why), "give the path of a study file: match explore STUDY.toml") from error
    tables = {name: _table(root, name, path) for name in ("", *_KEYS[""])}
    for name, keys in _KEYS.items():
        for key in tables[name]:
            if key not in keys:
                help_ = did_you_mean(key, keys) or (f"the keys are {', '.join(keys)}",)
                raise study_error(_place(path, name), f"the key {key!r} is not known", *help_)
    head = tables["study"]
    axes = (*_axes(tables["axes"], path, False), *_axes(tables["what_if"], path, True))
    objectives = _objectives(head, axes, path)
    evaluate = head.get("evaluate", "compile")
    if evaluate not in ("compile", "bounds", "twin"):
        raise study_error(_place(path, "study"), f"evaluate is {evaluate!r}", "use compile, bounds or twin")
    models = _models(head, path)
    study = Study(
        file=path,
        sha256=sha256(text.encode()).hexdigest(),
        name=str(head.get("name", path.stem)),
        models=models,
        targets=_targets(head, path),
        axes=axes,
        objectives=objectives,
        constraints=tuple(_constraint(name, value, path) for name, value in tables["constraints"].items()),
        strategy=_strategy(tables["strategy"], path),
        limits=_limits(tables["limits"], path),
        evaluate=evaluate,
        options=tuple((axis.name, axis.values[0]) for axis in _axes(_single(tables["options"]), path, False)),
        facts={name: _facts(name, value, path) for name, value in tables["targets"].items()},
    )
    _check_accuracy(study)
    return study


def _place(path: Path, table: str) -> str:
    return f"{path}, [{table}]" if table else str(path)


def _table(root: Mapping[str, Any], name: str, path: Path) -> Mapping[str, Any]:
    found = root if not name else root.get(name, {})
    if not isinstance(found, dict):
        raise study_error(_place(path, ""), f"{name} is {found!r}, a table expected", f"write [{name}]")
    return found


def _texts(table: Mapping[str, Any], key: str, path: Path, default: tuple[str, ...] | None = None) -> tuple[str, ...]:
    found = table.get(key, default)
    if not isinstance(found, (list, tuple)) or not found or not all(isinstance(text, str) and text for text in found):
        raise study_error(
            _place(path, "study"), f"{key} is {found!r}, a list of texts expected", f'write {key} = ["..."]'
        )
    return tuple(found)


def _objectives(head: Mapping[str, Any], axes: Sequence[Axis], path: Path) -> tuple[str, ...]:
    """Figures of rows, or axes whose values are numbers."""
    found = _texts(head, "objectives", path, ("cycles", "peak_bytes"))
    numbers = [axis.name for axis in axes if all(type(value) in (int, float) for value in axis.values)]
    for name in found:
        known = name in (*OBJECTIVES, *numbers)
        if not known or found.count(name) > 1:
            why = f"the objective {name!r} is " + ("given twice" if known else "not known")
            raise aim_error(_place(path, "study"), why, f"use some of {', '.join((*OBJECTIVES, *numbers))}")
    return found


def _targets(head: Mapping[str, Any], path: Path) -> tuple[str, ...]:
    found = _texts(head, "targets", path)
    return tuple(dict.fromkeys(str(path.parent / name) if name.endswith(".toml") else name for name in found))


def _models(head: Mapping[str, Any], path: Path) -> tuple[ModelFile, ...]:
    files: dict[Path, None] = {}
    for pattern in _texts(head, "models", path):
        place = Path(pattern)
        base = Path(place.anchor) if place.is_absolute() else path.parent
        found = sorted(base.glob(str(place.relative_to(base) if place.is_absolute() else place)))
        if not found:
            help_ = "write the path of a model, or a glob such as models/*.onnx"
            raise model_error(_place(path, "study"), f"nothing is called {pattern} in {base}", help_)
        files.update(dict.fromkeys(file for file in found if file.is_file()))
    if not files:
        raise model_error(_place(path, "study"), "its globs match folders only", "write models = ['models/*.onnx']")
    try:
        digests = [sha256(file.read_bytes()).hexdigest() for file in files]
    except OSError as error:
        raise model_error(str(error.filename), str(error.strerror), "give a file that can be read") from error
    beside = {key: head.get(key, "") for key in ("inputs", "labels")}
    made = []
    for file, name, digest in zip(files, _short([*files]), digests, strict=True):
        data = {key: file.parent / str(text).format(stem=file.stem) for key, text in beside.items() if text}
        for key, there in data.items():
            if not there.is_file():
                raise model_error(str(there), f"the {key} of {name} do not exist", f"change {key}, or leave it out")
        made.append(ModelFile(name, file, digest, data.get("inputs"), data.get("labels")))
    return tuple(made)


def _short(files: Sequence[Path]) -> list[str]:
    """The file name without its end; the folder's name, or both, where files have the same name."""
    folders = [file.absolute().parent.name for file in files]
    for names in ([file.stem for file in files], folders):
        if len(set(names)) == len(names):
            return names
    return [f"{folder}/{file.stem}" for folder, file in zip(folders, files, strict=True)]


def _single(options: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: [value] for name, value in options.items()}


def _axes(table: Mapping[str, Any], path: Path, what_if: bool) -> tuple[Axis, ...]:
    where = _place(path, "what_if" if what_if else "axes")
    known = (
        *(() if what_if else (*CHOICES, f"{MEMORY}NAME")),
        *((f"{CAPACITY}NAME", f"{FIGURE}UNIT.NAME", CLOCK) * what_if),
    )
    made = []
    for name, values in _flat(table):
        begins = (CAPACITY, FIGURE) if what_if else (MEMORY,)
        if not (name.startswith(begins) or (name == CLOCK if what_if else name in CHOICES)):
            help_ = did_you_mean(name, known) or (f"there are {', '.join(known)}",)
            raise axis_error(where, f"there is no axis {name!r}", *help_)
        if not isinstance(values, list) or not values:
            raise axis_error(f"{where}, {name}", f"{values!r} is not a list of values", f"write {name} = [...]")
        read = tuple(_value(name, value, where) for value in values)
        if len(set(map(repr, read))) < len(read):
            raise axis_error(f"{where}, {name}", "a value is given twice", "give each value once")
        made.append(Axis(name, read, what_if))
    return tuple(made)


def _flat(table: Mapping[str, Any], before: str = "") -> list[tuple[str, Any]]:
    """Dotted names of values: TOML reads ``memory.l1 = [...]`` as a table in a table."""
    found: list[tuple[str, Any]] = []
    for key, value in table.items():
        found += _flat(value, f"{before}{key}.") if isinstance(value, dict) else [(f"{before}{key}", value)]
    return found


def _value(name: str, value: Any, where: str) -> Value:
    where = f"{where}, {name}"
    if name.startswith(MEMORY) and isinstance(value, str) and re.fullmatch(r"\d+(\.\d+)? ?%", value):
        share = float(value.rstrip("% "))
        if 0 < share <= 100:
            return f"{share:g}%"
        raise axis_error(where, f"{value} is not between 0 and 100 %", "only what_if can enlarge a memory")
    if name.startswith((MEMORY, CAPACITY)):
        size = value if type(value) is int else parse_bytes(value) if isinstance(value, str) else None
        if not size or size < 0:
            raise axis_error(where, f"{value!r} is not a size", 'write 65536, "64KiB" or "50%"')
        return int(size)
    if name.startswith(FIGURE) or name == CLOCK:
        if type(value) not in (int, float) or not 0 < value < float("inf"):
            raise axis_error(where, f"{value!r} is not a positive number", "write a number")
        return value if name == CLOCK else int(value)
    if name == "units":
        units = [value] if isinstance(value, str) else value
        if not isinstance(units, list) or not units or not all(isinstance(unit, str) for unit in units):
            raise axis_error(where, f"{value!r} is not a list of units", 'write "all" or ["cluster", "ne16"]')
        return tuple(units)
    allowed = CHOICES[name]
    if not (value in allowed and type(value) is type(allowed[0]) if allowed else isinstance(value, str)):
        shown = ", ".join(map(str, allowed or ("names",)))
        raise axis_error(where, f"{value!r} is not one of {shown}", f"write some of {shown}")
    read: Value = value
    return read


def _number(value: Any, units: Mapping[str, float]) -> float | None:
    """A number, or a text with one of the units, or bytes."""
    if isinstance(value, str):
        found = re.fullmatch(r"([0-9.]+) ?([a-z]+)", value)
        if found and found[2] in units and found[1].count(".") < 2:
            return float(found[1]) * units[found[2]]
        return parse_bytes(value)
    return value if type(value) in (int, float) and value == value else None


def _constraint(name: str, value: Any, path: Path) -> Constraint:
    where = _place(path, f"constraints.{name}")
    figure = "milliseconds" if name == "latency" else name
    if figure not in OBJECTIVES:
        known = ("latency", *OBJECTIVES)
        raise aim_error(
            where, f"there is no figure {name!r}", *(did_you_mean(name, known) or (f"use {', '.join(known)}",))
        )
    both = value if isinstance(value, dict) else {"min" if figure == "accuracy" else "max": value}
    read = {key: _number(given, {unit: 1e3 * s for unit, s in _SECONDS.items()}) for key, given in both.items()}
    if not read or not set(read) <= {"min", "max"} or None in read.values():
        raise aim_error(where, f"{value!r} is not a limit", f'write {name} = "10ms", a number, or {{min = 1, max = 2}}')
    least, most = read.get("min") or 0.0, read.get("max")
    if most is not None and (most < least or most <= 0):
        raise aim_error(where, f"no figure is at least {least:g} and at most {most:g}", "change one of the limits")
    return Constraint(figure, least, float("inf") if most is None else most)


def _strategy(table: Mapping[str, Any], path: Path) -> Strategy:
    where = _place(path, "strategy")
    kind = table.get("kind", "grid")
    if kind not in ("grid", "random", "search"):
        raise study_error(where, f"there is no strategy {kind!r}", "use grid, random or search")
    numbers = {key: table.get(key, default) for key, default in _COUNTS.items()}
    for key, value in numbers.items():
        if type(value) is not int or not 0 <= value <= _POINTS_MAX or (key == "batch" and value < 1):
            raise study_error(where, f"{key} is {value!r}, a whole number expected", f"write {key} = 100")
    if kind != "grid" and not numbers["points"]:
        raise study_error(where, f"{kind} needs the number of points", "write points = 100")
    if not isinstance(table.get("prune", True), bool):
        raise study_error(where, f"prune is {table['prune']!r}", "write true or false")
    return Strategy(kind, **numbers, prune=table.get("prune", True))


_COUNTS = {"points": 0, "seed": 0, "batch": 8}


def _limits(table: Mapping[str, Any], path: Path) -> Limits:
    where, made = _place(path, "limits"), {}
    for key, name, units in (("time", "seconds", _SECONDS), ("memory", "memory_bytes", {})):
        if key in table:
            value = _number(table[key], units)
            if not value or not 0 < value < float("inf"):
                raise study_error(where, f"{key} is {table[key]!r}", 'write time = "10min" and memory = "2GB"')
            made[name] = value
    return Limits(made.get("seconds", Limits().seconds), int(made.get("memory_bytes", Limits().memory_bytes)))


def _facts(name: str, value: Any, path: Path) -> Facts:
    where = _place(path, f"targets.{name}")
    if not isinstance(value, dict) or not set(value) <= {"price", "area_mm2", "source"}:
        raise study_error(where, f"{value!r} does not say what it costs", "write price, area_mm2 and source")
    numbers = {key: value.get(key) for key in ("price", "area_mm2")}
    if any(n is not None and (type(n) not in (int, float) or not 0 <= n < float("inf")) for n in numbers.values()):
        raise study_error(where, "price and area_mm2 are numbers", "write price = 4.2")
    if not isinstance(value.get("source"), str) or not value["source"].strip():
        raise study_error(where, "its figures have no source", 'add source = "..."')
    return Facts(numbers["price"], numbers["area_mm2"], value["source"])


def _check_accuracy(study: Study) -> None:
    asked = "accuracy" in study.objectives or any(c.figure == "accuracy" for c in study.constraints)
    if asked and (study.evaluate != "twin" or any(model.labels is None for model in study.models)):
        why = "accuracy is asked for, but no task measures it"
        raise aim_error(str(study.file), why, 'write evaluate = "twin" with inputs and labels', "leave accuracy out")
