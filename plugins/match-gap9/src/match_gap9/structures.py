"""Graph structures that GAP9's kernels implement, shared by both units, and how a match becomes a workload."""

from __future__ import annotations

from math import prod

from match_core import Any, Axis, Const, Dim, Match, Maybe, Op, Operand, Workload

REQUANT = ("multiplier", "addend", "divisor", "low", "high")


def requantised(op: Op) -> Op:
    """``op`` followed by its requantisation to uint8."""
    return Op("match.arith::RequantU8", "requant", (op, *(Const(name) for name in REQUANT)))


#: NHWC convolution, its zero-point padding (if any) taken in.
CONV_PADDED = requantised(
    Op("match.nhwc::ConvInteger", "conv", (Maybe(Op("Pad", "pad", (Any("input"),))), Const("weight")))
)
#: NHWC convolution whose padding, if any, is zero.
CONV = requantised(Op("match.nhwc::ConvInteger", "conv", (Any("input"), Const("weight"))))
DENSE = requantised(Op("MatMulInteger", "dense", (Any("input"), Const("weight"))))
ADD = Op(
    "match.arith::AddRequantU8",
    "add",
    (
        Any("input_a"),
        Any("input_b"),
        Const("multiplier_a"),
        Const("multiplier_b"),
        Const("addend"),
        Const("divisor"),
        Const("low"),
        Const("high"),
    ),
)
#: The mean of a window whose area is a power of two, rounded by QuantizeLinear (ties to even).
AVERAGE_EVEN = Op(
    "QuantizeLinear",
    "quantize",
    (Op("Cast", "cast", (Op("match.nhwc::ConvInteger", "conv", (Any("input"), Const("weight"))),)), Const("area")),
)
MAXPOOL = Op("match.nhwc::MaxPool", "pool", (Any("input"),))


def pads(match: Match) -> tuple[int, int, int, int]:
    """Top, left, bottom, right padding: of the convolution's attribute plus, where there is one, of its Pad node."""
    top, left, bottom, right = (int(p) for p in match.node("conv" if match.has("conv") else "pool").attrs["pads"])
    if match.has("pad"):
        amounts = [int(a) for a in match.node("pad").inputs[1].values]
        rank = len(amounts) // 2
        top, left = top + amounts[rank - 3], left + amounts[rank - 2]
        bottom, right = bottom + amounts[-3], right + amounts[-2]
    return top, left, bottom, right


def pad_value(match: Match) -> int:
    """What padding pixels hold."""
    if not match.has("pad"):
        return 0
    inputs = match.node("pad").inputs
    return int(inputs[2].values) if len(inputs) > 2 and inputs[2].name else 0


def shift(match: Match) -> int:
    """S of the requantisation: the divisor is 2**S."""
    return int(match.const("divisor").reshape(-1)[0]).bit_length() - 1


def strides(match: Match, capture: str = "conv") -> tuple[int, int]:
    """Stride in y and x."""
    values = match.node(capture).attrs["strides"]
    return int(values[0]), int(values[1])


def weight_bits(match: Match) -> int:
    """The narrowest two's complement width, 2 to 8, that holds every weight."""
    values = match.const("weight")
    low, high = int(values.min()), int(values.max())
    return next(bits for bits in range(2, 9) if -(1 << (bits - 1)) <= low and high < 1 << (bits - 1))


def is_depthwise(match: Match) -> bool:
    """One input channel per group and one output channel per group."""
    out_channels, in_per_group = match.shape("weight")[:2]
    return in_per_group == 1 and int(match.node("conv").attrs["group"]) == out_channels


def is_pooling(match: Match) -> bool:
    """A depthwise convolution with all-ones weights and at most one multiplier: how average pooling is written."""
    parameters = [name for name in ("multiplier", "addend") if match.has(name)]
    single = all(match.const(name).size == 1 for name in parameters)
    return bool(is_depthwise(match) and (match.const("weight") == 1).all() and single)


def _spatial_axes(match: Match, step: tuple[int, int]) -> tuple[Axis, Axis]:
    """y and x axes of the input of a spatial operator."""
    _, height, width, _ = match.shape("input")
    top, left, _, _ = pads(match)
    return (
        Axis("y", height, (("OY", step[0]), ("FY", 1)), top),
        Axis("x", width, (("OX", step[1]), ("FX", 1)), left),
    )


Scratch = tuple[tuple[tuple[str, ...], int], ...]


def conv_workload(
    match: Match,
    weight_axes: tuple[Axis, ...],
    output_granularity: int,
    column_granularity: int,
    scratch: Scratch = (),
    bits: int = 8,
) -> Workload:
    """A group-1 convolution: dimensions K, C, OY, OX, FY, FX. ``weight_axes``: how the weights are packed, K first, in
    ``bits`` bits each."""
    out_channels, in_channels, fy, fx = match.shape("weight")
    _, oy, ox, _ = (int(size) for size in match.output.shape)
    return Workload(
        kind="conv2d",
        dims=(
            Dim("K", out_channels, granularity=output_granularity),
            Dim("C", in_channels, tileable=False),
            Dim("OY", oy),
            Dim("OX", ox, granularity=column_granularity),
            Dim("FY", fy, tileable=False),
            Dim("FX", fx, tileable=False),
        ),
        operands=_spatial_operands(
            match, Axis("c", in_channels, (("C", 1),)), Operand("weight", "constant", weight_axes)
        ),
        macs=out_channels * in_channels * oy * ox * fy * fx,
        geometry=_spatial_geometry(match, bits),
        scratch=scratch,
    )


