"""A region as the engine's program: for each layer five words of 32 bits, and three constants.

The words are inputs, outputs, shift, low, high; the constants are weights (a row for each output), multipliers and
addends. ${name}_regions.c reads them.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np
from match_core import RegionCode, RegionRequest
from numpy.typing import NDArray

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

_LAYER = struct.Struct("<5i")


def compile_region(request: RegionRequest) -> RegionCode:
    """The nodes are pairs of a product and its requantisation (patterns.py)."""
    nodes = request.region.nodes
    code, widest = b"", 0
    constants: list[NDArray[np.generic]] = []
    for product, requant in zip(nodes[::2], nodes[1::2], strict=True):
        weight = product.inputs[1].values
        inputs, outputs = weight.shape
        low, high = (int(tensor.values) for tensor in requant.inputs[4:6])
        code += _LAYER.pack(inputs, outputs, int(requant.inputs[3].values).bit_length() - 1, low, high)
        constants += [np.ascontiguousarray(weight.T), *(_row(requant.inputs[n], outputs) for n in (1, 2))]
        widest = max(widest, outputs)
    names = (f"${name}_region_{name}" for name in ("load", "run", "unload"))
    return RegionCode("binary", code, *names, constants=tuple(constants), scratch_bytes=2 * widest)


def _row(tensor: gs.Constant, outputs: int) -> NDArray[np.int64]:
    """One value for each output."""
    return np.ascontiguousarray(np.broadcast_to(tensor.values.reshape(-1), outputs), np.int64)
