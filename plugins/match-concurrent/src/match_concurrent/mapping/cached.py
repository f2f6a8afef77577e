"""Caches mappings of concurrent programs: the parts of every operator, and their start times.

They are cached on disk next to the schedules (docs/cli.md), by the content of all inputs of the search. An entry is
used only if its recomputed time line is the same; the mapping passes through the validators like every other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from match_core.contract.mapping import Bounds
from match_core.io.cache_dir import cache_directory
from match_core.io.entries import Entries, digest
from match_core.schedule.cache import canonical
from match_core.version import __version__

from match_concurrent.mapping.parts import Part

if TYPE_CHECKING:
    from match_core.contract.mapping import Assignment, Mapping
    from match_core.contract.model import Model
    from match_core.contract.scheduling import Scheduling

    from match_concurrent.mapping.evaluate import Choice, Evaluation, Evaluator
    from match_concurrent.mapping.mapping_effort import ConcurrentOptions
    from match_concurrent.mapping.network import Network

#: Version of the form of entries.
FORMAT = 4


@dataclass(frozen=True, slots=True)
class Found:
    """The best result of a search, the evaluator of its cover, and the bounds of all covers."""

    evaluator: Evaluator
    best: Evaluation
    bounds: Bounds


@dataclass(frozen=True, slots=True)
class CachedChoices:
    """``code``: digest of all code that the search runs, so that no entry outlives it."""

    entries: Entries
    code: str

    @classmethod
    def on_disk(cls, code: str) -> CachedChoices:
        """The cache of this version, next to the schedules."""
        return cls(Entries(cache_directory("mappings"), FORMAT, __version__), code)

    def key(
        self,
        model: Model,
        offered: Sequence[Assignment],
        scheduling: Scheduling,
        sequential: Mapping,
        options: ConcurrentOptions,
        limit_cycles: int | None,
    ) -> str | None:
        """Digest of all inputs of the search: the graph, the offers with their schedules and with the requests for
        schedules of their parts, the cover to start from, objective and options. None if a schedule holds an object
        of a package that has no content to digest."""
        try:
            # Layers of the same form share their schedules.
            schedules = {made: digest(canonical(made)) for made in {offer.schedule for offer in offered}}
            offers = [_offer(offer, schedules[offer.schedule]) for offer in offered]
        except TypeError:
            return None
        content = [
            [FORMAT, self.entries.version, self.code, version("ortools")],
            [scheduling.key(offer.candidate) for offer in offered],
            offers,
            [[a.candidate.unit, a.candidate.pattern.name, a.candidate.node_names] for a in sequential.assignments],
            _graph(model),
            [scheduling.objective, canonical(options), limit_cycles],
        ]
        return digest(content)

    def hopeless(self, key: str, judge: Callable[[], bool]) -> bool:
        """The cached judgement of offers with sequential schedules; ``judge`` makes it if there is none."""
        place = digest([key, "hopeless"])
        found = self.entries.read(place)
        if not isinstance(found, bool):
            found = judge()
            self.entries.write(place, found)
        return found

    def find(self, key: str, evaluators: Sequence[Evaluator]) -> Found | None:
        """The cached result; None if there is none. Requests the schedules of its parts."""
        try:
            cover, choice, starts, finish, bounds = _read(self.entries.read(key))
            evaluator = _covered(evaluators, cover)
            evaluator.costs.confirm(part for division in choice for part in division)
            best = evaluator.replayed(choice, starts)
        except (ValueError, KeyError, TypeError, IndexError):
            return None
        return Found(evaluator, best, bounds) if (best.starts, best.finish) == (starts, finish) else None

    def keep(self, key: str, found: Found) -> None:
        """Store a result if the starts of the parts determine the time line. With ``parallel`` "tiles" they do not: the
        host also copies for parts, at times that may differ."""
        best = found.best
        again = found.evaluator.replayed(best.choice, best.starts)
        if (again.starts, again.finish) == (best.starts, best.finish):
            self.entries.write(
                key, [_places(found.evaluator.network), best.choice, best.starts, best.finish, astuple(found.bounds)]
            )


def _covered(evaluators: Sequence[Evaluator], places: Sequence[int]) -> Evaluator:
    """The evaluator of the cover with these positions in the offered assignments."""
    known = next((evaluator for evaluator in evaluators if _places(evaluator.network) == places), None)
    if known is not None:
        return known
    given = evaluators[0].network
    cover = [given.offered[place] for place in places]
    if _nodes(cover) != _nodes(given.cover):
        raise ValueError("these candidates do not cover each node once")
    return evaluators[0].of(given.with_cover(cover))


def _nodes(cover: Sequence[Assignment]) -> list[str]:
    return sorted(name for assignment in cover for name in assignment.candidate.node_names)


def _places(network: Network) -> list[int]:
    index = {id(assignment): number for number, assignment in enumerate(network.offered)}
    return [index[id(assignment)] for assignment in network.cover]


def _read(content: Any) -> tuple[list[int], Choice, tuple[tuple[int, ...], ...], int, Bounds]:
    """Parse an entry. ValueError or TypeError if ``keep`` did not write it."""
    cover, choice, starts, finish, bounds = content
    divisions = tuple(tuple(Part(*part) for part in division) for division in choice)
    lines = tuple(tuple(map(int, line)) for line in starts)
    return [int(place) for place in cover], divisions, lines, int(finish), Bounds(*map(int, bounds))


def _offer(assignment: Assignment, schedule: str) -> list[object]:
    candidate = assignment.candidate
    results = [tensor.name for tensor in candidate.match.outputs]
    pattern = [candidate.pattern.name, candidate.pattern.view, candidate.pattern.occupies]
    # Addresses of views are not part of a request.
    bases = [operand.base for operand in candidate.workload.operands]
    return [candidate.unit, pattern, candidate.node_names, results, bases, schedule]


def _graph(model: Model) -> list[object]:
    graph = model.graph
    tensors = sorted((name, str(tensor.dtype), list(tensor.shape)) for name, tensor in graph.tensors().items())
    nodes = [[n.name, n.op, [t.name for t in n.inputs], [t.name for t in n.outputs]] for n in graph.nodes]
    return [tensors, nodes, [t.name for t in graph.inputs], [t.name for t in graph.outputs]]
