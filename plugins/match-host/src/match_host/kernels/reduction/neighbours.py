"""LRN: elements divided by a power of the squares of neighbouring channels (Krizhevsky et al., 2012)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.ir.reader import shape_of

from match_host.graph import dtype_of, elements, integer, number
from match_host.kernels.built import Built
from match_host.kernels.code import Code, Uses, affine, literal
from match_host.kernels.reduction.powers import broken_power
from match_host.kernels.scalar import arithmetic, loaded, moved_halves, scalar_type, stored
from match_host.kernels.single import single
from match_host.kernels.work import Work

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def build_lrn(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """``size`` channels around each one, fewer at the borders; an even number has one more after it."""
    (node,), code, uses = nodes, Code(), Uses()
    shape, dtype = shape_of(node.inputs[0]), dtype_of(node.inputs[0])
    own, size, channels, inner = arithmetic(dtype), integer(node, "size", 1), shape[1], elements(shape[2:])
    kind, before, behind = scalar_type(own), (size - 1) // 2, size // 2
    scale, bias = (number(node, name, default) for name, default in (("alpha", 1e-4), ("bias", 1.0)))
    with code.loops([("n", shape[0]), ("c", channels)]) as (n, c):
        here = c or "0"
        code.line(f"const int32_t first = {here} > {before} ? {here} - {before} : 0;")
        code.line(f"const int32_t last = {here} + {behind} < {channels} ? {here} + {behind} : {channels - 1};")
        with code.loop("i", inner) as i:
            code.line(f"{kind} sum = {literal(0, own)};")
            with code.block("for (int32_t k = first; k <= last; k++)"):
                place = affine([(n, channels * inner), ("k", inner), (i, 1)])
                code.line(f"const {kind} x = {loaded(f'in0[{place}]', dtype)};")
                code.line("sum += x * x;")
            place = affine([(n, channels * inner), (c, inner), (i, 1)])
            code.line(f"const {kind} base = {literal(bias, own)} + {literal(scale / size, own)} * sum;")
            power = broken_power("base", number(node, "beta", 0.75), own, uses)
            x = loaded(f"in0[{place}]", dtype)
            code.line(f"out0[{place}] = {stored(f'{x} / ({power})', dtype)};")
    per_tap = Work(memory=1, floating=2, steps=1) + moved_halves(dtype)
    work = per_tap.times(elements(shape) * size) + Work(floating_divide=3, floating=2).times(elements(shape))
    return single(node, function, code.text, uses, work)
