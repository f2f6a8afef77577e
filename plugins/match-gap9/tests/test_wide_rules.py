"""What the patterns with 64-bit requantisation accept."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from match_core import Match
from match_core.patterns import rules_requant
from match_gap9 import rules
from match_gap9.wide.patterns import raised_by
from match_quant.reach import product_below

PRODUCT, SHIFT = product_below(62), rules_requant.shift_at_most(62)


def _match(weight: list[int], multiplier: int, addend: int, divisor: int = 1 << 40) -> Match:
    captures = {
        "weight": np.array(weight, np.int8).reshape(len(weight), 1),
        "multiplier": np.array(multiplier, np.int64),
        "addend": np.array(addend, np.int64),
        "divisor": np.array(divisor, np.int64),
    }
    rest = {"input": SimpleNamespace(dtype=np.uint8), "dense": None}
    output = SimpleNamespace(shape=(1, 1))
    nodes = (SimpleNamespace(outputs=[output]),)
    return Match(nodes, {**{k: SimpleNamespace(values=v) for k, v in captures.items()}, **rest})


def test_products_are_bounded() -> None:
    most = 2**31 - 1
    assert PRODUCT.check(_match([127, -128], most, 0)) is None
    assert rules.unsigned_multiplier.check(_match([1], -1, 0)) == "the smallest is -1"
    assert PRODUCT.check(_match([1], 2**31, 0)) == f"a multiplier is {2**31}"
    reach = 255 * 127 * most
    assert PRODUCT.check(_match([127], most, 2**62 - 1 - reach)) is None
    assert PRODUCT.check(_match([127], most, 2**62 - reach)) == f"a product reaches {2**62}"
    assert PRODUCT.check(_match([-127], most, reach - 2**62)) == f"a product reaches {2**62}"
    assert PRODUCT.check(_match([127] * 66_311, 1, 0)) is None
    assert "a sum reaches" in str(PRODUCT.check(_match([127] * 66_312, 1, 0)))


def test_shifts_are_powers_of_two_up_to_62() -> None:
    for shift in (0, 31, 32, 62):
        assert SHIFT.check(_match([1], 1, 0, 1 << shift)) is None
    assert SHIFT.check(_match([1], 1, 0, 3)) == "the divisor is 3"


def test_shifts_are_raised_to_a_whole_word_where_that_fits() -> None:
    assert raised_by(_match([127], 1000, 5, 1 << 14)) == 18
    assert raised_by(_match([127], 1000, 5, 1 << 32)) == 0
    assert raised_by(_match([127], 2**13, 5, 1 << 14)) == 0  # M would need 32 bits
    assert raised_by(_match([127], 2**13 - 1, 5, 1 << 14)) == 18
    assert raised_by(_match([1], 1, 2**44, 1 << 14)) == 0  # B would need 63 bits
    assert raised_by(_match([1], 1, 2**44 - 256, 1 << 14)) == 18


@settings(deadline=None)
@given(
    weight=st.lists(st.integers(-128, 127), min_size=1, max_size=20),
    multiplier=st.integers(0, 2**31 - 1),
    addend=st.integers(-(2**61), 2**61),
    shift=st.integers(0, 62),
)
def test_raising_changes_no_result(weight: list[int], multiplier: int, addend: int, shift: int) -> None:
    match = _match(weight, multiplier, addend, 1 << shift)
    assume(PRODUCT.check(match) is None)
    bits = raised_by(match)
    assert multiplier << bits < 2**31
    for x in (0, 1, 255):
        value = sum(w * x for w in weight)
        raised = value * (multiplier << bits) + (addend << bits)
        assert abs(raised) < 2**62
        assert raised >> (shift + bits) == (value * multiplier + addend) >> shift
