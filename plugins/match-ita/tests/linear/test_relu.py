"""Tables that are lines with bounds are folded into the layer before them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from ita_small_models import Ints, context, finish, linear, random_int8, reshape, results, start, table
from match_core import Model
from match_core.ir.editor import Editor
from match_ita.passes.linear import run as linear_pass
from match_ita.passes.linear_relu import DIFFERENCE_MAX, line_of, run
from match_ita.passes.linear_requant import as_ita
from match_quant.linear.layers import linear_layers

RANDOM = np.random.default_rng(31)
_Q = np.arange(-128, 128)


def line(gain: float, zero: int, start_at: int, low: int = -128) -> Ints:
    """max(q - zero, 0) in other steps."""
    return np.clip(np.rint(gain * np.maximum(_Q - zero, 0)) + start_at, low, 127).astype(np.int64)


def layer_and(entries: Ints) -> Model:
    editor, x = start((40, 64))
    weight = RANDOM.integers(-127, 128, (64, 64))
    addend = np.rint((RANDOM.normal(-3, 10, (1, 64)) + 0.5) * 2**38).astype(np.int64)
    y = linear(editor, x, weight, round(40 / (8 * 74 * 74) * 2**38), addend, 2**38)
    return finish(editor, reshape(editor, table(editor, reshape(editor, y, (1, 40, 64), "up"), entries), (40, 64), "d"))


@pytest.mark.parametrize(
    ("entries", "relu"),
    [(line(2.1, -4, -128), False), (line(1.0, 0, 0), True), (line(1.93, -6, -128), False), (_Q // 1, False)],
)
def test_a_table_goes_into_the_layer(entries: Ints, relu: bool) -> None:
    before = layer_and(entries)
    after = run(before, context())
    assert Counter(node.op for node in after.graph.nodes)["LutI8"] == 0
    x = {"x": random_int8((40, 64))}
    assert np.abs(results(after, x) - results(before, x)).max() <= DIFFERENCE_MAX
    after = linear_pass(after, context())
    (layer,) = linear_layers(Editor(after))
    assert as_ita(layer) is not None and (layer.lo == 0) == relu
    assert np.abs(results(after, x) - results(before, x)).max() <= DIFFERENCE_MAX + 1


@pytest.mark.parametrize(
    "entries",
    [
        np.clip(_Q * _Q // 64 - 128, -128, 127),
        -_Q // 2,
        np.full(256, 7),
        line(2.0, 0, -50, -50),
        line(9.0, 0, -128),
        np.clip(_Q // 2, -128, 127),
    ],
    ids=["curve", "falling", "constant", "odd bound", "too steep", "does not reach 127"],
)
def test_other_tables_stay(entries: Ints) -> None:
    after = run(layer_and(entries), context())
    assert Counter(node.op for node in after.graph.nodes)["LutI8"] == 1


def test_integer_networks_keep_their_table() -> None:
    editor, x = start((40, 64))
    y = linear(editor, x, RANDOM.integers(-127, 128, (64, 64)), 21, 4096, 8192)
    after = run(finish(editor, table(editor, y, line(2.1, -4, -128))), context())
    assert Counter(node.op for node in after.graph.nodes)["LutI8"] == 1


def test_the_line_of_a_table() -> None:
    found = line_of(line(2.1, -4, -128).astype(np.int8))
    assert found is not None
    assert abs(found.gain - 2.1) < 0.01 and abs(found.offset - (4 * 2.1 - 128)) < 0.3
    assert (found.lo, found.hi) == (-128, 127)
