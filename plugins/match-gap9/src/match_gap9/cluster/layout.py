"""Changes of layout and sign at the graph's ends, on the cluster: byte matrices transposed, int8 to uint8 and back."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np
from match_core import Any, Const, Dim, KernelInterface, Match, OneOf, Op, Operand, Pattern, Workload
from match_core.lower.interfaces import UNARY
from match_core.patterns.captures import number, type_name
from match_core.patterns.rule import rule
from match_core.patterns.rules_tensors import bytes_wide, turned_matrix, turns_matrix
from match_core.patterns.structures import OFFSET
from match_core.patterns.structures import TRANSPOSE as TURNED
from match_core.patterns.workloads import Numbers, axis, turned
from match_host.kernels.movement.movement import MOVERS
from match_host.kernels.nest import merge

#: A permutation of a part of a tensor, which the DMA reads where it is, including a change of sign between them.
_PART = Op("Slice", "part", (Any("input"),))
TURNED_PART = Op("Transpose", "transpose", (OneOf((Op(OFFSET.op, "offset", (_PART,)), _PART)),))

#: out[c][r] = in[r][c] ^ flip.
TRANSPOSE = KernelInterface("transpose", UNARY, ("R", "C"), (), ("flip",))
#: out[n] = in[n] ^ flip.
FLIP = KernelInterface("flip", UNARY, ("N",), (), ("flip",))

#: out[n] = in[n] limited to [low, high].
CLIP = KernelInterface("clip", UNARY, ("N",), (), ("low", "high"))
#: out[n] = saturate(round(in[n] / scale) + zero_point); ``scale_bits`` are the bits of the float32 scale.
QUANTIZE = KernelInterface(
    "quantize",
    UNARY,
    ("N",),
    (),
    ("scale_bits", "zero_point", "low", "high"),
)

_FLIP = 0x80


def _transpose(match: Match) -> Workload:
    size = turned_matrix(match)
    assert size is not None  # the constraint says so
    return turned(size, "transpose", geometry=(("flip", _FLIP if match.has("offset") else 0),))


def _matrix(match: Match) -> tuple[int, int] | None:
    """The step between rows of the part in the whole tensor, and where the part begins; None if rows are not
    contiguous."""
    (copy,) = MOVERS["Slice"](match.node("part"))
    groups = merge(copy.shape, (copy.source_strides,)).groups
    sizes, steps = tuple(size for _, size in groups), [copy.source_strides[axis] for axis, _ in groups]
    return (steps[0], copy.source_offset) if sizes == turned_matrix(match) and steps[-1] == 1 else None


@rule("part", "the part is rows of the matrix with contiguous elements")
def is_matrix(match: Match) -> str | None:
    return None if turned_matrix(match) is None or _matrix(match) else "it is not"


def _transpose_part(match: Match) -> Workload:
    part = _matrix(match)
    assert part is not None  # the constraint says so
    whole = _transpose(match)
    (r, c), (step, base) = whole.operand("input").axes, part
    view = Operand("input", "input", (replace(r, stride=step), replace(c, stride=1)), base=base)
    return replace(whole, operands=(view, whole.operand("output")))


def _elements(match: Match, kind: str, geometry: Numbers, input_bits: int = 8) -> Workload:
    """Contiguous bytes: N, in whole words."""
    n = axis("n", prod(match.shape("input")))
    operands = (Operand("input", "input", (n,), input_bits), Operand("output", "output", (n,)))
    return Workload(kind, (Dim("N", n.size, granularity=4),), operands, 0, geometry)


def _flip(match: Match) -> Workload:
    return _elements(match, "flip", (("flip", _FLIP),))


def _clip(match: Match) -> Workload:
    return _elements(match, "clip", tuple((name, number(match, name)) for name in ("low", "high")))


@rule("scale", "there is one scale and one zero point")
def one_scale(match: Match) -> str | None:
    sizes = [match.const(name).size for name in ("scale", "zero")]
    return None if sizes == [1, 1] else f"it has {max(sizes)} scales"


@rule("types", "float32 becomes int8 or uint8")
def to_bytes(match: Match) -> str | None:
    source, result = type_name(match.tensor("input")), type_name(match.output)
    right = source == "float32" and result in ("int8", "uint8")
    return None if right else f"it turns {source} into {result}"


def _quantize(match: Match) -> Workload:
    limits = np.iinfo(np.dtype(match.output.dtype))
    scale = match.const("scale").astype(np.float32).reshape(1)
    geometry = (
        ("scale_bits", int(scale.view(np.int32)[0])),
        ("zero_point", number(match, "zero")),
        ("low", int(limits.min)),
        ("high", int(limits.max)),
    )
    return _elements(match, "quantize", geometry, input_bits=32)


@rule("elements", "uint8 values are clipped to constant bounds")
def clips_bytes(match: Match) -> str | None:
    kind = type_name(match.tensor("input"))
    return None if kind == "uint8" and all(match.const(n).size == 1 for n in ("low", "high")) else f"it clips {kind}"


LAYOUT_PATTERNS = (
    Pattern(
        "clip",
        "uint8 values limited to a range: a ReLU whose zero point is not 0 (match_gap9_clip_bytes)",
        Op("Clip", "clip", (Any("input"), Const("low"), Const("high"))),
        (clips_bytes,),
        _clip,
    ),
    Pattern(
        "quantize",
        "float32 tensors at the graph's start to 8 bits (match_gap9_quantize)",
        Op("QuantizeLinear", "quantize", (Any("input"), Const("scale"), Const("zero"))),
        (to_bytes, one_scale),
        _quantize,
    ),
    Pattern(
        "transpose",
        "layout change of 8-bit tensors between NCHW and NHWC, change of sign included (match_gap9_transpose_bytes)",
        TURNED,
        (bytes_wide, turns_matrix),
        _transpose,
    ),
    Pattern(
        "transpose_part",
        "layout change of a part of an 8-bit tensor, read where it is (match_gap9_transpose_bytes)",
        TURNED_PART,
        (bytes_wide, turns_matrix, is_matrix),
        _transpose_part,
    ),
    Pattern(
        "flip",
        "int8 to uint8 with zero 128 and back (match_gap9_flip_bytes)",
        OFFSET,
        (bytes_wide,),
        _flip,
    ),
)
