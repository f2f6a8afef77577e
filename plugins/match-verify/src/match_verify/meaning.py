"""What a model's outputs mean: real values, stored as floats or in steps of a quantiser, or labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.quantisation import Quantisation
from match_core.ir.reader import WITH_INT16, producer, quant_of
from numpy.typing import NDArray

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_core.contract.model import Model

#: Operators that move, or store otherwise, values of their first input.
_MOVES = frozenset(("Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Slice", "Gather", "Cast"))
#: Operator -> positions of outputs that are positions or truth values, of which no difference says how far it is.
_LABELS = {
    **{"ArgMax": (0,), "ArgMin": (0,), "TopK": (1,), "NonZero": (0,), "NonMaxSuppression": (0,), "MaxPool": (1,)},
    **{"Unique": (1, 2, 3), "Shape": (0,), "Size": (0,)},
}


@dataclass(frozen=True, slots=True)
class Meaning:
    """``quantisation``: scale and zero point of integers; ``step``: the distance of two neighbouring real values, 0
    where none is known; ``labels``: values that are equal or not, such as positions."""

    quantisation: Quantisation | None = None
    step: float = 0.0
    labels: bool = False

    def real(self, values: NDArray[np.generic]) -> NDArray[np.generic]:
        """The real values of an output."""
        return values if self.quantisation is None else self.quantisation.real(values)


def meanings(source: Model, model: Model) -> dict[str, Meaning]:
    """Of the outputs of ``model``, which was made from ``source``, by name."""
    ends = model.quantised_ends
    found = {tensor.name: _meaning(tensor) for tensor in source.graph.outputs}
    found.update({name: Meaning(ends[name], ends[name].scale) for name in found if name in ends})
    return found


def _meaning(tensor: gs.Tensor) -> Meaning:
    if tensor.dtype is not None and np.dtype(tensor.dtype).kind == "b":
        return Meaning(labels=True)
    at, node = tensor, producer(tensor)
    while node is not None and node.op in _MOVES:
        at = node.inputs[0]
        node = producer(at)
    if node is None:
        return Meaning()
    place = next(index for index, output in enumerate(node.outputs) if output is at)
    if place in _LABELS.get(node.op, ()):
        return Meaning(labels=True)
    stored = {"QuantizeLinear": node.outputs[0], "DequantizeLinear": node.inputs[0]}.get(node.op)
    quant = quant_of(node, stored.dtype, WITH_INT16) if stored is not None and stored.dtype is not None else None
    if quant is None:
        return Meaning()
    integers = node.op == "QuantizeLinear" and np.dtype(tensor.dtype).kind in "iu"
    return Meaning(Quantisation(quant.scale, quant.zero) if integers else None, quant.scale)
