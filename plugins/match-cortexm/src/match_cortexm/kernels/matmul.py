"""Products of two computed matrices of int8, with requantisation: attention, mostly."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.reader import optional_input, shape_of
from match_core.ir.topology import is_constant
from match_host.graph import dtype_of, values_of
from match_host.kernels.code import Uses, inline_code
from match_host.kernels.work import Work

from match_cortexm.headers import MATMUL, MOVES, SHARED, header
from match_cortexm.kernels.counted import Counted
from match_cortexm.kernels.requant import Requant, requant_of

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

    from match_cortexm.cores import Core

#: Rows and columns of a tile; values of a step with DSP and with Helium.
TILE, DSP_STEP, MVE_STEP = 2, 4, 16
#: The largest distance of a byte from a zero point.
_MOST = 255


@dataclass(frozen=True)
class Matmul:
    """``heads`` products of [rows, depth] with [depth, columns]; ``zeros``: the zero points of both."""

    heads: int
    rows: int
    depth: int
    columns: int
    zeros: tuple[int, int]
    requant: Requant


def matmul_of(nodes: tuple[gs.Node, ...]) -> Matmul | str:
    """The products of MatMulInteger, Requant; or why the kernel does not take them."""
    product = next((node for node in nodes if node.op == "MatMulInteger"), None)
    after = nodes[nodes.index(product) + 1 :] if product is not None else ()
    if product is None or not after or not after[0].op.startswith("Requant"):
        return "it is no product of matrices with its requantisation"
    a, b = product.inputs[:2]
    given = [optional_input(product, index) for index in (2, 3)]
    if any(zero is not None and (not is_constant(zero) or values_of(zero).size != 1) for zero in given):
        return "a zero point is computed, or not one number"
    if is_constant(a) or is_constant(b):
        return "a matrix is constant"
    if {dtype_of(tensor).name for tensor in (a, b, nodes[-1].outputs[0])} != {"int8"}:
        return f"the matrices are {dtype_of(a).name} and {dtype_of(b).name}"
    first, second = shape_of(a), shape_of(b)
    if min(len(first), len(second)) < 2 or first[:-2] != second[:-2]:
        return f"the shapes are {first} and {second}"
    depth, columns = second[-2:]
    requant = requant_of(after[0], columns, _MOST * _MOST * depth)
    if isinstance(requant, str):
        return requant
    if len(np.unique(requant.multipliers)) > 1 or len(np.unique(requant.addend)) > 1:
        return "factors differ between columns"
    left, right = (0 if zero is None else int(values_of(zero).reshape(-1)[0]) for zero in given)
    return Matmul(prod(first[:-2]), first[-2], depth, columns, (left, right), requant)


def build_matmul(nodes: tuple[gs.Node, ...], function: str, core: Core) -> Counted:
    """The kernel of MatMulInteger, Requant."""
    found = matmul_of(nodes)
    if isinstance(found, str):
        raise ValueError(f"{function}: {found}")
    product = next(node for node in nodes if node.op == "MatMulInteger")
    heads, rows, depth, columns, requant = found.heads, found.rows, found.depth, found.columns, found.requant
    numbers = f"{int(requant.addend[0])}, {int(requant.multipliers[0, 0])}, {requant.shift}, {requant.low}"
    sizes = f"{rows}, {depth}, {columns}, {found.zeros[0]}, {found.zeros[1]}"
    places = [f"{name}[i * {size}]" for name, size in (("out0", rows * columns), ("in0", rows * depth))]
    body = (
        f"    static const match_cortexm_matmul_t product = {{{sizes}, {{{numbers}, {requant.high}}}}};\n"
        f"    for (int32_t i = 0; i < {heads}; i++) {{\n"
        f"        match_cortexm_matmul(&{places[0]}, &{places[1]}, &in1[i * {depth * columns}], scratch, &product);\n"
        "    }"
    )
    uses = Uses()
    for name in (SHARED, MOVES, MATMUL):
        uses.headers[name] = header(name)
    comment = f"{product.op}, Requant: {heads} times {rows}x{depth} by {depth}x{columns}"
    code = inline_code(
        function, comment, product.inputs[:2], nodes[-1].outputs[:1], body, uses, scratch_bytes=(4 + depth) * columns
    )
    tiles = heads * -(-rows // TILE) * -(-columns // TILE)
    steps, tails = (-(-depth // MVE_STEP), 0) if core.helium else (0, depth)
    if core.dsp and not core.helium:
        steps, tails = depth // DSP_STEP, depth % DSP_STEP
    counts = {
        "heads": heads,
        f"packed{'' if core.unaligned or columns % 4 == depth % 4 == 0 else '_odd'}": heads * depth * columns,
        "rows": heads * -(-rows // TILE),
        "row_steps": heads * TILE * -(-rows // TILE) * (steps if core.dsp else tails),
        "columns": heads * columns,
        "tiles": tiles,
        "steps": tiles * steps,
        "tails": tiles * tails,
    }
    form = "matmul_mve" if core.helium else "matmul_dsp" if core.dsp else "matmul"
    return Counted(tuple(product.inputs[:2]), code, Work(), form, tuple(counts.items()), heads * rows * depth * columns)
