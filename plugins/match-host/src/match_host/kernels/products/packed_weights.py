"""Products of real rows with weights of 2, 4 or 8 bits that have a scale and a zero point for each block of the sum.

Weights are stored as codes, several in a byte: for each tile of columns and each element of the sum, the codes of the
tile. A sum runs over codes; at the end of a block it loses zero * (sum of the row's values) and is multiplied by the
scale. So a kernel converts a code once for several rows, and multiplies by scales once per block.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.reader import shape_of

from match_host.graph import dtype_of, elements, integer, values_of
from match_host.kernels.built import Built
from match_host.kernels.code import Code, Uses, inline_code, literal
from match_host.kernels.scalar import arithmetic, loaded, moved_halves, scalar_type, stored
from match_host.kernels.work import Work
from match_host.machine import GENERIC, Machine

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from numpy.typing import NDArray

PACKED_PRODUCT = "match.weights::MatMul"
#: Rows that share the conversion of a code.
_MOST_ROWS = 4


@dataclass(frozen=True, slots=True)
class Packed:
    """``codes`` of ``bits`` bits as bytes [tile][K][tile * bits / 8]; ``zero`` (in the smallest type) and ``scale``
    [tile][block][tile]."""

    bits: int
    tile: int
    codes: NDArray[np.uint8]
    zero: NDArray[np.generic]
    scale: NDArray[np.generic]


def packed(
    values: NDArray[np.generic], scale: NDArray[np.generic], zero: NDArray[np.generic], machine: Machine
) -> Packed:
    """Weights [K, N] in the order of the kernel. In the bytes of a tile, the first outputs come in the lowest bits of
    all bytes, the next ones above."""
    whole = values.astype(np.int16)
    lowest = int(whole.min())
    bits = next(bits for bits in (2, 4, 8) if int(whole.max()) - lowest < 1 << bits)
    tile = max(machine.lanes(4), 8)
    depth, columns = whole.shape
    missing = -columns % tile
    codes = np.pad(whole - lowest, ((0, 0), (0, missing))).astype(np.uint8)
    per_byte = 8 // bits
    parts = (
        codes.reshape(depth, -1, per_byte, tile // per_byte) << (bits * np.arange(per_byte, dtype=np.uint8))[:, None]
    )
    stored = np.ascontiguousarray(parts.sum(axis=2, dtype=np.uint8).swapaxes(0, 1))
    moved = zero.astype(np.int16) - np.int16(lowest)
    narrow = np.result_type(np.min_scalar_type(moved.min()), np.min_scalar_type(moved.max()))
    return Packed(bits, tile, stored, _tiled(moved.astype(narrow), missing, tile), _tiled(scale, missing, tile))


def _tiled(values: NDArray[np.generic], missing: int, tile: int) -> NDArray[np.generic]:
    """[blocks, N] as [tile][block][tile], zeros for missing columns."""
    filled = np.pad(values, ((0, 0), (0, missing)))
    return np.ascontiguousarray(filled.reshape(len(filled), -1, tile).swapaxes(0, 1))


def build_packed_product(nodes: tuple[gs.Node, ...], function: str, machine: Machine = GENERIC) -> Built:
    """The kernel of one product."""
    (node,) = nodes
    x, y = node.inputs[0], node.outputs[0]
    dtype, own = dtype_of(x), scalar_type(dtype_of(x))
    values, scale, zero_point = (values_of(tensor) for tensor in node.inputs[1:4])
    weights = packed(values, scale, zero_point, machine)
    depth, columns = shape_of(node.inputs[1])
    size, rows = integer(node, "block_size", depth), elements(shape_of(y)) // columns
    tile, per_byte, blocks = weights.tile, 8 // weights.bits, len(weights.scale[0])
    same = int(weights.zero.flat[0]) if np.ptp(zero_point.astype(np.int16)) == 0 else None
    zero = f"({own})in3[b + j]" if same is None else literal(same, arithmetic(dtype))
    at_once = next(count for count in range(_MOST_ROWS, 0, -1) if rows % count == 0)
    code, uses = Code(), Uses(machine.vectors)
    with code.block(f"for (int32_t t = 0; t < {len(weights.codes)}; t++)"):
        code.line(f"const int32_t first = t * {tile};")
        code.line(f"const int32_t count = {columns} - first < {tile} ? {columns} - first : {tile};")
        with code.block(f"for (int32_t r = 0; r < {rows}; r += {at_once})"):
            code.line(f"{own} sums[{at_once}][{tile}] = {{{{0}}}};")
            with code.block(f"for (int32_t g = 0; g < {blocks}; g++)"):
                code.line(f"{own} part[{at_once}][{tile}] = {{{{0}}}}, total[{at_once}] = {{0}};")
                code.line(f"const int32_t stop = (g + 1) * {size} < {depth} ? (g + 1) * {size} : {depth};")
                with code.block(f"for (int32_t i = g * {size}; i < stop; i++)"):
                    code.line(f"const uint8_t *const w = &in1[(t * {depth} + i) * {tile // per_byte}];")
                    _products(code, weights, dtype, depth, at_once)
                code.line(f"const int32_t b = (t * {blocks} + g) * {tile};")
                with code.loop("p", at_once) as p, code.block(f"for (int32_t j = 0; j < {tile}; j++)"):
                    factor, at = loaded("in2[b + j]", scale.dtype), p or "0"
                    code.line(f"sums[{at}][j] += {factor} * (part[{at}][j] - {zero} * total[{at}]);")
            with code.loop("p", at_once) as p, code.block("for (int32_t j = 0; j < count; j++)"):
                place = f"out0[(r + {p}) * {columns} + first + j]" if p else f"out0[r * {columns} + first + j]"
                code.line(f"{place} = {stored(f'sums[{p or 0}][j]', dtype)};")
    constants: dict[int, NDArray[np.generic]] = {1: weights.codes, 2: weights.scale}
    constants |= {3: weights.zero} if same is None else {}
    arguments = tuple(node.inputs[: 1 + len(constants)])
    comment = f"product with weights of {weights.bits} bits, a scale per {size} products: {rows}x{depth}x{columns}"
    text = inline_code(function, comment, arguments, (y,), code.text, uses, constants)
    return Built(arguments, text, _work(rows, depth, columns, at_once, blocks, dtype))


def _products(code: Code, weights: Packed, dtype: np.dtype[np.generic], depth: int, rows: int) -> None:
    """Write the products of one element of the sum, with all columns of a tile and all rows at once."""
    own, width = scalar_type(dtype), weights.tile * weights.bits // 8
    for p in range(rows):
        code.line(
            f"const {own} x{p} = {loaded(f'in0[(r + {p}) * {depth} + i]' if p else f'in0[r * {depth} + i]', dtype)};"
        )
        code.line(f"total[{p}] += x{p};")
    for part in range(8 // weights.bits):
        shifted = f"(w[j] >> {part * weights.bits})" if part else "w[j]"
        value = shifted if weights.bits == 8 else f"({shifted} & {(1 << weights.bits) - 1})"
        with code.block(f"for (int32_t j = 0; j < {width}; j++)"):
            code.line(f"const {own} q = ({own}){value};")
            for p in range(rows):
                code.line(f"part[{p}][{f'j + {part * width}' if part else 'j'}] += x{p} * q;")


def _work(rows: int, depth: int, columns: int, at_once: int, blocks: int, dtype: np.dtype[np.generic]) -> Work:
    """Per code: a shift, a mask, a conversion, shared by some rows; per sum and block a scale and a zero point."""
    macs, codes = rows * depth * columns, rows // at_once * depth * columns
    products = Work(floating_tile_macs=macs, integer=2 * codes, floating=codes, memory=codes // 2)
    per_block = Work(floating=3, memory=3, steps=1).times(rows * blocks * columns)
    return products + per_block + Work(memory=rows * columns) + moved_halves(dtype, rows * (depth + columns))
