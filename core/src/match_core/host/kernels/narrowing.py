"""Bytes that are made of 32-bit sums are stored in a loop of their own.

Compilers choose the length of a loop's vectors for its narrowest type, and take shorter ones where the loop has fewer
steps than such a vector has bytes. So results replace the sums they are made of first, which is all done in 32 bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.host.graph import dtype_of
from match_core.host.kernels.scalar import arithmetic
from match_core.ir.model import qualified_op

if TYPE_CHECKING:
    import numpy as np

    from match_core.host.kernels.elementwise import Body
    from match_core.host.machine import Machine


def stores_apart(epilogue: Body | None, sums: np.dtype[np.generic], machine: Machine) -> bool:
    """Whether an epilogue ends in requantising 32-bit sums, and reads nothing narrower."""
    if epilogue is None or not machine.vectors or arithmetic(sums).name != "int32":
        return False
    read = [dtype_of(argument.tensor) for argument in epilogue.arguments]
    requantises = qualified_op(epilogue.nodes[-1]) in ("match.arith::RequantI8", "match.arith::RequantU8")
    return requantises and all(dtype.itemsize >= sums.itemsize for dtype in read)
