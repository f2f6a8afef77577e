"""Operators on images as nodes of the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import qualified_op
from match_core.ir.geometry import channels_last
from match_core.ir.reader import optional_input, shape_of

from match_dnnl.chains import Chain
from match_dnnl.engine import Engine
from match_dnnl.geometry import (
    deconvolution_window,
    padding_of,
    padding_value,
    resize_channels_last,
    suits_winograd,
    window_of,
)
from match_dnnl.graph import result
from match_dnnl.posts import chain_bias, chain_posts

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def convolution(engine: Engine, chain: Chain) -> None:
    """Weights of groups are [group][outputs][inputs][taps...]; padding in front is taken in."""
    node, last = chain.node, channels_last(chain.node)
    source, window = _unpadded(engine, node)
    weights = engine.of(node.inputs[1])
    sizes, groups = shape_of(node.inputs[1]), int(node.attrs.get("group", 1))
    if groups > 1:
        weights = engine.reshaped(weights, (groups, sizes[0] // groups, *sizes[1:]))
    bias = _bias(engine, chain, sizes[0])
    output = engine.of(chain.output)
    posts = chain_posts(engine, chain, shape_of(chain.output))
    name = "winograd" if engine.winograd and suits_winograd(sizes, groups, window) else "direct"
    engine.emit(
        "convolution",
        [source, weights, bias],
        output,
        posts,
        last=int(last),
        algorithm=f"convolution_{name}",
        **window,
    )


def deconvolution(engine: Engine, chain: Chain) -> None:
    """ONNX stores [inputs][outputs of a group][taps...], oneDNN requires the outputs first."""
    node, groups = chain.node, int(chain.node.attrs.get("group", 1))
    array = np.asarray(node.inputs[1].values)
    sizes = array.shape
    grouped = array.reshape(groups, sizes[0] // groups, *sizes[1:]).swapaxes(1, 2)
    weights = engine.constant(grouped if groups > 1 else grouped[0])
    inputs = [engine.of(node.inputs[0]), weights, _bias(engine, chain, sizes[1] * groups)]
    posts = chain_posts(engine, chain, shape_of(chain.output))
    window: dict[str, object] = {**deconvolution_window(node)}
    engine.emit("deconvolution", inputs, engine.of(chain.output), posts, **window)


def pooling(engine: Engine, chain: Chain) -> None:
    """With ceil_mode the last windows reach further; what they read there is no element."""
    node = chain.node
    window = window_of(node, shape_of(node.inputs[0]), shape_of(result(node)), channels_last(node))
    counted = bool(node.attrs.get("count_include_pad", 0))
    average = "avg_include_padding" if counted else "avg_exclude_padding"
    engine.emit(
        "pooling",
        [engine.of(node.inputs[0])],
        engine.of(chain.output),
        algorithm="pooling_max" if "Max" in node.op else average,
        kernel=[int(size) for size in node.attrs["kernel_shape"]],
        last=int(channels_last(node)),
        **window,
    )


def padding(engine: Engine, chain: Chain) -> None:
    """Constants around the tensor; a convolution after it reads the tensor itself."""
    node = chain.node
    tensor, value = engine.of(node.inputs[0]), padding_value(node)
    sizes = list(shape_of(node.inputs[0]))
    axes = [axis for axis, amounts in enumerate(padding_of(node)) if any(amounts)]
    for axis in axes:
        before, after = padding_of(node)[axis]
        edges = [[*sizes[:axis], amount, *sizes[axis + 1 :]] for amount in (before, after)]
        first, second = (engine.constant(np.full(edge, value, np.float32)) for edge in edges)
        sizes[axis] += before + after
        output = engine.of(chain.output) if axis == axes[-1] else engine.variable(sizes)
        parts = [*([first] if before else []), tensor, *([second] if after else [])]
        engine.emit("concat", parts, output, axis=axis)
        tensor = output


def resampling(engine: Engine, chain: Chain) -> None:
    """Nearest or linear, along the spatial axes."""
    node = chain.node
    mode = node.attrs.get("mode", "nearest")
    name = mode.decode("utf-8") if isinstance(mode, bytes) else str(mode)
    last = resize_channels_last(node)
    source = engine.of(node.inputs[0])
    engine.emit("resampling", [source], engine.of(chain.output), algorithm=f"resampling_{name}", last=int(last))


def lrn(engine: Engine, chain: Chain) -> None:
    """Across channels."""
    attrs = chain.node.attrs
    engine.emit(
        "lrn",
        [engine.of(chain.node.inputs[0])],
        engine.of(chain.output),
        size=int(attrs["size"]),
        alpha=float(attrs.get("alpha", 1e-4)),
        beta=float(attrs.get("beta", 0.75)),
        bias=float(attrs.get("bias", 1.0)),
    )


def batch_normalization(engine: Engine, chain: Chain) -> None:
    """With the statistics that the model holds."""
    inputs = [engine.of(tensor) for tensor in chain.node.inputs[:5]]
    epsilon = float(chain.node.attrs.get("epsilon", 1e-5))
    engine.emit("batch_normalization", inputs, engine.of(chain.output), epsilon=epsilon)


def _unpadded(engine: Engine, node: gs.Node) -> tuple[gs.Tensor, dict[str, list[int]]]:
    """The input of a convolution and its window, including the zeros of a Pad before it."""
    last = channels_last(node)
    window = window_of(node, shape_of(node.inputs[0]), shape_of(result(node)), last)
    inside = {made.name: maker for maker in engine.region.nodes for made in maker.outputs}
    maker = inside.get(node.inputs[0].name)
    if maker is None or qualified_op(maker) != "Pad" or padding_value(maker) != 0:
        return engine.of(node.inputs[0]), window
    amounts = padding_of(maker)
    spatial = amounts[1:-1] if last else amounts[2:]
    if any(any(pair) for pair in (amounts[0], amounts[-1] if last else amounts[1])):
        return engine.of(node.inputs[0]), window
    window["before"] = [size + pair[0] for size, pair in zip(window["before"], spatial, strict=True)]
    window["after"] = [size + pair[1] for size, pair in zip(window["after"], spatial, strict=True)]
    return engine.of(maker.inputs[0]), window


def _bias(engine: Engine, chain: Chain, channels: int) -> gs.Tensor | None:
    """The bias as a constant, or the tensor that the model computes."""
    known = chain_bias(chain, channels)
    if known is not None:
        return engine.constant(known)
    tensor = optional_input(chain.node, 2)
    return None if tensor is None else engine.of(tensor)
