"""Windows of signals, and the weights of mel filters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.reader import shape_of

from match_host.graph import dtype_of, elements, integer
from match_host.kernels.built import Built
from match_host.kernels.code import Code, Uses, literal, table
from match_host.kernels.scalar import arithmetic, loaded, scalar_type, stored
from match_host.kernels.single import single
from match_host.kernels.work import Work

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: w[n] = a - b cos(2 pi n / N) + c cos(4 pi n / N), as in the bodies of the ONNX standard.
WINDOWS = {
    "BlackmanWindow": (0.42, 0.5, 0.08),
    "HammingWindow": (25 / 46, 21 / 46, 0.0),
    "HannWindow": (0.5, 0.5, 0.0),
}


def build_window(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """A window of the size of the result, periodic or symmetric, as a table."""
    (node,), code = nodes, Code()
    size, dtype = elements(shape_of(node.outputs[0])), dtype_of(node.outputs[0])
    own = arithmetic(dtype)
    kept = np.dtype(np.float64) if own == np.float64 else np.dtype(np.float32)
    first, second, third = WINDOWS[node.op]
    period = max(1, size if integer(node, "periodic", 1) else size - 1)
    angles = 2 * np.pi * np.arange(size) / period
    values = (first - second * np.cos(angles) + third * np.cos(2 * angles)).astype(kept)
    code.lines(table(scalar_type(kept), "window", [literal(float(value), kept) for value in values]))
    with code.block(f"for (int32_t k = 0; k < {size}; k++)"):
        value = "window[k]" if own.kind == "f" else f"({scalar_type(own)})window[k]"
        code.line(f"out0[k] = {stored(value, dtype)};")
    return single(node, function, code.text, Uses(), Work(memory=2, steps=1).times(size), ())


def build_mel_weights(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """MelWeightMatrix: triangles over the bins of a spectrum whose corners are evenly spaced on the mel scale."""
    (node,), code, uses = nodes, Code(), Uses()
    uses.include("math.h")
    (bins, mels), dtype = shape_of(node.outputs[0]), dtype_of(node.outputs[0])
    own = arithmetic(dtype)
    kind = scalar_type(own if own.kind == "f" else np.dtype(np.float32))
    low, high = (
        f"2595.0 * log1p((double){loaded(f'in{index}[0]', dtype_of(node.inputs[index]))} / 700.0) / log(10.0)"
        for index in (3, 4)
    )
    code.line(f"const double low = {low};")
    code.line(f"const double step = ({high} - low) / {mels + 2};")
    code.line("int32_t corner[3] = {0, 0, 0};")
    with code.block(f"for (int32_t i = 0; i < {mels + 2}; i++)"):
        code.line("const double hertz = 700.0 * expm1((i * step + low) / 2595.0 * log(10.0));")
        code.line("const double bin = floor(((double)in1[0] + 1.0) * hertz / (double)in2[0]);")
        code.line("corner[0] = corner[1];")
        code.line("corner[1] = corner[2];")
        code.line(f"corner[2] = !(bin > 0.0) ? 0 : bin < {bins} ? (int32_t)bin : {bins};")
        with code.block(f"for (int32_t j = 0; i >= 2 && j < {bins}; j++)"):
            code.line("const int32_t rise = corner[1] - corner[0], fall = corner[2] - corner[1];")
            up = f"rise == 0 ? ({kind})(j == corner[1]) : ({kind})(j - corner[0]) / ({kind})rise"
            code.line(f"const {kind} up = {up};")
            code.line(f"const {kind} down = ({kind})(corner[2] - j) / ({kind})(fall == 0 ? 1 : fall);")
            code.line("const bool rises = j >= corner[0] && (j < corner[1] || (j == corner[1] && fall == 0));")
            code.line("const bool falls = j >= corner[1] && j < corner[2];")
            code.line(f"const {kind} weight = rises ? up : falls ? down : {literal(0, np.dtype(np.float32))};")
            value = "weight" if own.kind == "f" else f"({scalar_type(own)})weight"
            code.line(f"out0[j * {mels} + i - 2] = {stored(value, dtype)};")
    work = Work(memory=1, integer=8, floating=2, floating_divide=2, steps=1).times(bins * mels)
    return single(node, function, code.text, uses, work + Work(special=2).times(mels), (0, 1, 2, 3, 4))
