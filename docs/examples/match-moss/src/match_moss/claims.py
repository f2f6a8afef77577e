"""What the engine runs as one operation, with the rules of its hardware; regions are made of these."""

from __future__ import annotations

from match_core import Any, AtomClaim, Const, Match, Maybe, Op, Region, RegionClaims
from match_core.ir.geometry import conv_geometry
from match_core.patterns import rules_tensors as tensors
from match_core.patterns import windows
from match_core.patterns.rule import rule
from match_core.patterns.rules_requant import bounds_are, per_tensor
from match_core.patterns.structures import DENSE, MAXIMUM, added, requantised
from match_quant.powers.rules import shift_rule, shift_rules
from match_regions import region_pattern

from match_moss.hardware import CHANNELS_MAX, DATA_BYTES, SHIFTS
from match_moss.layers import counts, data_bytes, engine_window, holds

_CONV = Op("match.nhwc::ConvInteger", "conv", (Maybe(MAXIMUM), Const("weight")))


@rule("kernel", "the kernel is 1x1 or 3x3")
def kernel(match: Match) -> str | None:
    found = windows.window_of(match).kernel
    return None if found in ((1, 1), (3, 3)) else f"it is {'x'.join(map(str, found))}"


@rule("channels", f"there are at most {CHANNELS_MAX} channels of input and of output")
def channels(match: Match) -> str | None:
    weight = match.shape("weight")
    most = max(weight[:2])
    return None if most <= CHANNELS_MAX else f"there are {most}"


@rule("pooling", "pooling in front is 2x2 with stride 2 and without padding", "pool")
def pooling(match: Match) -> str | None:
    found = conv_geometry(match.node("pool"))
    return None if (found.kernel, found.strides, max(found.pads)) == ((2, 2), (2, 2), 0) else f"it is {found}"


@rule("padding", "rows and columns are those of equal padding of 0 or 1, of which stride 2 keeps every second")
def padding(match: Match) -> str | None:
    window, full = windows.window_of(match), engine_window(match)
    first = [max(window.pads) - before for before in window.pads[:2]]
    kept = [-(-(size - start) // window.strides[0]) for size, start in zip(full, first, strict=True)]
    return None if kept == list(match.output.shape[1:3]) else f"padding is {list(window.pads)}"


@rule("vector", "the input is one vector")
def vector(match: Match) -> str | None:
    shape = match.shape("input")
    return None if len(shape) == 2 and shape[0] == 1 else f"its shape is {list(shape)}"


@rule("image", "the inputs are one image")
def image(match: Match) -> str | None:
    shape = match.shape("input_a")
    return None if len(shape) == 4 and shape[0] == 1 else f"its shape is {list(shape)}"


def _worth(region: Region) -> str | None:
    need = data_bytes(region)
    return None if need <= DATA_BYTES else f"they need {need}"


_LAYER = (tensors.int8_tensors, tensors.no_zero_points, *shift_rules(SHIFTS), channels)
_WINDOW = (
    windows.one_group,
    windows.no_dilation,
    kernel,
    windows.stride_is(1, 2),
    windows.pads_at_most(1),
    padding,
    pooling,
)
_BOUNDS = bounds_are("results are cut to -128..127, or to 0..127 (ReLU)", (-128, 127), (0, 127))
CLAIMS = RegionClaims(
    operators=(
        AtomClaim("conv", requantised(_CONV, "I8"), (*_LAYER, *_WINDOW)),
        AtomClaim("dense", requantised(DENSE, "I8"), (*_LAYER, vector)),
        AtomClaim(
            "add",
            added(Any("input_a"), Any("input_b"), "I8"),
            (tensors.int8_tensors, tensors.same_shapes, image, shift_rule(SHIFTS), per_tensor(), _BOUNDS),
        ),
    ),
    worth=_worth,
    worth_rule=f"activations of a region fit the {DATA_BYTES} bytes of the engine",
    counts=counts,
    holds=holds,
    parts_max=400,
)
PATTERN = region_pattern("moss_region", "layers that the engine computes one after another", CLAIMS)
