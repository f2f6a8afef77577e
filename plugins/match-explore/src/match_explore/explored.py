"""What a study gives while it runs and in the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_explore.engine.incident import Incident
    from match_explore.points import Point
    from match_explore.results.rows import Provenance, Row
    from match_explore.study import Study
    from match_explore.task import Outcome

#: Called after each point, from the thread of the caller.
Watch = Callable[["Progress"], None]


@dataclass(frozen=True)
class Progress:
    """``point`` None: the engine has started, at ``dashboard``."""

    done: int
    total: int
    computed: int
    point: Point | None = None
    outcome: Outcome | None = None
    dashboard: str = ""


@dataclass(frozen=True)
class Explored:
    """A finished study. ``computed``: points that the engine evaluated now; ``points``: those that have a row;
    ``retried``: what happened to tasks that were tried again."""

    study: Study
    points: tuple[Point, ...]
    outcomes: dict[int, Outcome]
    rows: list[Row]
    provenance: Provenance
    total: int
    computed: int
    seconds: float
    timings: dict[int, float] = field(default_factory=dict)
    retried: tuple[Incident, ...] = ()
