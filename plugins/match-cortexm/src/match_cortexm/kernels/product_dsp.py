"""Convolutions and dense layers in dual multiply-accumulates (SMLAD), for cores with the DSP extension."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.element_types import c_type
from match_host.graph import dtype_of
from match_host.kernels.built import Built
from match_host.kernels.code import Uses, affine, inline_code
from match_host.kernels.work import Work

from match_cortexm.headers import DSP, SHARED, header
from match_cortexm.kernels.layer import Layer, layer_of
from match_cortexm.kernels.requant import extend_of
from match_cortexm.kernels.templates import render_body

if TYPE_CHECKING:
    from match_host.kernels.window import Window

    import onnx_graphsurgeon as gs
    from numpy.typing import NDArray

#: Outputs of a tile, and values of a step.
OUTPUTS, VALUES = 4, 4
#: The largest distance of an immediate offset in a load.
MOST_STEP = 4095
#: Steps without a loop around them, at most.
MOST_UNROLLED = 4


@dataclass(frozen=True)
class Tiles:
    """How a layer is divided: ``rows`` of the window with ``words`` steps each, ``positions`` of a tile."""

    rows: int
    words: int
    positions: int
    unroll: int
    overhang: int


def tiles_of(layer: Layer) -> Tiles:
    """Two positions if there are two close enough, else one."""
    run = layer.x.kernel * layer.inputs
    words = -(-run // VALUES)
    step = layer.x.stride * layer.inputs
    positions = 2 if layer.x.out > 1 and step <= MOST_STEP else 1
    unroll = max(n for n in range(1, MOST_UNROLLED + 1) if words % n == 0)
    return Tiles(layer.y.kernel, words, positions, unroll, VALUES * words - run)


def pack_dsp(weight: NDArray[np.int8]) -> NDArray[np.int32]:
    """Weights [outputs, rows, columns, inputs] as words [blocks of outputs, rows, steps, 4], in the order of
    match_cortexm_dsp.h; missing outputs and values are 0."""
    outputs, rows, columns, inputs = weight.shape
    run = columns * inputs
    padded = np.zeros((-(-outputs // OUTPUTS) * OUTPUTS, rows, -(-run // VALUES) * VALUES), np.int8)
    padded[:outputs, :, :run] = weight.reshape(outputs, rows, run)
    # [block, pair of outputs, output, row, step, high, odd] -> [block, row, step, odd, pair, high, output]
    split = padded.reshape(-1, 2, 2, rows, padded.shape[2] // VALUES, 2, 2)
    ordered = np.ascontiguousarray(np.transpose(split, (0, 3, 4, 6, 1, 5, 2)))
    return ordered.reshape(-1).view("<i4").astype(np.int32)


def border_condition(y: Window, x: Window, positions: int = 1, beyond: int = 0) -> str:
    """C condition that the window of a tile of neighbouring positions leaves the image, or that it reads up to
    ``beyond`` positions after its last one where there are none."""
    checks = []
    for window, count, more in ((x, positions, beyond), (y, 1, 0)):
        first = -(-window.before // window.stride)
        last = (window.size - more + window.before - window.kernel) // window.stride - (count - 1)
        start = window.out - count
        if start <= 0:  # a single tile
            checks += ["true"] if first > 0 or last < 0 else []
            continue
        checks += [f"{window.name} < {first}"] if first > 0 else []
        checks += [f"{window.name} > {last}"] if last < start else []
    if "true" in checks:
        return "true"
    return " || ".join(f"({check})" for check in checks)


def build_product_dsp(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """The kernel of [Pad] convolution or product, Requant."""
    layer = layer_of(nodes)
    if isinstance(layer, str):
        raise ValueError(f"{function}: {layer}")
    import onnx_graphsurgeon as gs

    tiles = tiles_of(layer)
    extend, _ = extend_of(layer.source)
    requant = layer.first
    scaled = "match_cortexm_scale({sum}, m[{k}], b[{k}], %d)" % requant.shift
    ctype = c_type(dtype_of(nodes[-1].outputs[0]))
    y, x, inputs, positions = layer.y, layer.x, layer.inputs, tiles.positions
    columns = x.kernel + (positions - 1) * x.stride
    cast = "" if extend == "sxtb16" else "(const int8_t *)"
    row, column = ("y" if y.out > 1 else ""), ("x" if x.out > positions else "")
    image = x.size * inputs
    source = affine([(row, y.stride * image), (column, x.stride * inputs)], -y.before * image - x.before * inputs)
    window = (
        f"window, {cast}in0, {y.size}, {x.size}, {inputs}, {affine([(row, y.stride)], -y.before)}, "
        f"{affine([(column, x.stride)], -x.before)}, {y.kernel}, {columns}, {layer.fill}"
    )
    step = f"MATCH_CORTEXM_STEP_2(s, a, w, {x.stride * inputs}, \"{extend}\")"
    border = border_condition(y, x, positions, -(-tiles.overhang // inputs))
    text = render_body(
        "product_dsp",
        rows=tiles.rows,
        words=tiles.words,
        unroll=tiles.unroll,
        positions=positions,
        step=step if positions == 2 else f'MATCH_CORTEXM_STEP_1(s, a, w, "{extend}")',
        channels=layer.outputs,
        blocks=layer.outputs // OUTPUTS,
        rest=layer.outputs % OUTPUTS,
        result=lambda value, k, p: f"({ctype}){requant.text(scaled.format(sum=value, k=k))}",
        height=y.out,
        width=x.out,
        overlaps=x.out > positions and x.out % positions != 0,
        source=f"&{cast}in0[{source}]" if not cast else f"{cast}&in0[{source}]",
        row_bytes=image,
        border=border,
        window=window,
        window_bytes=y.kernel * columns * inputs + tiles.overhang,
        window_row_bytes=columns * inputs,
        slack=tiles.overhang,
        ctype=ctype,
        target=affine([(row, x.out * layer.outputs), (column, layer.outputs)]),
    )
    uses = Uses()
    uses.headers["match_cortexm"] = header(SHARED)
    uses.headers["match_cortexm_dsp"] = header(DSP)
    node = nodes[nodes.index(layer.node) + 1]
    arguments = (layer.source, layer.node.inputs[1], *(gs.Constant(f"{node.name}/{word}", np.zeros(1)) for word in "mb"))
    constants = {
        1: pack_dsp(layer.weight),
        2: requant.multipliers[0].astype(np.int32),
        3: requant.addend,
    }
    comment = f"{layer.node.op}, {node.op}: {inputs} to {layer.outputs} channels, kernel {y.kernel}x{x.kernel}"
    code = inline_code(function, comment, arguments, nodes[-1].outputs[:1], text, uses, constants)
    return Built(arguments, code, Work(tile_macs=layer.macs))
