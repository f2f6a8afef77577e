"""The limits of ITA's attention as named constraints (sheets ita-arithmetic 2.1 to 2.6, ita-snitch 4, 5)."""

from __future__ import annotations

from match_core import Constraint, Match

from match_ita import ita_structures as s
from match_ita.captures import number
from match_ita.constants import values
from match_ita.ita_limits import ACCUMULATOR_END, BIAS_END, BLOCK, GROUP, TILES_MAX
from match_ita.ita_rules import ACCUMULATOR, PRODUCT_REQUANT
from match_ita.presets import PRESETS

#: Largest size of an int8 value, and of a probability.
_BYTE, _PROBABILITY = 128, 255


def heads_of(match: Match) -> int:
    """Heads of an attention."""
    return int(match.node("attention").attrs["heads"])


def _attention_shapes(match: Match) -> str | None:
    (rows, width), (keys, k_width), (v_width, columns) = (match.shape(name)[-2:] for name in ("q", "k", "vt"))
    heads = heads_of(match)
    if len({width, k_width, v_width}) > 1:
        return f"widths are {width}, {k_width} and {v_width}"
    if width % heads or (width // heads) % BLOCK:
        return f"{heads} heads have {width} columns"
    if columns != -(-keys // BLOCK) * BLOCK:
        return f"there are {keys} keys and {columns} columns of values"
    return None if rows else "there are no rows"


HEADS = Constraint(
    "heads",
    f"each head of q, k and v has a multiple of {BLOCK} columns, and values are filled up to whole blocks of keys",
    _attention_shapes,
)


def _tiles(match: Match) -> str | None:
    tiles = match.shape("vt")[-1] // BLOCK
    width = match.shape("q")[-1] // heads_of(match) // BLOCK
    worst = max(tiles, width)
    return None if worst <= TILES_MAX else f"there are {worst * BLOCK}"


TILES = Constraint("tiles", f"keys and columns of a head are at most {TILES_MAX * BLOCK}", _tiles)


def softmax_of(match: Match) -> tuple[int, int]:
    """Shift and numerator of an attention's softmax."""
    return int(match.node("attention").attrs["shift"]), number(match, "numerator")


def _softmax(match: Match) -> str | None:
    group = int(match.node("attention").attrs.get("group", GROUP))
    if group != GROUP:
        return f"it takes {group} columns at once"
    known = {(figures["softmax_shift"], figures["softmax_numerator"]) for figures in map(values, PRESETS)}
    shift, numerator = softmax_of(match)
    return None if (shift, numerator) in known else f"shift is {shift}, numerator {numerator}"


SOFTMAX = Constraint(
    "softmax", f"shift, numerator and groups of {GROUP} columns of the softmax are those of a preset", _softmax
)


def _attention_requant(match: Match) -> str | None:
    for step in ("qk", "av"):
        found = s.requant_of(match, f"{step}_")
        if isinstance(found, str):
            return f"{step}: {found}"
    return None


ATTENTION_REQUANT = Constraint(
    "requantisation", f"of logits and results: {PRODUCT_REQUANT.description}", _attention_requant
)


def is_masked(match: Match) -> bool:
    """Whether the last block of keys is short."""
    return match.shape("k")[-2] % BLOCK != 0


def _largest_logit(match: Match) -> int:
    return match.shape("q")[-1] // heads_of(match) * _BYTE * _BYTE


def _mask(match: Match) -> str | None:
    found = s.requant_of(match, "qk_")
    if not is_masked(match) or isinstance(found, str):
        return None
    largest = _largest_logit(match) - BIAS_END
    half = (1 << found.shift) >> 1
    logit = ((found.multiplier * largest + half) >> found.shift) + found.add
    return None if logit <= -_BYTE else f"a logit can be {min(logit, _BYTE - 1)}"


#: What lies behind the last key is unknown: the lowest bias must outweigh it, and make the logit -128 as in the graph.
MASKED = Constraint("mask", "with the lowest bias, the logit of a column beyond the keys is -128 for any key", _mask)


def _attention_sums(match: Match) -> str | None:
    logits = _largest_logit(match) + (BIAS_END if is_masked(match) else 0)
    results = match.shape("vt")[-1] * _PROBABILITY * _BYTE
    reach = max(logits, results)
    return None if reach < ACCUMULATOR_END else f"a sum can reach {reach}"


ATTENTION_ACCUMULATOR = Constraint("accumulator", ACCUMULATOR.description, _attention_sums)
