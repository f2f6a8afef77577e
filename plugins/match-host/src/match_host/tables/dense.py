"""Matrix products and sums of products."""

from __future__ import annotations

from match_host.kernels.built import ForMachine
from match_host.kernels.products.dense import build_dense
from match_host.kernels.products.determinant import build_det
from match_host.kernels.products.einsum import build_einsum
from match_host.kernels.products.packed_weights import PACKED_PRODUCT, build_packed_product
from match_host.kernels.scalar import ANY_FLOATS, NUMBERS, SMALL
from match_host.operator import BYTES, INT16_PRODUCTS, PRODUCTS, Operator
from match_host.rules import STATIC, constants, types

#: Integers wrap around.
MULTIPLIED = (*ANY_FLOATS, "int32", "int64", "uint32", "uint64")

DENSE: tuple[Operator, ...] = (
    Operator("MatMulInteger", "dense", (STATIC, types(BYTES, 0, 1), PRODUCTS), ForMachine(build_dense)),
    Operator("match.arith::MatMulIntegerI16", "dense", (STATIC, *INT16_PRODUCTS), ForMachine(build_dense)),
    Operator("MatMul", "dense", (STATIC, types(MULTIPLIED, 0, 1)), ForMachine(build_dense)),
    Operator("Gemm", "dense", (STATIC, types(MULTIPLIED, 0, 1, 2)), ForMachine(build_dense)),
    Operator("Det", "dense", (STATIC, types(ANY_FLOATS, 0)), build_det),
    Operator(
        PACKED_PRODUCT,
        "dense",
        (STATIC, types(("float16", "float32"), 0), constants(1, 2, 3)),
        ForMachine(build_packed_product),
    ),
    Operator("Einsum", "dense", (STATIC, types((*NUMBERS, *SMALL), 0)), build_einsum),
)
