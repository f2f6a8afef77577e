"""How cores compute a tile of a convolution or dense layer: in SMLAD, in vectors of 16 bytes or of eight values, or by
single values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from match_host.graph import dtype_of

from match_cortexm.headers import DSP, INT16, MVE
from match_cortexm.kernels.layer import Layer
from match_cortexm.kernels.packing import OUTPUTS, pack_dsp, pack_mve
from match_cortexm.kernels.requant import extend_of, vector_finish
from match_cortexm.kernels.upper import upper_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

#: The largest distance of an immediate offset in a load.
MOST_STEP = 4095
#: Instructions of a step of 16 values, and to copy one row of a window: the two for which copies are compared.
STEP_INSTRUCTIONS, COPY_INSTRUCTIONS = 9, 60


@dataclass(frozen=True)
class Form:
    """How a core computes the sums of a tile; ``name``: of its counts. ``positions`` of a tile, ``values`` of a step,
    ``steps``: the C lines of so many; ``constants`` for the sums and their requantisation; ``finish``: C lines that
    store the results of a tile with so many outputs. ``compact``: all tiles read copies of their windows, because the
    steps of each row of a window would be mostly padding. ``block``: the template of a function for the sums of a tile,
    instead of ``steps``; ``wide``: in instructions of Thumb-2."""

    name: str
    header: str
    positions: int
    values: int
    steps: Callable[[int], Sequence[str]]
    constants: tuple[NDArray[np.generic], NDArray[np.generic], NDArray[np.generic]]
    finish: Callable[[int], Sequence[str]]
    compact: bool = False
    block: str = ""
    wide: bool = True


def dsp_form(layer: Layer, ctype: str, most_positions: int = 2) -> Form:
    """SMLAD: two positions if there are two close enough, else one."""
    extend, _ = extend_of(layer.source)
    positions = most_positions if layer.x.out > 1 and layer.step <= MOST_STEP else 1
    step_text = f'MATCH_CORTEXM_STEP_1(s, a, w, "{extend}");' if extend else "MATCH_CORTEXM_STEP_16(s, a, w);"
    return Form(
        name=f"dsp{positions}{_suffix(layer)}",
        header=DSP if extend else INT16,
        positions=positions,
        values=4,
        steps=lambda count: [step_text] * count,
        constants=(pack_dsp(layer.weight, layer.size), layer.first.multipliers[0].astype(np.int32), layer.first.addend),
        finish=partial(_scaled, layer, ctype, positions),
        block="block_dsp" if positions > 1 else "",
    )


def scalar_form(layer: Layer, ctype: str, accumulates: bool) -> Form:
    """Products of single values: MLA for two positions if there are two close enough, or MULS for one."""
    positions = 2 if accumulates and layer.x.out > 1 and layer.step <= MOST_STEP else 1
    return Form(
        name=f"{f'mla{positions}' if accumulates else 'muls'}{_suffix(layer)}",
        header=INT16 if layer.size > 1 else "",
        positions=positions,
        values=1,
        steps=lambda count: [],
        constants=(pack_mve(layer.weight, 1), layer.first.multipliers[0].astype(np.int32), layer.first.addend),
        finish=partial(_scaled, layer, ctype, positions),
        block="block_scalar",
        wide=accumulates,
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
