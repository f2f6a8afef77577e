"""Turns matches of the digital array's patterns into workloads.

Tensors lie in the home memory in the stored forms of ``forms``, whose bytes the axes describe. Columns are never tiled:
words are reversed, and every piece of a row costs a separate copy. Copies move multiples of 32 bytes, so no piece is
shorter: rows of 16 bytes are cut in groups of which every one has at least two (``digital_windows``).
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from match_core import Axis, Dim, Form, Match, Operand, Workload
from match_core.patterns.workloads import Scratch, axis, whole

from match_diana.digital import structures as s
from match_diana.digital import windows
from match_diana.digital.interfaces import DIGITAL_ADD
from match_diana.digital.limits import (
    CHANNEL_BLOCK,
    CONV_BIAS_BYTES,
    COPY_BYTES,
    DENSE_BIAS_BYTES,
    DEPTHWISE_GROUP,
    LANES,
    WEIGHT_BYTES,
    round_up,
)
from match_diana.forms import CHANNELS, ROWS, VECTOR


def conv(match: Match) -> Workload:
    """A convolution that writes rows."""
    outputs, inputs, fy, fx = match.shape("weight")
    weights = _weights("k", round_up(outputs, LANES), inputs * fy * fx + CONV_BIAS_BYTES)
    k, out, scratch = _blocks_of_rows(match, weights)
    return Workload(
        "digital_conv",
        (k, whole("C", inputs), *windows.spatial_dims(match)),
        (windows.input_rows(match, Axis("c", inputs)), weights, out),
        prod(match.shape("weight")) * windows.pixels(match),
        windows.geometry(match),
        scratch=scratch,
        unroll=(("OX", LANES), ("K", LANES)),
        arithmetic=windows.arithmetic(match),
    )


def _blocks_of_rows(match: Match, weights: Operand) -> tuple[Dim, Operand, Scratch]:
    """Output channels, 16 at a time. The array also computes channels that the tensor lacks. In one tile they are left
    in L1, behind the output (scratch); if the weight memory does not hold all weights, or the output is less than a
    copy, they are stored as well."""
    outputs, size = match.shape("weight")[0], weights.axes[0].size
    surplus, short = size - outputs, prod(ROWS.padded_shape(match.output.shape)) < COPY_BYTES
    if surplus == 0 or short or prod(axis.size for axis in weights.axes) > WEIGHT_BYTES:
        return Dim("K", size, granularity=LANES), windows.output_rows(match, axis("k", size)), ()
    k = whole("K", size)
    return k, windows.output_rows(match, Axis("k", outputs)), ((("OY", "OX"), surplus),)


def conv_channels(match: Match) -> Workload:
    """A convolution that writes for the analog array: blocks of 64 channels, of which one alone may have fewer."""
    outputs, inputs, fy, fx = match.shape("weight")
    blocks = -(-outputs // CHANNEL_BLOCK)
    channels = channels_computed(outputs)
    y, x = windows.output_axes(match)
    out = (axis("k", blocks), y, x, Axis("k0", CHANNEL_BLOCK))
    return Workload(
        "digital_conv_channels",
        (Dim("K", blocks), whole("C", inputs), *windows.spatial_dims(match)),
        (
            windows.input_rows(match, Axis("c", inputs)),
            _weights("k", blocks, channels * (inputs * fy * fx + CONV_BIAS_BYTES)),
            Operand("output", "output", out, form=CHANNELS.name),
        ),
        prod(match.shape("weight")) * windows.pixels(match),
        (*windows.geometry(match), ("channels", channels)),
        unroll=(("OX", LANES), ("K", LANES)),
        arithmetic=windows.arithmetic(match),
    )


def channels_computed(outputs: int) -> int:
    """Channels that the array computes in each block of 64."""
    return min(round_up(outputs, LANES), CHANNEL_BLOCK)


def depthwise(match: Match) -> Workload:
    """A depthwise convolution. The array reads up to 12 bytes of weights behind those of the last channel (TAIL, which
    also fills the last four channels) and writes 15 channels behind the last one (scratch)."""
    channels, _, fy, fx = match.shape("weight")
    packed = round_up(channels, DEPTHWISE_GROUP) + 1
    each = DEPTHWISE_GROUP * (fy * fx + CONV_BIAS_BYTES)
    weights = (Axis("k", packed, (("K", 1), ("TAIL", 1))), Axis("byte", each))
    k = axis("k", channels)
    return Workload(
        "digital_depthwise",
        (
            Dim("K", channels, tileable=windows.long_planes(match), granularity=DEPTHWISE_GROUP),
            *windows.spatial_dims(match),
            whole("TAIL", packed - channels + 1),
        ),
        (
            windows.input_rows(match, k),
            Operand("weights", "constant", weights),
            windows.output_rows(match, k),
        ),
        channels * fy * fx * windows.pixels(match),
        windows.geometry(match),
        scratch=((("OY", "OX"), LANES - 1),),
        unroll=(("OX", LANES),),
        arithmetic=windows.arithmetic(match),
    )


def depthwise_blocks(match: Match) -> Workload:
    """A depthwise convolution as convolutions of 16 channels by 16, with weights that are zero but for the channel's
    own: more products, but one instruction in the place of 16. Where the last of these has fewer inputs, all channels
    are in one tile."""
    channels, _, fy, fx = match.shape("weight")
    weights = _weights("k", round_up(channels, LANES), LANES * fy * fx + CONV_BIAS_BYTES)
    k, out, scratch = _blocks_of_rows(match, weights)
    whole = channels % LANES == 0
    return Workload(
        "digital_depthwise_blocks",
        (replace(k, tileable=whole), *windows.spatial_dims(match)),
        (windows.input_rows(match, Axis("c", channels, (("K", 1),) if whole else ())), weights, out),
        channels * fy * fx * windows.pixels(match),
        (*windows.geometry(match), ("channels", channels)),
        scratch=scratch,
        unroll=(("OX", LANES), ("K", LANES)),
        arithmetic=windows.arithmetic(match),
    )


def dense(match: Match) -> Workload:
    """A dense layer of one vector. Tiles are multiples of 32 outputs, which is what a copy moves; of a single tile the
    second 16 are computed only if there are any."""
    inputs, outputs = match.shape("weight")
    c, k = round_up(inputs, LANES), round_up(outputs, COPY_BYTES)
    found = s.made_requant(match)
    return Workload(
        "digital_dense",
        (Dim("K", k, granularity=COPY_BYTES), whole("C", c)),
        (
            Operand("input", "input", (Axis("c", round_up(inputs, COPY_BYTES)),), form=VECTOR.name),
            _weights("k", k, c + DENSE_BIAS_BYTES),
            Operand("output", "output", (axis("k", k),), form=VECTOR.name),
        ),
        inputs * outputs,
        (("outputs", LANES if outputs <= LANES else k),),
        unroll=(("C", LANES), ("K", LANES)),
        arithmetic=(("shift", found.shift), ("relu", int(found.relu))),
    )


def add(match: Match) -> Workload:
    """A sum of two tensors in the form ``rows``."""
    return _sum(match, ROWS)


def add_channels(match: Match) -> Workload:
    """A sum of two tensors in the form ``channels``."""
    return _sum(match, CHANNELS)


def _sum(match: Match, form: Form) -> Workload:
    """N pieces of 32 bytes; where these do not divide the tensor, one of all bytes."""
    size = prod(form.padded_shape(match.shape("input_a")))
    elements = COPY_BYTES if size % COPY_BYTES == 0 else size
    axes = (Axis("n", size // elements, (("N", 1),)), Axis("e", elements))
    return Workload(
        "digital_add",
        (Dim("N", size // elements),),
        tuple(Operand(name, role, axes, form=form.name) for name, role in DIGITAL_ADD.operands),
        prod(match.shape("input_a")),
        (("elements", elements),),
        arithmetic=(("shift", s.made_requant(match).shift),),
    )


def add_relu(match: Match) -> Workload:
    """A sum of two tensors in the form ``rows``, and ReLU: K channels of P pieces of 32 bytes, or of one."""
    _, channels, height, width = ROWS.padded_shape(match.shape("input_a"))
    plane = height * width
    elements = COPY_BYTES if plane % COPY_BYTES == 0 else plane
    axes = (axis("k", channels), Axis("p", plane // elements, (("P", 1),)), Axis("e", elements))
    return Workload(
        "digital_add_relu",
        (Dim("K", channels, granularity=LANES), Dim("P", plane // elements)),
        (
            Operand("input_a", "input", axes, form=ROWS.name),
            Operand("input_b", "input", axes, form=ROWS.name),
            Operand("weights", "constant", (Axis("byte", LANES * (LANES + CONV_BIAS_BYTES)),)),
            Operand("output", "output", axes, form=ROWS.name),
        ),
        prod(match.shape("input_a")),
        (("elements", elements),),
        arithmetic=(("shift", s.made_requant(match).shift),),
    )


def _weights(axis: str, size: int, each: int) -> Operand:
    return Operand("weights", "constant", (Axis(axis, size, (("K", 1),)), Axis("byte", each)))
