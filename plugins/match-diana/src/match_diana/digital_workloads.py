"""How matches of the digital array's patterns become workloads.

Tensors lie at home in the stored forms of ``forms``, whose bytes the axes describe. Columns are never cut: words are
reversed, and every piece of a row costs a copy of its own. Copies move multiples of 32 bytes, so no piece is shorter:
rows of 16 bytes are cut in groups of which every one has at least two (``_row_group``).
"""

from __future__ import annotations

from math import prod

from match_core import Axis, Dim, Match, Operand, Workload

from match_diana import digital_structures as s
from match_diana.digital_limits import (
    CHANNEL_BLOCK,
    CONV_BIAS_BYTES,
    COPY_BYTES,
    DENSE_BIAS_BYTES,
    DEPTHWISE_GROUP,
    LANES,
    round_up,
)
from match_diana.forms import CHANNELS, PLANES, ROWS, VECTOR

Numbers = tuple[tuple[str, int], ...]


def conv(match: Match) -> Workload:
    """A convolution that reads and writes rows."""
    return _conv(match, ROWS.name)


def conv_planes(match: Match) -> Workload:
    """A convolution of an image without padded channels."""
    return _conv(match, PLANES.name)


def _conv(match: Match, form: str) -> Workload:
    outputs, inputs, fy, fx = match.shape("weight")
    k = round_up(outputs, LANES)
    weights = _weights("k", k, inputs * fy * fx + CONV_BIAS_BYTES)
    out = Operand("output", "output", (Axis("k", k, (("K", 1),)), *_output_rows(match)), form=ROWS.name)
    return Workload(
        "digital_conv",
        (Dim("K", k, granularity=LANES), Dim("C", inputs, tileable=False), *_spatial_dims(match)),
        (_input(match, _all_channels(match, form), form), weights, out),
        prod(match.shape("weight")) * _pixels(match),
        _geometry(match),
        unroll=(("OX", LANES), ("K", LANES)),
        arithmetic=_arithmetic(match),
    )


