"""Small graphs to match in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import onnx_graphsurgeon as gs
import pytest


@dataclass
class Builder:
    """Adds nodes with one uint8 output each; ``finish`` makes the graph."""

    nodes: list[gs.Node] = field(default_factory=list)
    inputs: list[gs.Variable] = field(default_factory=list)

    def input(self, name: str, shape: Sequence[int] = (1, 4, 8, 8)) -> gs.Variable:
        tensor = gs.Variable(name, np.uint8, list(shape))
        self.inputs.append(tensor)
        return tensor

    def constant(self, name: str, values: object) -> gs.Constant:
        return gs.Constant(name, np.asarray(values))

    def node(
        self,
        op: str,
        inputs: Sequence[gs.Tensor],
        name: str = "",
        attrs: dict[str, object] | None = None,
        outputs: int = 1,
        shape: Sequence[int] = (1, 4, 8, 8),
    ) -> gs.Variable:
        domain, _, plain = op.rpartition("::")
        name = name or f"n{len(self.nodes)}"
        made = [gs.Variable(f"{name}_out{i}", np.uint8, list(shape)) for i in range(outputs)]
        self.nodes.append(gs.Node(plain, name, attrs or {}, list(inputs), made, domain=domain or None))
        return made[0]

    def finish(self, outputs: Sequence[gs.Variable]) -> gs.Graph:
        return gs.Graph(nodes=self.nodes, inputs=self.inputs, outputs=list(outputs))


@pytest.fixture
def builder() -> Callable[[], Builder]:
    return Builder
