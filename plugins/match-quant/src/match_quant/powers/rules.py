"""The requantisation of a match as a shift, for rules and workloads of units with shifts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from match_core.contract.structure import Constraint, Match
from match_core.patterns.captures import number, there, weight_rows
from match_core.patterns.rule import rule
from match_core.patterns.rules_requant import bounds_are
from numpy.typing import NDArray

from match_quant.powers.kernels import ShiftUnit


@dataclass(frozen=True, slots=True)
class Shifted:
    """clip(floor((acc + bias) / 2^shift), -128, 127), or from 0 with ``relu``. ``bias``: one for all channels, or one
    for each."""

    shift: int
    bias: NDArray[np.int64]
    relu: bool

    def biases(self, channels: int) -> NDArray[np.int64]:
        """A bias for every channel."""
        return np.broadcast_to(self.bias, (channels,))


def power_of_two(value: int) -> int | None:
    """j where the value is 2^j."""
    return value.bit_length() - 1 if value > 0 and value & (value - 1) == 0 else None


def shifted(match: Match, shift_max: int) -> Shifted | str:
    """The requantisation of a match in the unit's terms, or what the unit cannot do. (acc 2^j + B) / 2^S rounded down
    is (acc + floor(B / 2^j)) / 2^(S-j) rounded down, because acc is an integer."""
    names = there(match, "multiplier", "multiplier_a", "multiplier_b")
    multipliers = np.concatenate([match.const(name).astype(np.int64).reshape(-1) for name in names])
    exponent = power_of_two(int(multipliers[0]))
    if np.any(multipliers != multipliers[0]):
        return f"there are {len(set(multipliers.tolist()))} multipliers"
    if exponent is None:
        return f"the multiplier is {multipliers[0]}"
    divisor = number(match, "divisor")
    whole = power_of_two(divisor)
    if whole is None or match.const("divisor").size != 1:
        return f"the divisor is {divisor}"
    shift = whole - exponent
    if not 0 <= shift <= shift_max:
        return f"the multiplier is 2^{exponent} and the divisor 2^{whole}"
    bias = match.const("addend").astype(np.int64).reshape(-1) >> exponent
    return Shifted(shift, bias, relu=number(match, "low") == 0)


def made_shift(match: Match, shift_max: int) -> Shifted:
    """The requantisation of a match that the rules let pass."""
    found = shifted(match, shift_max)
    assert not isinstance(found, str)  # a rule says so
    return found


def shift_rules(unit: ShiftUnit) -> tuple[Constraint, Constraint, Constraint]:
    """The rules about arithmetic: the shift; the bounds; of layers with constant weights, the width of sums."""
    most = unit.requant.shift_max

    @rule(
        "requantisation",
        f"multiplier and divisor are powers of two, the same for all channels, and make a shift of 0 to {most}",
    )
    def requant(match: Match) -> str | None:
        found = shifted(match, most)
        return found if isinstance(found, str) else None

    @rule("accumulator", "sums and biases fit 32 bits")
    def accumulator(match: Match) -> str | None:
        found = shifted(match, most)
        if isinstance(found, str):
            return None  # another rule says so
        reach = 128 * np.abs(weight_rows(match).astype(np.int64)).sum(1)
        if found.bias.size not in (1, reach.size):
            return f"there are {found.bias.size} addends for {reach.size} channels"
        largest = int((reach + np.abs(found.bias)).max())
        return None if largest < 1 << 31 else f"a sum reaches {largest}"

    pairs = unit.requant.bounds or ((-128, 127), (0, 127))
    texts = [f"{low}..{high}{' (ReLU)' if low == 0 else ''}" for low, high in pairs]
    bounds = bounds_are(f"results are cut to {', or to '.join(texts)}", *pairs)
    return requant, bounds, accumulator
