"""Col2Im: adds overlapping blocks of columns into an image.

Every element of the image gathers the blocks that contain it, so nothing must be cleared first. The block's shape may
be given at run time: elements outside the columns are ignored, so no access leaves them.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from match_core.ir.reader import optional_input, shape_of
from match_core.ir.topology import is_constant

from match_host.graph import dtype_of, elements, integers, values_of
from match_host.kernels.built import Built
from match_host.kernels.code import Code, Uses, affine, literal
from match_host.kernels.nest import row_major
from match_host.kernels.scalar import arithmetic, loaded, moved_halves, scalar_type, simple, stored, wide_unsigned
from match_host.kernels.single import single
from match_host.kernels.work import Work

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

BLOCK = 2


def known_block(node: gs.Node) -> tuple[int, ...] | None:
    """The shape of a block, None if it is given at run time."""
    tensor = optional_input(node, BLOCK)
    if tensor is None or not is_constant(tensor):
        return None
    return tuple(int(size) for size in values_of(tensor).reshape(-1).tolist())


def build_col2im(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """The kernel of one Col2Im with any number of spatial axes."""
    (node,), code, uses = nodes, Code(), Uses()
    shape, out, dtype = shape_of(node.inputs[0]), shape_of(node.outputs[0]), dtype_of(node.inputs[0])
    space, own, block = out[2:], arithmetic(dtype), known_block(node)
    rank, taps, columns = len(space), shape[1] // out[1], shape[2]
    strides, dilations = integers(node, "strides", (1,) * rank), integers(node, "dilations", (1,) * rank)
    pads = integers(node, "pads", (0,) * (2 * rank))
    sizes: list[str] = []  # of the block, as C text
    counts: list[str] = []  # of blocks along every axis
    for axis, size in enumerate(space):
        padded = size + pads[axis] + pads[axis + rank] - 1
        if block is None:
            given = f"in1[{axis}]"
            code.line(f"const int32_t size{axis} = {given} < 1 || {given} > {taps} ? 1 : (int32_t){given};")
            reach = f"{padded} - {dilations[axis]} * (size{axis} - 1)"
            code.line(f"const int32_t count{axis} = ({reach}) / {strides[axis]} + 1;")
            sizes, counts = [*sizes, f"size{axis}"], [*counts, f"count{axis}"]
        else:
            sizes.append(str(block[axis]))
            counts.append(str((padded - dilations[axis] * (block[axis] - 1)) // strides[axis] + 1))
    whole = own.kind in "iub"
    kind = wide_unsigned(dtype) if whole else scalar_type(own)
    names, steps = [f"y{axis}" for axis in range(rank)], row_major(out)
    with code.loops([("n", out[0]), ("c", out[1]), *zip(names, space, strict=True)]) as (n, c, *places):
        code.line(f"{kind} sum = {0 if whole else literal(0, own)};")
        with ExitStack() as stack:
            for axis, place in enumerate(places):
                k, at, by = f"k{axis}", f"at{axis}", strides[axis]
                stack.enter_context(code.block(f"for (int32_t {k} = 0; {k} < {sizes[axis]}; {k}++)"))
                code.line(f"const int32_t {at} = {affine([(place, 1), (k, -dilations[axis])], pads[axis])};")
                uneven = f" || {at} % {by} != 0" if by > 1 else ""
                with code.block(f"if ({at} < 0{uneven} || {at}{f' / {by}' if by > 1 else ''} >= {counts[axis]})"):
                    code.line("continue;")
            tap, column = (
                _joined([f"k{axis}" for axis in range(rank)], sizes),
                _joined([f"at{axis} / {by}" if by > 1 else f"at{axis}" for axis, by in enumerate(strides)], counts),
            )
            code.line(f"const int32_t tap = {tap}, column = {column};")
            if block is None:
                stack.enter_context(code.block(f"if (tap < {taps} && column < {columns})"))
            index = affine([(n, shape[1] * columns), (c, taps * columns), ("tap", columns), ("column", 1)])
            code.line(f"sum += {f'({kind})in0[{index}]' if whole else loaded(f'in0[{index}]', dtype)};")
        target = affine([(n, steps[0]), (c, steps[1]), *zip(places, steps[2:], strict=True)])
        total = "sum != 0" if own.kind == "b" else f"({scalar_type(own)})sum" if whole else "sum"
        code.line(f"out0[{target}] = {stored(total, dtype)};")
    per_tap = simple(dtype) + Work(memory=1, integer=4 * rank, steps=1) + moved_halves(dtype)
    used = (0,) if block is not None else (0, BLOCK)
    return single(node, function, code.text, uses, per_tap.times(elements(out) * taps), used)


def _joined(places: list[str], sizes: list[str]) -> str:
    """C text of the row-major index of places in a tensor of these sizes."""
    text = places[0]
    for place, size in zip(places[1:], sizes[1:], strict=True):
        text = f"{text if ' ' not in text else f'({text})'} * {size} + {place}"
    return text
