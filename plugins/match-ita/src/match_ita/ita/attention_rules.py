"""The limits of ITA's attention as named constraints (sheets ita-arithmetic 2.1 to 2.6, ita-snitch 4, 5)."""

from __future__ import annotations

from match_core import Match
from match_core.patterns.captures import number
from match_core.patterns.rule import rule

from match_ita.constants import values
from match_ita.ita import structures as s
from match_ita.ita.limits import ACCUMULATOR_END, BIAS_END, BLOCK, GROUP, TILES_MAX
from match_ita.ita.rules import accumulator, product_requant
from match_ita.presets import PRESETS

#: Largest size of an int8 value, and of a probability.
_BYTE, _PROBABILITY = 128, 255


def heads_of(match: Match) -> int:
    """Heads of an attention."""
    return int(match.node("attention").attrs["heads"])


@rule(
    "heads",
    f"each head of q, k and v has a multiple of {BLOCK} columns, and values are padded to whole blocks of keys",
)
def heads(match: Match) -> str | None:
    (rows, width), (keys, k_width), (v_width, columns) = (match.shape(name)[-2:] for name in ("q", "k", "vt"))
    heads = heads_of(match)
    if len({width, k_width, v_width}) > 1:
        return f"widths are {width}, {k_width} and {v_width}"
    if width % heads or (width // heads) % BLOCK:
        return f"{heads} heads have {width} columns"
    if columns != -(-keys // BLOCK) * BLOCK:
        return f"there are {keys} keys and {columns} columns of values"
    return None if rows else "there are no rows"


@rule("tiles", f"keys and columns of a head are at most {TILES_MAX * BLOCK}")
def tiles(match: Match) -> str | None:
    tiles = match.shape("vt")[-1] // BLOCK
    width = match.shape("q")[-1] // heads_of(match) // BLOCK
    worst = max(tiles, width)
    return None if worst <= TILES_MAX else f"there are {worst * BLOCK}"


def softmax_of(match: Match) -> tuple[int, int]:
    """Shift and numerator of an attention's softmax."""
    return int(match.node("attention").attrs["shift"]), number(match, "numerator")


@rule("softmax", f"shift, numerator and groups of {GROUP} columns of the softmax are those of a preset")
def softmax(match: Match) -> str | None:
    group = int(match.node("attention").attrs.get("group", GROUP))
    if group != GROUP:
        return f"it takes {group} columns at once"
    known = {(figures["softmax_shift"], figures["softmax_numerator"]) for figures in map(values, PRESETS)}
    shift, numerator = softmax_of(match)
    return None if (shift, numerator) in known else f"shift is {shift}, numerator {numerator}"


@rule("requantisation", f"of logits and results: {product_requant.description}")
def attention_requant(match: Match) -> str | None:
    for step in ("qk", "av"):
        found = s.requant_of(match, f"{step}_")
        if isinstance(found, str):
            return f"{step}: {found}"
    return None


def is_masked(match: Match) -> bool:
    """Whether the last block of keys is short."""
    return match.shape("k")[-2] % BLOCK != 0


def _largest_logit(match: Match) -> int:
    return match.shape("q")[-1] // heads_of(match) * _BYTE * _BYTE


#: Data after the last key are unknown: the lowest bias must outweigh them, and make the logit -128 as in the graph.
@rule("mask", "with the lowest bias, the logit of a column beyond the keys is -128 for any key")
def masked(match: Match) -> str | None:
    found = s.requant_of(match, "qk_")
    if not is_masked(match) or isinstance(found, str):
        return None
    largest = _largest_logit(match) - BIAS_END
    half = (1 << found.shift) >> 1
    logit = ((found.multiplier * largest + half) >> found.shift) + found.add
    return None if logit <= -_BYTE else f"a logit can be {min(logit, _BYTE - 1)}"


@rule("accumulator", accumulator.description)
def attention_accumulator(match: Match) -> str | None:
    logits = _largest_logit(match) + (BIAS_END if is_masked(match) else 0)
    results = match.shape("vt")[-1] * _PROBABILITY * _BYTE
    reach = max(logits, results)
    return None if reach < ACCUMULATOR_END else f"a sum can reach {reach}"
