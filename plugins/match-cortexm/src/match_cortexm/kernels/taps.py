"""Kernels that combine the taps of a window, channel by channel: depthwise convolutions and pooling in NHWC."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.element_types import c_type
from match_host.graph import dtype_of
from match_host.kernels.code import Uses, affine, inline_code
from match_host.kernels.products.depthwise_shape import MOST_WRITTEN_TAPS
from match_host.kernels.work import Work

from match_cortexm.headers import SHARED, header
from match_cortexm.kernels.border import border_of
from match_cortexm.kernels.counted import Counted
from match_cortexm.kernels.overlap import channel_by_channel
from match_cortexm.kernels.pointers import Reach, pointers_of
from match_cortexm.kernels.scalar import scalar_view
from match_cortexm.kernels.templates import render_body

if TYPE_CHECKING:
    from collections.abc import Callable

    import onnx_graphsurgeon as gs
    from match_host.kernels.window import Window
    from numpy.typing import NDArray

    from match_cortexm.kernels.border import Border

#: Turns of a loop over channels that compilers unroll, and steps of all turns: counted with gcc 12.2 for M0+. Offsets
#: of loads in Thumb are smaller than the last number.
_PEELED_TURNS, _PEELED_STEPS, _NEAR = 17, 140, 32
#: Columns of windows whose distances have registers in Thumb.
_OFFSETS = 3
#: Taps of an average of a whole image whose addresses are in registers: counted with gcc 12.2 for M55.
MOST_WHOLE = 8
#: Turns of a loop that compilers unroll, and the largest step of a load with Helium that writes the address back.
_MOST_PEELED, _STEP = 17, 127


@dataclass(frozen=True)
class Form:
    """How a core computes a block of channels; ``name``: of its counts. ``start``: the C line before the taps;
    ``step``: the text of a tap at an address; ``weight`` of the taps, and ``scales``: multipliers and addends of the
    results, all None where there are none; ``finish``: the lines that store the results. ``again``: a form that
    computes a window once more if one of ``flags`` (MATCH_CORTEXM_...) is set before results are stored. ``wide``: the
    sums ``s`` of all taps come from functions instead, in instructions of Thumb-2 or of Thumb. ``repeats``: the
    last block ends with the last channel, and computes some once more. ``reach``: how far loads reach, of forms whose
    taps have pointers of their own; ``first``: the text of the first tap then. ``parts``: the text has the channels
    that are ``left`` for the last block. ``largest``: the largest values of all channels come from a function instead,
    in instructions of Thumb."""

    name: str
    headers: tuple[str, ...]
    start: str
    step: Callable[[str], str]
    finish: tuple[str, ...]
    weight: NDArray[np.generic] | None = None
    scales: tuple[NDArray[np.generic], NDArray[np.generic]] | None = None
    block: int = 4
    again: Form | None = None
    flags: str = ""
    row: str = "row"  # the variable of loops over taps
    wide: bool | None = None
    repeats: bool = False
    first: Callable[[str], str] | None = None
    reach: Reach | None = None
    parts: bool = False
    largest: bool = False
    most_taps: int = MOST_WRITTEN_TAPS  # of windows that are whole images: those without a loop


@dataclass(frozen=True)
class Image:
    """What the windows ``y`` and ``x`` slide over; ``fill``: the value around it, None: the nearest one inside."""

    source: gs.Tensor
    channels: int
    y: Window
    x: Window
    fill: int | None

    @property
    def taps(self) -> int:
        """Taps of a window."""
        return self.y.kernel * self.x.kernel

    @property
    def whole(self) -> bool:
        """Whether the taps of a window follow each other in memory."""
        return self.x.kernel == self.x.size


def refusal_of(image: Image, most: int = MOST_WRITTEN_TAPS) -> str | None:
    """Why the kernels do not take the windows; ``most``: taps of those with padding."""
    windows = (image.y, image.x)
    if any(window.before < 0 or window.after < 0 or window.dilation != 1 for window in windows):
        return "it has dilations, or padding crops the input"
    if image.taps > most and border_of(*windows).condition:
        return f"{image.taps} taps with padding"
    return None


def build_taps(
    image: Image, form: Form, function: str, comment: str, result: gs.Tensor, weight: gs.Tensor | None = None
) -> Counted:
    """The kernel; ``weight``: the tensor that is stored as ``form.weight``."""
    import onnx_graphsurgeon as gs

    y, x, channels = image.y, image.x, image.channels
    border, row = border_of(y, x), x.size * channels
    extra: dict[str, NDArray[np.generic]] = {}
    arguments, constants = [image.source], {}
    if weight is not None and form.weight is not None:
        arguments, constants = [image.source, weight], {1: form.weight}
    if form.scales is not None:
        extra |= {"m": form.scales[0], "b": form.scales[1]}
    scaled = len(arguments) if form.scales is not None else 0
    if border.condition and image.fill is not None:
        extra["outside"] = np.full(channels, image.fill).astype(dtype_of(image.source))
    for word, values in extra.items():
        constants[len(arguments)] = values
        arguments.append(gs.Constant(f"{result.name}/{word}", values))
    written = image.taps <= (form.most_taps if image.whole and not border.condition else MOST_WRITTEN_TAPS)
    held = None
    if form.reach is not None and written:
        places = [row * ky + channels * kx for ky in range(y.kernel) for kx in range(x.kernel)]
        held = pointers_of(places, channels, form.block, form.reach)
    uses = Uses()
    for name in (SHARED, *form.headers):
        uses.headers[name] = header(name)
    text = render_body(
        "taps",
        window=_function(uses, image, form),
        edge_window=_function(uses, image, form, edge=True) if border.condition else "",
        window_row=row * dtype_of(image.source).itemsize,
        rows=y.kernel,
        columns=x.kernel,
        channels=channels,
        block=form.block,
        height=y.out,
        width=x.out,
        in_height=y.size,
        in_width=x.size,
        row_bytes=row,
        border=border.condition,
        written=written,
        rolled=form.most_taps < MOST_WRITTEN_TAPS and image.whole and not written and image.taps <= _MOST_PEELED,
        held=held,
        row_place=affine([("y", y.stride), ("ky", 1)], -y.before),
        column_place=affine([("x", x.stride), ("kx", 1)], -x.before),
        source=affine([("y", y.stride * row), ("x", x.stride * channels)], -y.before * row - x.before * channels),
        row_source=affine([("y", y.stride * row)], -y.before * row - x.before * channels),
        row_target=affine([("y", x.out * channels)]),
        step=x.stride * channels,
        target=affine([("y", x.out * channels), ("x", channels)]),
        form=form,
        nearest=image.fill is None,
        scaled=scaled,
        outside=len(arguments) - 1,
        ctype=c_type(dtype_of(result)),
        ctype_in=c_type(dtype_of(image.source)),
        wtype="" if form.weight is None else c_type(form.weight.dtype),
        btype="" if form.scales is None else c_type(form.scales[1].dtype),
    )
    code = inline_code(function, comment, arguments, (result,), text, uses, constants)
    again = (form.block - 1) * dtype_of(image.source).itemsize if form.repeats else 0
    code = replace(code, overlaps=channel_by_channel(image.source, result, y, x, channels, again))
    blocks = -(-channels // form.block)
    parts = form.parts and channels % form.block > 0
    counts = held.counts(border, blocks, parts) if held else _counts(image, border, blocks, written)
    if form.largest:
        counts = _whole_counts(image, border)
    macs = border.tiles * image.taps * channels if form.scales is not None else 0
    return Counted(tuple(arguments), code, Work(), form.name, tuple(counts.items()), macs)


def _counts(image: Image, border: Border, blocks: int, written: bool) -> dict[str, int]:
    """What a kernel does whose taps have one pointer. Of one channel after another: ``turns`` of a loop that compilers
    do not unroll, ``near`` ones with offsets that Thumb has in loads without a sign."""
    tiles, outside = border.tiles * blocks, border.outside * blocks
    counts = {
        "steps": tiles * image.taps,
        "loops": 0 if written else tiles * image.taps,
        "far": 0 if written or image.channels <= _STEP else tiles * image.taps,
        "blocks": tiles,
        "tiles": border.tiles,
        "outside_taps": border.outside * image.taps,
        "outside_steps": outside * image.taps,
    }
    if blocks == image.channels and written:
        turns = blocks > _PEELED_TURNS or blocks * image.taps > _PEELED_STEPS
        counts |= {"turns": tiles * turns, "near": (tiles - outside) * (turns and blocks < _NEAR)}
    return counts


def _whole_counts(image: Image, border: Border) -> dict[str, int]:
    """What a kernel does that has a function for all channels of a window; a call is a tile. From row to row, and from
    column to column of many, its pointer goes on."""
    inside, rows, columns = border.tiles - border.outside, image.y.kernel, image.x.kernel
    counts = {"blocks": 1, "steps": image.taps - 1, "moved": image.taps if columns > _OFFSETS else rows}
    found = {name: inside * image.channels * count for name, count in counts.items()}
    edges = {"steps": (image.taps - 1) * image.channels, "blocks": image.channels, "taps": image.taps, "tiles": 1}
    found |= {f"edge_{name}": border.outside * count for name, count in edges.items()}
    return {"tiles": border.tiles, **found}


def _function(uses: Uses, image: Image, form: Form, edge: bool = False) -> str:
    """The function for the sums of a window, whose name tells its sizes, or for taps of a table (``edge``); empty if
    the form has none."""
    if form.wide is None and not form.largest:
        return ""
    size, ctype = dtype_of(image.source).itemsize, c_type(dtype_of(image.source))
    y, x, step = image.y.kernel, image.x.kernel, image.channels * size
    if form.weight is None and not form.largest and x == image.x.size:  # rows follow each other
        y, x = 1, y * x
    kind = "largest" if form.largest else "sum" if form.weight is None else "window"
    apart = f"{'edge_' * edge}{step}" if form.largest else "edge" if edge else step
    name = f"match_cortexm_{kind}_{ctype.removesuffix('_t')}_{y}x{x}_{apart}"
    view = {"name": name, "edge": edge, "rows": y, "columns": x, "step": step, "size": size, "ctype": ctype}
    view |= {"load_weight": "ldrsb" if size == 1 else "ldrsh", **scalar_view(form.wide or False, image.source)}
    if form.largest:
        return uses.helper(name, render_body("largest_scalar", channels=image.channels, **view) + "\n")
    if form.weight is None:
        return uses.helper(name, render_body("sums_scalar", **view) + "\n")
    return uses.helper(name, render_body("window_scalar", wtype=c_type(form.weight.dtype), **view) + "\n")
