"""Stores bytes computed from 32-bit sums in a separate loop.

Compilers choose the vector length of a loop for its narrowest type, and use shorter vectors if the loop has fewer steps
than such a vector has bytes. So results first replace their sums, entirely in 32 bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.model import qualified_op

from match_host.graph import dtype_of
from match_host.kernels.scalar import arithmetic

if TYPE_CHECKING:
    import numpy as np

    from match_host.kernels.elementwise.elementwise import Body
    from match_host.machine import Machine


_REQUANTS = ("match.arith::RequantI8", "match.arith::RequantU8", "match.arith::RequantI16")


def stores_apart(epilogue: Body | None, sums: np.dtype[np.generic], machine: Machine) -> bool:
    """Whether an epilogue ends in requantising 32-bit sums, and reads nothing narrower."""
    if epilogue is None or not machine.vectors or arithmetic(sums).name != "int32":
        return False
    read = [dtype_of(argument.tensor) for argument in epilogue.arguments]
    requantises = qualified_op(epilogue.nodes[-1]) in _REQUANTS
    return requantises and all(dtype.itemsize >= sums.itemsize for dtype in read)
