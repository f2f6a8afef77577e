"""Limits that only the 8-bit kernels have."""

from __future__ import annotations

from match_core import Match
from match_core.patterns import rules_requant as requant
from match_core.patterns import rules_tensors as tensors
from match_core.patterns.captures import ACTIVATIONS, there, type_name
from match_core.patterns.rule import rule
from match_quant.reach import product_below

SHIFT = requant.shift_at_most(62)
#: Of layers with weights: one bit of int64 to spare, so that no sum of two terms overflows.
WEIGHTED = (tensors.int8_weights, tensors.sizes_in_16_bits, SHIFT, product_below(62))


@rule("activations", "activations are uint8, or all int8")
def same_activations(match: Match) -> str | None:
    found = sorted({type_name(match.tensor(name)) for name in there(match, *ACTIVATIONS)})
    if found not in (["uint8"], ["int8"]):
        return f"input is {', '.join(found)}"
    result = type_name(match.output)
    return None if found == [result] else f"input is {found[0]}, the result {result}"
