"""Nodes and constants of a test network that is built node by node, from a seed."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import numpy_helper


class GraphParts:
    """``random``: the generator of weights; ``nodes`` and ``constants`` in the order in which they are made."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, values: object, dtype: type[np.generic] = np.float32) -> str:
        """The name of a new constant."""
        name = f"constant{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values, dtype), name))
        return name
