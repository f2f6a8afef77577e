"""A whole study: points, outcomes, the table."""

from __future__ import annotations

import random
import time
from contextlib import ExitStack
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from match_explore.code import code_digest_of
from match_explore.evaluating import Engine
from match_explore.explored import Explored, Watch
from match_explore.order import sketching
from match_explore.results.rows import Provenance, rows_of
from match_explore.space import points_of
from match_explore.store import Store

if TYPE_CHECKING:
    from match_core.plugin.facade import Plugins

    from match_explore.engine.choice import ClusterChoice
    from match_explore.points import Point
    from match_explore.study import Study
    from match_explore.task import Outcome

_VERSIONS = ("match-core", "match-explore", "distributed", "optuna", "numpy", "onnx", "ortools")


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
    choice.check_files()
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
    return Explored(
        study,
        done,
        engine.outcomes,
        rows,
        made,
        len(points),
        engine.computed,
        seconds,
        engine.timings,
        engine.retried,
    )


class _Fresh(Store):
    """A store that finds nothing."""

    def find(self, point: Point) -> Outcome | None:
        """None: everything is computed again."""
        return None


def _versions() -> dict[str, str]:
    found = {}
    for name in _VERSIONS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
