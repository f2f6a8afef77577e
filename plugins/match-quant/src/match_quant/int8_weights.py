"""Weights that need nine bits once their zero point is subtracted, as a sum of int8 weights.

``w`` in [-255, 255] is ``w0 + w1 (+ w2)`` with int8 terms. The layer reads its input once for each term, so the sums of
products stay exact and one layer on a unit computes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.geometry import ConvGeometry
from match_core.ir.reader import shape_of
from numpy.typing import NDArray

from match_quant.nodes import append, reshape

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_core.ir.editor import Editor

_INT8 = np.iinfo(np.int8)
#: Every column several times.
_NEAREST = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}


def int8_terms(weight: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Arrays of int8 values whose sum is ``weight``: one if it fits."""
    terms: list[NDArray[np.int64]] = []
    rest = weight
    while not terms or rest.any():
        terms.append(np.clip(rest, _INT8.min, _INT8.max))
        rest = rest - terms[-1]
    return terms


def repeated(editor: Editor, x: gs.Variable, axis: int, times: int, name: str, origin: Sequence[str]) -> gs.Variable:
    """``times`` copies of ``x`` along ``axis``."""
    shape = list(shape_of(x))
    shape[axis] *= times
    return append(editor, "Concat", [x] * times, shape, f"{name}_terms", origin, axis=axis)


def convolution_terms(
    editor: Editor, x: gs.Variable, weight: NDArray[np.int64], geometry: ConvGeometry, name: str, origin: Sequence[str]
) -> tuple[gs.Variable, NDArray[np.int64], ConvGeometry]:
    """Input, int8 weights and geometry of a convolution with the same sums. Terms become more input channels, or more
    columns of a depthwise kernel, because units do not run other groups."""
    terms, groups = int8_terms(weight), geometry.group
    times, shape = len(terms), shape_of(x)
    if times == 1:
        return x, weight, geometry
    if groups == 1:
        return repeated(editor, x, 1, times, name, origin), np.concatenate(terms, axis=1), geometry
    if weight.shape[1] == 1 and geometry.dilations[1] == 1:
        size = (*shape[:3], shape[3] * times)
        sizes = editor.constant(f"{name}_sizes", np.array(size, np.int64))
        wide = append(editor, "Resize", [x, *_no_values(2), sizes], size, f"{name}_columns", origin, **_NEAREST)
        columns = np.stack(terms, axis=-1).reshape(*weight.shape[:3], -1)
        (rows, step), (top, left, bottom, right) = geometry.strides, geometry.pads
        return (
            wide,
            columns,
            replace(
                geometry,
                kernel=(geometry.kernel[0], geometry.kernel[1] * times),
                strides=(rows, step * times),
                pads=(top, left * times, bottom, right * times),
            ),
        )
    grouped = reshape(editor, x, (shape[0], groups, shape[1] // groups, *shape[2:]), f"{name}_groups", origin)
    both = repeated(editor, grouped, 2, times, name, origin)
    joined = reshape(editor, both, (shape[0], shape[1] * times, *shape[2:]), f"{name}_joined", origin)
    return joined, np.concatenate(terms, axis=1), geometry


def _no_values(count: int) -> list[gs.Tensor]:
    import onnx_graphsurgeon as gs

    return [gs.Variable.empty() for _ in range(count)]
