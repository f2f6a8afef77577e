"""Changes of layout and sign at the graph's ends, on the cluster: byte matrices transposed, int8 to uint8 and back."""

from __future__ import annotations

from math import prod

import numpy as np

from match_core import (
    Any,
    Axis,
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


LAYOUT_PATTERNS = (
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
