"""A study as frozen data: what it compares, on what axes, under which constraints, and how it is searched."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Value = str | int | float | bool | tuple[str, ...]

#: What a study can minimise (accuracy: maximise), besides the numbers of its axes, and what each row has of it.
OBJECTIVES = ("cycles", "milliseconds", "peak_bytes", "near_bytes", "energy_pj", "area_mm2", "price", "accuracy")
MAXIMISED = ("accuracy",)


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model with what a run on the twin needs. ``name``: the shortest end of the path that differs from the other
    models'; ``sha256``: of the model's bytes."""

    name: str
    path: Path
    sha256: str
    inputs: Path | None = None
    labels: Path | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """What the user says about a target: price, area in mm2, and where both are from."""

    price: float | None
    area_mm2: float | None
    source: str


@dataclass(frozen=True, slots=True)
class Axis:
    """A name with its values. ``what_if``: values change the hardware."""

    name: str
    values: tuple[Value, ...]
    what_if: bool = False


@dataclass(frozen=True, slots=True)
class Constraint:
    """A figure of a row within [least, most]."""

    figure: str
    least: float
    most: float

    def holds(self, value: float | None) -> bool:
        """Whether a figure is known and within the limits."""
        return value is not None and self.least <= value <= self.most


@dataclass(frozen=True, slots=True)
class Strategy:
    """``grid``: every point; ``random``: ``points`` of them; ``search``: ``points`` that a sampler chooses, in batches
    of ``batch``, without those that ``prune`` shows to be worse than the front."""

    kind: Literal["grid", "random", "search"] = "grid"
    points: int = 0
    seed: int = 0
    batch: int = 8
    prune: bool = True


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one task: seconds, bytes of resident memory."""

    seconds: float = 1800.0
    memory_bytes: int = 4 << 30


@dataclass(frozen=True)
class Study:
    """A whole study file. ``sha256``: of its text; ``evaluate``: what a task does: "compile" decides a program,
    "bounds" computes lower bounds only, "twin" runs the program too; ``options``: of every compilation."""

    file: Path
    sha256: str
    name: str
    models: tuple[ModelFile, ...]
    targets: tuple[str, ...]
    axes: tuple[Axis, ...]
    objectives: tuple[str, ...]
    constraints: tuple[Constraint, ...]
    strategy: Strategy
    limits: Limits
    evaluate: Literal["compile", "bounds", "twin"] = "compile"
    options: tuple[tuple[str, Value], ...] = ()
    facts: dict[str, Facts] = field(default_factory=dict)
