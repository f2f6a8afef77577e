"""Normalisation over trailing axes or per instance, in floating point."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from match_core.contract.element_types import c_type
from match_core.ir.reader import optional_input, shape_of

from match_host.graph import axis_of, dtype_of, elements, number
from match_host.kernels.built import Built
from match_host.kernels.code import Uses, inline_code, literal
from match_host.kernels.lanes import in_lanes, lane_square_sum, lane_sum
from match_host.kernels.scalar import is_code, loaded, moved_halves, scalar_type, stored
from match_host.kernels.templates import render_body
from match_host.kernels.work import Work

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def build_normalization(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """LayerNormalization, RMSNormalization, InstanceNormalization: (x - mean) / sqrt(variance + epsilon) * scale
    + bias, mean and variance over the normalised axes of each line."""
    (node,), uses = nodes, Uses()
    uses.include("math.h")
    shape, dtype = shape_of(node.inputs[0]), dtype_of(node.inputs[0])
    instance = node.op == "InstanceNormalization"
    axis = 2 if instance else axis_of(node, -1, len(shape))
    size = elements(shape[axis:])
    suffix = "f" if dtype.itemsize <= 4 else ""
    bias, centred = optional_input(node, 2), node.op != "RMSNormalization"
    lanes = in_lanes(dtype, size)
    mean = "mean" if centred else literal(0, dtype)
    text = render_body(
        "normalization",
        outer=elements(shape[:axis]),
        size=size,
        memory=c_type(dtype),
        type=scalar_type(dtype),
        load=partial(loaded, dtype=dtype),
        store=partial(stored, dtype=dtype),
        converts=is_code(dtype),
        zero=literal(0, dtype),
        one=literal(1, dtype),
        count=literal(size, dtype),
        epsilon=literal(number(node, "epsilon", 1e-5), dtype),
        sqrt=f"sqrt{suffix}",
        centred=centred,
        lanes=lanes,
        lane_sum=lane_sum(uses, dtype, "x", size) if lanes and centred else "",
        lane_square_sum=lane_square_sum(uses, dtype, "x", mean, size) if lanes else "",
        scale=_parameter(node, 1, instance),
        bias=_parameter(node, 2, instance) if bias is not None else "",
    )
    arguments = tuple(tensor for tensor in (node.inputs[0], node.inputs[1], bias) if tensor is not None)
    comment = f"{node.op}: {'x'.join(map(str, shape))} from axis {axis}"
    code = inline_code(function, comment, arguments, node.outputs[:1], text, uses)
    lines = elements(shape) // size
    per_element = Work(memory=6, floating=7, steps=3) + moved_halves(dtype, 6)
    work = per_element.times(elements(shape)) + Work(floating_divide=4).times(lines)
    return Built(arguments, code, work)


def _parameter(node: gs.Node, index: int, instance: bool) -> str:
    """C text of scale or bias for element k of line i."""
    shape, full = shape_of(node.inputs[index]), shape_of(node.inputs[0])
    shared = "0" if elements(shape) == 1 else "k"
    place = (f"i % {full[1]}" if full[0] > 1 else "i") if instance else shared
    return loaded(f"in{index}[{place}]", dtype_of(node.inputs[index]))
