"""Folds tables that are a clipped affine function (a ReLU, another scale) into the linear layer before them.

``table[q] = clip(round(gain * q + offset), lo, hi)`` of a requantised sum is one requantisation with other constants; a
ReLU with zero point -128 is the saturation of int8, which is free on ITA. The sum is then rounded once, not twice:
results differ from the table's by up to ``DIFFERENCE_MAX`` LSB (half a gain), and are closer to the real values.
Layers with ITA's constants already (integer networks) keep their table, which is exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core import Model, Pass, PassContext, Phase
from match_core.contract.model import qualified_op
from match_core.ir.editor import Editor
from match_core.ir.reader import constant, shape_of
from match_quant.linear.layers import INT8_MAX, INT8_MIN, Ints, LinearLayer, requant_constants
from numpy.typing import NDArray

from match_ita.passes.gelu import layer_before
from match_ita.passes.linear_requant import as_ita
from match_ita.passes.nodes import reshaped

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: Entries may be off the line by rounding, and a little more for how the line was found.
_RESIDUAL_MAX = 0.6
#: Largest difference from the table's result, in LSB.
DIFFERENCE_MAX = 2
_VALUES = np.arange(INT8_MIN, INT8_MAX + 1)


@dataclass(frozen=True, slots=True)
class Line:
    """``clip(round(gain * q + offset), lo, hi)``."""

    gain: float
    offset: float
    lo: int
    hi: int


def run(model: Model, context: PassContext) -> Model:
    """Fold every such table, but in networks of integers, which keep their values."""
    if model.integer_source:
        return model
    editor = Editor(model)
    for node in list(editor.graph.nodes):
        if qualified_op(node) != "match.arith::LutI8":
            continue
        layer = layer_before(editor, node)
        line = line_of(np.asarray(constant(node.inputs[1])).astype(np.int8)) if layer is not None else None
        if layer is None or line is None or as_ita(layer) is not None or (layer.lo, layer.hi) != (INT8_MIN, INT8_MAX):
            continue
        if math.ceil(line.gain / 2 + _RESIDUAL_MAX - 0.5) > DIFFERENCE_MAX:
            continue
        constants = _folded(editor, layer, line)
        layer.requant.inputs = [layer.requant.inputs[0], *constants]
        editor.add_origin(layer.requant, node)
        shape = shape_of(node.outputs[0])
        editor.replace(node.outputs[0], reshaped(editor, layer.y, shape, f"{node.name}_shape", editor.origin(node)))
    return editor.finish()


def line_of(table: NDArray[np.int8]) -> Line | None:
    """The rising line that a table is, with bounds that ITA or int8 have; None for other tables."""
    y = table.astype(np.float64).reshape(-1)
    if y.size != _VALUES.size or np.any(np.diff(y) < 0):
        return None
    lo, hi = int(y[0]), int(y[-1])
    free = (y > lo) & (y < hi)
    if np.count_nonzero(free) < 8:
        return None
    gain, offset = (float(value) for value in np.polyfit(_VALUES[free], y[free], 1))
    straight = np.clip(gain * _VALUES + offset, lo, hi)
    if gain <= 0 or float(np.abs(straight - y).max()) > _RESIDUAL_MAX:
        return None
    return Line(gain, offset, lo, INT8_MAX) if hi >= INT8_MAX - 1 and lo in (INT8_MIN, 0) else None


def _folded(editor: Editor, layer: LinearLayer, line: Line) -> list[gs.Constant]:
    """Constants of ``gain * (slope * acc + addend) + offset``, with as many bits as before or one less."""
    more = max(math.ceil(math.log2(line.gain)), 0)
    shift, factor = layer.shift - more, line.gain / 2.0**more
    multiplier: Ints = np.rint(layer.multiplier * factor).astype(np.int64)
    offset = line.gain * (layer.addend / 2.0**layer.shift - 0.5) + line.offset + 0.5
    addend: Ints = np.rint(offset * 2.0**shift).astype(np.int64)
    rank, name = len(layer.y.shape), layer.requant.name
    return requant_constants(editor, name, rank, multiplier, addend, shift, (line.lo, line.hi))


RELU = Pass(
    "ita_relu",
    Phase.TARGET,
    run,
    "tables that are a straight line with bounds go into the linear layer before them",
    after=("ita_convolution", "ita_gelu"),
    before=("ita_split",),
    exact=None,
)
