"""Solvers of one component: dynamic programming for small ones, a search for some cover, CP-SAT for the rest.

All are deterministic: they depend only on the order of nodes and options, never on a clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from match_core.cp_sat import load_cp_model
from match_core.cp_sat import solve as cp_sat

from match_map.cover import Component, Cover, held
from match_map.form_sides import FormSides
from match_map.option import Option

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel, IntVar

    from match_map.conversions import Conversion

#: Partial covers that dynamic programming visits before CP-SAT takes over the component (about 0.1 s).
STATES_MAX = 50_000
#: Steps of the greedy search for a cover.
STEPS_MAX = 200_000
#: CP-SAT's deterministic time, which does not depend on the machine; each unit is about a second.
DETERMINISTIC_SECONDS = 10.0


def solve(component: Component) -> Cover | None:
    """The best cover found; None if there is none, or CP-SAT stopped before it found one."""
    if not component.forbidden and not component.room:
        cover, finished = by_states(component)
        if finished:
            return cover
    return by_cp_sat(component)


def by_states(component: Component) -> tuple[Cover | None, bool]:
    """(the cheapest cover, True), or (None, False) after STATES_MAX states.

    Nodes are covered in topological order: a state is the set of covered nodes with the forms of ``FormSides``, and
    every next option covers the first uncovered node. Ties go to fewer options, then to those offered first.
    """
    place = {node: number for number, node in enumerate(component.nodes)}
    sides = FormSides.of(component, place)
    by_node: list[list[tuple[int, Option]]] = [[] for _ in component.nodes]
    for option in component.options:
        mask = sum(1 << place[node] for node in option.nodes)
        by_node[place[option.nodes[0]]].append((mask, option))
    # States by their first uncovered node: covered nodes, sides -> (cycles, number of options, their indices).
    waiting: list[dict[tuple[int, int], tuple[int, int, tuple[int, ...]]]] = [{} for _ in range(len(place) + 1)]
    waiting[0][0, sides.given] = (0, 0, ())
    states = 0
    for number, offered in enumerate(by_node):
        for (covered, known), (cycles, count, indices) in waiting[number].items():
            for mask, option in offered:
                if covered & mask:
                    continue
                states += 1
                after, (sided, more) = covered | mask, sides.after(known, option.index)
                if more is None:
                    continue
                value = (cycles + option.cost + more, count + 1, (*indices, option.index))
                first = _first_zero(after)
                key = (after, sided & sides.open[first])
                waiting[first][key] = min(value, waiting[first].get(key, value))
        if states > STATES_MAX:
            return None, False
    done = waiting[-1].get(((1 << len(place)) - 1, 0))
    if done is None:
        return None, True
    by_index = {option.index: option for option in component.options}
    chosen = tuple(by_index[index] for index in done[2])
    needed = tuple(each for each in component.conversions if each.needed(frozenset(done[2])))
    return Cover(chosen, "exact cover", "optimal", done[0], needed), True


def _first_zero(mask: int) -> int:
    return (~mask & (mask + 1)).bit_length() - 1


def some_cover(component: Component) -> Cover | None:
    """A cover from a greedy search with backtracking: for the first uncovered node, the option with the fewest cycles
    per node. None if there is no cover, or after STEPS_MAX steps."""
    ranked = sorted(component.options, key=lambda option: (option.cost / len(option.nodes), option.index))
    by_node: dict[int, list[Option]] = {node: [] for node in component.nodes}
    for option in ranked:
        by_node[option.nodes[0]].append(option)
    chosen: list[Option] = []
    covered: set[int] = set()
    pending = [iter(by_node[component.nodes[0]])]
    for _ in range(STEPS_MAX):
        joining = next((o for o in pending[-1] if _may_join(o, chosen, covered, component)), None)
        if joining is None:
            pending.pop()
            if not chosen:
                return None
            covered.difference_update(chosen.pop().nodes)
            continue
        chosen.append(joining)
        covered.update(joining.nodes)
        following = next((node for node in component.nodes if node not in covered), None)
        if following is None:
            return _greedy(chosen, component)
        pending.append(iter(by_node[following]))
    return None


def _greedy(chosen: list[Option], component: Component) -> Cover | None:
    """The cover with the conversions that it requires; None if one of them does not exist."""
    taken = frozenset(option.index for option in chosen)
    needed = tuple(conversion for conversion in component.conversions if conversion.needed(taken))
    if any(conversion.assignment is None for conversion in needed):
        return None
    return Cover(tuple(chosen), "greedy", "heuristic", component.bound, needed)


def _may_join(option: Option, chosen: list[Option], covered: set[int], component: Component) -> bool:
    if not covered.isdisjoint(option.nodes):
        return False
    if component.exceeds([*chosen, option]):
        return False
    indices = {other.index for other in chosen} | {option.index}
    return not any(forbidden <= indices for forbidden in component.forbidden)


def by_cp_sat(component: Component) -> Cover | None:
    """CP-SAT on one thread with a fixed seed; the greedy cover is its hint and its fallback."""
    cp_model = load_cp_model()
    start = some_cover(component)
    model = cp_model.CpModel()
    taken = {option.index: model.new_bool_var(f"o{option.index}") for option in component.options}
    for node in component.nodes:
        model.add_exactly_one(taken[option.index] for option in component.options if node in option.nodes)
    for forbidden in component.forbidden:
        model.add_bool_or(taken[index].negated() for index in sorted(forbidden))
    for memory, most in component.room:
        sizes = [(held([option], memory), taken[option.index]) for option in component.options]
        model.add(sum(size * variable for size, variable in sizes if size) <= most)
    needs = [_need(model, taken, conversion) for conversion in component.conversions]
    costs = [conversion.cost * need for conversion, need in zip(component.conversions, needs, strict=True)]
    model.minimize(sum(option.cost * taken[option.index] for option in component.options) + sum(costs))
    if start is not None:
        used = frozenset(option.index for option in start.options)
        for index, variable in taken.items():
            model.add_hint(variable, index in used)
        for conversion, need in zip(component.conversions, needs, strict=True):
            model.add_hint(need, conversion.needed(used))
    answer = cp_sat(model, DETERMINISTIC_SECONDS)
    if answer.values is None:
        return start
    solver = answer.values
    chosen = tuple(option for option in component.options if solver.boolean_value(taken[option.index]))
    indices = frozenset(option.index for option in chosen)
    needed = tuple(conversion for conversion in component.conversions if conversion.needed(indices))
    name = "optimal" if answer.optimal else "feasible"
    found = Cover(chosen, "cp-sat", name, max(component.bound, answer.bound), needed)
    return replace(found, bound=found.cost) if answer.optimal else found


def _need(model: CpModel, taken: Mapping[int, IntVar], conversion: Conversion) -> IntVar:
    """A variable that is true if the conversion is required; fixed to false if the conversion does not exist."""
    need = model.new_bool_var(f"c_{len(model.proto.variables)}")
    if conversion.assignment is None:
        model.add(need == 0)
    made = 1 if conversion.made else sum(taken[index] for index in conversion.makers)
    wants = [taken[index] for index in conversion.readers] + ([1] if conversion.read else [])
    for want in wants:
        model.add(need >= made + want - 1)
    return need
