"""Float values of constants, quantised or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.reader import constant, quant_constant

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from numpy.typing import NDArray


def real_constant(tensor: gs.Tensor) -> NDArray[np.float64] | None:
    """The values of a float constant, dequantised or not; None for anything else."""
    stored = quant_constant(tensor)
    if stored is not None:
        return stored.real()
    values = constant(tensor)
    return None if values is None or values.dtype.kind != "f" else np.asarray(values, np.float64)
