"""Networks of many equal layers: found, cut, and mapped as well as they are in whole."""

from __future__ import annotations

from match_concurrent.mapping.parts import Part
from match_concurrent.mapping.repeats import Repeat, expanded, find_repeat, reduced

from core.tests.map.concurrent_lab import TWO, evaluator_of, mapped
from core.tests.map.rows import Lab, lab

#: A layer: a, then b and c beside each other, then d, which also reads what the layer reads.
LAYER = {"a": ["x"], "b": ["a"], "c": ["a"], "d": ["b", "c", "x"]}


def layers(count: int, *, first: bool = True) -> dict[str, list[str]]:
    """``count`` layers, an operator before and two behind them."""
    graph = {"begin": ["in"]} if first else {}
    before = "begin" if first else "in"
    for number in range(count):
        for node, reads in LAYER.items():
            graph[f"{node}{number}"] = [before if name == "x" else f"{name}{number}" for name in reads]
        before = f"d{number}"
    return {**graph, "end": [before], "last": ["end", before]}


def made(count: int) -> Lab:
    return lab(layers(count), TWO, rows=32, columns=8, halo=1)


def test_layers_are_found() -> None:
    for count in (4, 8):
        evaluator = evaluator_of(made(count))
        repeat = find_repeat(evaluator.network, evaluator.costs)
        assert repeat is not None
        assert (repeat.period, repeat.count) == (4, count)
        assert repeat.left_out == 4 * (count - 2)
    evaluator = evaluator_of(made(3))
    assert find_repeat(evaluator.network, evaluator.costs) is None


def test_what_reads_an_earlier_layer_is_not_cut_off() -> None:
    graph = layers(6)
    graph["last"] = ["end", "d1"]
    evaluator = evaluator_of(lab(graph, TWO, rows=32, columns=8))
    repeat = find_repeat(evaluator.network, evaluator.costs)
    assert repeat is not None
    assert reduced(evaluator.network, repeat) is None
    mapped(lab(graph, TWO, rows=32, columns=8))


def test_the_cut_network_is_that_of_two_layers() -> None:
    evaluator, two = evaluator_of(made(9)), evaluator_of(made(2))
    repeat = find_repeat(evaluator.network, evaluator.costs)
    assert repeat is not None
    small = reduced(evaluator.network, repeat)
    assert small is not None
    links = [tuple(source.operator for source in operator.sources) for operator in small.operators]
    assert links == [tuple(source.operator for source in operator.sources) for operator in two.network.operators]


def test_the_layers_left_out_are_divided_like_the_one_that_is_kept() -> None:
    evaluator = evaluator_of(made(5))
    repeat = Repeat(1, 4, 5)
    small = reduced(evaluator.network, repeat)
    assert small is not None
    choice = tuple((operator.offers[-1],) for operator in small.operators)
    parts = tuple(tuple(Part(offer) for offer in offers) for offers in choice)
    found = evaluator.of(small).evaluate(parts)
    whole, starts = expanded(evaluator.network, repeat, found)
    assert len(whole) == len(starts) == len(evaluator.network.operators)
    assert [division[0].offer for division in whole] == [o.offers[-1] for o in evaluator.network.operators]
    assert evaluator.evaluate(whole, starts).finish == evaluator.evaluate(whole).finish


def test_many_layers_are_mapped_as_well_as_few_and_with_as_few_searches() -> None:
    few, many = made(4), made(24)
    cycles = {count: mapped(one).finish_cycles for count, one in ((4, few), (24, many))}
    per_layer = (cycles[24] - cycles[4]) / 20
    assert cycles[4] / 4 > per_layer > 0
    assert cycles[24] < 1.02 * (cycles[4] + 20 * cycles[4] / 4)
    kinds = [{(c.unit, c.workload.dims) for c in one.scheduler.asked} for one in (few, many)]
    assert kinds[1] <= kinds[0]
