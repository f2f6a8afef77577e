"""Common parts of the workloads of all convolutions on the digital array: rows of the input and of the output."""

from __future__ import annotations

from math import prod

from match_core import Axis, Dim, Match, Operand
from match_core.patterns.windows import window_of
from match_core.patterns.workloads import Numbers, whole

from match_diana.digital import structures as s
from match_diana.digital.limits import COPY_BYTES, LANES, round_up
from match_diana.forms import ROWS


def spatial_dims(match: Match) -> tuple[Dim, ...]:
    """Output rows and columns, rows and columns of the filter, and rows left over (SPARE - 1)."""
    fy, fx = match.shape("weight")[2:]
    return (
        Dim("OY", int(match.output.shape[2]), granularity=_row_group(match)),
        Dim("OX", round_up(int(match.output.shape[3]), LANES), tileable=False),
        whole("FY", fy),
        whole("FX", fx),
        Dim("SPARE", _spare_rows(match) + 1, tileable=False),
    )


def _spare_rows(match: Match) -> int:
    """Rows of the input that no output reads, which strides leave at the bottom. Tiles read them too, so that one of
    all rows is one piece in memory."""
    window = window_of(match)
    last = (int(match.output.shape[2]) - 1) * window.strides[0] + window.kernel[0] - window.pads[0]
    return max(0, match.shape("input")[2] - last)


def _row_group(match: Match) -> int:
    """Output rows come in groups of this many. Where a row has 16 bytes, tiles must have two rows at least, the last
    one too: the least divisor of their number that is more than 1."""
    height = int(match.output.shape[2])
    narrow = min(match.shape("input")[3], int(match.output.shape[3])) <= LANES
    return next(n for n in range(2, height + 1) if height % n == 0) if narrow and height > 1 else 1


def input_rows(match: Match, channels: Axis) -> Operand:
    """The input: rows as they are needed, all columns."""
    _, _, height, width = match.shape("input")
    window = window_of(match)
    y = Axis("y", height, (("OY", window.strides[0]), ("FY", 1), ("SPARE", 1)), offset=window.pads[0])
    return Operand("input", "input", (channels, y, Axis("x", round_up(width, LANES))), form=ROWS.name)


def output_axes(match: Match) -> tuple[Axis, Axis]:
    """Rows and columns of the output."""
    height, width = (int(size) for size in match.output.shape[2:])
    return Axis("y", height, (("OY", 1),)), Axis("x", round_up(width, LANES), (("OX", 1),))


def pixels(match: Match) -> int:
    """Of the output, without padding."""
    return int(match.output.shape[2]) * int(match.output.shape[3])


def geometry(match: Match) -> Numbers:
    """Geometry that schedules depend on."""
    return (("width", round_up(match.shape("input")[3], LANES)), ("stride", window_of(match).strides[0]))


def arithmetic(match: Match) -> Numbers:
    """Integers that neither schedules nor costs depend on."""
    found, width = s.made_requant(match), match.shape("input")[3]
    return (
        ("pad_x", window_of(match).pads[1]),
        ("columns_empty", round_up(width, LANES) - width),
        ("shift", found.shift),
        ("relu", int(found.relu)),
    )


def output_rows(match: Match, channels: Axis) -> Operand:
    """The output in the form ``rows``."""
    return Operand("output", "output", (channels, *output_axes(match)), form=ROWS.name)


def long_planes(match: Match) -> bool:
    """Whether one channel is enough for a copy; else a last tile of one might not be."""
    return min(prod(ROWS.padded_shape(shape)[2:]) for shape in (match.shape("input"), match.output.shape)) >= COPY_BYTES
