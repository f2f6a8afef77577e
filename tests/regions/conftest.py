"""Graphs given by what each node reads; a node's name is its operator and a number, and that of its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace

import numpy as np
import onnx_graphsurgeon as gs
import pytest


def graph_of(nodes: Mapping[str, Sequence[str]], outputs: Sequence[str] | None = None) -> gs.Graph:
    """Nodes "<Op><digits>" with the names of the nodes they read ("in..." are graph inputs, "const..." constants of 8
    bytes for each digit behind); results that nobody reads are graph outputs unless ``outputs`` are given."""
    tensors: dict[str, gs.Tensor] = {}

    def tensor(name: str) -> gs.Tensor:
        if name.startswith("const"):
            count = 2 * int(name.removeprefix("const")[:1] or 1)
            return tensors.setdefault(name, gs.Constant(name, np.zeros(count, np.float32)))
        return tensors.setdefault(name, gs.Variable(name, np.dtype(np.float32), [1, 4]))

    made = [
        gs.Node(name.rstrip("0123456789"), name, {}, [tensor(read) for read in reads], [tensor(name)])
        for name, reads in nodes.items()
    ]
    read = {name for reads in nodes.values() for name in reads}
    ends = [name for name in nodes if name not in read] if outputs is None else outputs
    inputs = [tensors[name] for name in sorted(read) if name.startswith("in")]
    return gs.Graph(nodes=made, inputs=inputs, outputs=[tensors[name] for name in ends])


@pytest.fixture
def lab() -> SimpleNamespace:
    return SimpleNamespace(graph_of=graph_of)
