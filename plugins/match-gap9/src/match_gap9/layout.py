"""Changes of layout and sign at the graph's ends, on the cluster: byte matrices transposed, int8 to uint8 and back."""

from __future__ import annotations

from math import prod

import numpy as np
from match_core import (
    Any,
    Axis,
    Const,
    Constraint,
    Dim,
    KernelInterface,
    Match,
    Maybe,
    OneOf,
    Op,
    Operand,
    Pattern,
    Workload,
)

#: out[c][r] = in[r][c] ^ flip.
TRANSPOSE = KernelInterface("transpose", (("input", "input"), ("output", "output")), ("R", "C"), (), ("flip",))
#: out[n] = in[n] ^ flip.
FLIP = KernelInterface("flip", (("input", "input"), ("output", "output")), ("N",), (), ("flip",))

#: out[n] = in[n] limited to [low, high].
CLIP = KernelInterface("clip", (("input", "input"), ("output", "output")), ("N",), (), ("low", "high"))
#: out[n] = saturate(round(in[n] / scale) + zero_point); ``scale_bits`` are the bits of the float32 scale.
QUANTIZE = KernelInterface(
    "quantize",
    (("input", "input"), ("output", "output")),
    ("N",),
    (),
    ("scale_bits", "zero_point", "low", "high"),
)

_OFFSET = "match.arith::OffsetI8ToU8|match.arith::OffsetU8ToI8"
_TRANSPOSE_STRUCTURE = OneOf(
    (
        Op("Transpose", "transpose", (Maybe(Op(_OFFSET, "offset", (Any("input"),))),)),
        Op(_OFFSET, "offset", (Op("Transpose", "transpose", (Any("input"),)),)),
    )
)


def _matrix(match: Match) -> tuple[int, int] | None:
    """Rows and columns if the permutation is a transposition of a matrix: one block of axes moved past the rest."""
    shape = match.shape("input")
    order = [int(axis) for axis in match.node("transpose").attrs["perm"] if shape[int(axis)] > 1]
    kept = sorted(order)
    for cut in range(1, len(kept)):
        if order == kept[cut:] + kept[:cut]:
            return prod(shape[axis] for axis in kept[:cut]), prod(shape[axis] for axis in kept[cut:])
    return None


BYTES = Constraint(
    "elements",
    "elements are 8 bits wide",
    lambda m: None if np.dtype(m.tensor("input").dtype).itemsize == 1 else f"input is {m.tensor('input').dtype}",
)
MATRIX = Constraint(
    "permutation",
    "the permutation moves the leading axes behind the others",
    lambda m: None if _matrix(m) else f"it is {list(m.node('transpose').attrs['perm'])}",
)


def _flip(match: Match) -> int:
    return 0x80 if match.has("offset") else 0


def _transpose_workload(match: Match) -> Workload:
    shape = _matrix(match)
    assert shape is not None  # the constraint says so
    rows, columns = shape
    r, c = Axis("r", rows, (("R", 1),)), Axis("c", columns, (("C", 1),))
    return Workload(
        kind="transpose",
        dims=(Dim("R", rows), Dim("C", columns)),
        operands=(Operand("input", "input", (r, c)), Operand("output", "output", (c, r))),
        macs=0,
        geometry=(("flip", _flip(match)),),
    )


def _flip_workload(match: Match) -> Workload:
    n = Axis("n", prod(match.shape("input")), (("N", 1),))
    return Workload(
        kind="flip",
        dims=(Dim("N", n.size, granularity=4),),
        operands=(Operand("input", "input", (n,)), Operand("output", "output", (n,))),
        macs=0,
        geometry=(("flip", 0x80),),
    )


def _per_tensor(match: Match) -> str | None:
    sizes = [match.const(name).size for name in ("scale", "zero")]
    return None if sizes == [1, 1] else f"there are {max(sizes)} scales"


def _to_bytes(match: Match) -> str | None:
    source, result = np.dtype(match.tensor("input").dtype), np.dtype(match.output.dtype)
    right = source == np.float32 and result in (np.dtype(np.int8), np.dtype(np.uint8))
    return None if right else f"it turns {source.name} into {result.name}"


PER_TENSOR = Constraint("scale", "there is one scale and one zero point", _per_tensor)
TO_BYTES = Constraint("types", "float32 becomes int8 or uint8", _to_bytes)


def _quantize_workload(match: Match) -> Workload:
    axis = Axis("n", prod(match.shape("input")), (("N", 1),))
    limits = np.iinfo(np.dtype(match.output.dtype))
    scale = match.const("scale").astype(np.float32).reshape(1)
    return Workload(
        kind="quantize",
        dims=(Dim("N", axis.size, granularity=4),),
        operands=(Operand("input", "input", (axis,), 32), Operand("output", "output", (axis,))),
        macs=0,
        geometry=(
            ("scale_bits", int(scale.view(np.int32)[0])),
            ("zero_point", int(match.const("zero").reshape(-1)[0])),
            ("low", int(limits.min)),
            ("high", int(limits.max)),
        ),
    )


def _clip_bounds(match: Match) -> str | None:
    right = np.dtype(match.tensor("input").dtype) == np.uint8 and all(match.const(n).size == 1 for n in ("low", "high"))
    return None if right else f"it limits {match.tensor('input').dtype}"


CLIP_BYTES = Constraint("elements", "uint8 values are limited by constants", _clip_bounds)


def _clip_workload(match: Match) -> Workload:
    n = Axis("n", prod(match.shape("input")), (("N", 1),))
    return Workload(
        kind="clip",
        dims=(Dim("N", n.size, granularity=4),),
        operands=(Operand("input", "input", (n,)), Operand("output", "output", (n,))),
        macs=0,
        geometry=tuple((name, int(match.const(name).reshape(-1)[0])) for name in ("low", "high")),
    )


LAYOUT_PATTERNS = (
    Pattern(
        "clip",
        "uint8 values limited to a range: a ReLU whose zero point is not 0 (match_gap9_clip_bytes)",
        Op("Clip", "clip", (Any("input"), Const("low"), Const("high"))),
        (CLIP_BYTES,),
        _clip_workload,
    ),
    Pattern(
        "quantize",
        "float32 tensors at the graph's start to 8 bits (match_gap9_quantize)",
        Op("QuantizeLinear", "quantize", (Any("input"), Const("scale"), Const("zero"))),
        (TO_BYTES, PER_TENSOR),
        _quantize_workload,
    ),
    Pattern(
        "transpose",
        "layout change of 8-bit tensors between NCHW and NHWC, change of sign included (match_gap9_transpose_bytes)",
        _TRANSPOSE_STRUCTURE,
        (BYTES, MATRIX),
        _transpose_workload,
    ),
    Pattern(
        "flip",
        "int8 to uint8 with zero 128 and back (match_gap9_flip_bytes)",
        Op(_OFFSET, "offset", (Any("input"),)),
        (BYTES,),
        _flip_workload,
    ),
)
