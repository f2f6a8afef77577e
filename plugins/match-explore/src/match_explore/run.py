"""A whole study: points, outcomes from the store or the engine, the table."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from match_explore.code import code_digest_of
from match_explore.order import sketching
from match_explore.results.rows import Provenance, Row, rows_of
from match_explore.space import points_of
from match_explore.store import Store

if TYPE_CHECKING:
    from match_core.plugin.facade import Plugins

    from match_explore.engine.choice import ClusterChoice
    from match_explore.engine.drive import Driver
    from match_explore.points import Point
    from match_explore.study import Study
    from match_explore.task import Outcome

#: Called with the points done, those there are, and the outcome; from the thread of the caller.
Watch = Callable[["Progress"], None]
_VERSIONS = ("match-core", "match-explore", "distributed", "optuna", "numpy", "onnx", "ortools")


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
    """A finished study. ``computed``: points that the engine evaluated now; ``points``: those that have a row."""

    study: Study
    points: tuple[Point, ...]
    outcomes: dict[int, Outcome]
    rows: list[Row]
    provenance: Provenance
    total: int
    computed: int
    seconds: float
    timings: dict[int, float] = field(default_factory=dict)


class Engine:
    """Evaluates points: those in the store at once, the others on a cluster that starts when the first is needed."""

    def __init__(
        self,
        study: Study,
        choice: ClusterChoice,
        store: Store,
        stack: ExitStack,
        watch: Watch,
        total: int,
        keep: Path | None,
    ) -> None:
        self.study, self.choice, self.store, self.watch, self.total, self.keep = (
            study,
            choice,
            store,
            watch,
            total,
            keep,
        )
        self._stack = stack
        self._driver: Driver | None = None
        self.outcomes: dict[int, Outcome] = {}
        self.timings: dict[int, float] = {}
        self.computed = 0

    def evaluate(self, points: Sequence[Point]) -> Iterator[tuple[Point, Outcome]]:
        """Outcomes as they come, each stored before it is given."""
        left = []
        for point in points:
            found = self.store.find(point) if self.keep is None else None
            if found is None:
                left.append(point)
            else:
                yield self._done(point, found)
        if not left:
            return
        driver = self._driver or self._start()
        if self.keep is not None:
            driver.keep.update({point.index: str(self.keep.absolute() / f"point-{point.index}") for point in left})
        for point, outcome in driver.run(left):
            self.computed += 1
            self.timings[point.index] = driver.seconds[point.index]
            self.store.keep(point, outcome, driver.seconds[point.index])
            yield self._done(point, outcome)

    def _done(self, point: Point, outcome: Outcome) -> tuple[Point, Outcome]:
        if point.evaluate == self.study.evaluate:
            self.outcomes[point.index] = outcome
            self.watch(Progress(len(self.outcomes), self.total, self.computed, point, outcome))
        return point, outcome

    def _start(self) -> Driver:
        from match_explore.engine.cluster import cluster
        from match_explore.engine.drive import Driver

        files = {model.sha256: (model.path.name, model.path.read_bytes()) for model in self.study.models}
        for model in self.study.models:
            for path in (model.inputs, model.labels):
                if path is not None and self.study.evaluate == "twin":
                    content = path.read_bytes()
                    files[_digest(content)] = (path.name, content)
        name = f"match-explore-{self.study.sha256[:12]}-{os.getpid()}"
        client = self._stack.enter_context(cluster(self.choice, name, files, self.store.code))
        self.watch(Progress(len(self.outcomes), self.total, 0, dashboard=str(client.dashboard_link)))
        self._driver = Driver(client, name, self.study.limits)
        return self._driver


def explore_study(
    study: Study,
    plugins: Plugins,
    choice: ClusterChoice,
    watch: Watch,
    *,
    resume: bool = True,
    keep: Path | None = None,
) -> Explored:
    """Evaluate the study. All errors of the study are raised before the first task; see ``points_of``, ``cluster`` and
    ``Driver.run``. ``resume`` False: outcomes in the store are computed again; ``keep``: a folder for programs."""
    from match_explore.search import searched

    began = time.monotonic()
    points = points_of(study, plugins)
    made = Provenance(code_digest_of(plugins), _versions())
    store = Store(made.code) if resume else _Fresh(made.code)
    strategy = study.strategy
    total = len(points) if strategy.kind == "grid" else min(strategy.points, len(points))
    with ExitStack() as stack:
        engine = Engine(study, choice, store, stack, watch, total, keep)
        if strategy.kind == "search":
            searched(study, points, engine)
        else:
            chosen = points
            if strategy.kind == "random":
                chosen = tuple(random.Random(strategy.seed).sample(points, total))
            for _ in engine.evaluate(sketching(chosen)):
                pass
    done = tuple(point for point in points if point.index in engine.outcomes)
    rows = rows_of(study, done, engine.outcomes, made)
    seconds = time.monotonic() - began
    return Explored(study, done, engine.outcomes, rows, made, len(points), engine.computed, seconds, engine.timings)


class _Fresh(Store):
    """A store that finds nothing."""

    def find(self, point: Point) -> Outcome | None:
        """None: everything is computed again."""
        return None


def _digest(content: bytes) -> str:
    from hashlib import sha256

    return sha256(content).hexdigest()


def _versions() -> dict[str, str]:
    found = {}
    for name in _VERSIONS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
