"""Requantisation as the kernels compute it: ``clip(((sum * M + B) >> 32) >> shift)`` with M of 32 and B of 64 bits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from match_host.graph import dtype_of
from match_host.kernels.products.int8_layer import factors_of

from match_cortexm.headers import DSP, INT16, MVE

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from numpy.typing import NDArray

    from match_cortexm.cores import Core

#: Operators that scale one sum, and those that scale two values.
REQUANT = "match.arith::RequantU8|match.arith::RequantI8"
ADD_REQUANT = "match.arith::AddRequantU8|match.arith::AddRequantI8"


#: Functions of match_cortexm_int16.h that clip to these bounds in one instruction.
_CLIPS = {(-(1 << 15), (1 << 15) - 1): "match_cortexm_to_int16", (0, (1 << 15) - 1): "match_cortexm_to_uint15"}


@dataclass(frozen=True)
class Requant:
    """``multipliers``: int32 [values, channels] of one or two summands; ``addend``: int64 [channels]."""

    multipliers: NDArray[np.int64]
    addend: NDArray[np.int64]
    shift: int
    low: int
    high: int
    #: What scales the result once more, with one multiplier below 2^31 for values times 2^left, and left.
    second: tuple[Requant, int] | None = None

    @property
    def headers(self) -> tuple[str, ...]:
        """The headers of ``text``, besides the shared one."""
        wide = (self.low, self.high) in _CLIPS or self.second is not None
        return (DSP, MVE, INT16) if wide else ()

    @property
    def again(self) -> tuple[str, ...]:
        """C text of the members of ``match_cortexm_again``."""
        if self.second is None:
            return "0", "0", "0", "{0, 0, 0}"
        after, left = self.second
        m, b = int(after.multipliers[0, 0]), int(after.addend[0])
        return str(1 << left), str(m), f"INT64_C({b})", f"{{{after.shift}, {after.low}, {after.high}}}"

    def text(self, value: str) -> str:
        """C text of the clipped value."""
        clip = _CLIPS.get((self.low, self.high))
        text = f"{clip}({value})" if clip else f"match_cortexm_clip({value}, {self.low}, {self.high})"
        if self.second is None:
            return text
        after, left = self.second
        m, b = int(after.multipliers[0, 0]), int(after.addend[0])
        return after.text(f"match_cortexm_scale({text} * {1 << left}, {m}, INT64_C({b}), {after.shift})")


def clips(core: Core, low: int, high: int) -> bool:
    """Whether a core that has SSAT and USAT compares with these bounds: not those of bytes and, with the DSP extension,
    of 16 bits."""
    return core.accumulates and (low, high) not in ((-128, 127), (0, 255), *(_CLIPS if core.dsp else ()))


def vector_finish(requant: Requant, outputs: int, sums: str) -> list[str]:
    """C lines that scale four sums in vectors and store the first ``outputs`` of int16."""
    ends = f"{requant.shift}, {requant.low}, {requant.high}"
    return [
        f"const match_cortexm_bounds first = {{{ends}}};",
        f"const match_cortexm_again again = {{{', '.join(requant.again)}}};",
        f"match_cortexm_finish_16(to, {outputs}, {sums}, m, b, first, again);",
    ]


def requant_of(node: gs.Node, channels: int, most: int) -> Requant | str:
    """The numbers of a Requant or AddRequant, or why the kernels cannot compute it. ``most``: the largest absolute
    value of what is scaled."""
    found = factors_of(node, channels)
    if isinstance(found, str):
        return found
    exponent, scale = found.exponent, 1 << max(0, 32 - found.exponent)
    multipliers, total = found.multipliers * scale, found.addend * scale
    reach = most * np.abs(multipliers).sum(axis=0) + np.abs(total)
    if np.abs(multipliers).max() >= 1 << 31 or reach.max() >= 1 << 63:
        return f"multipliers up to {int(np.abs(multipliers).max())} with shift {exponent} exceed 32 bits"
    if exponent > 63:
        return f"the shift is {exponent}"
    shift = min(max(exponent - 32, 0), 31)
    return Requant(multipliers.astype(np.int64), total.astype(np.int64), shift, found.low, found.high)


def with_second(first: Requant, node: gs.Node) -> Requant | str:
    """The requantisation followed by this one of its int16 results; or why the kernels cannot compute it."""
    found = factors_of(node, 1)
    if isinstance(found, str):
        return found
    left = max(0, 32 - found.exponent)
    multiplier, addend = int(found.multipliers[0, 0]), int(found.addend[0]) << left
    if not 0 <= multiplier < 1 << 31 or left > 15 or abs(addend) >= 1 << 62 or found.exponent > 63:
        return f"the second multiplier is {multiplier} with shift {found.exponent}"
    numbers = np.array([[multiplier]]), np.array([addend])
    after = Requant(*numbers, min(max(found.exponent - 32, 0), 31), found.low, found.high)
    return replace(first, second=(after, left))


def extend_of(tensor: gs.Tensor) -> tuple[str, int]:
    """The instruction that widens the tensor's bytes, none for int16, and the largest absolute value."""
    if dtype_of(tensor) == np.int16:
        return "", 1 << 15
    return ("sxtb16", 128) if dtype_of(tensor) == np.int8 else ("uxtb16", 255)
