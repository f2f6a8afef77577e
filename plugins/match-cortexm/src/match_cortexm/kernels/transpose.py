"""Transpositions of one or several matrices of elements of 8 to 64 bits: changes of the layout, mostly.

Helium gathers the elements of a vector, or scatters them; other cores move blocks of small elements."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from match_core.ir.reader import shape_of
from match_host.graph import dtype_of, elements, integers
from match_host.kernels.code import Uses, inline_code
from match_host.kernels.nest import merge, row_major
from match_host.kernels.work import Work

from match_cortexm.headers import MOVES, header
from match_cortexm.kernels.counted import Counted

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

    from match_cortexm.cores import Core

#: Rows and columns of a block of elements, by their bytes; words move alone.
BLOCKS = {1: (4, 4), 2: (2, 4), 4: (1, 1), 8: (1, 1)}
#: Elements of a vector, by their bytes, and their largest distance: 7 of them fit 16 bits.
LANES, MOST_APART = {1: 8, 2: 8, 4: 4}, (1 << 16) // 7


@dataclass(frozen=True, slots=True)
class Matrices:
    """``count`` matrices of ``rows`` by ``columns`` elements become ``columns`` by ``rows``."""

    count: int
    rows: int
    columns: int


def matrices_of(node: gs.Node) -> Matrices | str:
    """What a Transpose does, or why the kernel does not take it."""
    shape, out = shape_of(node.inputs[0]), shape_of(node.outputs[0])
    order = integers(node, "perm", tuple(reversed(range(len(shape)))))
    if dtype_of(node.inputs[0]).itemsize not in BLOCKS:
        return f"elements are {dtype_of(node.inputs[0]).name}"
    if elements(shape) == 0:
        return "there are no elements"
    strides = row_major(shape)
    nest = merge(out, [tuple(strides[axis] for axis in order), row_major(out)])
    steps = [count for _, count in nest.groups]
    source = [strides[order[axis]] for axis, _ in nest.groups]
    if len(steps) not in (2, 3) or source[-2] != 1 or source[-1] != steps[-2]:
        return f"axes are moved in runs: {'x'.join(map(str, shape))} in the order {order}"
    if len(steps) == 3 and source[0] != prod(steps[1:]):
        return f"matrices are apart: {'x'.join(map(str, shape))} in the order {order}"
    return Matrices(steps[0] if len(steps) == 3 else 1, steps[-1], steps[-2])


def build_transpose(nodes: tuple[gs.Node, ...], function: str, core: Core) -> Counted:
    """The kernel of one Transpose; the same on all cores."""
    (node,) = nodes
    found = matrices_of(node)
    if isinstance(found, str):
        raise ValueError(f"{function}: {found}")
    size, rows, columns = dtype_of(node.inputs[0]).itemsize, found.rows, found.columns
    form = _form(found, size, core)
    pointer = f"(uint{8 * size}_t *)"
    target, source = (pointer, f"(const {pointer[1:]}") if size <= 2 or form[0] != "transpose" else ("", "")
    call = f"match_cortexm_{form[0]}_{8 * size}"
    if found.count == 1:
        body = f"    {call}({target}out0, {source}in0, {rows}, {columns});"
    else:
        step = f"i * {rows * columns}"
        body = (
            f"    for (int32_t i = 0; i < {found.count}; i++) {{\n"
            f"        {call}({target}&out0[{step}], {source}&in0[{step}], {rows}, {columns});\n"
            "    }"
        )
    uses = Uses()
    uses.headers[MOVES] = header(MOVES)
    comment = (
        f"Transpose: {'x'.join(map(str, shape_of(node.inputs[0])))} to {'x'.join(map(str, shape_of(node.outputs[0])))}"
    )
    code = inline_code(function, comment, node.inputs[:1], node.outputs[:1], body, uses)
    counts = {"matrices": found.count, **{name: found.count * number for name, number in form[1].items()}}
    return Counted(tuple(node.inputs[:1]), code, Work(), f"{form[0]}{8 * size}", tuple(counts.items()))


def _form(found: Matrices, size: int, core: Core) -> tuple[str, dict[str, int]]:
    """The function, and its counts for a matrix: vectors along the longer axis."""
    longer, shorter = max(found.rows, found.columns), min(found.rows, found.columns)
    if core.helium and size in LANES and (size > 2 or shorter <= MOST_APART):
        name = "gather" if longer == found.rows else "scatter"
        whole, part = divmod(longer, LANES[size])
        return name, {"lines": shorter, "vectors": shorter * whole, "parts": shorter * (part > 0)}
    height, width = BLOCKS[size]
    blocks = size == 2 or (size == 1 and (core.unaligned or found.rows % height == found.columns % width == 0))
    strips, rest = (found.rows // height, found.rows % height) if blocks else (0, found.rows)
    quads = found.columns // width if size == 1 else 0
    counts = {
        "blocks": strips * (found.columns // width),
        "strips": strips,
        "columns": strips * (found.columns % width),
        "rows": rest,
        "quads": rest * quads,
        "singles": rest * (found.columns - width * quads),
    }
    return "transpose", counts