def conv_channels(match: Match) -> Workload:
    """A convolution that writes for the analog array: blocks of 64 channels, of which one alone may have fewer."""
    outputs, inputs, fy, fx = match.shape("weight")
    blocks = -(-outputs // CHANNEL_BLOCK)
    channels = channels_computed(outputs)
    y, x = _output_rows(match)
    out = (Axis("k", blocks, (("K", 1),)), y, x, Axis("k0", CHANNEL_BLOCK))
    return Workload(
        "digital_conv_channels",
        (Dim("K", blocks), Dim("C", inputs, tileable=False), *_spatial_dims(match)),
        (
            _input(match, _all_channels(match, ROWS.name), ROWS.name),
            _weights("k", blocks, channels * (inputs * fy * fx + CONV_BIAS_BYTES)),
            Operand("output", "output", out, form=CHANNELS.name),
        ),
        prod(match.shape("weight")) * _pixels(match),
        (*_geometry(match), ("channels", channels)),
        unroll=(("OX", LANES), ("K", LANES)),
        arithmetic=_arithmetic(match),
    )


def channels_computed(outputs: int) -> int:
    """Channels that the array computes in each block of 64."""
    return min(round_up(outputs, LANES), CHANNEL_BLOCK)


def depthwise(match: Match) -> Workload:
    """A depthwise convolution. The array reads up to 12 bytes of weights behind those of the last channel (TAIL) and
    writes 15 channels behind the last one (scratch). Channels that only the stored form has are not computed; which
    they are is known where all channels are in one tile."""
    channels, _, fy, fx = match.shape("weight")
    k, computed = round_up(channels, LANES), round_up(channels, DEPTHWISE_GROUP)
    each = DEPTHWISE_GROUP * (fy * fx + CONV_BIAS_BYTES)
    weights = (Axis("k", k + 1, (("K", 1), ("TAIL", 1))), Axis("byte", each))
    out = Operand("output", "output", (Axis("k", k, (("K", 1),)), *_output_rows(match)), form=ROWS.name)
    return Workload(
        "digital_depthwise",
        (
            Dim("K", k, tileable=computed == k, granularity=DEPTHWISE_GROUP),
            *_spatial_dims(match),
            Dim("TAIL", 2, tileable=False),
        ),
        (_input(match, Axis("c", k, (("K", 1),)), ROWS.name), Operand("weights", "constant", weights), out),
        channels * fy * fx * _pixels(match),
        (*_geometry(match), ("channels", computed)),
        scratch=((("OY", "OX"), LANES - 1),),
        unroll=(("OX", LANES),),
        arithmetic=_arithmetic(match),
    )


def depthwise_blocks(match: Match) -> Workload:
    """A depthwise convolution as convolutions of 16 channels by 16, with weights that are zero but for the channel's
    own: more products, but one instruction in the place of 16."""
    channels, _, fy, fx = match.shape("weight")
    k = round_up(channels, LANES)
    out = Operand("output", "output", (Axis("k", k, (("K", 1),)), *_output_rows(match)), form=ROWS.name)
    return Workload(
        "digital_depthwise_blocks",
        (Dim("K", k, granularity=LANES), *_spatial_dims(match)),
        (
            _input(match, Axis("c", k, (("K", 1),)), ROWS.name),
            _weights("k", k, LANES * fy * fx + CONV_BIAS_BYTES),
            out,
        ),
        channels * fy * fx * _pixels(match),
        _geometry(match),
        unroll=(("OX", LANES), ("K", LANES)),
        arithmetic=_arithmetic(match),
    )


def dense(match: Match) -> Workload:
    """A dense layer of one vector. Tiles are multiples of 32 outputs, which is what a copy moves; of a single tile the
    second 16 are computed only if there are any."""
    inputs, outputs = match.shape("weight")
    c, k = round_up(inputs, LANES), round_up(outputs, COPY_BYTES)
    found = _requant(match)
    return Workload(
        "digital_dense",
        (Dim("K", k, granularity=COPY_BYTES), Dim("C", c, tileable=False)),
        (
            Operand("input", "input", (Axis("c", round_up(inputs, COPY_BYTES)),), form=VECTOR.name),
            _weights("k", k, c + DENSE_BIAS_BYTES),
            Operand("output", "output", (Axis("k", k, (("K", 1),)),), form=VECTOR.name),
        ),
        inputs * outputs,
        (("outputs", LANES if outputs <= LANES else k),),
        unroll=(("C", LANES), ("K", LANES)),
        arithmetic=(("shift", found.shift), ("relu", int(found.relu))),
    )


def add(match: Match) -> Workload:
    """A sum of two tensors in the form ``rows``."""
    channels, plane = _planes(match)
    return _sum(match, ROWS.name, channels, 1, plane)


def add_channels(match: Match) -> Workload:
    """A sum of two tensors in the form ``channels``."""
    _, channels, height, width = match.shape("input_a")
    return _sum(match, CHANNELS.name, -(-channels // CHANNEL_BLOCK), 1, height * width * CHANNEL_BLOCK)


def add_relu(match: Match) -> Workload:
    """A sum of two tensors in the form ``rows``, and ReLU."""
    channels, plane = _planes(match)
    return _sum(match, ROWS.name, channels, LANES, plane, relu=True)


def _sum(match: Match, form: str, k: int, granularity: int, plane: int, relu: bool = False) -> Workload:
    """K channels, or blocks of them, of P pieces: of 32 bytes where these divide a channel, else two whole channels
    or more."""
    elements = COPY_BYTES if plane % COPY_BYTES == 0 else plane
    granularity = max(granularity, 1 if elements == COPY_BYTES else 2)
    axes = (Axis("k", k, (("K", 1),)), Axis("p", plane // elements, (("P", 1),)), Axis("e", elements))
    weights = (Operand("weights", "constant", (Axis("byte", LANES * (LANES + CONV_BIAS_BYTES)),)),)
    return Workload(
        "digital_add_relu" if relu else "digital_add",
        (Dim("K", k, granularity=granularity), Dim("P", plane // elements)),
        (
            Operand("input_a", "input", axes, form=form),
            Operand("input_b", "input", axes, form=form),
            *(weights if relu else ()),
            Operand("output", "output", axes, form=form),
        ),
        prod(match.shape("input_a")),
        (("elements", elements),),
        arithmetic=(("shift", _requant(match).shift),),
    )


def _planes(match: Match) -> tuple[int, int]:
    """Channels of a tensor in the form ``rows``, and bytes of each."""
    _, channels, height, width = ROWS.padded_shape(match.shape("input_a"))
    return channels, height * width


# ---- convolutions ----------------------------------------------------------------------------------------------


def _spatial_dims(match: Match) -> tuple[Dim, ...]:
    fy, fx = match.shape("weight")[2:]
    return (
        Dim("OY", int(match.output.shape[2]), granularity=_row_group(match)),
        Dim("OX", round_up(int(match.output.shape[3]), LANES), tileable=False),
        Dim("FY", fy, tileable=False),
        Dim("FX", fx, tileable=False),
        Dim("SPARE", _spare_rows(match) + 1, tileable=False),
    )


def _spare_rows(match: Match) -> int:
    """Rows of the input that no output reads, which strides leave at the bottom. Tiles read them too, so that one of
    all rows is one piece in memory."""
    geometry = s.geometry_of(match)
    last = (int(match.output.shape[2]) - 1) * geometry.strides[0] + geometry.kernel[0] - geometry.pads[0]
    return max(0, match.shape("input")[2] - last)


def _row_group(match: Match) -> int:
    """Output rows come in groups of this many. Where a row has 16 bytes, tiles must have two rows at least, the last
    one too: the least divisor of their number that is more than 1."""
    height = int(match.output.shape[2])
    narrow = min(match.shape("input")[3], int(match.output.shape[3])) <= LANES
    return next(n for n in range(2, height + 1) if height % n == 0) if narrow and height > 1 else 1


def _input(match: Match, channels: Axis, form: str) -> Operand:
    _, _, height, width = match.shape("input")
    geometry = s.geometry_of(match)
    y = Axis("y", height, (("OY", geometry.strides[0]), ("FY", 1), ("SPARE", 1)), offset=geometry.pads[0])
    return Operand("input", "input", (channels, y, Axis("x", round_up(width, LANES))), form=form)


def _all_channels(match: Match, form: str) -> Axis:
    """All of the input's channels; in the form ``rows`` two, where one alone would be less than a copy moves."""
    channels = match.shape("input")[1]
    short = form == ROWS.name and prod(PLANES.padded_shape(match.shape("input"))) < COPY_BYTES
    return Axis("c", 2 if short else channels)


def _output_rows(match: Match) -> tuple[Axis, Axis]:
    height, width = (int(size) for size in match.output.shape[2:])
    return Axis("y", height, (("OY", 1),)), Axis("x", round_up(width, LANES), (("OX", 1),))


def _weights(axis: str, size: int, each: int) -> Operand:
    return Operand("weights", "constant", (Axis(axis, size, (("K", 1),)), Axis("byte", each)))


def _pixels(match: Match) -> int:
    return int(match.output.shape[2]) * int(match.output.shape[3])


def _geometry(match: Match) -> Numbers:
    return (("width", round_up(match.shape("input")[3], LANES)), ("stride", s.geometry_of(match).strides[0]))


def _arithmetic(match: Match) -> Numbers:
    found, width = _requant(match), match.shape("input")[3]
    return (
        ("pad_x", s.geometry_of(match).pads[1]),
        ("columns_empty", round_up(width, LANES) - width),
        ("shift", found.shift),
        ("relu", int(found.relu)),
    )


def _requant(match: Match) -> s.DigitalRequant:
    found = s.requant_of(match)
    assert not isinstance(found, str)  # a rule says so
    return found
