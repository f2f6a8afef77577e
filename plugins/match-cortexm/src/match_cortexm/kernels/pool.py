"""The largest value of each window, in NHWC, of bytes and int16; with Helium, that of float32, and averages of it.

Vectors of floats flush subnormal numbers, and NaN is never larger: windows with one of them are computed again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.element_types import c_type
from match_core.contract.model import qualified_op
from match_core.ir.reader import shape_of
from match_host.graph import dtype_of, integer, integers
from match_host.kernels.code import literal
from match_host.kernels.products.depthwise_shape import MOST_WRITTEN_TAPS
from match_host.kernels.window import Window, windows

from match_cortexm.headers import BYTES, FLOAT
from match_cortexm.kernels.border import border_of
from match_cortexm.kernels.pointers import Reach
from match_cortexm.kernels.taps import MOST_WHOLE, Form, Image, build_taps, refusal_of
from match_cortexm.kernels.vectors import LANES, PREFIX, SCALAR, VECTOR

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

    from match_cortexm.cores import Core
    from match_cortexm.kernels.counted import Counted

#: The operators; ``REAL_POOL`` in float32.
MAX_POOL = "match.nhwc::MaxPool|match.nhwc::MaxPoolI16"
REAL_POOL = "match.nhwc::MaxPool|match.nhwc::AveragePool"
#: Taps of windows with padding, whose addresses are on the stack.
_MOST_TAPS = 64
#: The smallest value, and channels of a word and of a vector.
_LOWEST = {"int8": -128, "uint8": 0, "int16": -(1 << 15)}
_WORDS = {"int8": 4, "uint8": 4, "int16": 2}
_VECTORS = {"int8": 16, "int16": 8}
#: Bytes from an address up to which loads of Thumb-2 reach.
_BYTES = 4095
#: Of a line: the axis that it does not have.
_ROW = Window("y", 1, 1, 1, 1, 1, 0, 0)


def _image(node: gs.Node, fill: int | None, block: int, most: int = MOST_WRITTEN_TAPS) -> Image | str:
    """The image, or the line, and its windows, or why the kernels do not take them."""
    shape = shape_of(node.inputs[0])
    if len(shape) not in (3, 4) or shape[0] != 1:
        return f"the shape is {shape}"
    if len(node.outputs) > 1 and not node.outputs[1].is_empty():
        return "the places of the maxima are a result"
    if shape[-1] % block:
        return f"{shape[-1]} channels"
    sizes, results = shape[1:-1], shape_of(node.outputs[0])[1:-1]
    *rows, x = windows(node, sizes, results, integers(node, "kernel_shape", (1,) * len(sizes)))
    image = Image(node.inputs[0], shape[-1], rows[0] if rows else _ROW, x, fill)
    return refusal_of(image, most) or image


def pool_of(node: gs.Node) -> Image | str:
    """What a MaxPool of integers slides over, or why the kernels do not take the node."""
    dtype = dtype_of(node.inputs[0]).name
    if qualified_op(node) not in MAX_POOL.split("|") or dtype not in _LOWEST:
        return f"{qualified_op(node)} of {dtype}"
    return _image(node, _LOWEST[dtype], 1, _MOST_TAPS)


def real_pool_of(node: gs.Node) -> Image | str:
    """What a pooling of float32 slides over, or why the kernels do not take the node."""
    dtype, average = dtype_of(node.inputs[0]).name, "Average" in node.op
    if qualified_op(node) not in REAL_POOL.split("|") or dtype != "float32":
        return f"{qualified_op(node)} of {dtype}"
    image = _image(node, 0 if average else None, LANES)
    if isinstance(image, str):
        return image
    if len(shape_of(node.inputs[0])) == 3:
        return "it is a line"
    if not border_of(image.y, image.x).condition:
        return image
    for window in (image.y, image.x):
        last = (window.out - 1) * window.stride - window.before
        if window.before >= window.kernel or last >= window.size:
            return "a window has no value"
        if average and (not integer(node, "count_include_pad", 0) or last + window.kernel > window.size + window.after):
            return "windows average different numbers of values"
    return image


def _form(image: Image, core: Core) -> Form:
    name = dtype_of(image.source).name
    wide = name == "int16"
    suffix = "_i16" if wide else ""
    whole = not core.accumulates and image.taps <= MOST_WRITTEN_TAPS
    if core.helium and name in _VECTORS:
        block = _VECTORS[name]
        return Form(
            name=f"max_mve{suffix}",
            headers=(BYTES,),
            start=f"match_cortexm_i{'16x8' if wide else '8x16'} s = match_cortexm_lowest{'_8' if wide else ''}();",
            step=lambda address: f"s = match_cortexm_max_{block}(s, {address}, left);",
            first=lambda address: (
                f"match_cortexm_i{'16x8' if wide else '8x16'} s = match_cortexm_load_{block}({address}, left);"
            ),
            finish=(f"match_cortexm_store_{block}(to, s, left);",),
            block=block,
            reach=Reach(127, 0),
            parts=True,
        )
    if not core.dsp or image.channels < _WORDS[name]:
        return Form(
            name=f"max_all{suffix}" if whole else f"max{suffix}",
            headers=(),
            start=f"int32_t s = {_LOWEST[name]};",
            step=lambda address: f"s = s > *({address}) ? s : *({address});",
            first=lambda address: f"int32_t s = *({address});",
            finish=(f"*to = ({c_type(dtype_of(image.source))})s;",),
            block=1,
            reach=Reach(_BYTES // dtype_of(image.source).itemsize, 9) if core.accumulates else None,
            largest=whole,
        )
    repeats = image.channels % _WORDS[name] != 0
    kind = "s16" if wide else "s8" if name == "int8" else "u8"
    lowest = {"s16": "(int32_t)0x80008000u", "s8": "(int32_t)0x80808080u", "u8": "0"}[kind]
    return Form(
        name=f"max_dsp{suffix}",
        headers=(BYTES,),
        start=f"int32_t s = {lowest};",
        step=lambda address: f"s = match_cortexm_max_{kind}(s, match_cortexm_word({address}));",
        first=lambda address: f"int32_t s = match_cortexm_word({address});",
        finish=("memcpy(to, &s, sizeof s);",),
        block=_WORDS[name],
        repeats=repeats,
        reach=Reach(_BYTES // dtype_of(image.source).itemsize, 9),
    )


def _real_form(image: Image, average: bool, prefix: str = PREFIX) -> Form:
    """The form in vectors, or in scalar code."""
    again = _real_form(image, average, SCALAR) if prefix == PREFIX else None
    s, row = ("s", "row") if again else ("t", "line")
    combine = "add" if average else "larger"
    start = f"{prefix}all(0.0f)" if average else f"{prefix}lowest()"
    store = f"{prefix}store(to, {s});"
    if average and not _shifts(image.taps):
        store = f"{prefix}store_quotients(to, {s}, {literal(image.taps, np.dtype(np.float32))});"
    elif average:  # a quotient by a power of two
        store = f"{prefix}store(to, {prefix}mul({s}, {prefix}all({literal(1 / image.taps, np.dtype(np.float32))})));"
    return Form(
        name="real_average" if average else "real_max",
        headers=(FLOAT,),
        start=f"{VECTOR.replace(PREFIX, prefix)} {s} = {start};",
        step=lambda address: f"{s} = {prefix}{combine}({s}, {prefix}load({address}));",
        finish=(store,),
        block=LANES,
        again=again,
        flags="FLUSHED" if average else "UNSURE",
        row=row,
        most_taps=MOST_WHOLE if average else MOST_WRITTEN_TAPS,
    )


def build_pool(nodes: tuple[gs.Node, ...], function: str, core: Core) -> Counted:
    """The kernel of one MaxPool of integers."""
    (node,) = nodes
    return _built(node, pool_of(node), function, lambda image: _form(image, core))


def build_real_pool(nodes: tuple[gs.Node, ...], function: str, core: Core) -> Counted:
    """The kernel of one pooling of float32."""
    (node,) = nodes
    found = real_pool_of(node) if core.helium else "the core has no vectors"
    return _built(node, found, function, lambda image: _real_form(image, "Average" in node.op))


def _built(node: gs.Node, image: Image | str, function: str, form: Callable[[Image], Form]) -> Counted:
    if isinstance(image, str):
        raise ValueError(f"{function}: {image}")
    comment = f"{node.op}: {image.channels} channels, kernel {image.y.kernel}x{image.x.kernel}"
    kernel = build_taps(image, form(image), function, comment, node.outputs[0])
    divided = "Average" in node.op and not _shifts(image.taps)
    blocks = dict(kernel.counts)["blocks"]
    return replace(kernel, counts=(*kernel.counts, ("quotients", blocks * divided)))


def _shifts(number: int) -> bool:
    """Whether it is a power of two."""
    return number & (number - 1) == 0
