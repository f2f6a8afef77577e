"""Integers that were rounded from floats: which outputs lie behind them, and how far these may differ.

Sums, functions and normalisations in floating point have a bound and no fixed bits: a program and ONNX Runtime add in
different orders. Where such a value is rounded to an integer (QuantizeLinear, Cast) and lies at the border between two,
the two sides may take different ones, and what is computed from it differs too. How often that happens depends on the
data: bounds cannot be proven. Of the 185,088 outputs of a transformer layer whose normalisations are float, one
differed: a value of 30.5000008 steps. Integers that come from integers alone keep every bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import onnx_graphsurgeon as gs
    from numpy.typing import NDArray

#: Part of an output's values that may lie a step off, and the most steps.
SHARE_MAX = 0.01
STEPS_MAX = 1
#: The step of an output whose own is not known is that of 8 bits: this part of its largest value.
STEP_OF_LARGEST = 1 / 127

#: Float operators that round once, as IEEE 754 says, or not at all: both sides give the same bits.
_EXACT = frozenset(
    (
        *("Add", "Sub", "Mul", "Div", "Sqrt", "Reciprocal", "Neg", "Abs", "Sign", "Floor", "Ceil", "Round"),
        *("Relu", "LeakyRelu", "PRelu", "ThresholdedRelu", "Clip", "Min", "Max", "Where", "Cast", "DequantizeLinear"),
        *("MaxPool", "GlobalMaxPool", "ReduceMax", "ReduceMin", "TopK", "Trilu"),
        *("Identity", "Dropout", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Slice", "Split", "Concat"),
        *("Pad", "Tile", "Expand", "Gather", "GatherElements", "GatherND", "DepthToSpace", "SpaceToDepth"),
    )
)
#: Those that jump: next to a border they give another float.
_JUMPING = frozenset(("Sign", "Floor", "Ceil", "Round", "ThresholdedRelu"))
#: Those that hand on the values of a tensor, so that its step is theirs.
_MOVES = frozenset(("Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Slice", "Split"))

_SAME, _BOUNDED, _ROUNDED = range(3)


def steps_behind_rounding(nodes: Iterable[gs.Node], outputs: Iterable[gs.Tensor]) -> Mapping[str, float | None]:
    """For each output behind an integer that was rounded from a float without fixed bits its step: 1 for integers, the
    scale where it is dequantised, None where it is not known. ``nodes`` in topological order."""
    states: dict[int, int] = {}
    steps: dict[int, float | None] = {}
    for node in nodes:
        before = max((states.get(id(tensor), _SAME) for tensor in node.inputs), default=_SAME)
        for tensor in node.outputs:
            states[id(tensor)] = _state(node, tensor, before)
            steps[id(tensor)] = _step(node, tensor, steps)
    return {tensor.name: steps.get(id(tensor)) for tensor in outputs if states.get(id(tensor), _SAME) == _ROUNDED}


def _is_float(tensor: gs.Tensor) -> bool:
    return not isinstance(tensor.dtype, int) and np.dtype(tensor.dtype).kind == "f"


def _state(node: gs.Node, tensor: gs.Tensor, before: int) -> int:
    if before == _BOUNDED and (not _is_float(tensor) or node.op in _JUMPING):
        return _ROUNDED
    exact = not _is_float(tensor) or node.op.rpartition("::")[2] in _EXACT
    return before if exact else max(before, _BOUNDED)


def _step(node: gs.Node, tensor: gs.Tensor, steps: Mapping[int, float | None]) -> float | None:
    if not _is_float(tensor):
        return 1.0
    if node.op == "DequantizeLinear" and hasattr(node.inputs[1], "values"):
        return float(np.max(node.inputs[1].values))
    return steps.get(id(node.inputs[0])) if node.op in _MOVES else None


def is_step_off(got: NDArray[np.generic], expected: NDArray[np.generic], relative: float, step: float | None) -> bool:
    """Whether all values are equal or, for floats, within ``relative`` of the largest one, but for a few that lie a
    step off."""
    if got.shape != expected.shape or got.dtype != expected.dtype or not got.size:
        return False
    wide = expected.astype(np.float64)
    distance, largest = np.abs(got.astype(np.float64) - wide), float(np.abs(wide).max())
    slack = relative * largest if expected.dtype.kind == "f" else 0.0
    farthest = STEPS_MAX * (largest * STEP_OF_LARGEST if step is None else step) + slack
    few = max(1, int(SHARE_MAX * got.size))
    return bool((distance <= farthest).all()) and int(np.count_nonzero(distance > slack)) <= few
