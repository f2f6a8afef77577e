"""The order that keeps least alive: against all orders of small graphs, which are tried one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from match_core.ir.topology import Topology
from match_core.map.dataflow import Flow, Storage, flow_of, storages_of
from match_core.plan import least_memory
from match_core.plan.least_memory import least_memory_order
from match_core.validate.sequential_program import program_faults

from core.tests.plan.planned import plan
from tests.examples import examples


@st.composite
def networks(draw):
    """Node -> reads, sizes, views, scratch; small enough for all orders to be tried."""
    nodes: dict[str, list[str]] = {}
    sizes: dict[str, int] = {}
    views = []
    for number in range(draw(st.integers(1, 6))):
        name = f"t{number}"
        nodes[name] = draw(st.lists(st.sampled_from(["in", *nodes]), min_size=1, max_size=2, unique=True))
        sizes[name] = draw(st.integers(1, 40))
        if nodes[name][0] != "in" and draw(st.integers(0, 4)) == 0:
            nodes[name] = nodes[name][:1]
            sizes[name] = sizes[nodes[name][0]]
            views.append(name)
    nodes["end"] = draw(st.lists(st.sampled_from(list(nodes)), min_size=1, max_size=3, unique=True))
    scratch = {n: draw(st.integers(1, 30)) for n in range(len(nodes)) if draw(st.integers(0, 3)) == 0}
    return nodes, sizes, views, scratch


def all_orders(nodes: Mapping[str, Sequence[str]], begun: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if len(begun) == len(nodes):
        yield begun
    for name, reads in nodes.items():
        if name not in begun and all(read in begun or read not in nodes for read in reads):
            yield from all_orders(nodes, (*begun, name))


def peak(order: Sequence[str], lab_network, ends: set[str], alignment: int) -> int:
    """The most that is alive, counted from the definition: tensors made already that are still read, and the scratch
    of the task that runs. A view is its first input."""
    nodes, sizes, views, scratch = lab_network
    root = {name: name for name in nodes}
    for name in nodes:  # in order of definition
        if name in views:
            root[name] = root[nodes[name][0]]
    owned = {root[end] for end in ends}
    most = 0
    for place in range(len(order)):
        made = {root[name] for name in order[: place + 1]}
        to_come = {root[name] for name in order[place:]}
        to_come |= {root[read] for name in order[place:] for read in nodes[name] if read in nodes}
        alive = (made & to_come) - owned
        extra = scratch.get(list(nodes).index(order[place]), 0)
        most = max(most, sum(-(-size // alignment) * alignment for size in (*(sizes[n] for n in alive), extra)))
    return most


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(network=networks(), alignment=st.sampled_from([1, 8]))
def test_no_order_keeps_less_alive(lab, network, alignment):
    nodes, sizes, views, scratch = network
    scratch = {n: size for n, size in scratch.items() if list(nodes)[n] not in views}
    read = {r for reads in nodes.values() for r in reads}
    ends = {name for name in nodes if name not in read}
    hidden = {name for name in ends if name in views}  # a view that nobody reads may not be an output
    ends -= hidden
    model = lab.model_of(nodes, sizes, outputs=sorted(ends))
    mapping = lab.mapping_of(model, views)
    topology = Topology.of(model.graph)
    flows = tuple(flow_of(topology, assignment) for assignment in mapping.assignments)
    storages = storages_of(model, flows)
    sound = (nodes, sizes, views, scratch)
    peaks = {order: peak(order, sound, ends, alignment) for order in all_orders(nodes)}
    best = min(peaks.values())
    found = least_memory_order(flows, storages, scratch, alignment, best + 1)
    if found is None:  # what one task touches is as much already
        assert least_memory_order(flows, storages, scratch, alignment, 1 << 30) is not None
    else:
        assert peaks[tuple(list(nodes)[task] for task in found)] == best
    assert least_memory_order(flows, storages, scratch, alignment, best) is None
    program = plan(model, mapping, lab.soc_of(alignment=alignment), (), scratch)
    assert program_faults(model.graph, program) == ()
    chosen = tuple(task.assignment.candidate.node_names[0] for task in program.tasks)
    assert peaks[chosen] <= peaks[tuple(nodes)] or program.allocation.status == "heuristic"


def branches(count: int) -> tuple[tuple[Flow, ...], tuple[Storage, ...]]:
    """Chains ``wide -> small`` from one input, joined at the end; given with all wide ones first."""
    wide = [Flow(("in",), (f"wide{n}",), False) for n in range(count)]
    small = [Flow((f"wide{n}",), (f"small{n}",), False) for n in range(count)]
    join = Flow(tuple(f"small{n}" for n in range(count)), ("out",), False)
    storages = [Storage((f"wide{n}",), 100 + n, False, False) for n in range(count)]
    storages += [Storage((f"small{n}",), 1, False, False) for n in range(count)]
    ends = [Storage(("in",), 8, True, False), Storage(("out",), 8, False, True)]
    return (*wide, *small, join), (*storages, *ends)


@pytest.mark.parametrize("effort", [least_memory.EFFORT, 0])
def test_many_branches_run_one_after_another(monkeypatch, effort):
    """Also where only few sets are kept."""
    monkeypatch.setattr(least_memory, "EFFORT", effort)
    flows, storages = branches(40)
    order = least_memory_order(flows, storages, {}, 1, 1 << 30)
    assert order is not None and sorted(order) == list(range(81))
    made: set[int] = set()
    most = 0
    for task in order:
        made.add(task)
        wide = sum(100 + n for n in range(40) if n in made and n + 40 not in made - {task})
        most = max(most, wide + sum(n + 40 in made for n in range(40)))
    assert most == 140  # the widest first, while no other result is alive
