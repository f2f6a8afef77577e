"""Mappings of concurrent programs that were found before: which parts every operator has, and when they start.

Kept on disk beside the schedules (docs/cli.md), by the content of all that the search looks at. What was read counts
only where its time line, made again, is the same; and the mapping goes through the validators like every other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from match_core.io.entries import Entries, digest
from match_core.mapping.concurrent.parts import Part
from match_core.mapping.result import Bounds
from match_core.schedule.cache import canonical

if TYPE_CHECKING:
    from match_core.ir.model import Model
    from match_core.mapping.concurrent.evaluate import Choice, Evaluation, Evaluator
    from match_core.mapping.concurrent.options import ConcurrentOptions
    from match_core.mapping.result import Assignment, Mapping
    from match_core.schedule.candidates import Scheduler

#: Changes with the form of entries.
FORMAT = 2


@dataclass(frozen=True, slots=True)
class Found:
    """The best that a search found, in which of the covers (``cover`` counts them), and the bounds of all of them."""

    cover: int
    best: Evaluation
    bounds: Bounds


@dataclass(frozen=True, slots=True)
class Choices:
    """``code``: digest of all code that the search runs, so that no entry outlives it."""

    entries: Entries
    code: str

    def key(
        self,
        model: Model,
        offered: Sequence[Assignment],
        scheduler: Scheduler,
        sequential: Mapping,
        options: ConcurrentOptions,
    ) -> str | None:
        """Digest of everything that the search looks at: the graph, the offers with their schedules and with the
        requests that schedules of their parts are asked for by, the cover to start from, objective and options. None
        where a package has put into a schedule what has no content."""
        try:
            offers = [_offer(offer) for offer in offered]
        except TypeError:
            return None
        content = [
            [FORMAT, self.entries.version, self.code, version("ortools")],
            [scheduler.cache.key(scheduler.request(offer.candidate)) for offer in offered],
            offers,
            [[a.candidate.unit, a.candidate.pattern.name, a.candidate.node_names] for a in sequential.assignments],
            _graph(model),
            [scheduler.objective, canonical(options)],
        ]
        return digest(content)

    def find(self, key: str, evaluators: Sequence[Evaluator]) -> Found | None:
        """What was found before; None where nothing was. Asks for the schedules of its parts."""
        try:
            cover, choice, starts, finish, bounds = _read(self.entries.read(key))
            evaluator = evaluators[cover]
            evaluator.costs.confirm(part for division in choice for part in division)
            best = evaluator.replayed(choice, starts)
        except (ValueError, KeyError, TypeError, IndexError):
            return None
        return Found(cover, best, bounds) if (best.starts, best.finish) == (starts, finish) else None

    def keep(self, key: str, found: Found, evaluators: Sequence[Evaluator]) -> None:
        """For later compilations, where the starts of the parts give the time line: where the host copies for parts
        (``parallel`` "tiles"), copies have a place in it too, which may be another."""
        best = found.best
        again = evaluators[found.cover].replayed(best.choice, best.starts)
        if (again.starts, again.finish) == (best.starts, best.finish):
            self.entries.write(key, [found.cover, best.choice, best.starts, best.finish, astuple(found.bounds)])


def _read(content: Any) -> tuple[int, Choice, tuple[tuple[int, ...], ...], int, Bounds]:
    """ValueError or TypeError for what ``keep`` did not write."""
    cover, choice, starts, finish, bounds = content
    divisions = tuple(tuple(Part(*part) for part in division) for division in choice)
    lines = tuple(tuple(map(int, line)) for line in starts)
    return int(cover), divisions, lines, int(finish), Bounds(*map(int, bounds))


def _offer(assignment: Assignment) -> list[object]:
    candidate = assignment.candidate
    results = [tensor.name for tensor in candidate.match.outputs]
    pattern = [candidate.pattern.name, candidate.pattern.view]
    # Places of views are no part of a request.
    bases = [operand.base for operand in candidate.workload.operands]
    return [candidate.unit, pattern, candidate.node_names, results, bases, canonical(assignment.schedule)]


def _graph(model: Model) -> list[object]:
    graph = model.graph
    tensors = sorted((name, str(tensor.dtype), list(tensor.shape)) for name, tensor in graph.tensors().items())
    nodes = [[n.name, n.op, [t.name for t in n.inputs], [t.name for t in n.outputs]] for n in graph.nodes]
    return [tensors, nodes, [t.name for t in graph.inputs], [t.name for t in graph.outputs]]
