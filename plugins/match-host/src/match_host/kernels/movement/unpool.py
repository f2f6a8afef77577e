"""MaxUnpool: maxima at the positions where MaxPool found them, zeros elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.element_types import c_type
from match_core.ir.reader import shape_of

from match_host.graph import dtype_of, elements, integers
from match_host.kernels.built import Built
from match_host.kernels.code import Code, Uses, affine
from match_host.kernels.nest import row_major
from match_host.kernels.single import single
from match_host.kernels.work import Work

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def pooled_shape(node: gs.Node) -> tuple[int, ...]:
    """The shape of the pooled tensor, to which the indices refer; the result may be larger."""
    shape = shape_of(node.inputs[0])
    kernel = integers(node, "kernel_shape", ())
    strides = integers(node, "strides", (1,) * len(kernel))
    pads = integers(node, "pads", (0,) * (2 * len(kernel)))
    space = (
        (size - 1) * strides[axis] - pads[axis] - pads[axis + len(kernel)] + kernel[axis]
        for axis, size in enumerate(shape[2:])
    )
    return (*shape[:2], *space)


def build_max_unpool(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """The kernel. Indices outside the tensor, and positions outside a smaller result, are ignored."""
    (node,), code, uses = nodes, Code(), Uses()
    uses.include("string.h")
    shape, out, pooled = shape_of(node.inputs[0]), shape_of(node.outputs[0]), pooled_shape(node)
    code.line(f"memset(out0, 0, {elements(out)} * sizeof({c_type(dtype_of(node.inputs[0]))}));")
    with code.loop("i", elements(shape)) as i:
        code.line(f"const int64_t place = in1[{i or 0}];")
        with code.block(f"if (place >= 0 && place < {elements(pooled)})"):
            if pooled == out:
                code.line(f"out0[place] = in0[{i or 0}];")
            else:
                _write_moved(code, pooled, out, i)
    work = Work(memory=3, integer=3, divide=0 if pooled == out else 2 * len(out), steps=1).times(elements(shape))
    return single(node, function, code.text, uses, work + Work(memory=1).times(elements(out)), (0, 1))


def _write_moved(code: Code, pooled: tuple[int, ...], out: tuple[int, ...], i: str) -> None:
    """Copy the element to the same coordinates of a tensor with another shape."""
    code.line("int32_t rest = (int32_t)place;")
    terms, checks = [], []
    for axis, step in enumerate(row_major(pooled)):
        code.line(f"const int32_t at{axis} = rest / {step};")
        if axis < len(pooled) - 1:
            code.line(f"rest %= {step};")
        terms.append((f"at{axis}", row_major(out)[axis]))
        checks += [f"at{axis} < {out[axis]}"] if out[axis] < pooled[axis] else []
    guard = f"if ({' && '.join(checks)}) " if checks else ""
    code.line(f"{guard}out0[{affine(terms)}] = in0[{i or 0}];")
