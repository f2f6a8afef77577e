"""Outcomes of points, from the store or from a cluster that starts when it is needed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from match_explore.explored import Progress, Watch

if TYPE_CHECKING:
    from match_explore.engine.choice import ClusterChoice
    from match_explore.engine.drive import Driver
    from match_explore.engine.incident import Incident
    from match_explore.points import Point
    from match_explore.store import Store
    from match_explore.study import Study
    from match_explore.task import Outcome


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
            self.timings[point.index] = driver.seconds.get(point.index, 0.0)
            self.store.keep(point, outcome, self.timings[point.index])
            yield self._done(point, outcome)

    @property
    def retried(self) -> tuple[Incident, ...]:
        """What happened to tasks that were tried again."""
        return tuple(self._driver.retried) if self._driver is not None else ()

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
                    files[sha256(content).hexdigest()] = (path.name, content)
        name = f"match-explore-{self.study.sha256[:12]}-{os.getpid()}"
        client = self._stack.enter_context(cluster(self.choice, name, files, self.store.code))
        self.watch(Progress(len(self.outcomes), self.total, 0, dashboard=str(client.dashboard_link)))
        self._driver = Driver(client, name, self.study.limits)
        return self._driver
