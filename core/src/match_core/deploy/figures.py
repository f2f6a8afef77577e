"""Figures files: constants of a target that were fitted to measured cycles, and their effect on the Soc."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from match_core.contract.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from match_core.contract.hardware import Soc, Unit

SCHEMA = {"schema": "match.figures", "schema_version": 1}
_FILE_BYTES_MAX = 1_000_000
#: Values are unsigned 32-bit macros of the twin.
VALUE_MAX = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Figures:
    """A figures file: its name, its target and preset, and (unit, constant, value) of each replaced constant."""

    file: str
    target: str
    preset: str
    values: tuple[tuple[str, str, int], ...]


def read_figures(path: Path) -> Figures:
    """The figures in a file; what else it states is for people. UsageError MATCH-U070 if it is not a figures file."""
    try:
        if path.exists() and not path.is_file():
            raise ValueError("it is not a file")  # reading from a pipe may never end
        with path.open("rb") as file:
            found = json.loads(file.read(_FILE_BYTES_MAX))
        texts = (found["target"], found["preset"])
        rows = [(str(row["unit"]), str(row["constant"]), row["value"]) for row in found["figures"]]
        if not SCHEMA.items() <= found.items() or not all(isinstance(text, str) for text in texts):
            raise ValueError(f"it does not state {SCHEMA} with a target and a preset")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        why = (isinstance(error, OSError) and error.strerror) or f"{type(error).__name__}: {error}"
        raise _error("MATCH-U070", "the figures file cannot be read", str(path), why) from error
    return Figures(str(path), *texts, tuple(rows))


def with_figures(soc: Soc, preset: str | None, units: Sequence[Unit], figures: Figures | None) -> Soc:
    """The Soc with the figures and their preset. ``preset``: the user's choice. UsageError MATCH-U071 if the file is
    for another target or preset, MATCH-U072 if a constant cannot be replaced."""
    if figures is None:
        return soc
    preset = figures.preset if preset is None else preset
    if (figures.target, figures.preset) != (soc.name, preset) or preset not in (soc.presets or ("",)):
        why = f"it is for {figures.target}, preset {figures.preset!r}; this is {soc.name}, preset {preset!r}"
        raise _error("MATCH-U071", "the figures file is for another target", figures.file, why)
    known = {(unit.name, c.name): c for unit in units for c in unit.constants_of(preset)}
    rows: dict[tuple[str, str], int] = {}
    for unit, name, value in figures.values:
        constant, where = known.get((unit, name)), f"{figures.file}, {unit[:80]}.{name[:80]}"
        if constant is None or not constant.may_fit:
            names = [other for (_, other), c in known.items() if c.may_fit]
            why = "there is no such constant" if constant is None else "its package does not let counters replace it"
            close = did_you_mean(name, names)
            raise _error("MATCH-U072", "a figure cannot be used", where, why, *close)
        least = 0 if constant.unit == "cycles" else 1
        if type(value) is not int or not least <= value <= VALUE_MAX or (unit, name) in rows:
            why = f"a whole number of {constant.unit} of {least} to {VALUE_MAX} is expected once, not {str(value)[:80]}"
            raise _error("MATCH-U072", "a figure cannot be used", where, why)
        rows[unit, name] = value
    return replace(soc, preset=preset, figures=figures.values)


def _error(code: str, what: str, where: str, why: str, *help_: str) -> UsageError:
    return UsageError(code, what, where, why, (*help_, "write a figures file with match calibrate"))
