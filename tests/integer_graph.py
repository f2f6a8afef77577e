"""Small integer graphs as they are behind all passes, and what a program of one computed on the twin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import onnx_graphsurgeon as gs
from match_core import Match, Pattern, Unit
from match_core.contract.candidate import Candidates
from match_core.contract.compilation import Compilation
from match_core.contract.runner import RunResult
from match_core.ir.functions import ensure_functions
from match_core.match.candidates import find_candidates
from numpy.typing import NDArray

Arrays = Mapping[str, NDArray[np.generic]]


@dataclass
class IntegerGraph:
    """Adds nodes with one output each. ``units``: whose patterns are asked; ``functions``: of a package's operators."""

    units: ClassVar[Sequence[tuple[Unit, tuple[Pattern, ...]]]] = ()
    functions: ClassVar[Sequence[Any]] = ()

    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(11))
    nodes: list[gs.Node] = field(default_factory=list)
    inputs: list[gs.Variable] = field(default_factory=list)

    def input(self, *shape: int) -> gs.Variable:
        tensor = gs.Variable(f"input{len(self.inputs)}", np.int8, list(shape))
        self.inputs.append(tensor)
        return tensor

    def constant(self, values: object, dtype: type[np.generic] = np.int64) -> gs.Constant:
        return gs.Constant(f"constant{self.random.integers(1 << 60)}", np.asarray(values, dtype))

    def node(
        self, op: str, inputs: Sequence[gs.Tensor], shape: Sequence[int], dtype: type[np.generic], **attributes: object
    ) -> gs.Variable:
        domain, _, plain = op.rpartition("::")
        made = gs.Variable(f"value{len(self.nodes)}", dtype, list(shape))
        node = gs.Node(plain, f"node{len(self.nodes)}", dict(attributes), list(inputs), [made], domain=domain or None)
        self.nodes.append(node)
        return made

    def graph(self, *outputs: gs.Variable) -> gs.Graph:
        made = gs.Graph(nodes=self.nodes, inputs=self.inputs, outputs=list(outputs), name="net", opset=21)
        ensure_functions(made, self.functions)
        return made

    def candidates(self, *outputs: gs.Variable) -> Candidates:
        return find_candidates(self.graph(*outputs), self.units)

    def matches(self, output: gs.Variable) -> dict[str, Match]:
        """The match of each pattern whose result is ``output``."""
        return {c.pattern.name: c.match for c in self.candidates(output).legal if c.match.output is output}

    def refusals(self, output: gs.Variable, pattern: str) -> list[tuple[str, str]]:
        """(rule, value) of every refusal of a pattern."""
        return [(r.rule, r.value) for r in self.candidates(output).refused if r.pattern == pattern]


@dataclass(frozen=True)
class Deployed:
    """A program that ran on the twin, and what ONNX Runtime makes of its graph."""

    compilation: Compilation
    run: RunResult
    expected: Arrays

    @property
    def patterns(self) -> list[str]:
        return [task.assignment.candidate.pattern.name for task in self.compilation.program.tasks]

    def check(self) -> None:
        for name, values in self.expected.items():
            np.testing.assert_array_equal(self.run.outputs[name], values)
