"""Reusable rules for patterns: small factories over capture names.

Each factory returns a Constraint whose description is the rule in words. A rule about a node or tensor that
an optional part of the structure did not capture holds. Attributes that ONNX lets be absent read as their
defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from match_core.patterns.language import Constraint, Match

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from match_core.hardware import RequantSpec


def rule(name: str, description: str, check: Callable[[Match], str | None], *captures: str) -> Constraint:
    """A constraint that is checked only where all ``captures`` are there."""

    def checked(match: Match) -> str | None:
        return check(match) if all(match.has(capture) for capture in captures) else None

    return Constraint(name, description, checked)


def integers(match: Match, capture: str, attribute: str, default: Sequence[int]) -> tuple[int, ...]:
    """A list attribute of a captured node as a tuple of int; ``default`` where it is absent."""
    values = match.node(capture).attrs.get(attribute)
    return tuple(int(value) for value in (default if values is None else values))


def spatial_ones(match: Match, capture: str) -> tuple[int, ...]:
    """The default of strides and dilations: a one for each spatial axis of the node's first input."""
    return (1,) * (len(match.node(capture).inputs[0].shape) - 2)


def dtype_name(match: Match, capture: str) -> str:
    """The element type of a captured tensor as numpy spells it ("uint8")."""
    import numpy as np

    dtype = match.tensor(capture).dtype
    if isinstance(dtype, int):  # graphsurgeon keeps types that numpy lacks as ONNX numbers
        import onnx

        return str(onnx.TensorProto.DataType.Name(dtype)).lower()
    return "unknown" if dtype is None else str(np.dtype(dtype).name)


def by_words(values: Sequence[int]) -> str:
    """``3x3`` for (3, 3)."""
    return "x".join(str(value) for value in values)


def dtype_is(capture: str, *names: str) -> Constraint:
    """The captured tensor has one of these element types."""

    def check(match: Match) -> str | None:
        name = dtype_name(match, capture)
        return None if name in names else f"{capture} is {name}"

    return rule(f"{capture}_dtype", f"{capture} is {' or '.join(names)}", check, capture)


def rank_is(capture: str, *ranks: int) -> Constraint:
    """The captured tensor has one of these ranks."""

    def check(match: Match) -> str | None:
        rank = len(match.shape(capture))
        return None if rank in ranks else f"{capture} has rank {rank}"

    words = " or ".join(str(rank) for rank in ranks)
    return rule(f"{capture}_rank", f"{capture} has rank {words}", check, capture)


def attribute_in(
    capture: str, attribute: str, allowed: Sequence[int | float | str], default: int | float | str
) -> Constraint:
    """A scalar attribute of the captured node has one of these values."""

    def check(match: Match) -> str | None:
        value = match.node(capture).attrs.get(attribute, default)
        return None if value in allowed else f"{attribute} is {value}"

    words = " or ".join(str(value) for value in allowed)
    return rule(f"{capture}_{attribute}", f"{attribute} of {capture} is {words}", check, capture)


def stride_in(capture: str, *allowed: tuple[int, ...]) -> Constraint:
    """The strides of the captured node are one of these tuples."""

    def check(match: Match) -> str | None:
        strides = integers(match, capture, "strides", spatial_ones(match, capture))
        return None if strides in allowed else f"stride is {by_words(strides)}"

    words = " or ".join(by_words(strides) for strides in allowed)
    return rule(f"{capture}_stride", f"stride is {words}", check, capture)


def kernel_of(match: Match, capture: str) -> tuple[int, ...]:
    """The kernel size of a captured node: its attribute, else the spatial shape of its weights (OIHW)."""
    node = match.node(capture)
    if "kernel_shape" in node.attrs:
        return integers(match, capture, "kernel_shape", ())
    return tuple(int(size) for size in node.inputs[1].shape[2:])


def kernel_in(capture: str, *allowed: tuple[int, ...]) -> Constraint:
    """The kernel of the captured node has one of these sizes."""

    def check(match: Match) -> str | None:
        kernel = kernel_of(match, capture)
        return None if kernel in allowed else f"kernel is {by_words(kernel)}"

    words = " or ".join(by_words(kernel) for kernel in allowed)
    return rule(f"{capture}_kernel", f"kernel is {words}", check, capture)


def no_dilation(capture: str) -> Constraint:
    """The captured node is not dilated."""

    def check(match: Match) -> str | None:
        dilations = integers(match, capture, "dilations", spatial_ones(match, capture))
        return None if all(d == 1 for d in dilations) else f"dilation is {by_words(dilations)}"

    return rule(f"{capture}_dilation", "dilation is 1", check, capture)


def pads_at_most(capture: str, most: int) -> Constraint:
    """No side of the captured node is padded by more than ``most``."""

    def check(match: Match) -> str | None:
        pads = integers(match, capture, "pads", (0,) * (2 * len(spatial_ones(match, capture))))
        return None if all(pad <= most for pad in pads) else f"padding is {by_words(pads)}"

    return rule(f"{capture}_pads", f"padding is at most {most} per side", check, capture)


