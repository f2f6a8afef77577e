"""Windows, padding and scales of operators on images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from match_core.ir.reader import attribute_ints, constant_input, shape_of

from match_dnnl.graph import result, scalar

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

Window = dict[str, list[int]]
#: Channels from which on Winograd's transformation pays: oneDNN's blocks of channels on machines with AVX-512.
WINOGRAD_CHANNELS_MIN = 16


def window_of(node: gs.Node, source: Sequence[int], target: Sequence[int], last: bool) -> Window:
    """Strides, distances between taps counted from 0, and padding, which behind is as much as the last window needs."""
    sizes, results = (source[1:-1], target[1:-1]) if last else (source[2:], target[2:])
    taps = shape_of(node.inputs[1])[2:] if len(node.inputs) > 1 else ()  # poolings have to state them
    window = _window(node, attribute_ints(node, "kernel_shape", list(taps)), results, sizes)
    return window | {"after": [max(0, elements) for elements in window["after"]]}


def _window(node: gs.Node, kernel: Sequence[int], positions: Sequence[int], covered: Sequence[int]) -> Window:
    """``after``: what windows at so many positions reach beyond the padding before, and beyond ``covered`` elements."""
    rank = len(positions)
    strides = attribute_ints(node, "strides", [1] * rank)
    dilations = attribute_ints(node, "dilations", [1] * rank)
    before = attribute_ints(node, "pads", [0] * 2 * rank)[:rank]
    reach = [(positions[i] - 1) * strides[i] + (kernel[i] - 1) * dilations[i] + 1 for i in range(rank)]
    after = [reach[i] - covered[i] - before[i] for i in range(rank)]
    return {"strides": strides, "dilations": [distance - 1 for distance in dilations], "before": before, "after": after}


def suits_winograd(weights: tuple[int, ...], groups: int, window: Window) -> bool:
    """Whether taps are contiguous 3x3, positions dense, and channels fill a block: first layers are three times
    slower."""
    plain = groups == 1 and window["strides"] == [1, 1] and window["dilations"] == [0, 0]
    return weights[2:] == (3, 3) and min(weights[:2]) >= WINOGRAD_CHANNELS_MIN and plain


def deconvolution_window(node: gs.Node) -> Window:
    """Of a transposed convolution; what is cut off behind follows from the size of the result, and may be less than
    nothing where ``output_padding`` adds more than is cut off, which the rules exclude."""
    sizes, results = shape_of(node.inputs[0])[2:], shape_of(result(node))[2:]
    return _window(node, shape_of(node.inputs[1])[2:], sizes, results)


def padding_of(node: gs.Node) -> list[tuple[int, int]]:
    """Elements before and after each axis of a Pad with constant amounts."""
    rank, amounts = len(shape_of(node.inputs[0])), constant_input(node, 1)
    listed = [] if amounts is None else [int(amount) for amount in amounts.reshape(-1)]
    axes = constant_input(node, 3)
    chosen = list(range(rank)) if axes is None else [int(axis) % rank for axis in axes.reshape(-1)]
    pairs = [(0, 0)] * rank
    for number, axis in enumerate(chosen):
        pairs[axis] = (listed[number], listed[number + len(chosen)])
    return pairs


def padding_value(node: gs.Node) -> float:
    """The value that a Pad writes around its input."""
    value = scalar(constant_input(node, 2))
    return 0.0 if value is None else value


def resize_channels_last(node: gs.Node) -> bool:
    """Whether the axes that a Resize keeps are the first and the last one, and not the first two."""
    before, after = shape_of(node.inputs[0]), shape_of(result(node))
    return before[:2] != after[:2] and before[0] == after[0] and before[-1] == after[-1]
