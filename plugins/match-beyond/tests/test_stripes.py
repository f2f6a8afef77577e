"""Rows of stripes: every row of every tensor, with the halo that its layer reads, against windows one by one."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from match_beyond.network import Layer, Network, Step
from match_beyond.rows import RowRule
from match_beyond.stripes import extents_of, stripes_of


def network_of(rules: list[RowRule], heights: list[int], crossing: tuple[int, ...] = ()) -> Network:
    """A chain of layers; tensor n has ``heights[n]`` rows; ``crossing``: tensors that are read after the chain too."""
    layers = tuple(
        Layer((), (f"t{n}",), (f"t{n + 1}",), 100, 0, (Step(f"n{n}", f"t{n + 1}", (f"t{n}",), rule),))
        for n, rule in enumerate(rules)
    )
    tensors = {f"t{n}": SimpleNamespace(shape=[1, rows, 1, 8]) for n, rows in enumerate(heights)}
    sizes = {f"t{n}": 8 * rows for n, rows in enumerate(heights)}
    made = {f"t{n + 1}": n for n in range(len(rules))}
    last = {f"t{n}": n for n in range(len(rules))} | {f"t{n}": len(rules) for n in (*crossing, len(rules))}
    return Network(layers, tensors, sizes, made, last, frozenset(("t0",)))  # type: ignore[arg-type]


def random_chain(seed: int) -> tuple[Network, list[RowRule], list[int]]:
    generator = np.random.default_rng(seed)
    rows = int(generator.integers(12, 80))
    rules, heights = [], [rows]
    for _ in range(int(generator.integers(1, 6))):
        kind = generator.integers(4)
        if kind == 0 and heights[-1] < 100:
            rules.append(RowRule(heights[-1], times=2))
            heights.append(2 * heights[-1])
            continue
        span, stride = int(generator.integers(1, 6)), int(generator.integers(1, 3))
        pad = int(generator.integers(0, (span + 1) // 2))
        made = (heights[-1] + 2 * pad - span) // stride + 1
        if made < 4:
            break
        rules.append(RowRule(heights[-1], stride, pad, span))
        heights.append(made)
    if not rules:
        rules, heights = [RowRule(rows, 1, 1, 3)], [rows, rows]
    crossing = tuple(n for n in range(1, len(rules)) if generator.integers(3) == 0)
    return network_of(rules, heights, crossing), rules, heights


def needed(rule: RowRule, row: int) -> set[int]:
    """The rows that one row of the result reads, from the definition of the operator."""
    if rule.times > 1:
        return {row // rule.times}
    low = row * rule.stride - rule.pad
    return {r for r in range(low, low + rule.span) if 0 <= r < rule.size}


@pytest.mark.parametrize("seed", range(60))
def test_stripes_have_the_rows_that_their_layers_read_and_cover_every_tensor_once(seed: int) -> None:
    network, rules, heights = random_chain(seed)
    legal = 0
    for count in (2, 3, 5):
        found = extents_of(network, 0, len(rules), (count,))
        if found is None or not found.legal[0]:
            continue
        legal += 1
        covered: dict[str, list[int]] = {}
        for stripe in stripes_of(network, 0, len(rules), count):
            for number, rule in enumerate(rules):
                have, made = stripe.rows[f"t{number}"], stripe.rows[f"t{number + 1}"]
                read = set().union(*(needed(rule, row) for row in range(made.first, made.end)))
                assert read <= set(range(have.first, have.end)), (number, stripe)
                cut = stripe.cuts[f"n{number}"]
                assert have.first <= cut.read.first and cut.read.end <= have.end
            for name, part in stripe.parts.items():
                assert stripe.rows[name].first <= part.first and part.end <= stripe.rows[name].end
                covered.setdefault(name, []).extend(range(part.first, part.end))
        for name, rows in covered.items():
            assert rows == list(range(heights[int(name[1:])]))
    assert legal or min(heights) < 8


@pytest.mark.parametrize("seed", range(60))
def test_kept_rows_are_computed_once(seed: int) -> None:
    """Every row that a layer reads is one of this stripe, or was kept from the one before, which had it."""
    network, rules, heights = random_chain(seed)
    inner = [f"t{n}" for n in range(1, len(rules)) if network.last[f"t{n}"] < len(rules)]
    for count in (2, 3, 5, 8):
        found = extents_of(network, 0, len(rules), (count,), inner)
        if count > min(heights) or found is None or not found.legal[0]:
            continue
        computed: dict[str, list[int]] = {name: [] for name in inner}
        before = None
        for stripe in stripes_of(network, 0, len(rules), count, inner):
            for number, rule in enumerate(rules):
                cut = stripe.cuts.get(f"n{number}")
                name = f"t{number + 1}"
                rows, kept = stripe.rows.get(name), stripe.kept.get(name)
                if kept is not None:
                    assert name in inner and rows is not None and before is not None
                    had = before.rows[name]
                    assert had.first <= kept.first and kept.end <= had.end
                    assert (rows.first, rows.end) == (kept.first, cut.made.end if cut else kept.end)
                    assert cut is None or cut.made.first == kept.end
                if cut is None:
                    continue
                have = stripe.rows[f"t{number}"]
                read = set().union(*(needed(rule, row) for row in range(cut.made.first, cut.made.end)))
                assert read <= set(range(have.first, have.end)), (number, stripe)
                if name in inner:
                    computed[name].extend(range(cut.made.first, cut.made.end))
            before = stripe
        assert all(rows == sorted(set(rows)) for rows in computed.values())


def test_all_numbers_of_stripes_at_once_are_those_of_each_alone() -> None:
    for seed in range(20):
        network, rules, _ = random_chain(seed)
        inner = [f"t{n}" for n in range(1, len(rules)) if network.last[f"t{n}"] < len(rules)][:2]
        together = extents_of(network, 0, len(rules), (2, 3, 4), inner)
        assert together is not None
        for number, count in enumerate((2, 3, 4)):
            alone = extents_of(network, 0, len(rules), (count,), inner)
            assert alone is not None and alone.legal[0] == together.legal[number]
            place = slice(int(together.starts[number]), int(together.starts[number]) + count)
            for name in alone.first:
                assert (alone.first[name] == together.first[name][place]).all()
                assert (alone.end[name] == together.end[name][place]).all()
            for name in alone.made:
                assert (alone.made[name] == together.made[name][place]).all()
