"""Stored forms: every element has one place, stores and descriptions come back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from match_core import Form, Memory, Signalling, Soc

SIZES = st.integers(1, 9)


@st.composite
def forms(draw: st.DrawFn) -> tuple[Form, tuple[int, ...]]:
    """A form of 1 to 4 axes and a shape that it takes."""
    rank = draw(st.integers(1, 4))
    multiples = {axis: draw(st.sampled_from((1, 2, 4, 8))) for axis in range(rank)}
    split = None
    if draw(st.booleans()):
        axis = draw(st.integers(0, rank - 1))
        split = (axis, draw(st.sampled_from([n for n in (1, 2, 4, 8) if multiples[axis] % n == 0])))
    axes = list(range(rank + (split is not None)))
    order = tuple(draw(st.permutations(axes))) if draw(st.booleans()) else ()
    shape = tuple(draw(st.lists(SIZES, min_size=rank, max_size=rank)))
    form = Form("f", rank, tuple(multiples.items()), split, order)
    inner = form.stored_shape(shape)[-1]
    group = draw(st.sampled_from([n for n in (1, 2, 4) if inner % n == 0]))
    return Form("f", rank, tuple(multiples.items()), split, order, group), shape


@given(forms())
def test_every_element_has_a_place_of_its_own(case: tuple[Form, tuple[int, ...]]) -> None:
    form, shape = case
    places = form.places(shape)
    assert form.takes(shape)
    assert places.shape == shape
    assert len(set(places.reshape(-1).tolist())) == places.size
    assert 0 <= places.min() <= places.max() < form.elements(shape)
    values = np.arange(1, places.size + 1, dtype=np.int32).reshape(shape)
    stored = form.store(values)
    np.testing.assert_array_equal(stored[places], values)
    assert int(stored.sum()) == int(values.sum())  # the rest is zero


@given(forms())
def test_attributes_say_all(case: tuple[Form, tuple[int, ...]]) -> None:
    form, _ = case
    assert Form.of_attributes(form.attributes("source"), "source", form.rank) == form


def test_an_example_by_hand() -> None:
    """Two channels in blocks of four, pairs reversed: elements 0..5 of [2, 3] lie at 1, 5, 9 and 0, 4, 8."""
    form = Form("blocks", 2, pad=((0, 4),), order=(1, 0), reversed_group=2)
    assert form.places((2, 3)).tolist() == [[1, 5, 9], [0, 4, 8]]
    assert form.elements((2, 3)) == 12


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"order": (0, 2)}, "order"),
        ({"split": (0, 4)}, "blocks of 4"),
        ({"reversed_group": 3}, "not a power of two"),
    ],
)
def test_forms_that_cannot_be(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Form("f", 2, **arguments)  # type: ignore[arg-type]


def test_shapes_that_do_not_fit() -> None:
    form = Form("f", 2, reversed_group=4)
    assert form.takes((3, 8))
    assert not form.takes((3, 6))
    assert not form.takes((8,))


def test_chips_with_forms_run_one_unit_after_another() -> None:
    def chip(**more: object) -> Soc:
        return Soc("chip", "", "host", ("host",), (Memory("ram", 2, 64),), (), "ram", **more)  # type: ignore[arg-type]

    assert chip(forms=(Form("f", 2),)).form("f", 2).name == "f"
    assert chip().form("", 3) == Form("", 3)
    with pytest.raises(ValueError, match="one after another"):
        chip(forms=(Form("f", 2),), signalling=Signalling("poll", 1, 1, 1, 1))
    with pytest.raises(ValueError, match="share a name"):
        chip(forms=(Form("f", 2), Form("f", 3)))
