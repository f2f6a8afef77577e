"""Softmax of long lines: what is not divided is what a division gives; without vectors, results are few."""

from __future__ import annotations

import numpy as np
import onnx_graphsurgeon as gs
import pytest
from match_core.contract.structure import Match
from match_cortexm.kernels.softmax import _POINT, _TRUNCATED, _down, _error, softmax_of
from match_cortexm.patterns import SOFTMAX, VECTOR_SOFTMAX

#: As in match_cortexm_softmax_long.h.
HALF = 1 << (_POINT - 1)


def _quotients(values: list[int], total: int, levels: int, down: int) -> list[int]:
    """What the vectors compute."""
    rounded = (total + (1 << down) - 1) >> down
    assert 0 < rounded < 1 << 32
    shift = 32 - rounded.bit_length()
    factor = (levels << (32 + _POINT)) // (rounded << shift)
    assert factor < 1 << 32
    moved = [(value >> down) << shift for value in values]
    assert max(moved) < 1 << 32
    return [(one * factor >> 32) + HALF for one in moved]


@pytest.mark.parametrize("seed", range(30))
def test_what_is_not_near_a_half_is_exact(seed):
    random = np.random.default_rng(seed)
    bits, levels = int(random.integers(14, 28)), int(random.choice([1, 15, 127, 255, 256]))
    entries = np.rint(np.exp(-np.arange(256) * random.uniform(0.001, 0.5)) * 2.0**bits).astype(np.int64)
    size = int(random.integers(2, 1 << min(18, 40 - bits)))
    down = _down(int(entries[0]), size)
    error = _error(entries, size, levels) if down else _TRUNCATED
    values = [int(entries[0]), *(int(one) for one in random.choice(entries, size - 1))]
    total, divided = sum(values), 0
    for value, quotient in zip(values[:3000], _quotients(values[:3000], total, levels, down), strict=True):
        exact = (value * 2 * levels + total) // (2 * total)
        true = (value * levels << _POINT) / total + HALF
        assert quotient <= true < quotient + error + 1
        near = (quotient + error) >> _POINT != quotient >> _POINT
        divided += near
        assert near or quotient >> _POINT == exact
    assert divided < 300


def test_results_at_a_half_are_divided():
    """Of 510 equal values and 255 levels: the quotient is too small, and the result is a half, which is rounded up."""
    value, size, levels = (1 << 24) - 1, 510, 255
    entries = np.full(256, value)
    (quotient,) = _quotients([value], size * value, levels, _down(value, size))
    assert (quotient >> _POINT, (quotient + _error(entries, size, levels)) >> _POINT) == (0, 1)


def _node(size: int, steep: float = 0.05) -> gs.Node:
    table = np.rint(np.exp(-np.arange(256) * steep) * 2.0**24).astype(np.int64)
    x, y = (gs.Variable(name, np.int8, (3, size)) for name in "xy")
    numbers = [gs.Constant(f"n{place}", np.array(value)) for place, value in enumerate((256, -128, -128, 127))]
    return gs.Node("SoftmaxI8", "soft", {"axis": 1}, [x, gs.Constant("t", table), *numbers], [y], domain="match.arith")


@pytest.mark.parametrize(
    ("size", "steep", "taken"),
    [(255, 0.05, True), (256, 0.05, True), (1501, 0.05, True), (256, 0.02, False), (1501, 0.02, True)],
)
def test_lines_whose_sums_exceed_32_bits_take_vectors_or_have_few_results(size, steep, taken):
    match = Match((_node(size, steep),), {"op": _node(size, steep)})
    assert VECTOR_SOFTMAX.check(match) is None
    assert (SOFTMAX.check(match) is None) == taken


def test_results_that_grow_with_the_distance_are_not_computed_once():
    node = _node(600)
    node.inputs[1].values[3] = node.inputs[1].values[2] + 1
    assert "lines of 600" in str(softmax_of(node, vectors=False))
    assert not isinstance(softmax_of(node, vectors=True), str)


@pytest.mark.parametrize("vectors", [True, False])
def test_lines_of_which_too_much_is_left_out_are_refused(vectors):
    found = softmax_of(_node(1 << 21), vectors=vectors)
    assert isinstance(found, str) and "lines of 2097152" in found
