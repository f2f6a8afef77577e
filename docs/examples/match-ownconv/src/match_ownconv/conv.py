"""A convolution in plain loops: its pattern, its cost and its C."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from match_core import Any, Axis, Const, Constraint, Dim, Match, Op, Operand, Pattern, Workload
from match_core.contract.unit_api import InlineCode, InlineKernel, InlineRequest
from match_core.lower.templates import Templates
from match_core.ir.geometry import conv_geometry
from match_host.cost import HostCostModel
from numpy.typing import NDArray

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

_C_TYPES = {"float32": "float", "int8": "int8_t", "uint8": "uint8_t", "int32": "int32_t"}
_TEMPLATES = Templates((Path(__file__).parent / "templates",))


def _refusal(match: Match) -> str | None:
    node = match.node("conv")
    types = [np.dtype(tensor.dtype).name for tensor in node.inputs]
    if len(match.shape("x")) != 4 or not set(types) <= set(_C_TYPES):
        return f"the input has {len(match.shape('x'))} axes, the types are {types}"
    return "it has zero points" if node.op == "ConvInteger" and len(types) > 2 else None


def _operand(name: str, role: str, tensor: gs.Tensor) -> Operand:
    axes = tuple(Axis(f"a{axis}", size) for axis, size in enumerate(tensor.shape))
    return Operand(name, role, axes, 8 * np.dtype(tensor.dtype).itemsize)  # type: ignore[arg-type]  # one of three words


def _workload(match: Match) -> Workload:
    """The host works in place: one dimension that is never cut, and whole operands."""
    operands = [_operand(f"in{i}", "constant" if i else "input", t) for i, t in enumerate(match.node("conv").inputs)]
    operands.append(_operand("out0", "output", match.output))
    size = prod(match.output.shape)
    macs = size * prod(match.shape("weight")[1:])
    return Workload("own_conv", (Dim("N", size, tileable=False),), tuple(operands), macs, (("macs", macs),))


@dataclass(frozen=True, slots=True)
class ConvCost(HostCostModel):
    """One cycle for each multiply-accumulate: a made-up figure, lower than that of the kernel it competes with."""

    name: str = "ownconv"
    version: str = "1"

    def kernel_cycles(self, workload: Workload, tile: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        """Cycles of the whole convolution."""
        return np.full_like(tile["N"], workload.parameters["macs"])


def _render(request: InlineRequest) -> InlineCode:
    (node,), (result,) = request.nodes, request.outputs
    types = [_C_TYPES[np.dtype(tensor.dtype).name] for tensor in (*request.inputs, result)]
    arguments = [f"const {kind} *restrict in{i}" for i, kind in enumerate(types[:-1])]
    arguments.append(f"{types[-1]} *restrict out0")
    view: dict[str, object] = {**asdict(conv_geometry(node)), "inputs": request.inputs[1].shape[1]}
    view |= zip(("batch", "height", "width", "channels"), request.inputs[0].shape, strict=True)
    view |= zip(("batch", "rows", "columns", "outputs"), result.shape, strict=True)
    view |= {"op": node.op, "function": request.function, "arguments": ", ".join(arguments)}
    view |= {"sum": types[-1], "start": "in2[o]" if len(types) == 4 else "0"}  # the bias
    return InlineCode(_TEMPLATES.render("own_conv.c.mako", view))


KERNEL = InlineKernel(lambda match: tuple(match.node("conv").inputs), _render)
PATTERN = Pattern(
    name="own_conv",
    description="convolution of images in plain loops",
    structure=Op("match.nhwc::Conv|match.nhwc::ConvInteger", "conv", (Any("x"), Const("weight"))),
    constraints=(Constraint("images", "images of float32 or 8-bit integers without zero points", _refusal),),
    workload=_workload,
)
