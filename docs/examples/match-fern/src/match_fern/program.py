"""Code of fern_q: the vendor's own binary, which ``fern_q.c`` interprets.

All numbers are little-endian. Header, 16 bytes: "FERN", u16 version, u16 steps, u32 cycles, u32 bytes of scratch. Then
18 words of i32 for each step: operator, source, target, parameter; height, width and channels of source and of target;
kernel, strides, dilations, pads before. Inner tensors are int8 in NHWC, and sources and targets are their offsets in
scratch; at the border they are numbers of inputs and outputs, and the parameter is the exponent of the scale. That of a
convolution is the number of the first of its three constants.
"""

from __future__ import annotations

import struct
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from match_core import RegionCode, RegionRequest
from numpy.typing import NDArray

from match_fern.cost import region_cycles

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

VERSION = 1
QUANTISE, CONV, POOL, RELU, DEQUANTISE = range(1, 6)
_SAME = {"MaxPool": POOL, "Relu": RELU}
_WORDS = struct.Struct("<18i")


def compile_program(request: RegionRequest) -> RegionCode:
    """The binary and its constants: for each convolution weights, addends and shifts."""
    region = request.region
    ends = {tensor.name: n for tensors in (region.inputs, region.outputs) for n, tensor in enumerate(tensors)}
    writer = _Writer(ends)
    for node in region.nodes:
        writer.add(node)
    header = struct.pack(
        "<4sHHII", b"FERN", VERSION, len(writer.steps), region_cycles("fern_q", region), writer.scratch
    )
    code, constants = header + b"".join(writer.steps), tuple(writer.constants)
    functions = ("fern_q_load", "fern_q_run", "fern_q_unload")
    return RegionCode("binary", code, *functions, constants, writer.scratch, start="fern_q_start")


class _Writer:
    """Goes through the nodes that the two passes left. What only the next node reads is no step of its own: a sum
    before it is shifted, and an order of axes before or behind the border."""

    def __init__(self, places: dict[str, int]) -> None:
        self.steps: list[bytes] = []
        self.constants: list[NDArray[np.generic]] = []
        self.scratch = 0
        self._places = places  # number at the border, or offset in scratch, by tensor

    def add(self, node: gs.Node) -> None:
        """One more node."""
        made, read = node.outputs[0], node.inputs[0]
        before = read.inputs[0] if read.inputs else None
        if node.op == "Transpose" and before is not None and before.op == "QuantizeLinear":
            self._step(QUANTISE, before, before.inputs[0], made)
        elif node.op == "DequantizeLinear" and before is not None:
            self._step(DEQUANTISE, node, before.inputs[0], made)
        elif node.op == "RequantI8" and before is not None:
            self._step(CONV, before, before.inputs[0], made, self._pack(before, node))
        elif node.op in _SAME:
            self._step(_SAME[node.op], node, read, made)

    def _pack(self, conv: gs.Node, requant: gs.Node) -> int:
        """Weights as output, row, column, input; of divisors the shifts."""
        first, each = len(self.constants), conv.inputs[1].values.shape[0]
        addend, divisor = (np.broadcast_to(tensor.values.reshape(-1), each) for tensor in requant.inputs[2:4])
        self.constants.append(np.ascontiguousarray(conv.inputs[1].values.transpose(0, 2, 3, 1)))
        self.constants.append(np.ascontiguousarray(addend.astype(np.int32)))
        self.constants.append(np.array([int(value).bit_length() - 1 for value in divisor], np.int32))
        return first

    def _step(self, op: int, node: gs.Node, read: gs.Tensor, made: gs.Tensor, parameter: int = 0) -> None:
        if op in (QUANTISE, DEQUANTISE):
            parameter = int(np.log2(node.inputs[1].values))
        if made.name not in self._places:
            self._places[made.name] = self.scratch
            self.scratch += prod(made.shape)
        # At the border, sizes are those of the tensor in NHWC.
        source, target = (made, made) if op == QUANTISE else (read, read) if op == DEQUANTISE else (read, made)
        pairs = (node.attrs.get(name, (0, 0)) for name in ("kernel_shape", "strides", "dilations", "pads"))
        window = [value for pair in pairs for value in pair[:2]]
        words = (op, self._places[read.name], self._places[made.name], parameter)
        self.steps.append(_WORDS.pack(*words, *source.shape[1:], *target.shape[1:], *window))
