"""Depthwise convolutions of activations in NHWC on cores with the DSP extension, four channels at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.element_types import c_type
from match_host.graph import dtype_of
from match_host.kernels.built import Built
from match_host.kernels.code import Uses, affine, inline_code
from match_host.kernels.products.depthwise_shape import MOST_WRITTEN_TAPS, Depthwise, depthwise_shape, takes
from match_host.kernels.work import Work

from match_cortexm.headers import DSP, SHARED, header
from match_cortexm.kernels.product_dsp import border_condition
from match_cortexm.kernels.requant import Requant, extend_of, requant_of
from match_cortexm.kernels.templates import render_body

if TYPE_CHECKING:
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
    return requant if isinstance(requant, str) else (conv, requant)


def pack_depthwise(weight: NDArray[np.generic]) -> NDArray[np.int32]:
    """Weights [taps, channels] as words [blocks of channels, taps, 2]: 16 bits of channels 0 and 2, of 1 and 3."""
    taps, channels = weight.shape
    split = weight.astype("<i2").reshape(taps, channels // CHANNELS, 2, 2)
    ordered = np.ascontiguousarray(np.transpose(split, (1, 0, 3, 2)))
    return ordered.reshape(-1).view("<i4").astype(np.int32)


def build_depthwise_dsp(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """The kernel of [Pad] depthwise convolution, Requant."""
    found = depthwise_of(nodes)
    if isinstance(found, str):
        raise ValueError(f"{function}: {found}")
    import onnx_graphsurgeon as gs

    conv, requant = found
    y, x = conv.windows
    extend, _ = extend_of(conv.source)
    scaled = "match_cortexm_scale({sum}, m[{k}], b[{k}], %d)" % requant.shift
    ctype = c_type(dtype_of(nodes[-1].outputs[0]))
    border = border_condition(y, x)
    image = x.size * conv.channels
    text = render_body(
        "depthwise_dsp",
        rows=y.kernel,
        columns=x.kernel,
        channels=conv.channels,
        height=y.out,
        width=x.out,
        in_height=y.size,
        in_width=x.size,
        row_bytes=image,
        border=border,
        row_place=affine([("y", y.stride), ("ky", 1)], -y.before),
        column_place=affine([("x", x.stride), ("kx", 1)], -x.before),
        source=affine(
            [("y", y.stride * image), ("x", x.stride * conv.channels)], -y.before * image - x.before * conv.channels
        ),
        target=affine([("y", x.out * conv.channels), ("x", conv.channels)]),
        result=lambda value, k, p: f"({ctype}){requant.text(scaled.format(sum=value, k=k))}",
        extend=extend,
        ctype=ctype,
        ctype_in=c_type(dtype_of(conv.source)),
    )
    uses = Uses()
    uses.headers["match_cortexm"] = header(SHARED)
    uses.headers["match_cortexm_dsp"] = header(DSP)
    node = nodes[nodes.index(conv.node) + 1]
    line = np.full(conv.channels, conv.fill).astype(dtype_of(conv.source))
    extra = [("m", requant.multipliers[0].astype(np.int32)), ("b", requant.addend)]
    if border:
        extra.append(("outside", line))
    arguments = (
        conv.source,
        conv.node.inputs[1],
        *(gs.Constant(f"{node.name}/{word}", values) for word, values in extra),
    )
    constants = {1: pack_depthwise(conv.weight), **{2 + i: values for i, (_, values) in enumerate(extra)}}
    kernel = f"{conv.channels} channels, kernel {y.kernel}x{x.kernel}, stride {y.stride}x{x.stride}"
    comment = f"Depthwise {conv.node.op}, {node.op}: {kernel}"
    code = inline_code(function, comment, arguments, nodes[-1].outputs[:1], text, uses, constants)
    return Built(arguments, code, Work(tile_macs=y.out * x.out * conv.taps * conv.channels))
