"""Convolutions and dense layers: tiles of one or two positions by four outputs, in SMLAD, in vectors of 16 bytes, or in
multiply-accumulates of single values."""

from __future__ import annotations

from dataclasses import replace
from textwrap import indent
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np
from match_core.contract.element_types import c_type
from match_host.graph import dtype_of
from match_host.kernels.code import Uses, affine, inline_code
from match_host.kernels.work import Work

from match_cortexm.headers import APART, DSP, INT16, MVE, SHARED, header
from match_cortexm.kernels.border import border_of, copied_rows, copied_taps
from match_cortexm.kernels.counted import Counted
from match_cortexm.kernels.layer import Layer, layer_of
from match_cortexm.kernels.overlap import tile_by_tile
from match_cortexm.kernels.packing import OUTPUTS
from match_cortexm.kernels.product_forms import Form, dsp_form, mve_form, scalar_form
from match_cortexm.kernels.requant import clips, extend_of
from match_cortexm.kernels.scalar import scalar_view
from match_cortexm.kernels.templates import render_body

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

    from match_cortexm.cores import Core

#: Steps without a loop around them, at most.
MOST_UNROLLED = 4
#: Blocks of outputs inside loops over positions, at most. Registers do not hold the addresses of more: gcc 12.2 for M55
#: takes 47 instructions instead of 39 for each block of ResNet8's shortcut.
_MOST_INSIDE = 8


def unroll_of(words: int) -> int:
    """Steps in a turn of the loop over ``words`` of them."""
    return max(n for n in range(1, MOST_UNROLLED + 1) if words % n == 0)


def _block(uses: Uses, layer: Layer, form: Form, rows: int, words: int) -> str:
    """The function for the sums of a tile; its name tells its sizes."""
    extend, _ = extend_of(layer.source)
    step, size, ctype = layer.step, layer.size, c_type(dtype_of(layer.source))
    at = f"_{step}" if form.positions > 1 else ""
    name = f"match_cortexm_block_{extend[:1] or 's'}{8 * size}_{rows}x{form.values * words}{at}"
    view = {"name": name, "rows": rows, "words": words, "step": step, "extend": extend, "unroll": unroll_of(words)}
    scalar = {"positions": form.positions, "ctype": ctype, **scalar_view(form.wide, layer.source)}
    return uses.helper(name, render_body(form.block, **view, size=size, **scalar) + "\n")


def _outputs(uses: Uses, layer: Layer, blocks: str, rows: int, types: tuple[str, str, str]) -> str:
    """The call of the function for all outputs of a position, which has the lines ``blocks``; ``types``: those of
    weights, addends and results in C."""
    wtype, btype, ctype = types
    parameters = f"const int8_t *from, const {wtype} *w, const int32_t *m, const {btype} *b, {ctype} *to"
    parameters += ", int32_t row_bytes" if rows > 1 else ""
    name = f"match_cortexm_{layer.outputs}_outputs_{crc32((parameters + blocks).encode()):08x}"
    comment = f"/* {layer.outputs} outputs of a position; loops over positions would take registers of sums. */"
    uses.helper(name, f"{comment}\nMATCH_CORTEXM_NOINLINE static void {name}(\n    {parameters})\n{{\n{blocks}\n}}\n")
    return f"{name}(from, w, m, b, to{', row_bytes' if rows > 1 else ''});"


def _copy(uses: Uses, size: int) -> str:
    """The function that copies taps of ``size`` bytes."""
    name = f"match_cortexm_taps_{size}"
    return uses.helper(name, render_body("apart", name=name, bytes=size) + "\n")


