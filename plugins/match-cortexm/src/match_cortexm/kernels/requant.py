"""Requantisation as the kernels compute it: ``clip(((sum * M + B) >> 32) >> shift)`` with M of 32 and B of 64 bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_host.graph import constant_at, dtype_of

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from numpy.typing import NDArray

#: Operators that scale one sum, and those that scale two values.
REQUANT = "match.arith::RequantU8|match.arith::RequantI8"
ADD_REQUANT = "match.arith::AddRequantU8|match.arith::AddRequantI8"


@dataclass(frozen=True)
class Requant:
    """``multipliers``: int32 [values, channels] of one or two summands; ``addend``: int64 [channels]."""

    multipliers: NDArray[np.int64]
    addend: NDArray[np.int64]
    shift: int
    low: int
    high: int

    def text(self, value: str) -> str:
        """C text of the clipped value."""
        return f"match_cortexm_clip({value}, {self.low}, {self.high})"


def requant_of(node: gs.Node, channels: int, most: int) -> Requant | str:
    """The numbers of a Requant or AddRequant, or why the kernels cannot compute it. ``most``: the largest absolute
    value of what is scaled."""
    values = [constant_at(node, index) for index in range(len(node.inputs)) if _constant(node.inputs[index])]
    *factors, addend, divisor, low, high = (value for value in values if value is not None)
    exponent = int(divisor.reshape(-1)[0]).bit_length() - 1
    if divisor.size != 1 or int(divisor.reshape(-1)[0]) != 1 << exponent:
        return f"the divisor is {divisor.reshape(-1)[:4].tolist()}"
    if low.size != 1 or high.size != 1 or any(value.size not in (1, channels) for value in (*factors, addend)):
        return "factors or bounds differ between positions"
    scale = 1 << max(0, 32 - exponent)
    multipliers = np.stack([np.broadcast_to(factor.reshape(-1), channels) for factor in factors]).astype(object) * scale
    total = np.broadcast_to(addend.reshape(-1), channels).astype(object) * scale
    reach = most * np.abs(multipliers).sum(axis=0) + np.abs(total)
    if np.abs(multipliers).max() >= 1 << 31 or reach.max() >= 1 << 63:
        return f"multipliers up to {int(np.abs(multipliers).max())} with shift {exponent} exceed 32 bits"
    return (
        Requant(
            multipliers.astype(np.int64),
            total.astype(np.int64),
            min(max(exponent - 32, 0), 31),
            int(low.reshape(-1)[0]),
            int(high.reshape(-1)[0]),
        )
        if exponent <= 63
        else f"the shift is {exponent}"
    )


def _constant(tensor: gs.Tensor) -> bool:
    return getattr(tensor, "values", None) is not None


def extend_of(tensor: gs.Tensor) -> tuple[str, int]:
    """The instruction that widens the tensor's bytes, and their largest absolute value."""
    return ("sxtb16", 128) if dtype_of(tensor) == np.int8 else ("uxtb16", 255)
