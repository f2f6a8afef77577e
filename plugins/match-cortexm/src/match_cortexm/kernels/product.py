"""Convolutions and dense layers: tiles of one or two positions by four outputs, in SMLAD or in vectors of 16 bytes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.element_types import c_type
from match_host.graph import dtype_of
from match_host.kernels.code import Uses, affine, inline_code
from match_host.kernels.work import Work

from match_cortexm.headers import DSP, INT16, MVE, SHARED, header
from match_cortexm.kernels.border import border_of, copied_rows
from match_cortexm.kernels.counted import Counted
from match_cortexm.kernels.layer import Layer, layer_of
from match_cortexm.kernels.overlap import tile_by_tile
from match_cortexm.kernels.packing import pack_dsp, pack_mve
from match_cortexm.kernels.requant import extend_of, vector_finish
from match_cortexm.kernels.templates import render_body
from match_cortexm.kernels.upper import upper_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import onnx_graphsurgeon as gs
    from numpy.typing import NDArray

#: Outputs of a tile.
OUTPUTS = 4
#: The largest distance of an immediate offset in a load.
MOST_STEP = 4095
#: Instructions of a step of 16 values, and to copy one row of a window: the two for which copies are compared.
STEP_INSTRUCTIONS, COPY_INSTRUCTIONS = 9, 60
#: Steps without a loop around them, at most.
MOST_UNROLLED = 4


@dataclass(frozen=True)
class Form:
    """How a core computes the sums of a tile; ``name``: of its counts. ``positions`` of a tile, ``values`` of a step,
    ``steps``: the C lines of so many; ``constants`` for the sums and their requantisation; ``finish``: C lines that
    store the results of a tile with so many outputs. ``compact``: all tiles read copies of their windows, because the
    steps of each row of a window would be mostly padding."""

    name: str
    header: str
    positions: int
    values: int
    steps: Callable[[int], Sequence[str]]
    constants: tuple[NDArray[np.generic], NDArray[np.generic], NDArray[np.generic]]
    finish: Callable[[int], Sequence[str]]
    compact: bool = False


def dsp_form(layer: Layer, ctype: str, most_positions: int = 2) -> Form:
    """SMLAD: two positions if there are two close enough, else one."""
    extend, _ = extend_of(layer.source)
    step = layer.x.stride * layer.inputs * layer.size
    positions = most_positions if layer.x.out > 1 and step <= MOST_STEP else 1
    step_text = f'MATCH_CORTEXM_STEP_1(s, a, w, "{extend}");' if extend else "MATCH_CORTEXM_STEP_16(s, a, w);"
    return Form(
        name=f"dsp{positions}{_suffix(layer)}",
        header=DSP if extend else INT16,
        positions=positions,
        values=4,
        steps=lambda count: [step_text] * count,
        constants=(pack_dsp(layer.weight, layer.size), layer.first.multipliers[0].astype(np.int32), layer.first.addend),
        finish=partial(_scaled, layer, ctype, positions),
    )


def _suffix(layer: Layer) -> str:
    """The end of the name of a form for values of two bytes."""
    return "" if layer.size == 1 else "_i16"


def _scaled(layer: Layer, ctype: str, positions: int, outputs: int) -> list[str]:
    """C lines that store the results of a tile one by one."""
    requant = layer.first
    return [
        f"to[{p * layer.outputs + k}] = ({ctype})"
        + requant.text(f"match_cortexm_scale(s[{4 * p + k}], m[{k}], b[{k}], {requant.shift})")
        + ";"
        for k in range(outputs)
        for p in range(positions)
    ]


def mve16_form(layer: Layer, ctype: str) -> Form:
    """Vectors of eight values of int16; sums are scaled in two words."""
    padding = -layer.outputs % OUTPUTS
    return Form(
        name=f"mve{_suffix(layer)}",
        header=INT16,
        positions=1,
        values=8,
        steps=lambda count: [f"MATCH_CORTEXM_DOTS_16(s, a, w, {count});"],
        constants=(
            pack_mve(layer.weight, 8),
            np.pad(layer.first.multipliers[0].astype(np.int32), (0, padding)),
            np.pad(layer.first.addend, (0, padding)),
        ),
        finish=lambda outputs: (
            vector_finish(layer.first, outputs, "match_cortexm_gather(s)")
            if ctype == "int16_t"
            else _scaled(layer, ctype, 1, outputs)
        ),
    )


def mve_form(layer: Layer, ctype: str) -> Form | None:
    """Vectors: one position. None if values are uint8, or the requantisation is not one of 32-bit lanes."""
    if layer.size > 1:
        return mve16_form(layer, ctype)
    upper = upper_of(layer.first, layer.most) if dtype_of(layer.source) == np.int8 and ctype == "int8_t" else None
    if upper is None:
        return None
    padding = -layer.outputs % OUTPUTS
    rows, run = layer.y.kernel, layer.x.kernel * layer.inputs
    saved = (rows * -(-run // 16) - -(-rows * run // 16)) * STEP_INSTRUCTIONS * -(-layer.outputs // OUTPUTS)
    compact = saved > COPY_INSTRUCTIONS * rows
    weight = layer.weight.reshape(layer.outputs, 1, 1, -1) if compact else layer.weight
    bounds = f"{upper.left}, {upper.right}, {upper.low}, {upper.high}"
    return Form(
        name="mve_compact" if compact else "mve",
        header=MVE,
        positions=1,
        values=16,
        steps=lambda count: [f"MATCH_CORTEXM_DOTS(s, a, w, {count});"],
        constants=(pack_mve(weight), np.pad(upper.multiplier, (0, padding)), np.pad(upper.addend, (0, padding))),
        finish=lambda outputs: [f"match_cortexm_finish_4(to, {outputs}, match_cortexm_gather(s), m, b, {bounds});"],
        compact=compact,
    )


def unroll_of(words: int) -> int:
    """Steps in a turn of the loop over ``words`` of them."""
    return max(n for n in range(1, MOST_UNROLLED + 1) if words % n == 0)


def _block(uses: Uses, layer: Layer, rows: int, words: int) -> str:
    """The function for the sums of two positions; its name tells its sizes."""
    extend, _ = extend_of(layer.source)
    step, size = layer.x.stride * layer.inputs * layer.size, layer.size
    name = f"match_cortexm_block_{extend[:1] or 's'}{8 * size}_{rows}x{4 * words}_{step}"
    unroll = unroll_of(words)
    view = {"name": name, "rows": rows, "words": words, "step": step, "extend": extend, "unroll": unroll, "size": size}
    return uses.helper(name, render_body("block_dsp", **view) + "\n")


def build_product(nodes: tuple[gs.Node, ...], function: str, helium: bool = False) -> Counted:
    """The kernel of [Pad] convolution or product, Requant."""
    layer = layer_of(nodes)
    if isinstance(layer, str):
        raise ValueError(f"{function}: {layer}")
    ctype = c_type(dtype_of(nodes[-1].outputs[0]))
    # Loops of Helium cores take the link register, which a tile of two positions needs.
    form = (mve_form(layer, ctype) if helium else None) or dsp_form(layer, ctype, 1 if helium else 2)
    return _built(nodes, function, layer, form, ctype)


def _built(nodes: tuple[gs.Node, ...], function: str, layer: Layer, form: Form, ctype: str) -> Counted:
    import onnx_graphsurgeon as gs

    y, x, inputs, positions, size = layer.y, layer.x, layer.inputs, form.positions, layer.size
    rows, run = y.kernel, x.kernel * inputs
    if form.compact:  # a copy of each window, without gaps between its rows
        rows, run = 1, rows * run
    words = -(-run // form.values)
    overhang = form.values * words - run
    beyond = 0 if form.compact else -(-overhang // inputs)
    border = border_of(y, x, positions, beyond)
    columns = x.kernel + (positions - 1) * x.stride
    row, column = ("y" if y.out > 1 else ""), ("x" if x.out > positions else "")
    image = x.size * inputs
    cast = "" if dtype_of(layer.source) == np.int8 else "(const int8_t *)"
    source = affine([(row, y.stride * image), (column, x.stride * inputs)], -y.before * image - x.before * inputs)
    window = (
        f"window, {cast}in0, {y.size}, {x.size}, {inputs * size}, {affine([(row, y.stride)], -y.before)}, "
        f"{affine([(column, x.stride)], -x.before)}, {y.kernel}, {columns}, {layer.fill}"
    )
    uses = Uses()
    for name in (SHARED, *((DSP, MVE) if form.header == INT16 else ()), form.header):
        uses.headers[name] = header(name)
    block = _block(uses, layer, rows, words) if positions == 2 else ""
    text = render_body(
        "product",
        rows=rows,
        words=words,
        unroll=unroll_of(words),
        positions=positions,
        turn=form.steps(unroll_of(words)),
        block_call=f"{block}(from, w, s, {'row_bytes' if rows > 1 else run * size})" if block else "",
        blocks=layer.outputs // OUTPUTS,
        rest=layer.outputs % OUTPUTS,
        finish=form.finish,
        height=y.out,
        width=x.out,
        overlaps=x.out > positions and x.out % positions != 0,
        source=f"{cast}&in0[{source}]",
        row_bytes=image * size,
        border=border.condition,
        compact=form.compact,
        window=window,
        window_rows=y.kernel,
        window_bytes=(y.kernel * columns * inputs + overhang) * size,
        window_row_bytes=columns * inputs * size,
        slack=overhang * size,
        ctype=ctype,
        wtype=c_type(form.constants[0].dtype),
        btype=c_type(form.constants[2].dtype),
        target=affine([(row, x.out * layer.outputs), (column, layer.outputs)]),
    )
    node = nodes[nodes.index(layer.node) + 1]
    arguments = (
        layer.source,
        layer.node.inputs[1],
        *(gs.Constant(f"{node.name}/{word}", np.zeros(1)) for word in "mb"),
    )
    comment = f"{layer.node.op}, {node.op}: {inputs} to {layer.outputs} channels, kernel {y.kernel}x{x.kernel}"
    constants = dict(enumerate(form.constants, 1))
    code = inline_code(function, comment, arguments, nodes[-1].outputs[:1], text, uses, constants)
    overlaps = tile_by_tile(layer.source, nodes[-1].outputs[0], y, x, inputs, layer.outputs, positions)
    blocks = border.tiles * -(-layer.outputs // OUTPUTS)
    steps = blocks * rows * words
    unroll = unroll_of(words)
    counts = {
        "steps": steps,
        "loops": 0 if words == unroll else steps // unroll,
        "rows": blocks * rows if rows > 1 else 0,
        "blocks": blocks,
        "results": border.tiles * positions * layer.outputs,
        "tiles": border.tiles,
        "single_blocks": border.tiles if layer.outputs <= OUTPUTS else 0,
        **copied_rows(y, x, positions, beyond, inputs * size),
        "compact_rows": (border.tiles - border.outside) * y.kernel * form.compact,
        **({} if layer.first.second is None else {"again": border.tiles * positions * layer.outputs}),
        "compact_words": (border.tiles - border.outside) * y.kernel * -(-columns * inputs // 4) * form.compact,
    }
    return Counted(arguments, replace(code, overlaps=overlaps), Work(), form.name, tuple(counts.items()), layer.macs)
