"""Small float16 graphs in the layout that the core's passes leave behind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import onnx_graphsurgeon as gs
import pytest
from match_carfield.patterns import PULP_PATTERNS
from match_core import Match, Pattern, Unit
from match_core.contract.candidate import Candidates
from match_core.match.candidates import find_candidates

UNIT = Unit("pulp", "cluster", memory="l1", layout="NHWC", bundles=False)
GEOMETRY = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "strides": [1, 1], "dilations": [1, 1], "group": 1}


@dataclass
class Half:
    """Adds nodes with one float16 output each; ``candidates`` looks for patterns of the PULP cluster, RedMulE's too."""

    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(7))
    nodes: list[gs.Node] = field(default_factory=list)
    inputs: list[gs.Variable] = field(default_factory=list)

    def input(self, *shape: int) -> gs.Variable:
        tensor = gs.Variable(f"input{len(self.inputs)}", np.float16, list(shape))
        self.inputs.append(tensor)
        return tensor

    def constant(self, *shape: int, value: float | None = None) -> gs.Constant:
        values = self.random.standard_normal(shape) if value is None else np.full(shape, value)
        return gs.Constant(f"constant{self.random.integers(1 << 60)}", np.asarray(values, np.float16))

    def node(self, op: str, inputs: Sequence[gs.Tensor], shape: Sequence[int], **attributes: object) -> gs.Variable:
        domain, _, plain = op.rpartition("::")
        made = gs.Variable(f"value{len(self.nodes)}", np.float16, list(shape))
        name = f"node{len(self.nodes)}"
        self.nodes.append(gs.Node(plain, name, dict(attributes), list(inputs), [made], domain=domain or None))
        return made

    def conv(
        self, source: gs.Variable, outputs: int, *, kernel: int = 3, stride: int = 1, group: int = 1, bias: bool = True
    ) -> gs.Variable:
        _, height, width, channels = source.shape
        pad = kernel // 2
        weight = self.constant(outputs, channels // group, kernel, kernel)
        rest = [self.constant(outputs)] if bias else []
        attributes = {
            **GEOMETRY,
            "kernel_shape": [kernel, kernel],
            "pads": [pad] * 4,
            "strides": [stride, stride],
            "group": group,
        }
        shape = (1, -(-height // stride), -(-width // stride), outputs)
        return self.node("match.nhwc::Conv", [source, weight, *rest], shape, **attributes)

    def candidates(self, output: gs.Variable, patterns: Sequence[Pattern] = PULP_PATTERNS) -> Candidates:
        graph = gs.Graph(nodes=self.nodes, inputs=self.inputs, outputs=[output])
        return find_candidates(graph, [(UNIT, patterns)])

    def matches(self, output: gs.Variable) -> dict[str, Match]:
        """The match of each pattern whose result is ``output``."""
        found = self.candidates(output).legal
        return {c.pattern.name: c.match for c in found if c.match.output is output}

    def refusals(self, output: gs.Variable, pattern: str) -> list[tuple[str, str]]:
        """(rule, value) of every refusal of a pattern."""
        return [(r.rule, r.value) for r in self.candidates(output).refused if r.pattern == pattern]


@pytest.fixture(scope="session")
def half() -> Callable[..., Half]:
    return Half
