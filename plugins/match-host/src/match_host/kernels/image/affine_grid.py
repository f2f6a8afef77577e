"""AffineGrid: coordinates from -1 to 1 by affine maps, as GridSample takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.ir.reader import shape_of

from match_host.graph import dtype_of, elements, integer
from match_host.kernels.built import Built
from match_host.kernels.code import Code, Uses, affine, literal
from match_host.kernels.nest import row_major
from match_host.kernels.scalar import arithmetic, loaded, moved_halves, scalar_type, stored
from match_host.kernels.single import single
from match_host.kernels.work import Work

if TYPE_CHECKING:
    import numpy as np
    import onnx_graphsurgeon as gs


def build_affine_grid(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """AffineGrid: the maps of input 0 applied to all positions of an image, which has the size of the result."""
    (node,), code = nodes, Code()
    out, dtype = shape_of(node.outputs[0]), dtype_of(node.inputs[0])
    own, space, corners = arithmetic(dtype), out[1:-1], bool(integer(node, "align_corners", 0))
    kind, axes, steps = scalar_type(own), len(out) - 2, row_major(out)
    names = "zyx"[3 - axes :]
    with code.loops([("n", out[0]), *((f"i{name}", size) for name, size in zip(names, space, strict=True))]) as used:
        n, *places = used
        for name, place, size in zip(names, places, space, strict=True):
            code.line(f"const {kind} {name} = {_coordinate(place, size, corners, own)};")
        with code.loop("j", axes) as j:
            theta = [(n, axes * (axes + 1)), (j, axes + 1)]

            def read(column: int, terms: list[tuple[str, int]] = theta) -> str:
                return loaded(f"in0[{affine(terms, column)}]", dtype)

            products = [f"{read(column)} * {name}" for column, name in enumerate(reversed(names))]
            target = affine([(n, steps[0]), *zip(places, steps[1:-1], strict=True), (j, 1)])
            code.line(f"out0[{target}] = {stored(' + '.join([*products, read(axes)]), dtype)};")
    work = (Work(memory=axes + 2, floating=2 * axes, steps=1) + moved_halves(dtype, axes + 2)).times(elements(out))
    return single(node, function, code.text, Uses(), work)


def _coordinate(place: str, size: int, corners: bool, own: np.dtype[np.generic]) -> str:
    """From -1 to 1: the centres of the first and last element where ``corners``, else the borders of the image."""
    one, two, kind = literal(1, own), literal(2, own), scalar_type(own)
    if not place:
        return f"-{one}" if corners else literal(0, own)
    count = literal(size - 1 if corners else size, own)
    return (
        f"{two} * ({kind}){place} / {count} - {one}"
        if corners
        else f"({two} * ({kind}){place} + {one}) / {count} - {one}"
    )
