"""Convolution engines as data: the atoms that they claim, and each atom as a layer of the engine.

Activations are NHWC, in memory in groups of channels (``ConvEngine.group``): HWC by 4, by 16. A layer has one image or
one vector, whose features are the channels of one pixel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.claims import AtomClaim
from match_core.contract.structure import Any, Const, Constraint, Match, Maybe, Op
from match_core.ir.geometry import conv_geometry
from match_core.patterns import rules_tensors, windows
from match_core.patterns.rule import rule
from match_core.patterns.structures import DENSE, MAXIMUM, added, requantised
from numpy.typing import NDArray

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

_CONV = Op("match.nhwc::ConvInteger", "conv", (Maybe(MAXIMUM), Const("weight")))


@dataclass(frozen=True, slots=True)
class ConvEngine:
    """``sides`` of square kernels; ``strides`` that the engine computes, and those that it computes with stride 1 and
    drops pixels of (``dropped``); ``pads``: the paddings, equal on all sides; ``pools``: sides of the windows of
    maximum pooling in front of a convolution; ``channels_max`` of input and output; ``group``: channels that lie
    together in the engine's memory; ``sums``: whether it adds two tensors."""

    sides: tuple[int, ...]
    strides: tuple[int, ...] = (1,)
    dropped: tuple[int, ...] = ()
    pads: tuple[int, ...] = (0,)
    pools: tuple[int, ...] = ()
    channels_max: int = 1 << 16
    group: int = 1
    sums: bool = True

    def claims(self, layer: Sequence[Constraint], total: Sequence[Constraint]) -> tuple[AtomClaim, ...]:
        """Convolutions ("conv") and dense layers ("dense") with the rules ``layer`` on their arithmetic, and sums
        ("add") with the rules ``total``."""
        types = (rules_tensors.int8_tensors, rules_tensors.no_zero_points, self._channels())
        window = (windows.one_group, windows.no_dilation, self._kernel(), self._window(), self._pooling())
        conv = AtomClaim("conv", requantised(_CONV, "I8"), (*types, *window, *layer))
        dense = AtomClaim("dense", requantised(DENSE, "I8"), (*types, vector, *layer))
        rules = (rules_tensors.int8_tensors, rules_tensors.same_shapes, image, *total)
        sums = AtomClaim("add", added(Any("input_a"), Any("input_b"), "I8"), rules)
        return (conv, dense, *((sums,) if self.sums else ()))

    def size(self, tensor: gs.Tensor) -> int:
        """Bytes of an int8 tensor in the engine's memory."""
        rows, columns, channels = shape_hwc(tensor)
        return rows * columns * -(-channels // self.group) * self.group

    def _channels(self) -> Constraint:
        @rule("channels", f"there are at most {self.channels_max} channels of input and of output")
        def check(match: Match) -> str | None:
            most = max(match.shape("weight")[:2])
            return None if most <= self.channels_max else f"there are {most}"

        return check

    def _kernel(self) -> Constraint:
        @rule("kernel", f"the kernel is {' or '.join(f'{side}x{side}' for side in self.sides)}")
        def check(match: Match) -> str | None:
            found = windows.window_of(match).kernel
            return None if found in {(side, side) for side in self.sides} else f"it is {'x'.join(map(str, found))}"

        return check

    def _window(self) -> Constraint:
        steps = f"stride is {' or '.join(map(str, (*self.strides, *self.dropped)))}"

        @rule("window", f"{steps}, padding {' or '.join(map(str, self.pads))}, or pixels that are dropped make it so")
        def check(match: Match) -> str | None:
            window = windows.window_of(match)
            (step, other), pad = window.strides, max(window.pads)
            said = f"stride is {step}x{other}, padding {list(window.pads)}"
            if step != other or step not in (*self.strides, *self.dropped) or pad not in self.pads:
                return said
            made = layer_of("conv", match, self)
            kept = [-(-(size - first) // made.keep) for size, first in zip(made.computed, made.first, strict=True)]
            return None if kept == list(match.output.shape[1:3]) else said

        return check

    def _pooling(self) -> Constraint:
        @rule("pooling", f"pooling in front is of {' or '.join(f'{s}x{s}' for s in self.pools)} pixels, apart", "pool")
        def check(match: Match) -> str | None:
            found = conv_geometry(match.node("pool"))
            square = {((side, side), (side, side)) for side in self.pools}
            return None if (found.kernel, found.strides) in square and not max(found.pads) else f"it is {found}"

        return check


@rule("vector", "the input is one vector")
def vector(match: Match) -> str | None:
    shape = match.shape("input")
    return None if len(shape) == 2 and shape[0] == 1 else f"its shape is {list(shape)}"


@rule("image", "the inputs are one image")
def image(match: Match) -> str | None:
    shape = match.shape("input_a")
    return None if len(shape) == 4 and shape[0] == 1 else f"its shape is {list(shape)}"


@dataclass(frozen=True, slots=True)
class EngineLayer:
    """One start of the engine: ``kind`` is the name of the claim. ``rows``, ``columns``, ``inputs`` and ``outputs``
    (channels); ``kernel``, ``pad`` and ``pool`` are sides; ``stride`` that the engine computes; it makes ``computed``
    rows and columns, of which every ``keep``-th counts, from ``first`` on. ``weight``: int8 [outputs, taps, inputs]."""

    kind: str
    match: Match
    inputs: int
    outputs: int
    rows: int
    columns: int
    kernel: int
    pad: int
    pool: int
    stride: int
    keep: int
    first: tuple[int, int]
    computed: tuple[int, int]
    weight: NDArray[np.int8]

    @property
    def sources(self) -> tuple[gs.Tensor, ...]:
        """The activations that it reads."""
        names = ("input_a", "input_b") if self.kind == "add" else ("input",)
        return tuple(self.match.tensor(name) for name in names)

    @property
    def drops(self) -> bool:
        """Whether it computes pixels that do not count."""
        return self.computed != shape_hwc(self.match.output)[:2]


def layer_of(kind: str, match: Match, engine: ConvEngine) -> EngineLayer:
    """An atom (``atoms_in``) as a layer of the engine."""
    rows, columns, inputs = shape_hwc(match.tensor("input_a" if kind == "add" else "input"))
    outputs = shape_hwc(match.output)[2]
    if kind != "conv":
        weight = match.const("weight").T[:, None, :] if kind == "dense" else np.zeros((0, 1, inputs))
        plain = (1, 0, 1, 1, 1, (0, 0), (rows, columns))
        return EngineLayer(kind, match, inputs, outputs, rows, columns, *plain, np.ascontiguousarray(weight, np.int8))
    window, pool = windows.window_of(match), conv_geometry(match.node("pool")).kernel[0] if match.has("pool") else 1
    (kernel, _), step, pad = window.kernel, window.strides[0], max(window.pads)
    own = step if step in engine.strides else 1
    first = (pad - window.pads[0], pad - window.pads[1])
    computed = ((rows // pool + 2 * pad - kernel) // own + 1, (columns // pool + 2 * pad - kernel) // own + 1)
    weight = match.const("weight")
    taps = np.ascontiguousarray(weight.reshape(*weight.shape[:2], -1).transpose(0, 2, 1), np.int8)
    sizes = (kernel, pad, pool, own, step // own, first, computed, taps)
    return EngineLayer(kind, match, inputs, outputs, rows, columns, *sizes)


def shape_hwc(tensor: gs.Tensor) -> tuple[int, int, int]:
    """Rows, columns and channels of an image in NHWC, or of a vector."""
    _, *sizes, channels = (int(size) for size in tensor.shape)
    rows, columns = sizes or (1, 1)
    return rows, columns, channels
