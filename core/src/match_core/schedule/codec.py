"""Schedules as JSON and back, for the cache on disk: plain values only, nothing executable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from match_core.contract.cost import Cost
from match_core.contract.loops import LoopSchedule, Placement, TileLoop
from match_core.contract.scheduling import ScheduleInfeasible

if TYPE_CHECKING:
    from match_core.contract.scheduling import Answer

_PLAIN = (str, int, float, bool, type(None))
#: Classes by the text of a field's type.
_PARTS: dict[str, type[Any]] = {"tuple[TileLoop, ...]": TileLoop, "tuple[Placement, ...]": Placement}
_PAIRS = "tuple[tuple[str, int], ...]"
_SCALARS: dict[str, tuple[type[Any], ...]] = {
    "int": (int,),
    "str": (str,),
    "str | None": (str, type(None)),
    "float | None": (int, float, type(None)),
}


def to_json(answer: Answer) -> dict[str, object]:
    """The answer as an object of JSON; ``kind`` distinguishes schedules from refusals."""
    if isinstance(answer, ScheduleInfeasible):
        return {"kind": "infeasible", **_fields(answer)}
    return {"kind": "schedule", **_fields(answer)}


def from_json(document: object) -> Answer:
    """The answer that was passed to ``to_json``; ValueError for any other document."""
    values = _object(document)
    kind = values.pop("kind", None)
    try:
        if kind == "infeasible":
            return ScheduleInfeasible(**_checked(ScheduleInfeasible, values))
        if kind == "schedule":
            return LoopSchedule(**_checked(LoopSchedule, values))
    except TypeError as error:
        raise ValueError(str(error)) from error
    raise ValueError(f"answer of kind {kind!r}")


def _fields(value: Any) -> dict[str, object]:
    return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}


def _plain(value: object) -> object:
    if isinstance(value, (TileLoop, Placement, Cost)):
        return _fields(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if not isinstance(value, _PLAIN):
        raise TypeError(f"{value!r} has no place in a schedule")
    return value


def _object(document: object) -> dict[str, Any]:
    if not isinstance(document, dict):
        raise ValueError("an object expected")
    return dict(document)


def _checked(kind: type[Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """The fields with tuples for lists; ValueError if a name is missing or unknown, or a value has another type."""
    types = {field.name: str(field.type) for field in fields(kind)}
    if set(values) != set(types):
        raise ValueError(f"{kind.__name__} with the fields {sorted(values)}")
    return {name: _value(name, types[name], value) for name, value in values.items()}


def _value(name: str, type_: str, value: Any) -> object:
    if type_ in _PARTS:
        kind = _PARTS[type_]
        return tuple(kind(**_checked(kind, _object(item))) for item in _list(value))
    if type_ == _PAIRS:
        return tuple(_pair(item) for item in _list(value))
    if type_ == "Cost":
        return Cost(**_checked(Cost, _object(value)))
    expected = _SCALARS.get(type_, (int, str))  # other types are Literals
    if not isinstance(value, expected) or isinstance(value, bool):
        raise ValueError(f"{name} is {value!r}")
    return value


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError("a list expected")
    return value


def _pair(value: object) -> tuple[str, int]:
    if not isinstance(value, list) or len(value) != 2 or not isinstance(value[0], str) or type(value[1]) is not int:
        raise ValueError(f"{value!r} is not a pair of name and number")
    return value[0], value[1]
