"""One case or more for every operator of TFLite that is translated: files, inputs and what must come out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.tflite_files.builder import CONV, POOL, RELU, RELU6, SAME, VALID, Options
from tests.tflite_files.numpy_operators import (
    BINARY,
    POSITIVE,
    REDUCTIONS,
    UNARY,
    Array,
    average,
    bilinear,
    blocks,
    conv,
    depthwise,
    nearest,
    softmax,
    transposed_conv,
    windows,
)

RANDOM = np.random.default_rng(3)


def drawn(*shape: int, low: float = -3.0, high: float = 3.0) -> Array:
    return RANDOM.uniform(low, high, shape).astype(np.float32)


def ints(*values: Any) -> Array:
    return np.array(values, np.int32)


@dataclass(frozen=True)
class Case:
    """``inputs`` by position: an array is fed, one in ``constants`` is held by the file. ``expected``
    gives all results."""

    kind: str
    inputs: tuple[Array, ...]
    expected: Callable[..., Array | tuple[Array, ...]]
    options: Options | None = None
    constants: tuple[int, ...] = ()
    left_out: tuple[int, ...] = field(default=())


IMAGE = drawn(1, 7, 6, 4)
CONV_OPTIONS = {**CONV, "Padding": SAME}
BINARY_OPTIONS: dict[str, Options] = {
    kind: (f"{kind.title()}Options", {"FusedActivationFunction": 0}) for kind in ("ADD", "SUB", "MUL", "DIV")
}
TRUTHS = RANDOM.integers(0, 2, (1, 5)).astype(bool), RANDOM.integers(0, 2, (1, 5)).astype(bool)
SLICE_MASKS = {"BeginMask": 1, "EndMask": 2, "ShrinkAxisMask": 8}

CASES = {
    "conv": Case(
        "CONV_2D",
        (IMAGE, drawn(5, 3, 2, 4), drawn(5)),
        lambda *a: np.maximum(conv()(*a), 0),
        ("Conv2DOptions", {**CONV_OPTIONS, "FusedActivationFunction": RELU}),
        (1, 2),
    ),
    "conv_strided": Case(
        "CONV_2D",
        (IMAGE, drawn(5, 3, 3, 4)),
        conv((2, 2)),
        ("Conv2DOptions", {**CONV_OPTIONS, "StrideH": 2, "StrideW": 2}),
        (1,),
        (2,),
    ),
    "conv_valid_dilated": Case(
        "CONV_2D",
        (IMAGE, drawn(5, 3, 3, 4), drawn(5)),
        conv(dilation=2, padding=VALID),
        ("Conv2DOptions", {**CONV, "Padding": VALID, "DilationHFactor": 2, "DilationWFactor": 2}),
        (1, 2),
    ),
    "conv_in_groups": Case(
        "CONV_2D", (IMAGE, drawn(6, 3, 3, 2)), conv(groups=2), ("Conv2DOptions", CONV_OPTIONS), (1,)
    ),
    "conv_with_computed_weights": Case("CONV_2D", (IMAGE, drawn(5, 1, 1, 4)), conv(), ("Conv2DOptions", CONV_OPTIONS)),
    "depthwise": Case(
        "DEPTHWISE_CONV_2D",
        (IMAGE, drawn(1, 3, 3, 8), drawn(8)),
        lambda *a: np.clip(depthwise(*a), 0, 6),
        (
            "DepthwiseConv2DOptions",
            {**CONV_OPTIONS, "StrideH": 2, "StrideW": 2, "FusedActivationFunction": RELU6, "DepthMultiplier": 2},
        ),
        (1, 2),
    ),
    "transpose_conv": Case(
        "TRANSPOSE_CONV",
        (ints(1, 14, 12, 3), drawn(3, 3, 3, 4), IMAGE, drawn(3)),
        transposed_conv,
        ("TransposeConvOptions", {"Padding": SAME, "StrideH": 2, "StrideW": 2}),
        (0, 1, 3),
    ),
    "average_pool": Case(
        "AVERAGE_POOL_2D",
        (IMAGE,),
        average,
        ("Pool2DOptions", {**POOL, "FilterHeight": 3, "FilterWidth": 3, "Padding": SAME}),
    ),
    "max_pool": Case(
        "MAX_POOL_2D",
        (IMAGE,),
        lambda x: windows(x, (2, 2), (2, 2)).max((3, 4)),
        ("Pool2DOptions", {**POOL, "Padding": VALID}),
    ),
    "fully_connected": Case(
        "FULLY_CONNECTED",
        (drawn(1, 3, 8), drawn(5, 8), drawn(5)),
        lambda x, w, b: x @ w.T + b,
        ("FullyConnectedOptions", {"KeepNumDims": True}),
        (1, 2),
    ),
    "fully_connected_of_an_image": Case(
        "FULLY_CONNECTED",
        (IMAGE, drawn(5, 168)),
        lambda x, w: x.reshape(1, -1) @ w.T,
        ("FullyConnectedOptions", {}),
        (1,),
    ),
    "batch_matmul": Case(
        "BATCH_MATMUL",
        (drawn(1, 2, 3, 4), drawn(1, 2, 5, 4)),
        lambda a, b: a @ b.swapaxes(-1, -2),
        ("BatchMatMulOptions", {"AdjX": False, "AdjY": True}),
    ),
    "batch_matmul_by_a_constant": Case(
        "BATCH_MATMUL",
        (drawn(1, 4, 3), drawn(1, 4, 5)),
        lambda a, b: a.swapaxes(-1, -2) @ b,
        ("BatchMatMulOptions", {"AdjX": True, "AdjY": False}),
        (1,),
    ),
    "softmax": Case("SOFTMAX", (drawn(1, 9),), lambda x: softmax(2 * x), ("SoftmaxOptions", {"Beta": 2.0})),
    "log_softmax": Case("LOG_SOFTMAX", (drawn(1, 9),), lambda x: np.log(softmax(x))),
    "l2_normalization": Case(
        "L2_NORMALIZATION", (drawn(1, 9),), lambda x: x / np.sqrt((x**2).sum(-1, keepdims=True)), ("L2NormOptions", {})
    ),
    "leaky_relu": Case(
        "LEAKY_RELU", (drawn(1, 9),), lambda x: np.where(x < 0, 0.25 * x, x), ("LeakyReluOptions", {"Alpha": 0.25})
    ),
    "gelu": Case(
        "GELU",
        (drawn(1, 9),),
        lambda x: x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
        ("GeluOptions", {"Approximate": True}),
    ),
    "pow": Case("POW", (drawn(1, 9, low=0.5), drawn(1, 9)), np.power),
    "add_n": Case("ADD_N", (drawn(1, 4), drawn(1, 4), drawn(1, 4)), lambda a, b, c: a + b + c, ("AddNOptions", {})),
    "select": Case("SELECT_V2", (TRUTHS[0], drawn(1, 5), drawn(1, 5)), np.where),
    "select_elements": Case("SELECT", (TRUTHS[0], drawn(1, 5), drawn(1, 5)), np.where),
    "logical_and": Case("LOGICAL_AND", TRUTHS, np.logical_and),
    "logical_or": Case("LOGICAL_OR", TRUTHS, np.logical_or),
    "logical_not": Case("LOGICAL_NOT", TRUTHS[:1], np.logical_not),
    "pad": Case(
        "PAD", (IMAGE, np.array([[0, 0], [1, 2], [0, 3], [2, 0]], np.int32)), lambda x, p: np.pad(x, p), None, (1,)
    ),
    "pad_v2": Case(
        "PADV2",
        (IMAGE, np.array([[0, 0], [1, 2], [0, 3], [2, 0]], np.int32), np.array(1.5, np.float32)),
        lambda x, p, v: np.pad(x, p, constant_values=v),
        None,
        (1, 2),
    ),
    "mirror_pad": Case(
        "MIRROR_PAD",
        (drawn(1, 5), np.array([[0, 0], [2, 3]], np.int32)),
        lambda x, p: np.pad(x, p, "reflect"),
        ("MirrorPadOptions", {"Mode": 0}),
        (1,),
    ),
    "reshape": Case("RESHAPE", (IMAGE, ints(1, 28, 6)), lambda x, s: x.reshape(s), None, (1,)),
    "squeeze": Case("SQUEEZE", (drawn(1, 5, 1, 3),), lambda x: x.reshape(1, 5, 3), ("SqueezeOptions", {})),
    "expand_dims": Case("EXPAND_DIMS", (drawn(1, 5), ints(1)), lambda x, a: x.reshape(1, 1, 5), None, (1,)),
    "transpose": Case("TRANSPOSE", (IMAGE, ints(0, 2, 3, 1)), lambda x, p: x.transpose(p), None, (1,)),
    "concatenation": Case(
        "CONCATENATION",
        (IMAGE, drawn(1, 7, 6, 2)),
        lambda a, b: np.concatenate((a, b), 3),
        ("ConcatenationOptions", {"Axis": -1}),
    ),
    "pack": Case(
        "PACK",
        (drawn(3, 4), drawn(3, 4)),
        lambda a, b: np.stack((a, b), 1),
        ("PackOptions", {"Axis": 1, "ValuesCount": 2}),
    ),
    "unpack": Case(
        "UNPACK",
        (drawn(1, 3, 4),),
        lambda x: tuple(x[:, i] for i in range(3)),
        ("UnpackOptions", {"Axis": 1, "Num": 3}),
    ),
    "split": Case(
        "SPLIT", (ints(3), IMAGE), lambda a, x: tuple(np.split(x, 2, 3)), ("SplitOptions", {"NumSplits": 2}), (0,)
    ),
    "split_v": Case(
        "SPLIT_V",
        (drawn(1, 7), ints(2, -1), ints(1)),
        lambda x, s, a: (x[:, :2], x[:, 2:]),
        ("SplitVOptions", {"NumSplits": 2}),
        (1, 2),
    ),
    "slice": Case(
        "SLICE", (IMAGE, ints(0, 1, 2, 0), ints(1, 3, -1, 2)), lambda x, b, s: x[:, 1:4, 2:, :2], None, (1, 2)
    ),
    "strided_slice": Case(
        "STRIDED_SLICE",
        (IMAGE, ints(5, -2, 5, 1), ints(1, 0, 0, 2), ints(1, -1, -2, 1)),
        lambda x, b, e, s: x[:1, -2::-1, 5:0:-2, 1],
        ("StridedSliceOptions", SLICE_MASKS),
        (1, 2, 3),
    ),
    "gather": Case(
        "GATHER", (IMAGE, ints(3, 0, 0)), lambda x, i: np.take(x, i, 2), ("GatherOptions", {"Axis": 2}), (1,)
    ),
    "gather_computed": Case("GATHER", (drawn(5, 3), ints(3, 0)), lambda x, i: np.take(x, i, 0), ("GatherOptions", {})),
    "tile": Case("TILE", (drawn(1, 3), ints(2, 2)), lambda x, c: np.tile(x, c), None, (1,)),
    "broadcast_to": Case("BROADCAST_TO", (drawn(1, 3), ints(4, 3)), lambda x, s: np.broadcast_to(x, s), None, (1,)),
    "fill": Case("FILL", (ints(2, 3), np.array(2.5, np.float32)), lambda s, v: np.full(s, v), None, (0,)),
    "shape": Case("SHAPE", (IMAGE,), lambda x: ints(*x.shape), ("ShapeOptions", {})),
    "rank": Case("RANK", (IMAGE,), lambda x: np.array(4, np.int32)),
    "arg_max": Case(
        "ARG_MAX", (drawn(1, 9), np.array(1, np.int32)), lambda x, a: x.argmax(1).astype(np.int32), None, (1,)
    ),
    "arg_min": Case(
        "ARG_MIN", (drawn(1, 9), np.array(-1, np.int32)), lambda x, a: x.argmin(1).astype(np.int64), None, (1,)
    ),
    "cast": Case("CAST", (drawn(1, 9),), lambda x: x.astype(np.int32)),
    "dequantize_float16": Case("DEQUANTIZE", (drawn(1, 9).astype(np.float16),), lambda x: x.astype(np.float32)),
    "quantize_nothing": Case("QUANTIZE", (drawn(1, 9),), lambda x: x),
    "space_to_batch": Case(
        "SPACE_TO_BATCH_ND",
        (IMAGE, ints(2, 3), ints([1, 0], [1, 2])),
        lambda x, b, p: np.concatenate(
            [np.pad(x, [(0, 0), (1, 0), (1, 2), (0, 0)])[:, r::2, c::3] for r in range(2) for c in range(3)]
        ),
        None,
        (1, 2),
    ),
    "batch_to_space": Case(
        "BATCH_TO_SPACE_ND",
        (drawn(4, 3, 2, 5), ints(2, 2), ints([1, 0], [0, 1])),
        lambda x, b, c: x.reshape(2, 2, 1, 3, 2, 5).transpose(2, 3, 0, 4, 1, 5).reshape(1, 6, 4, 5)[:, 1:, :3],
        None,
        (1, 2),
    ),
    "reverse": Case("REVERSE_V2", (IMAGE, ints(1, -1)), lambda x, a: x[:, ::-1, :, ::-1], None, (1,)),
    "cumsum": Case(
        "CUMSUM",
        (drawn(1, 5, 3), np.array(1, np.int32)),
        lambda x, a: np.cumsum(x[:, ::-1], 1)[:, ::-1] - x,
        ("CumsumOptions", {"Exclusive": True, "Reverse": True}),
        (1,),
    ),
    "floor_div": Case("FLOOR_DIV", (drawn(1, 9), drawn(1, 9, low=0.5)), lambda a, b: np.floor(a / b)),
    "floor_div_integers": Case("FLOOR_DIV", (ints(7, -7, 6, -1), ints(2, 2, -4, 3)), np.floor_divide),
    "floor_mod": Case("FLOOR_MOD", (drawn(1, 9), drawn(1, 9, low=0.5)), np.mod),
    "floor_mod_integers": Case("FLOOR_MOD", (ints(7, -7, 6, -1), ints(2, 2, -4, 3)), np.mod),
    "space_to_depth": Case(
        "SPACE_TO_DEPTH", (drawn(1, 6, 4, 3),), lambda x: blocks(x, 2), ("SpaceToDepthOptions", {"BlockSize": 2})
    ),
    "mean_over_image": Case(
        "MEAN", (IMAGE, ints(1, 2)), lambda x, a: x.mean((1, 2)), ("ReducerOptions", {"KeepDims": False}), (1,)
    ),
    "mean_over_image_kept": Case(
        "MEAN",
        (IMAGE, ints(2, 1)),
        lambda x, a: x.mean((1, 2), keepdims=True),
        ("ReducerOptions", {"KeepDims": True}),
        (1,),
    ),
    **{kind.lower(): Case(kind, (drawn(1, 4, 5, low=-4, high=8),), f) for kind, f in UNARY.items()},
    **{kind.lower(): Case(kind, (drawn(1, 4, 5, low=0.2),), f) for kind, f in POSITIVE.items()},
    **{
        kind.lower(): Case(kind, (IMAGE, np.where(IMAGE > 1, IMAGE, drawn(1, 7, 6, 4))), f, BINARY_OPTIONS.get(kind))
        for kind, f in BINARY.items()
    },
    **{
        f"{kind.lower()}_channels": Case(kind, (IMAGE, drawn(4, low=0.5)), f, BINARY_OPTIONS.get(kind), (1,))
        for kind, f in BINARY.items()
    },
    **{
        kind.lower(): Case(
            kind, (IMAGE, ints(3, -3)), lambda x, a, f=f: f(x, (1, 3)), ("ReducerOptions", {"KeepDims": False}), (1,)
        )
        for kind, f in REDUCTIONS.items()
    },
    **{
        f"depth_to_space_{size}": Case(
            "DEPTH_TO_SPACE",
            (blocks(drawn(1, 6, 6, 3), size),),
            lambda x, size=size: (
                x.reshape(1, 6 // size, 6 // size, size, size, 3).transpose(0, 1, 3, 2, 4, 5).reshape(1, 6, 6, 3)
            ),
            ("DepthToSpaceOptions", {"BlockSize": size}),
        )
        for size in (2, 3)
    },
    **{
        f"{kind.lower()}_{size}_{half}": Case(
            kind,
            (IMAGE, ints(*size)),
            lambda x, s, f=f, half=half: f(x, s, half),
            (name, {"HalfPixelCenters": half}),
            (1,),
        )
        for kind, f, name in (
            ("RESIZE_BILINEAR", bilinear, "ResizeBilinearOptions"),
            ("RESIZE_NEAREST_NEIGHBOR", nearest, "ResizeNearestNeighborOptions"),
        )
        for size in ((14, 12), (3, 11))
        for half in (False, True)
    },
}
