"""Depthwise convolutions of activations in NHWC four channels at a time; with weights of one, sums of windows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.element_types import c_type
from match_host.graph import dtype_of
from match_host.kernels.products.depthwise_shape import MOST_WRITTEN_TAPS, Depthwise, depthwise_shape, takes

from match_cortexm.headers import BYTES, DSP, INT16, MVE
from match_cortexm.kernels.border import border_of
from match_cortexm.kernels.counted import Counted
from match_cortexm.kernels.packing import pack_depthwise_dsp, pack_depthwise_mve
from match_cortexm.kernels.requant import Requant, clips, extend_of, requant_of, vector_finish, with_second
from match_cortexm.kernels.taps import MOST_WHOLE, Form, Image, build_taps, refusal_of
from match_cortexm.kernels.upper import upper_of

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

    from match_cortexm.cores import Core

#: Channels at a time.
CHANNELS = 4
#: The largest distance of an immediate offset in a load.
MOST_STEP = 4095
#: Taps whose sum fits 16 bits.
MOST_SUMMED = 255


def depthwise_of(nodes: tuple[gs.Node, ...]) -> tuple[Depthwise, Requant] | str:
    """The layer of [Pad] depthwise convolution, Requant; or why the kernels do not take it."""
    if not takes(nodes) or dtype_of(next(n for n in nodes if "ConvInteger" in n.op).inputs[1]) != np.int8:
        return "it is not depthwise with int8 weights"
    conv = depthwise_shape(nodes)
    if conv.channels % CHANNELS or len(conv.windows) != 2:
        return f"{conv.channels} channels, {len(conv.windows)} axes"
    if conv.taps > (MOST_SUMMED if conv.factor == 1 else MOST_WRITTEN_TAPS):
        return f"{conv.taps} taps"
    refusal = refusal_of(_image(conv))
    if refusal is not None:
        return refusal
    most = extend_of(conv.source)[1] * int(np.abs(conv.weight.astype(np.int64)).sum(axis=0).max())
    first, *after = nodes[nodes.index(conv.node) + 1 :]
    requant = requant_of(first, conv.channels, most)
    if after and not isinstance(requant, str):
        requant = with_second(requant, after[0])
    if isinstance(requant, str):
        return requant
    # The sums of channels with the multiplier 0 do not matter.
    return replace(conv, weight=np.where(requant.multipliers[0] == 0, 0, conv.weight)), requant


def _image(conv: Depthwise) -> Image:
    y, x = conv.windows
    return Image(conv.source, conv.channels, y, x, conv.fill)


def _scaled(requant: Requant, ctype: str, sums: list[str]) -> tuple[str, ...]:
    """C lines that store the results one by one."""
    return tuple(
        f"to[{k}] = ({ctype})" + requant.text(f"match_cortexm_scale({value}, m[{k}], b[{k}], {requant.shift})") + ";"
        for k, value in enumerate(sums)
    )


def scalar_form(conv: Depthwise, requant: Requant, ctype: str, accumulates: bool) -> Form:
    """Products of single values, or their sums."""
    size, summed = dtype_of(conv.source).itemsize, conv.factor == 1
    weight = pack_depthwise_mve(conv.weight) if size == 1 else pack_depthwise_dsp(conv.weight, size).view(np.int16)
    name = "sum" if summed else f"depthwise_{'mla' if accumulates else 'muls'}"
    return Form(
        name=f"{name}{'' if size == 1 else '_i16'}",
        headers=requant.headers if size == 1 else (DSP, MVE, INT16),
        start="",
        step=str,
        finish=_scaled(requant, ctype, [f"s[{k}]" for k in range(CHANNELS)]),
        weight=None if summed else weight,
        scales=(requant.multipliers[0].astype(np.int32), requant.addend),
        wide=accumulates,
    )


def scalar_refusal(conv: Depthwise) -> str | None:
    """Why functions of single products do not take a layer."""
    if conv.factor == 1:
        y, x = conv.windows
        return "averages with padding" if border_of(y, x).condition else None
    step = conv.channels * dtype_of(conv.source).itemsize
    return "taps are far apart" if conv.windows[1].kernel * step > MOST_STEP else None


def dsp_form(conv: Depthwise, requant: Requant, ctype: str) -> Form:
    """Products of 16 bits; sums in halves of words."""
    extend, _ = extend_of(conv.source)
    multipliers = requant.multipliers[0].astype(np.int32)
    if conv.factor == 1 and extend:
        half = "(int16_t)" if extend[0] == "s" else "(uint16_t)"
        sums = [f"{half}even", f"{half}odd", f"{half}(even >> 16)", f"{half}(odd >> 16)"]
    else:
        sums = [f"s[{k}]" for k in range(CHANNELS)]
    finish = _scaled(requant, ctype, sums)
    if not extend:
        summed = conv.factor == 1
        return Form(
            name=f"{'sum' if summed else 'depthwise'}_i16",
            headers=(DSP, MVE, INT16),
            start="int32_t s[4] = {0};",
            step=lambda address: (
                f"MATCH_CORTEXM_ADD_16(s, ({address}));" if summed else f"MATCH_CORTEXM_CHANNELS_16(s, ({address}), w);"
            ),
            finish=finish,
            weight=None if summed else pack_depthwise_dsp(conv.weight, 2),
            scales=(multipliers, requant.addend),
        )
    if conv.factor == 1:
        return Form(
            name="sum_dsp",
            headers=(BYTES, *requant.headers),
            start="uint32_t even = 0, odd = 0;",
            step=lambda address: (
                f'MATCH_CORTEXM_HALVES(even, odd, match_cortexm_word({address}), "{extend[0]}xtab16");'
            ),
            finish=finish,
            scales=(multipliers, requant.addend),
        )
    return Form(
        name="depthwise_dsp",
        headers=(DSP, *requant.headers),
        start="int32_t s[4] = {0};",
        step=lambda address: f'MATCH_CORTEXM_CHANNELS(s, match_cortexm_word({address}), w, "{extend}");',
        finish=finish,
        weight=pack_depthwise_dsp(conv.weight),
        scales=(multipliers, requant.addend),
    )


def mve_form(conv: Depthwise, requant: Requant, ctype: str) -> Form | None:
    """Vectors of four sums. None if values are uint8, or the requantisation of bytes is not one of 32-bit lanes."""
    if dtype_of(conv.source) == np.int16:
        return _mve16_form(conv, requant) if ctype == "int16_t" else None
    most = 128 * np.abs(conv.weight.astype(np.int64)).sum(axis=0)
    upper = upper_of(requant, most) if dtype_of(conv.source) == np.int8 and ctype == "int8_t" else None
    if upper is None:
        return None
    bounds = f"{upper.left}, {upper.right}, {upper.low}, {upper.high}"
    summed = conv.factor == 1
    return Form(
        name="sum_mve" if summed else "depthwise_mve",
        headers=(MVE,),
        start="match_cortexm_i32x4 s = match_cortexm_zeros();",
        step=lambda address: (
            f"s = match_cortexm_sum_4(s, {address});" if summed else f"MATCH_CORTEXM_CHANNELS_4(s, ({address}), w);"
        ),
        finish=(f"match_cortexm_finish_4(to, 4, s, m, b, {bounds});",),
        weight=None if summed else pack_depthwise_mve(conv.weight),
        most_taps=MOST_WHOLE if summed else MOST_WRITTEN_TAPS,
        scales=(upper.multiplier, upper.addend),
    )


def _mve16_form(conv: Depthwise, requant: Requant) -> Form:
    """Vectors of four sums of int16 values."""
    summed = conv.factor == 1
    return Form(
        name="sum_mve_i16" if summed else "depthwise_mve_i16",
        headers=(DSP, MVE, INT16),
        start="match_cortexm_i32x4 s = match_cortexm_zeros();",
        step=lambda address: (
            f"s = match_cortexm_sum_16_4(s, {address});"
            if summed
            else f"MATCH_CORTEXM_CHANNELS_16_4(s, ({address}), w);"
        ),
        finish=tuple(vector_finish(requant, 4, "s")),
        weight=None if summed else pack_depthwise_dsp(conv.weight, 2),
        most_taps=MOST_WHOLE if summed else MOST_WRITTEN_TAPS,
        scales=(requant.multipliers[0].astype(np.int32), requant.addend),
    )


def build_depthwise(nodes: tuple[gs.Node, ...], function: str, core: Core) -> Counted:
    """The kernel of [Pad] depthwise convolution, Requant."""
    found = depthwise_of(nodes)
    if isinstance(found, str):
        raise ValueError(f"{function}: {found}")
    conv, requant = found
    y, x = conv.windows
    ctype = c_type(dtype_of(nodes[-1].outputs[0]))
    form = mve_form(conv, requant, ctype) if core.helium else None
    if form is None:
        form = dsp_form(conv, requant, ctype) if core.dsp else scalar_form(conv, requant, ctype, core.accumulates)
    node = nodes[nodes.index(conv.node) + 1]
    sizes = f"{conv.channels} channels, kernel {y.kernel}x{x.kernel}, stride {y.stride}x{x.stride}"
    comment = f"Depthwise {conv.node.op}, {node.op}: {sizes}"
    weight = None if form.weight is None else conv.node.inputs[1]
    kernel = build_taps(_image(conv), form, function, comment, nodes[-1].outputs[0], weight)
    blocks = dict(kernel.counts)["blocks"]
    again = 0 if requant.second is None else blocks
    clipped = blocks * clips(core, requant.low, requant.high)
    return replace(kernel, counts=(*kernel.counts, ("again", again), ("clipped", clipped)))
