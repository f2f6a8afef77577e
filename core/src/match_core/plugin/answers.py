"""Checks of what hooks return: one function per hook, from any object to the declared type or
WrongAnswerError."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeVar

from match_core.cost import CostModel
from match_core.emit.api import UnitApi
from match_core.hardware import Hardware, Soc, Unit
from match_core.patterns.language import Pattern
from match_core.schedule.loops import LoopSchedule
from match_core.transforms.base import Pass

if TYPE_CHECKING:
    from match_core.schedule.infeasible import ScheduleInfeasible

_Item = TypeVar("_Item")

#: Unit and Soc names reach file names and C symbols.
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_LIBRARY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")
_COST_METHODS = ("kernel_cycles", "launch_cycles", "transfer_cycles", "layer_cycles")


class WrongAnswerError(TypeError):
    """A hook returned something that its specification does not allow."""


def hardware(answer: object) -> Hardware:
    """A Hardware whose names are usable and not repeated."""
    value = _instance(answer, Hardware)
    units, socs = _items(value.units, Unit), _items(value.socs, Soc)
    for kind, names in (("unit", [unit.name for unit in units]), ("Soc", [soc.name for soc in socs])):
        _unique(kind, names)
        for name in names:
            if not isinstance(name, str) or not _NAME.fullmatch(name):
                raise WrongAnswerError(f"{kind} name {name!r} is not a lower-case C identifier")
    return Hardware(units=units, socs=socs)


def passes(answer: object) -> tuple[Pass, ...]:
    """Passes of different names."""
    value = _items(answer, Pass)
    _unique("pass", [item.name for item in value])
    return value


def patterns(answer: object) -> tuple[Pattern, ...]:
    """Patterns of different names."""
    value = _items(answer, Pattern)
    _unique("pattern", [item.name for item in value])
    return value


def cost_model(answer: object) -> CostModel:
    """Anything with the attributes of CostModel (a protocol, so no base class is asked for)."""
    missing = [
        name for name in ("name", "version", "bound", "overlap") if not isinstance(getattr(answer, name, None), str)
    ]
    missing += [name for name in _COST_METHODS if not callable(getattr(answer, name, None))]
    missing += [] if hasattr(answer, "energy") else ["energy"]
    if missing or isinstance(answer, type):
        lacks = f" (lacks {', '.join(missing)})" if missing else " (a class, not an instance)"
        raise WrongAnswerError(f"returned {_shown(answer)}{lacks}, CostModel expected")
    return answer  # type: ignore[return-value]


def schedule(answer: object) -> LoopSchedule | ScheduleInfeasible:
    """A schedule, or the report of a search that found none."""
    from match_core.schedule.infeasible import ScheduleInfeasible

    if isinstance(answer, ScheduleInfeasible):
        return answer
    return _instance(answer, LoopSchedule)


def unit_api(answer: object) -> UnitApi:
    """A UnitApi whose libraries can be named to a linker."""
    value = _instance(answer, UnitApi)
    for name in _items(value.libraries, str):
        if not _LIBRARY.fullmatch(name):
            raise WrongAnswerError(f"library {name!r} is not a name to put behind -l")
    return value


def _instance(answer: object, kind: type[_Item]) -> _Item:
    if not isinstance(answer, kind):
        raise WrongAnswerError(f"returned {_shown(answer)}, {kind.__name__} expected")
    return answer


def _items(answer: object, kind: type[_Item]) -> tuple[_Item, ...]:
    if not isinstance(answer, (tuple, list)):
        raise WrongAnswerError(f"returned {_shown(answer)}, tuple of {kind.__name__} expected")
    for position, item in enumerate(answer):
        if not isinstance(item, kind):
            raise WrongAnswerError(f"returned {_shown(item)} at position {position}, {kind.__name__} expected")
    return tuple(answer)


def _unique(kind: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise WrongAnswerError(f"gives the {kind} name {name!r} twice")
        seen.add(name)


def _shown(answer: object) -> str:
    return f"the class {answer.__name__}" if isinstance(answer, type) else f"a value of type {type(answer).__name__}"