def depthwise_workload(
    match: Match,
    weight_axes: tuple[Axis, ...],
    channel_granularity: int,
    scratch: Scratch = (),
    bits: int = 8,
    packed: bool = False,
) -> Workload:
    """A depthwise convolution: dimensions K (channels), OY, OX, FY, FX. ``packed``: weights take ``bits`` bits each in
    memory, else a byte."""
    channels, _, fy, fx = match.shape("weight")
    _, oy, ox, _ = (int(size) for size in match.output.shape)
    weight = Operand("weight", "constant", weight_axes, bits if packed else 8)
    return Workload(
        kind="depthwise2d",
        dims=(
            Dim("K", channels, granularity=channel_granularity),
            Dim("OY", oy),
            Dim("OX", ox),
            Dim("FY", fy, tileable=False),
            Dim("FX", fx, tileable=False),
        ),
        operands=_spatial_operands(match, Axis("k", channels, (("K", 1),)), weight),
        macs=channels * oy * ox * fy * fx,
        geometry=_spatial_geometry(match, bits),
        scratch=scratch,
    )


def _spatial_operands(match: Match, input_channels: Axis, weight: Operand) -> tuple[Operand, ...]:
    """Input, weight, requantisation parameters and output of a convolution of either kind."""
    _, oy, ox, channels = (int(size) for size in match.output.shape)
    y, x = _spatial_axes(match, strides(match))
    k = Axis("k", channels, (("K", 1),))
    return (
        Operand("input", "input", (y, x, input_channels)),
        weight,
        Operand("multiplier", "constant", (k,), 32),
        Operand("addend", "constant", (k,), 32),
        Operand("output", "output", (Axis("y", oy, (("OY", 1),)), Axis("x", ox, (("OX", 1),)), k)),
    )


def _spatial_geometry(match: Match, bits: int) -> tuple[tuple[str, int], ...]:
    step = strides(match)
    return (
        ("stride_y", step[0]),
        ("stride_x", step[1]),
        ("shift", shift(match)),
        ("pad_value", pad_value(match)),
        ("weight_bits", bits),
    )


def dense_workload(match: Match, weight_axes: tuple[Axis, ...], granularity: int, bits: int = 8) -> Workload:
    """A dense layer: N rows of C inputs to K outputs."""
    in_features, out_features = match.shape("weight")
    rows = prod(match.shape("input")) // in_features
    return Workload(
        kind="linear",
        dims=(
            Dim("N", rows),
            Dim("K", out_features, granularity=granularity),
            Dim("C", in_features, tileable=False),
        ),
        operands=(
            Operand("input", "input", (Axis("n", rows, (("N", 1),)), Axis("c", in_features, (("C", 1),)))),
            Operand("weight", "constant", weight_axes),
            Operand("multiplier", "constant", (Axis("k", out_features, (("K", 1),)),), 32),
            Operand("addend", "constant", (Axis("k", out_features, (("K", 1),)),), 32),
            Operand("output", "output", (Axis("n", rows, (("N", 1),)), Axis("k", out_features, (("K", 1),)))),
        ),
        macs=rows * in_features * out_features,
        geometry=(("shift", shift(match)), ("weight_bits", bits)),
    )


def add_workload(match: Match) -> Workload:
    """Element-wise sum over the last three axes (missing ones are 1)."""
    shape = [int(size) for size in match.output.shape]
    y, x, c = (prod(shape[:-2]), *([1, *shape][-2:])) if len(shape) > 1 else (1, 1, shape[0] if shape else 1)
    axes = tuple(Axis(dim.lower(), size, ((dim, 1),)) for dim, size in (("Y", y), ("X", x), ("C", c)))
    return Workload(
        kind="add",
        dims=(Dim("Y", y), Dim("X", x), Dim("C", c)),
        operands=(
            Operand("input_a", "input", axes),
            Operand("input_b", "input", axes),
            Operand("output", "output", axes),
        ),
        macs=0,
        geometry=(
            ("multiplier_a", int(match.const("multiplier_a").reshape(-1)[0])),
            ("multiplier_b", int(match.const("multiplier_b").reshape(-1)[0])),
            ("addend", int(match.const("addend").reshape(-1)[0])),
            ("shift", shift(match)),
        ),
    )


def pool_workload(
    match: Match, capture: str, kernel: tuple[int, int], parameters: tuple[int, int, int], ties_even: bool = False
) -> Workload:
    """Pooling: dimensions C, OY, OX, FY, FX; ``parameters`` are multiplier, addend and shift (zeros for a maximum)."""
    _, oy, ox, channels = (int(size) for size in match.output.shape)
    step = strides(match, capture)
    y, x = _spatial_axes(match, step)
    c = Axis("c", channels, (("C", 1),))
    return Workload(
        kind="pool2d",
        dims=(
            Dim("C", channels),
            Dim("OY", oy),
            Dim("OX", ox),
            Dim("FY", kernel[0], tileable=False),
            Dim("FX", kernel[1], tileable=False),
        ),
        operands=(
            Operand("input", "input", (y, x, c)),
            Operand("output", "output", (Axis("y", oy, (("OY", 1),)), Axis("x", ox, (("OX", 1),)), c)),
        ),
        macs=channels * oy * ox * kernel[0] * kernel[1],
        geometry=(
            ("stride_y", step[0]),
            ("stride_x", step[1]),
            ("multiplier", parameters[0]),
            ("addend", parameters[1]),
            ("shift", parameters[2]),
            ("ties_even", int(ties_even)),
        ),
    )
