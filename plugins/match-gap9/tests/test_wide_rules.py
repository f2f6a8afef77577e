"""What the patterns with 64-bit requantisation accept."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from match_core import Match
from match_gap9.wide import WIDE_PRODUCT, WIDE_SHIFT


def _match(weight: list[int], multiplier: int, addend: int, divisor: int = 1 << 40) -> Match:
    captures = {
        "weight": np.array(weight, np.int8).reshape(len(weight), 1),
        "multiplier": np.array(multiplier, np.int64),
        "addend": np.array(addend, np.int64),
        "divisor": np.array(divisor, np.int64),
    }
    output = SimpleNamespace(shape=(1, 1))
    nodes = (SimpleNamespace(outputs=[output]),)
    return Match(nodes, {**{k: SimpleNamespace(values=v) for k, v in captures.items()}, "dense": None})


def test_products_are_bounded() -> None:
    most = 2**31 - 1
    assert WIDE_PRODUCT.check(_match([127, -128], most, 0)) is None
    assert WIDE_PRODUCT.check(_match([1], -1, 0)) == "a multiplier is -1"
    assert WIDE_PRODUCT.check(_match([1], 2**31, 0)) == f"a multiplier is {2**31}"
    reach = 255 * 127 * most
    assert WIDE_PRODUCT.check(_match([127], most, 2**62 - 1 - reach)) is None
    assert WIDE_PRODUCT.check(_match([127], most, 2**62 - reach)) == f"a product reaches {2**62}"
    assert WIDE_PRODUCT.check(_match([-127], most, reach - 2**62)) == f"a product reaches {2**62}"
    assert WIDE_PRODUCT.check(_match([127] * 66_311, 1, 0)) is None
    assert "a sum reaches" in str(WIDE_PRODUCT.check(_match([127] * 66_312, 1, 0)))


def test_shifts_are_powers_of_two_up_to_62() -> None:
    for shift in (0, 31, 32, 62):
        assert WIDE_SHIFT.check(_match([1], 1, 0, 1 << shift)) is None
    assert WIDE_SHIFT.check(_match([1], 1, 0, 3)) == "the divisor is 3"
