"""What programs hold as long as they live: the mapper shares memories out over the whole network, exactly."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from match_core.contract.errors import InfeasibleError
from match_core.contract.mapping import held_bytes
from match_core.validate.mapping import mapping_faults
from match_map.mapper import choose

from tests.examples import examples


def _offer(lab, costs):
    """Nodes in a row or side by side, each on the host, or on an engine that holds bytes: (host cycles, engine cycles,
    {memory: bytes})."""
    names = [f"n{number}" for number in range(len(costs))]
    model = lab.model_of({name: ["in"] for name in names})
    offered = []
    for name, (host, engine, holds) in zip(names, costs, strict=True):
        offered.append(lab.assignment(model, len(offered), [name], host, unit="host"))
        made = lab.assignment(model, len(offered), [name], engine)
        workload = replace(made.candidate.workload, holds=tuple(holds.items()))
        offered.append(replace(made, candidate=replace(made.candidate, workload=workload)))
    return model, tuple(offered)


def _best(costs, room):
    sums = []
    for picks in product((False, True), repeat=len(costs)):
        held = {name: sum(h.get(name, 0) for p, (_, _, h) in zip(picks, costs, strict=True) if p) for name in room}
        if all(held[name] <= most for name, most in room.items()):
            sums.append(sum(engine if pick else host for pick, (host, engine, _) in zip(picks, costs, strict=True)))
    return min(sums)


_COSTS = st.lists(
    st.tuples(
        st.integers(0, 40),
        st.integers(0, 40),
        st.dictionaries(st.sampled_from(("weights", "biases")), st.integers(0, 9), max_size=2),
    ),
    min_size=1,
    max_size=7,
)


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_COSTS, st.integers(0, 20), st.integers(0, 20))
def test_the_choice_is_the_best_of_all_that_fit(lab, costs, weights, biases):
    room = {"weights": weights, "biases": biases}
    model, offered = _offer(lab, costs)
    mapping = choose(model, offered, room=tuple(room.items()))
    assert mapping.predicted_cycles == _best(costs, room)
    assert mapping.solver.status == "optimal"
    assert all(size <= room[name] for name, size in held_bytes(mapping.assignments).items())
    assert mapping_faults(model.graph, mapping) == ()


def test_the_layer_that_gains_most_for_its_bytes_is_not_always_the_choice(lab):
    """Two layers of 6 bytes gain 10 each; one of 7 bytes gains 16: 12 bytes hold the two."""
    costs = [(10, 0, {"weights": 6}), (10, 0, {"weights": 6}), (16, 0, {"weights": 7})]
    model, offered = _offer(lab, costs)
    mapping = choose(model, offered, room=(("weights", 12),))
    assert mapping.predicted_cycles == 16
    assert held_bytes(mapping.assignments) == {"weights": 12}


def test_a_slower_way_that_holds_less_is_a_choice(lab):
    """The same layer with weights of 8 bits, and with weights of 4 that take longer."""
    model, (host, wide) = _offer(lab, [(10, 0, {"weights": 8})])
    narrow = replace(wide.candidate, workload=replace(wide.candidate.workload, holds=(("weights", 4),)))
    cost = replace(wide.schedule.cost, compute_cycles=3)
    slower = replace(wide, candidate=narrow, schedule=replace(wide.schedule, cost=cost))
    found = {
        most: choose(model, (host, wide, slower), room=(("weights", most),)).predicted_cycles for most in (8, 4, 3)
    }
    assert found == {8: 0, 4: 3, 3: 10}


def test_without_a_limit_nothing_changes(lab):
    model, offered = _offer(lab, [(10, 0, {"weights": 6})] * 3)
    assert choose(model, offered).predicted_cycles == 0


def test_nodes_that_only_run_where_there_is_no_room_have_no_cover(lab):
    model, offered = _offer(lab, [(10, 0, {"weights": 6})] * 3)
    with pytest.raises(InfeasibleError) as caught:
        choose(model, offered[1::2], room=(("weights", 12),))
    error = caught.value
    assert (error.code, error.what) == ("MATCH-M001", "the program does not fit memory weights: 6 bytes too many")
    assert error.why == "the program holds 18 bytes of 12 as long as it lives, and no other choice of units fits"
