"""TensorScatter: replaces rows of a key or value cache with new ones, at one position per sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.element_types import c_type
from match_core.ir.reader import optional_input, shape_of

from match_host.graph import axis_of, dtype_of, elements, text
from match_host.kernels.built import Built
from match_host.kernels.code import Code, Uses, affine
from match_host.kernels.single import single
from match_host.kernels.work import Work

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def build_tensor_scatter(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """The kernel. In circular mode rows wrap around to the front; else rows outside the cache are omitted."""
    (node,), code, uses = nodes, Code(), Uses()
    uses.include("string.h")
    shape, update, dtype = shape_of(node.inputs[0]), shape_of(node.inputs[1]), dtype_of(node.inputs[0])
    axis = axis_of(node, -2, len(shape))
    size, rows, inner = shape[axis], update[axis], elements(shape[axis + 1 :])
    element = c_type(dtype)
    code.line(f"memcpy(out0, in0, {elements(shape)} * sizeof({element}));")
    with code.loop("b", shape[0]) as b:
        given = f"in2[{b or 0}]" if optional_input(node, 2) is not None else "0"
        code.line(f"const int64_t first = {given};")
        with code.loops([("h", elements(shape[1:axis])), ("s", rows)]) as (h, s):
            if text(node, "mode", "linear") == "circular":
                code.line(f"const int64_t place = ((first % {size} + {s or 0}) % {size} + {size}) % {size};")
            else:
                code.line(f"const int64_t place = first < -{rows} || first > {size} ? -1 : first + {s or 0};")
            with code.block(f"if (place >= 0 && place < {size})"):
                target = affine([(b, elements(shape[1:])), (h, size * inner), ("(int32_t)place", inner)])
                source = affine([(b, elements(update[1:])), (h, rows * inner), (s, inner)])
                code.line(f"memcpy(&out0[{target}], &in1[{source}], {inner} * sizeof({element}));")
    work = Work(memory=2, steps=1).times(elements(shape) + elements(update))
    return single(node, function, code.text, uses, work, (0, 1, 2))
