"""The limits of the analog array as named constraints (sheet 2.3, 4.3, 5.3)."""

from __future__ import annotations

import numpy as np
from match_core import Match
from match_core.patterns.captures import zero_points
from match_core.patterns.rule import rule
from match_core.patterns.rules_tensors import no_zero_points, types_are

from match_diana.analog import limits
from match_diana.analog import structures as s


def _convs(match: Match) -> range:
    return range(s.group_count(match))


types = types_are("activations are int8", "int8", of=("input",), result=True)


@rule("zero points", no_zero_points.description)
def zeros(match: Match) -> str | None:
    return "there are zero points" if any(zero_points(match, f"conv{index}") for index in _convs(match)) else None


@rule("cells", "weights are -1, 0 or 1")
def cells(match: Match) -> str | None:
    for index in _convs(match):
        found = set(np.unique(match.const(f"cells{index}")).tolist()) - {-1, 0, 1}
        if found:
            return f"there is a weight {min(found, key=abs)}"
    return None


@rule(
    "geometry",
    f"a convolution of two axes without groups and dilation, stride 1 or 2 both ways, padding to {limits.PADDING_MAX}",
)
def geometry(match: Match) -> str | None:
    found = set()
    for index in _convs(match):
        if len(match.shape(f"cells{index}")) != 4:
            return f"weights have rank {len(match.shape(f'cells{index}'))}"
        found.add((s.geometry_of(match, index), match.shape(f"cells{index}")[0]))
    if len(found) > 1:
        return "groups of input channels have different windows"
    geometry = s.geometry_of(match)
    if geometry.group != 1:
        return f"there are {geometry.group} groups"
    if geometry.strides not in ((1, 1), (2, 2)):
        return f"stride is {geometry.strides[0]}x{geometry.strides[1]}"
    if geometry.dilations != (1, 1):
        return f"dilation is {geometry.dilations[0]}x{geometry.dilations[1]}"
    return None if max(geometry.pads) <= limits.PADDING_MAX else f"padding is {max(geometry.pads)}"


@rule(
    "rows",
    f"{limits.CHANNEL_BLOCK} input channels of all taps fit the {limits.ROWS} rows (at most "
    f"{limits.ROWS // limits.CHANNEL_BLOCK} taps)",
)
def rows(match: Match) -> str | None:
    taps = match.shape("cells0")[2] * match.shape("cells0")[3]
    return None if limits.group_channels(taps) else f"the kernel has {taps} taps"


@rule("columns", f"at most {limits.COLUMNS} output channels")
def columns(match: Match) -> str | None:
    k = match.shape("cells0")[0]
    return None if k <= limits.COLUMNS else f"there are {k} output channels"


@rule(
    "groups",
    f"input channels form groups that fit the rows, of at most {limits.CHANNELS_MAX} channels, and at most "
    f"{limits.GROUPS_MAX} groups",
)
def groups(match: Match) -> str | None:
    shape = match.shape("cells0")
    each = limits.group_channels(shape[2] * shape[3])
    if not each:
        return None  # another rule says so
    wanted = limits.groups(match.shape("input")[1], shape[2] * shape[3])
    found = tuple(match.shape(f"cells{index}")[1] for index in _convs(match))
    if found != wanted:
        return f"input channels are {', '.join(map(str, found))}, not {', '.join(map(str, wanted))}"
    first = 0
    for index, count in enumerate(found):
        if match.has(f"slice{index}") and _slice(match, index) != (1, first, first + count):
            return f"group {index} reads other channels"
        first += count
    return None


def _slice(match: Match, index: int) -> tuple[int | None, ...]:
    if len(match.node(f"slice{index}").inputs) > 4:
        return ()
    return tuple(s.number(match, f"slice{index}_{name}") for name in ("axes", "start", "end"))


@rule("input", f"the input is clipped to {limits.INPUT_MIN}..{limits.INPUT_MAX}")
def clipped_input(match: Match) -> str | None:
    for index in _convs(match):
        found = tuple(s.number(match, f"clip{index}_{name}") for name in ("low", "high"))
        if found != (limits.INPUT_MIN, limits.INPUT_MAX):
            return f"the input is cut to {found[0]} and {found[1]}"
    return None


@rule(
    "converters",
    f"sums of all groups are divided by one power of two up to 2^{limits.SHIFT_MAX}, rounded down and clipped to "
    f"{limits.SUM_MIN}..{limits.SUM_MAX}",
)
def converters(match: Match) -> str | None:
    gain = s.number(match, "adc0_divisor")
    wanted = (1, 0, gain, limits.SUM_MIN, limits.SUM_MAX)
    for index in _convs(match):
        names = ("multiplier", "addend", "divisor", "low", "high")
        found = tuple(s.number(match, f"adc{index}_{name}") for name in names)
        if found != wanted:
            return f"multiplier, addend, divisor and bounds of a group are {found}"
    if gain is None or gain < 1 or gain & (gain - 1) or gain.bit_length() - 1 > limits.SHIFT_MAX:
        return f"the gain is {gain}"
    return None


@rule("sums", "sums of groups are added unchanged")
def sums(match: Match) -> str | None:
    names = ("multiplier", "multiplier_b", "addend", "divisor", "low", "high")
    for index in range(1, s.group_count(match) - 1):
        found = tuple(s.number(match, f"sum{index}_{name}") for name in names)
        if found != (1, 1, 0, 1, -128, 127):
            return f"groups are added with {found}"
    return None


@rule(
    "batch norm",
    f"multiplier and addend of each output channel have 8 bits, the divisor is a power of two up to "
    f"2^{limits.SHIFT_MAX}, results are clipped to {limits.OUTPUT_MIN}..{limits.OUTPUT_MAX}, or to "
    f"0..{limits.OUTPUT_MAX} (ReLU)",
)
def norm(match: Match) -> str | None:
    k = match.shape("cells0")[0]
    for name in ("multiplier", "addend"):
        values = match.const(name).astype(np.int64)
        if values.size not in (1, k) or (values.size == k > 1 and values.shape[-3:] != (k, 1, 1)):
            return f"the {name} has shape {values.shape}"
        if values.min() < limits.PARAMETER_MIN or values.max() > limits.PARAMETER_MAX:
            return f"the {name} reaches {values.min()} or {values.max()}"
    if match.has("multiplier_b") and not np.array_equal(match.const("multiplier"), match.const("multiplier_b")):
        return "groups have different multipliers"
    divisor = s.number(match, "divisor")
    if divisor is None or divisor < 1 or divisor & (divisor - 1) or divisor.bit_length() - 1 > limits.SHIFT_MAX:
        return f"the divisor is {divisor}"
    bounds = (s.number(match, "low"), s.number(match, "high"))
    if bounds not in ((limits.OUTPUT_MIN, limits.OUTPUT_MAX), (0, limits.OUTPUT_MAX)):
        return f"bounds are {bounds[0]} and {bounds[1]}"
    return None


ANALOG_RULES = (types, cells, zeros, geometry, rows, columns, groups, clipped_input, converters, sums, norm)
