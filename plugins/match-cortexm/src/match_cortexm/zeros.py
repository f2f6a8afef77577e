"""How many numbers that float32 layers read are 0: without an FPU, products and sums with 0 take half the instructions.

Nobody knows the numbers before the network runs, but weights and biases tell much: a layer's sums are nearly normal, as
each adds up many terms, and their mean and variance follow from those of what it reads. Relu makes 0 of the share that
is negative. The expectations of a channel's numbers are carried from the graph's inputs, which are assumed to be normal
around 0, through all operators; terms are taken as independent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.topology import is_constant

from match_cortexm.expected import INPUT, UNKNOWN, Expected, constant
from match_cortexm.expected_moves import joined, moved, pooled, resized, turned
from match_cortexm.expected_sums import (
    added,
    always,
    clip,
    convolution,
    divided,
    normalised,
    product,
    rectified,
    times,
)

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_core.contract.pattern import Pattern
    from match_core.contract.structure import Match
    from match_core.contract.workload import Workload

    from match_cortexm.expected_sums import Rule

#: The name of the share in a workload's parameters, in thousandths.
ZEROS = "zeros_permille"

#: Operators without a rule make numbers about which nothing is known.
_RULES: dict[str, Rule] = {
    "Relu": rectified(0.0),
    "Clip": clip,
    "HardSwish": rectified(-3.0),
    **dict.fromkeys(("Gelu", "Elu", "LeakyRelu", "PRelu", "Softplus"), rectified(None)),
    **dict.fromkeys(("Sigmoid", "HardSigmoid"), always(0.5, 0.05)),
    "Tanh": always(0.0, 0.5),
    "Softmax": always(0.0, 0.01),
    "Conv": convolution,
    **dict.fromkeys(("MatMul", "Gemm"), product),
    **dict.fromkeys(("Add", "Sum"), added(1)),
    "Sub": added(-1),
    "Mul": times,
    "Div": divided,
    **dict.fromkeys(("AveragePool", "GlobalAveragePool", "ReduceMean"), pooled),
    **dict.fromkeys(("MaxPool", "GlobalMaxPool", "ReduceMax"), pooled),
    **dict.fromkeys(("LayerNormalization", "InstanceNormalization", "BatchNormalization"), normalised),
    "Transpose": turned,
    **dict.fromkeys(("Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Dropout"), moved),
    **dict.fromkeys(
        ("Slice", "Split", "Gather", "Expand", "Resize", "Pad", "Tile", "SpaceToDepth", "DepthToSpace"), resized
    ),
    "Concat": joined,
}


#: The size of a first layer's biases, relative to the deviation of its sums, that tells no scale yet: an estimate.
_MOST_BIAS = 1.5
#: The least variance of sums: that of weights which are all 0.
_LEAST = 1e-12
#: What stands before the first layer, and the layers.
_MOVES, _LAYERS = ("Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Transpose"), ("Conv", "Gemm", "MatMul")


@dataclass
class Zeros:
    """Shares of zeros in the tensors of graphs; each is computed once."""

    _known: dict[int, tuple[gs.Tensor, Expected]] = field(default_factory=dict)  # by identity, which lasts as long

    def expected(self, tensor: gs.Tensor) -> Expected:
        """What the numbers of a tensor are expected to be."""
        waiting = [tensor]
        while waiting:
            last = waiting[-1]
            missing = [one for node in last.inputs[:1] for one in node.inputs if id(one) not in self._known]
            if not missing:
                with np.errstate(all="ignore"):  # weights may be as large as they like
                    found = self._of(last)
                self._known[id(last)] = last, found if found.finite else UNKNOWN
                waiting.pop()
            waiting += missing
        return self._known[id(tensor)][1]

    def _of(self, tensor: gs.Tensor) -> Expected:
        if is_constant(tensor):
            return constant(tensor.values)
        if not tensor.inputs:
            return replace(INPUT, variance=INPUT.variance * scale_of(tensor) ** 2)
        node = tensor.inputs[0]
        rule = _RULES.get(node.op)
        return UNKNOWN if rule is None else rule(node, [self._known[id(one)][1] for one in node.inputs])

    def share(self, node: gs.Node) -> float | None:
        """The share of products, or sums, of which an operand is 0; None if no computed operand is float32."""
        read = [one for one in node.inputs if not is_constant(one) and one.dtype == np.float32]
        return 1 - prod(1 - self.expected(one).zeros for one in read) if read else None


def scale_of(tensor: gs.Tensor) -> float:
    """The scale of a graph's input, at least 1: where numbers of scale 1 would make sums far below the biases of the
    first layer, there are larger ones (a picture's 0 to 255, decibels)."""
    scale, readers = 1.0, list(tensor.outputs)
    for node in readers:
        if node.op in _MOVES:
            readers += node.outputs[0].outputs
        elif node.op in _LAYERS and all(map(is_constant, node.inputs[1:])):
            sums = _RULES[node.op](node, [INPUT, *(constant(one.values) for one in node.inputs[1:])])
            ratios = np.abs(sums.mean) / np.sqrt(np.maximum(sums.variance, _LEAST))
            scale = max(scale, float(np.median(ratios)) / _MOST_BIAS)
    return scale


def told(pattern: Pattern, zeros: Zeros) -> Pattern:
    """The pattern, whose workloads tell the share."""
    workload: Callable[[Match], Workload] = pattern.workload

    def telling(match: Match) -> Workload:
        found, share = workload(match), zeros.share(match.nodes[0])
        return found if share is None else replace(found, geometry=(*found.geometry, (ZEROS, round(1000 * share))))

    return pattern if pattern.view else replace(pattern, workload=telling)


def apart(workload: Workload) -> tuple[Workload, float]:
    """The workload without the share, and the share, 0 if it has none."""
    rest = tuple((name, value) for name, value in workload.geometry if name != ZEROS)
    return replace(workload, geometry=rest), workload.parameters.get(ZEROS, 0) / 1000
