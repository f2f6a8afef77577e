"""Concurrent mappings of small made graphs, searched quickly."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
from match_concurrent.mapping.choose import choose_concurrent
from match_concurrent.mapping.costs import ShareCosts
from match_concurrent.mapping.evaluate import Evaluator
from match_concurrent.mapping.joint import with_joint
from match_concurrent.mapping.mapping_effort import ConcurrentOptions
from match_concurrent.mapping.network import Network, Queues
from match_core.contract.mapping import Mapping
from match_core.validate.mapping import mapping_faults
from match_map.mapper import choose

from core.tests.map.rows import Lab, Price, lab

QUICK: dict[str, Any] = {"steps_max": 6_000, "solver_seconds": 0.02}
CHAIN = {"a": ["in"], "b": ["a"], "c": ["b"]}
FORK = {"a": ["in"], "b": ["in"], "c": ["a", "b"]}
TWO = {"host": Price(50_000, 9000), "fast": Price(20, 1000), "slow": Price(20, 1500)}


def mapped(made: Lab, **options: Any) -> Mapping:
    sequential = choose(made.model, made.offered, objective=made.scheduler.objective)
    found = choose_concurrent(
        made.model, made.offered, made.scheduler, sequential, ConcurrentOptions(**{**QUICK, **options})
    )
    assert mapping_faults(made.model.graph, found) == ()
    return found


def shares(mapping: Mapping) -> list[tuple[str, str, str, int, int]]:
    """(node, unit, dimension, first, size) of all parts."""
    return [
        (a.candidate.match.nodes[0].name, a.candidate.unit, *((s.dim, s.first, s.size) if s else ("", 0, 0)))
        for a in mapping.assignments
        for s in [a.candidate.share]
    ]


def evaluator_of(made: Lab, **options: Any) -> Evaluator:
    opts = ConcurrentOptions(**options)
    cover = choose(made.model, made.offered).assignments
    offered = with_joint(made.offered, made.scheduler)
    network = Network.of(made.model, offered, cover, by_region=opts.parallel == "pipeline")
    signalling = made.scheduler.soc.signalling
    assert signalling is not None
    costs = ShareCosts(offered, made.scheduler)
    return Evaluator(network, costs, Queues.of(made.scheduler), signalling, opts, made.scheduler.objective)


prices = st.builds(Price, st.integers(0, 60), st.integers(500, 3000))


@st.composite
def labs(draw: st.DrawFn, objective: Any = "latency") -> Lab:
    """Random graphs of up to six operators on up to three units."""
    names = [f"n{number}" for number in range(draw(st.integers(1, 6)))]
    graph = {
        name: draw(st.lists(st.sampled_from(["in", *names[:number]]), min_size=1, max_size=2, unique=True))
        for number, name in enumerate(names)
    }
    price = st.builds(Price, st.integers(0, 200), st.integers(100, 3000), st.floats(0.5, 5))
    units = {name: draw(price) for name in ["host", "one", "two"][: draw(st.integers(1, 3))]}
    both = (*draw(st.permutations(["one", "two"])), draw(price)) if len(units) == 3 and draw(st.booleans()) else None
    return lab(
        graph, units, rows=draw(st.integers(1, 20)), columns=draw(st.integers(1, 6)), halo=draw(st.integers(0, 1)),
        objective=objective, granularity={"one": draw(st.integers(1, 3))}, both=both,
    )  # fmt: skip
