"""Pads results of the reference like the program: operators whose number of results depends on the data have a fixed
size, and unused elements hold -1 if they are indices, else 0."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from numpy.typing import NDArray

#: Operators whose results are indices.
_INDICES = frozenset(("NonMaxSuppression", "NonZero"))


def with_room(found: Mapping[str, NDArray[np.generic]], graph: gs.Graph) -> dict[str, NDArray[np.generic]]:
    """One sample's results by name, padded to the sizes of the graph's outputs."""
    result = dict(found)
    for tensor in graph.outputs:
        values = result.get(tensor.name)
        shape = tuple(tensor.shape)
        if values is None or values.shape == shape or values.ndim != len(shape):
            continue
        if all(size <= room for size, room in zip(values.shape, shape, strict=True)):
            free = -1 if any(node.op in _INDICES for node in tensor.inputs) else 0
            full = np.full(shape, free, values.dtype)
            full[tuple(slice(size) for size in values.shape)] = values
            result[tensor.name] = full
    return result
