"""What products tell cost models that know a compiler or a library beside counts (``Built.told``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.topology import is_constant

from match_host.graph import dtype_of, values_of

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def told_product(node: gs.Node, macs: int) -> dict[str, int]:
    """``zeros``: products of floats of which a constant operand is 0."""
    if dtype_of(node.outputs[0]).kind != "f":
        return {}
    known = [values_of(tensor) for tensor in node.inputs[:2] if is_constant(tensor)]
    others = np.prod([np.mean(values != 0) for values in known])
    zeros = round(macs * (1 - float(others)))
    return {"zeros": zeros} if zeros else {}


def told_tiles(rows: int, columns: int, tiles: int) -> dict[str, int]:
    """How many tiles of results have sums at the same time, and of how many rows and columns: the last of an axis may
    compute some again."""
    return {"held_rows": rows, "held_columns": columns, "held_tiles": tiles}
