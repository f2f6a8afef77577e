"""Answers of CP-SAT about plans. They are cached on disk next to the schedules, by the content of the model, so that a
network whose layers stay as they are is planned again without a search."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from match_core.cp_sat import solve
from match_core.io.cache_dir import cache_directory
from match_core.io.entries import Entries, digest
from match_core.version import __version__

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

#: Version of the form of entries.
FORMAT = 1


@dataclass(frozen=True, slots=True)
class Values:
    """The values of all variables of a model."""

    numbers: tuple[int, ...]

    def value(self, variable: cp_model.IntVar) -> int:
        """The value of one variable."""
        return self.numbers[int(variable.index)]


@dataclass(frozen=True, slots=True)
class Answer:
    """Values, None if none were found; a lower bound of the objective; the effort, in CP-SAT's deterministic seconds.
    An answer from the cache states the effort that it took, so that plans do not depend on the cache."""

    values: Values | None
    bound: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Answers:
    """``entries``: None without a cache; ``code``: digest of all code that builds the models."""

    entries: Entries | None = None
    code: str = ""

    @classmethod
    def on_disk(cls, code: str | None) -> Answers:
        """The cache of this version; without one if ``code`` is None."""
        return cls() if code is None else cls(Entries(cache_directory("plans"), FORMAT, __version__), code)

    def solve(self, model: cp_model.CpModel, seconds: float, **parameters: Any) -> Answer:
        """Solve a model as ``match_core.cp_sat.solve`` does, unless its answer is cached."""
        if self.entries is None:
            return _solved(model, seconds, parameters)
        asked = [FORMAT, __version__, self.code, version("ortools"), str(model.proto), seconds, parameters]
        key = digest(asked)
        stored = _read(self.entries.read(key), len(model.proto.variables))
        if stored is None:
            stored = _solved(model, seconds, parameters)
            numbers = None if stored.values is None else stored.values.numbers
            self.entries.write(key, [numbers, stored.bound, stored.seconds])
        return stored


def _solved(model: cp_model.CpModel, seconds: float, parameters: dict[str, Any]) -> Answer:
    found = solve(model, seconds, **parameters)
    values = None if found.values is None else Values(tuple(map(int, found.values.response_proto.solution)))
    return Answer(values, found.bound, found.seconds)


def _read(content: Any, variables: int) -> Answer | None:
    """Parse an entry; None if there is none that ``solve`` wrote for a model of so many variables."""
    try:
        numbers, bound, seconds = content
        values = None if numbers is None else Values(tuple(map(int, numbers)))
        if values is not None and len(values.numbers) != variables:
            return None
        return Answer(values, int(bound), float(seconds))
    except (TypeError, ValueError):
        return None
