"""What products tell cost models that know a compiler or a library beside counts (``Built.told``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.topology import is_constant

from match_host.graph import dtype_of, values_of

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

    from match_host.kernels.elementwise.elementwise import Body


def told_product(node: gs.Node, macs: int) -> dict[str, int]:
    """``zeros``: products of floats of which a constant operand is 0."""
    if dtype_of(node.outputs[0]).kind != "f":
        return {}
    known = [values_of(tensor) for tensor in node.inputs[:2] if is_constant(tensor)]
    others = np.prod([np.mean(values != 0) for values in known])
    zeros = round(macs * (1 - float(others)))
    return {"zeros": zeros} if zeros else {}


def told_epilogue(epilogue: Body | None, results: int) -> dict[str, int]:
    """What the operators after the products tell, of all results."""
    return {name: count * results for name, count in epilogue.told.items()} if epilogue else {}