def build_product(nodes: tuple[gs.Node, ...], function: str, core: Core) -> Counted:
    """The kernel of [Pad] convolution or product, Requant."""
    layer = layer_of(nodes)
    if isinstance(layer, str):
        raise ValueError(f"{function}: {layer}")
    ctype = c_type(dtype_of(nodes[-1].outputs[0]))
    if core.dsp:
        # Loops of Helium cores take the link register, which a tile of two positions needs.
        form = (mve_form(layer, ctype) if core.helium else None) or dsp_form(layer, ctype, 1 if core.helium else 2)
    else:
        form = scalar_form(layer, ctype, core.accumulates)
    kernel = _built(nodes, function, layer, form, ctype)
    clipped = dict(kernel.counts)["results"] * clips(core, layer.first.low, layer.first.high)
    return replace(kernel, counts=(*kernel.counts, ("clipped", clipped)))


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
    if layer.apart:
        border, columns = replace(border, condition="true", outside=border.tiles), positions * x.kernel
    row, column = ("y" if y.out > 1 else ""), ("x" if x.out > positions else "")
    image = x.size * inputs
    cast = "" if dtype_of(layer.source) == np.int8 else "(const int8_t *)"
    source = affine([(row, y.stride * image), (column, x.stride * inputs)], -y.before * image - x.before * inputs)
    uses = Uses()
    wide = (DSP, MVE, INT16) if form.header == INT16 else layer.first.headers
    for name in (SHARED, *((APART,) if layer.apart else ()), *wide, *((form.header,) if form.header else ())):
        uses.headers[name] = header(name)
    block = _block(uses, layer, form, rows, words) if form.block else ""
    first = f"{affine([(row, y.stride)], -y.before)}, {affine([(column, x.stride)], -x.before)}, {y.kernel}"
    read = f"window, {cast}in0, {y.size}, {x.size}"
    copy = f"match_cortexm_window({read}, {inputs * size}, {first}, {columns}, {layer.fill});"
    if layer.apart:
        steps = f"{x.kernel}, {positions}, {x.stride}, {y.dilation}, {x.dilation}"
        copy = f"{_copy(uses, inputs * size)}({read}, {first}, {steps}, {layer.fill});"
    types = c_type(form.constants[0].dtype), c_type(form.constants[2].dtype), ctype
    apart = not block and layer.outputs // OUTPUTS > _MOST_INSIDE and border.tiles > 1
    outputs = render_body(
        "outputs",
        rows=rows,
        words=words,
        unroll=unroll_of(words),
        positions=positions,
        turn=form.steps(unroll_of(words)),
        block_call=f"{block}(from, w, s, {'row_bytes' if rows > 1 else run * size})" if block else "",
        blocks=layer.outputs // OUTPUTS,
        rest=layer.outputs % OUTPUTS,
        finish=form.finish,
        apart=apart,
    )
    outputs = _outputs(uses, layer, outputs, rows, types) if apart else outputs
    text = render_body(
        "product",
        rows=rows,
        positions=positions,
        outputs=indent(outputs, " " * (12 if apart else 8)),
        height=y.out,
        width=x.out,
        overlaps=x.out > positions and x.out % positions != 0,
        source=f"{cast}&in0[{source}]",
        row_bytes=image * size,
        border=border.condition,
        compact=form.compact,
        copy=copy,
        window_rows=y.kernel,
        window_bytes=(y.kernel * columns * inputs + overhang) * size,
        window_row_bytes=columns * inputs * size,
        slack=overhang * size,
        wtype=types[0],
        btype=types[1],
        ctype=ctype,
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
    turns = blocks * rows * words
    unroll = unroll_of(words)
    counts = {
        "steps": turns,
        "loops": 0 if words == unroll else turns // unroll,
        "rows": blocks * rows if rows > 1 else 0,
        "blocks": blocks,
        "results": border.tiles * positions * layer.outputs,
        "tiles": border.tiles,
        **({"apart_tiles": border.tiles} if apart else {}),
        "single_blocks": border.tiles if layer.outputs <= OUTPUTS else 0,
        **(
            copied_taps(y, x, positions, inputs * size)
            if layer.apart
            else copied_rows(y, x, positions, beyond, inputs * size)
        ),
        "compact_rows": (border.tiles - border.outside) * y.kernel * form.compact,
        **({} if layer.first.second is None else {"again": border.tiles * positions * layer.outputs}),
        "compact_words": (border.tiles - border.outside) * y.kernel * -(-columns * inputs // 4) * form.compact,
    }
    return Counted(arguments, replace(code, overlaps=overlaps), Work(), form.name, tuple(counts.items()), layer.macs)
