"""Depthwise convolutions of activations in NHWC four channels at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.element_types import c_type
from match_host.graph import dtype_of
from match_host.kernels.code import Uses, affine, inline_code
from match_host.kernels.products.depthwise_shape import MOST_WRITTEN_TAPS, Depthwise, depthwise_shape, takes
from match_host.kernels.work import Work

from match_cortexm.headers import DSP, MVE, SHARED, header
from match_cortexm.kernels.border import border_of
from match_cortexm.kernels.counted import Counted
from match_cortexm.kernels.packing import pack_depthwise_dsp, pack_depthwise_mve
from match_cortexm.kernels.requant import Requant, extend_of, requant_of
from match_cortexm.kernels.templates import render_body
from match_cortexm.kernels.upper import upper_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import onnx_graphsurgeon as gs
    from numpy.typing import NDArray

#: Channels at a time.
CHANNELS = 4


def depthwise_of(nodes: tuple[gs.Node, ...]) -> tuple[Depthwise, Requant] | str:
    """The layer of [Pad] depthwise convolution, Requant; or why the kernels do not take it."""
    if not takes(nodes) or dtype_of(next(n for n in nodes if n.op == "ConvInteger").inputs[1]) != np.int8:
        return "it is not depthwise with int8 weights"
    conv = depthwise_shape(nodes)
    if conv.channels % CHANNELS or conv.taps > MOST_WRITTEN_TAPS or len(conv.windows) != 2:
        return f"{conv.channels} channels, {conv.taps} taps, {len(conv.windows)} axes"
    if any(window.before < 0 or window.after < 0 or window.dilation != 1 for window in conv.windows):
        return "it has dilations, or padding crops the input"
    most = extend_of(conv.source)[1] * int(np.abs(conv.weight.astype(np.int64)).sum(axis=0).max())
    requant = requant_of(nodes[nodes.index(conv.node) + 1], conv.channels, most)
    if isinstance(requant, str):
        return requant
    # The sums of channels with the multiplier 0 do not matter.
    return replace(conv, weight=np.where(requant.multipliers[0] == 0, 0, conv.weight)), requant


@dataclass(frozen=True)
class Form:
    """How a core computes four channels; ``name``: of its counts. ``start``: the C line before the taps; ``step``: the
    text of a tap at an address; ``constants`` for the sums and their requantisation; ``finish``: the lines that store
    the results."""

    name: str
    header: str
    start: str
    step: Callable[[str], str]
    constants: tuple[NDArray[np.generic], NDArray[np.generic], NDArray[np.generic]]
    finish: tuple[str, ...]


def dsp_form(conv: Depthwise, requant: Requant, ctype: str) -> Form:
    """Products of 16 bits."""
    extend, _ = extend_of(conv.source)
    return Form(
        name="depthwise_dsp",
        header=DSP,
        start="int32_t s[4] = {0};",
        step=lambda address: f'MATCH_CORTEXM_CHANNELS(s, match_cortexm_word({address}), w, "{extend}");',
        constants=(pack_depthwise_dsp(conv.weight), requant.multipliers[0].astype(np.int32), requant.addend),
        finish=tuple(
            f"to[{k}] = ({ctype})" + requant.text(f"match_cortexm_scale(s[{k}], m[{k}], b[{k}], {requant.shift})") + ";"
            for k in range(CHANNELS)
        ),
    )


def mve_form(conv: Depthwise, requant: Requant, ctype: str) -> Form | None:
    """Vectors of four sums. None if values are not int8, or the requantisation is not one of 32-bit lanes."""
    most = 128 * np.abs(conv.weight.astype(np.int64)).sum(axis=0)
    upper = upper_of(requant, most) if dtype_of(conv.source) == np.int8 and ctype == "int8_t" else None
    if upper is None:
        return None
    bounds = f"{upper.left}, {upper.right}, {upper.low}, {upper.high}"
    return Form(
        name="depthwise_mve",
        header=MVE,
        start="match_cortexm_i32x4 s = match_cortexm_zeros();",
        step=lambda address: f"MATCH_CORTEXM_CHANNELS_4(s, ({address}), w);",
        constants=(pack_depthwise_mve(conv.weight), upper.multiplier, upper.addend),
        finish=(f"match_cortexm_finish_4(to, 4, s, m, b, {bounds});",),
    )


def build_depthwise(nodes: tuple[gs.Node, ...], function: str, helium: bool = False) -> Counted:
    """The kernel of [Pad] depthwise convolution, Requant."""
    found = depthwise_of(nodes)
    if isinstance(found, str):
        raise ValueError(f"{function}: {found}")
    import onnx_graphsurgeon as gs

    conv, requant = found
    y, x = conv.windows
    ctype, source = c_type(dtype_of(nodes[-1].outputs[0])), c_type(dtype_of(conv.source))
    form = (mve_form(conv, requant, ctype) if helium else None) or dsp_form(conv, requant, ctype)
    border = border_of(y, x)
    image = x.size * conv.channels
    text = render_body(
        "depthwise",
        rows=y.kernel,
        columns=x.kernel,
        channels=conv.channels,
        height=y.out,
        width=x.out,
        in_height=y.size,
        in_width=x.size,
        row_bytes=image,
        border=border.condition,
        row_place=affine([("y", y.stride), ("ky", 1)], -y.before),
        column_place=affine([("x", x.stride), ("kx", 1)], -x.before),
        source=affine(
            [("y", y.stride * image), ("x", x.stride * conv.channels)], -y.before * image - x.before * conv.channels
        ),
        target=affine([("y", x.out * conv.channels), ("x", conv.channels)]),
        start=form.start,
        step=form.step,
        finish=form.finish,
        ctype=ctype,
        ctype_in=source,
        wtype=c_type(form.constants[0].dtype),
        btype=c_type(form.constants[2].dtype),
    )
    uses = Uses()
    for name in (SHARED, form.header):
        uses.headers[name] = header(name)
    node = nodes[nodes.index(conv.node) + 1]
    extra = dict(zip("mb", form.constants[1:], strict=True))
    if border.condition:
        extra["outside"] = np.full(conv.channels, conv.fill).astype(dtype_of(conv.source))
    arguments = (
        conv.source,
        conv.node.inputs[1],
        *(gs.Constant(f"{node.name}/{word}", values) for word, values in extra.items()),
    )
    constants = dict(enumerate((form.constants[0], *extra.values()), 1))
    kernel = f"{conv.channels} channels, kernel {y.kernel}x{x.kernel}, stride {y.stride}x{x.stride}"
    comment = f"Depthwise {conv.node.op}, {node.op}: {kernel}"
    code = inline_code(function, comment, arguments, nodes[-1].outputs[:1], text, uses, constants)
    blocks = conv.channels // CHANNELS
    counts = {
        "steps": border.tiles * blocks * conv.taps,
        "blocks": border.tiles * blocks,
        "tiles": border.tiles,
        "outside_taps": border.outside * conv.taps,
        "outside_steps": border.outside * blocks * conv.taps,
    }
    return Counted(arguments, code, Work(), form.name, tuple(counts.items()), border.tiles * conv.taps * conv.channels)