def symmetric_pads(capture: str) -> Constraint:
    """Padding before and after each axis of the captured node is equal."""

    def check(match: Match) -> str | None:
        pads = integers(match, capture, "pads", (0,) * (2 * len(spatial_ones(match, capture))))
        half = len(pads) // 2
        return None if pads[:half] == pads[half:] else f"padding is {by_words(pads)}"

    return rule(f"{capture}_pad_symmetry", "padding is equal before and after each axis", check, capture)


def _groups(match: Match, capture: str) -> int:
    return int(match.node(capture).attrs.get("group", 1))


def ungrouped(capture: str) -> Constraint:
    """The captured convolution has one group."""

    def check(match: Match) -> str | None:
        groups = _groups(match, capture)
        return None if groups == 1 else f"group is {groups}"

    return rule(f"{capture}_group", "one group", check, capture)


def depthwise(capture: str) -> Constraint:
    """The captured convolution has as many groups as input and output channels (weights OIHW)."""

    def check(match: Match) -> str | None:
        groups = _groups(match, capture)
        outputs, inputs_per_group = (int(size) for size in match.node(capture).inputs[1].shape[:2])
        if inputs_per_group == 1 and outputs == groups:
            return None
        return f"group is {groups} with {outputs} output and {groups * inputs_per_group} input channels"

    return rule(f"{capture}_depthwise", "one group per channel, as many outputs as inputs", check, capture)


def same_shape(first: str, second: str) -> Constraint:
    """Two captured tensors have equal shapes (no broadcasting)."""

    def check(match: Match) -> str | None:
        one, two = match.shape(first), match.shape(second)
        return None if one == two else f"{first} is {by_words(one)}, {second} is {by_words(two)}"

    return rule(f"{first}_{second}_shape", f"{first} and {second} have equal shapes", check, first, second)


def axis_multiple_of(capture: str, axis: int, factor: int) -> Constraint:
    """An axis of a captured tensor is a multiple of ``factor``."""

    def check(match: Match) -> str | None:
        size = match.shape(capture)[axis]
        return None if size % factor == 0 else f"axis {axis} of {capture} is {size}"

    words = f"axis {axis} of {capture} is a multiple of {factor}"
    return rule(f"{capture}_axis{axis}_multiple", words, check, capture)


def axis_at_most(capture: str, axis: int, most: int) -> Constraint:
    """An axis of a captured tensor is not longer than ``most``."""

    def check(match: Match) -> str | None:
        size = match.shape(capture)[axis]
        return None if size <= most else f"axis {axis} of {capture} is {size}"

    return rule(f"{capture}_axis{axis}_most", f"axis {axis} of {capture} is at most {most}", check, capture)


def per_tensor(capture: str) -> Constraint:
    """A captured constant holds one value for the whole tensor (it may be repeated)."""

    def check(match: Match) -> str | None:
        values = match.const(capture)
        return None if values.size and bool((values == values.flat[0]).all()) else f"{capture} varies"

    return rule(f"{capture}_per_tensor", f"{capture} is one value for the whole tensor", check, capture)


def per_channel(capture: str, axis: int) -> Constraint:
    """A captured constant varies along ``axis`` only (negative counts from the end), or is a single value."""

    def check(match: Match) -> str | None:
        shape = match.shape(capture)
        kept = axis % len(shape) if shape else 0
        ok = all(size == 1 or index == kept for index, size in enumerate(shape))
        return None if ok else f"{capture} has shape {by_words(shape)}"

    return rule(f"{capture}_per_channel", f"{capture} is one value or one per channel", check, capture)


def constant_within(capture: str, low: int, high: int) -> Constraint:
    """All values of a captured constant lie in [low, high]."""

    def check(match: Match) -> str | None:
        values: NDArray[np.generic] = match.const(capture)
        if not values.size:
            return None
        least, most = values.min(), values.max()
        return None if low <= least and most <= high else f"{capture} spans {least} to {most}"

    return rule(f"{capture}_range", f"{capture} lies in {low} to {high}", check, capture)


def multiplier_fits(capture: str, spec: RequantSpec) -> Constraint:
    """The requantisation multipliers are positive and have the width that the unit multiplies with."""
    words = f"multipliers are 0 to {spec.multiplier_max}"
    inner = constant_within(capture, 0, spec.multiplier_max)
    return Constraint(f"{capture}_multiplier", words, inner.check)


def divisor_fits(capture: str, spec: RequantSpec) -> Constraint:
    """The requantisation divisor is a power of two that the unit can shift by (one for all channels, unless
    it has a shift per channel)."""

    def check(match: Match) -> str | None:
        divisors = sorted({int(value) for value in match.const(capture).flat})
        if len(divisors) != 1 and not spec.per_channel_shift:
            return f"{capture} has {len(divisors)} different values"
        for divisor in divisors:
            shift = divisor.bit_length() - 1
            if divisor <= 0 or divisor != 1 << shift or not spec.shift_min <= shift <= spec.shift_max:
                return f"{capture} is {divisor}"
        return None

    words = f"{capture} is a power of two, 2^{spec.shift_min} to 2^{spec.shift_max}"
    return rule(f"{capture}_divisor", words, check, capture)
