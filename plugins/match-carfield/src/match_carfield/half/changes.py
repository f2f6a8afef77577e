"""The effect of the nodes after a product on its output channels, as one multiply-add."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core import Match
from match_core.ir.topology import is_constant
from numpy.typing import NDArray

from match_carfield.half.structures import CHANGES_MAX

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

Reals = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Affine:
    """y = x * mul + add, a number per output channel, in float32."""

    mul: Reals
    add: Reals

    def then(self, node: gs.Node) -> Affine:
        """The change with one more node after it, whose other input is a constant."""
        first, second = node.inputs
        constant_first = is_constant(first)
        by = (first if constant_first else second).values.astype(np.float32).reshape(-1)
        match node.op:
            case "Mul":
                return Affine(self.mul * by, self.add * by)
            case "Add":
                return Affine(self.mul, self.add + by)
            case "Div":
                return Affine(self.mul / by, self.add / by)
            case _ if constant_first:
                return Affine(-self.mul, by - self.add)
        return Affine(self.mul, self.add - by)


def change_nodes(match: Match) -> tuple[gs.Node, ...]:
    """The nodes that change channels, in the order in which they are computed."""
    names = (f"change{number}" for number in range(CHANGES_MAX))
    return tuple(match.node(name) for name in names if match.has(name))


def change_constants(match: Match) -> tuple[NDArray[np.generic], ...]:
    """The combined change of these nodes."""
    names = (f"change{number}_by" for number in range(CHANGES_MAX))
    return tuple(match.const(name) for name in names if match.has(name))


def affine(match: Match, channels: int) -> Affine:
    """Bias and changes of a convolution or dense layer. Gemm's alpha and beta belong to its product and its bias."""
    node = match.node("conv" if match.has("conv") else "dense")
    result = Affine(np.full(channels, float(node.attrs.get("alpha", 1.0)), np.float32), np.zeros(channels, np.float32))
    if len(node.inputs) > 2 and not node.inputs[2].is_empty():
        bias = node.inputs[2].values.astype(np.float32).reshape(-1)
        result = Affine(result.mul, result.add + bias * np.float32(node.attrs.get("beta", 1.0)))
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # what is not finite is refused by a rule
        for change in change_nodes(match):
            result = result.then(change)
    return result


def halves(match: Match, channels: int) -> tuple[NDArray[np.float16], NDArray[np.float16]]:
    """The factor and summand of each channel as the kernels get them."""
    whole = affine(match, channels)
    with np.errstate(over="ignore", invalid="ignore"):
        return whole.mul.astype(np.float16), whole.add.astype(np.float16)
