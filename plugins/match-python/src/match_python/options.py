"""Keyword options of the functions: those of the verbs, with the same names and the same checks."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from enum import Enum
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Union, get_args

from match_core.contract.errors import UsageError

if TYPE_CHECKING:
    from match_core.cli.choices import Choices

Names = Union[str, Sequence[str]]


class Options(TypedDict, total=False):
    """The options of the command line, dashes as underscores: ``docs/cli.md`` explains each.

    ``NAME=VALUE`` options take mappings: ``dim={"batch": 1}``, ``memory={"l1": "64kB"}`` (or bytes),
    ``region_min={"nodes": 4}``, ``state={"h_in": "h_out"}``. Options that may be repeated take a name or several.
    ``jobs`` is 1 unless it is given; a script that asks for more needs ``if __name__ == "__main__"``.
    """

    dim: Mapping[str, int]
    only_unit: Names
    without_unit: Names
    without_pass: Names
    exact: Names
    max_loss: float
    quantized_io: bool
    precision: Literal["exact", "fast"]
    preset: str
    figures: str | PathLike[str]
    memory: Mapping[str, int | str]
    objective: Literal["latency", "energy", "edp"]
    name: str
    no_cache: bool
    jobs: int
    sequential: bool
    parallel: Literal["whole", "views", "pipeline", "joint", "long"]
    regions: Literal["cheapest", "largest"]
    region_min: Mapping[str, int]
    state: Mapping[str, str]


def choices_of(options: Mapping[str, Any]) -> Choices:
    """The options as arguments of ``CompileOptions``. UsageError MATCH-U090 for an unknown option or value, and the
    errors of the command line."""
    from match_core.cli.choices import compile_choices

    known = inspect.signature(compile_choices, eval_str=True).parameters
    for name in options:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            advice = (*(f"did you mean {other}=?" for other in close), "docs/cli.md lists the options of the verbs")
            raise wrong_argument(f"option {name!r}", f"there is no such option; there are {', '.join(known)}", advice)
    return compile_choices(**{"jobs": 1} | {name: _value(name, value, known[name]) for name, value in options.items()})


def _value(name: str, value: object, parameter: inspect.Parameter) -> Any:
    """A value in the form that the command line gives: texts ``NAME=VALUE``, lists of texts, members of enumerations,
    paths."""
    if isinstance(parameter.default, Enum):
        return choice(name, value, type(parameter.default))
    if isinstance(value, Mapping):
        return [f"{key}={entry}" for key, entry in value.items()]
    kinds = [kind for kind in get_args(get_args(parameter.annotation)[0]) if kind is not type(None)]
    if isinstance(value, str) and any(getattr(kind, "__origin__", None) is list for kind in kinds):
        return [value]
    return Path(value) if Path in kinds and isinstance(value, (str, PathLike)) else value


def choice(name: str, value: object, kind: type[Enum]) -> Any:
    """The member of an enumeration of the command line. UsageError MATCH-U090 if there is none of that value."""
    values = [str(member.value) for member in kind]
    if value not in values:
        close = get_close_matches(str(value), values, n=1)
        advice = tuple(f"did you mean {name}={other!r}?" for other in close) or (f"use one of {', '.join(values)}",)
        raise wrong_argument(f"option {name!r}", f"{value!r} is not one of {', '.join(values)}", advice)
    return kind(value)


def wrong_argument(where: str, why: str, advice: tuple[str, ...]) -> UsageError:
    """The error for an argument that no function can take."""
    return UsageError(code="MATCH-U090", what="the argument is not valid", where=where, why=why, help=advice)
