"""The search for multipliers of 8 bits and shifts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from match_core.contract.hardware import RequantSpec
from match_quant.multipliers import NarrowFactor, above, below, nearest

SPEC = RequantSpec(8, False, 64, shift_max=33)


@given(slope=st.floats(2.0**-26, 255.0), bound=st.integers(1, 1 << 25))
def test_no_other_pair_is_nearer(slope: float, bound: int) -> None:
    found = nearest(slope, SPEC)
    assert found is not None
    least = min(abs(m / 2.0**s - slope) for s in range(34) for m in range(1, 256))
    assert abs(found.slope - slope) == least
    assert found.error(slope, bound) == pytest.approx(least * bound)
    assert found.error(slope, bound) <= slope * bound / 256  # 8 bits of the factor


@pytest.mark.parametrize("slope", [0.0, -1.0, 2.0**-35, 256.0])
def test_out_of_reach(slope: float) -> None:
    assert nearest(slope, SPEC) is None


def test_equal_factors_take_the_larger_multiplier() -> None:
    assert nearest(0.5, SPEC) == NarrowFactor(128, 8)


@given(st.floats(2.0**-24, 250.0))
def test_from_above_and_below(slope: float) -> None:
    least, most = above(slope, SPEC), below(slope, SPEC)
    assert least is not None and slope <= least.slope <= slope * (1 + 1 / 128)
    assert most is not None and slope * (1 - 1 / 128) <= most.slope <= slope


def test_beyond_the_multipliers() -> None:
    assert above(255.5, SPEC) is None
    assert below(256.0, SPEC) is None
    assert below(2.0**-34, SPEC) is None
