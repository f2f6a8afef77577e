"""A float network in float64: how far ONNX Runtime itself is from the real values.

Where a network cancels large numbers, float32 and float16 leave little of the result, and a program that sums in
another order than ONNX Runtime differs from it by more than any constant bound. Both are right up to rounding: the
program's distance to the float64 result must then be at most ``FACTOR`` times that of ONNX Runtime, and one rounding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.errors import ToolError

from match_verify.float_bounds import UNIT_BITS
from match_verify.outputs import OutputCheck
from match_verify.reference import ReferenceRunner

if TYPE_CHECKING:
    import onnx
    from match_core.contract.model import Model
    from numpy.typing import NDArray

    Arrays = Mapping[str, NDArray[np.generic]]

#: Estimate: errors of two orders of the same sums are random and of one size; the largest of many values differ less.
FACTOR = 4.0
#: A network with more multiply-accumulates is not run: ONNX Runtime has no convolutions in float64, and ONNX's own
#: evaluator takes about a second for this many.
MACS_MAX = 50_000_000
_FLOAT32_BITS = 24


def double_outputs(source: Model, inputs: Arrays, samples: int) -> dict[str, NDArray[np.float64]] | None:
    """The outputs of a loaded model in float64, stacked over samples. None for models of which a part is not plain
    floating point, or that no runtime executes in float64."""
    if source.states or any(node.domain not in (None, "", "ai.onnx") for node in source.graph.nodes):
        return None
    proto = _widened(source.to_onnx())
    if proto is None:
        return None
    results: dict[str, list[NDArray[np.float64]]] = {}
    try:
        runner = ReferenceRunner(proto)
        for index in range(samples):
            given = {name: _wide(array[index]) for name, array in inputs.items()}
            for name, array in runner.run(given).items():
                results.setdefault(name, []).append(np.asarray(array, np.float64))
    except ToolError:
        return None  # no runtime has these operators in float64
    return {name: np.stack(arrays) for name, arrays in results.items()}


def measured_in_double(
    check: OutputCheck, got: NDArray[np.generic], expected: NDArray[np.generic], real: NDArray[np.float64]
) -> OutputCheck:
    """The check of a float output against the float64 result ``real``, with the bound that ONNX Runtime's own error
    (``expected``) gives. Unchanged where values are not finite or shapes differ."""
    arrays = got.astype(np.float64), expected.astype(np.float64), real
    if len({array.shape for array in arrays}) > 1 or not all(np.isfinite(array).all() for array in arrays):
        return check
    own, error = (float(np.abs(array - real).max(initial=0.0)) for array in arrays[:2])
    scale = float(np.abs(real).max(initial=0.0))
    unit = 2.0 ** -UNIT_BITS.get(expected.dtype.name, _FLOAT32_BITS)
    allowed = FACTOR * error + unit * scale
    text = f"{allowed:.2g}: {FACTOR:g} times the error of ONNX Runtime against float64, and one rounding"
    return replace(check, within_bound=own <= allowed, bound=text, worst_difference=own)


def _wide(array: NDArray[np.generic]) -> NDArray[np.generic]:
    return array.astype(np.float64) if "float" in array.dtype.name else array


def _widened(proto: onnx.ModelProto) -> onnx.ModelProto | None:
    """The model with float64 in the place of narrower floats; None if it has integers of 8 bits, or subgraphs."""
    import onnx
    from onnx import numpy_helper

    kinds = onnx.TensorProto
    narrow = (kinds.FLOAT, kinds.FLOAT16, kinds.BFLOAT16)
    graph = proto.graph
    del graph.value_info[:]

    def tensor(value: onnx.TensorProto) -> None:
        if value.data_type in narrow:
            wide = numpy_helper.from_array(numpy_helper.to_array(value).astype(np.float64), value.name)
            value.CopyFrom(wide)

    for info in (*graph.input, *graph.output):
        kind = info.type.tensor_type
        if kind.elem_type in (kinds.INT8, kinds.UINT8):
            return None
        if kind.elem_type in narrow:
            kind.elem_type = kinds.DOUBLE
    for initialiser in graph.initializer:
        tensor(initialiser)
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type in (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS):
                return None
            if attribute.type == onnx.AttributeProto.TENSOR:
                tensor(attribute.t)
            elif attribute.name in ("to", "dtype") and attribute.i in narrow:
                attribute.i = kinds.DOUBLE
        if node.op_type in ("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"):
            return None
    return proto
