"""Convolutions, depthwise convolutions and dense layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from match_cmsisnn.kernels.call import Counted, call, context, dims, tile
from match_cmsisnn.layer import Layer, layer_of

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from numpy.typing import NDArray

#: Channels that depthwise convolutions of Helium cores compute at a time (arm_nnsupportfunctions.h).
_BLOCK = 124


def _round(size: int, step: int) -> int:
    return -(-size // step) * step


def _inputs(layer: Layer, node: gs.Node) -> tuple[tuple[gs.Tensor, ...], dict[int, NDArray[np.generic]]]:
    """The kernel's inputs (image, weights, bias, multipliers, shifts) and their constants."""
    import onnx_graphsurgeon as gs

    extra = {"bias": layer.bias, "multipliers": layer.scale.multiplier, "shifts": layer.scale.shift}
    tensors = tuple(gs.Constant(f"{node.name}/{name}", values) for name, values in extra.items())
    arrays: tuple[NDArray[np.generic], ...] = (layer.weight.reshape(-1), *extra.values())
    return (layer.source, layer.product.inputs[1], *tensors), dict(enumerate(arrays, 1))


def _numbers(layer: Layer) -> str:
    """The offsets at the begin of the library's structures."""
    return f"{-layer.fill}, {layer.scale.offset}"


def _bounds(layer: Layer) -> str:
    return f"{{{layer.requant.low}, {layer.requant.high}}}"


def _windows(layer: Layer) -> str:
    y, x = layer.y, layer.x
    return f"{tile(x.stride, y.stride)}, {tile(x.before, y.before)}, {tile(x.dilation, y.dilation)}"


_QUANT = "{(int32_t *)in3, (int32_t *)in4}"


def convolution_bytes(layer: Layer, helium: bool) -> int:
    """Working memory of a convolution: copies of windows (arm_convolve_get_buffer_sizes_s8.c)."""
    y, x = layer.y, layer.x
    if y.kernel == x.kernel == 1 and not (y.leaves or x.leaves):
        return 0
    window = y.kernel * x.kernel * layer.inputs
    plain = 4 * _round(window, 4)
    row = (2 * x.kernel + x.before + x.stride) * layer.inputs
    return max(plain, 4 * _round(window, 16), row) if helium else plain


def depthwise_bytes(layer: Layer, helium: bool) -> int:
    """Working memory of a depthwise convolution (arm_depthwise_conv_get_buffer_sizes_s8.c)."""
    taps = layer.y.kernel * layer.x.kernel
    return 4 * _BLOCK * taps if helium else 2 * layer.inputs * taps


def _checked(nodes: tuple[gs.Node, ...], function: str, depthwise: bool) -> Layer:
    layer = layer_of(nodes, depthwise)
    if isinstance(layer, str):
        raise ValueError(f"{function}: {layer}")
    return layer


def build_convolution(nodes: tuple[gs.Node, ...], function: str, helium: bool = False) -> Counted:
    """The kernel of [Pad] convolution, Requant."""
    return _build_image(nodes, function, helium, _checked(nodes, function, depthwise=False))


def build_depthwise(nodes: tuple[gs.Node, ...], function: str, helium: bool = False) -> Counted:
    """The kernel of [Pad] depthwise convolution, Requant."""
    return _build_image(nodes, function, helium, _checked(nodes, function, depthwise=True))


def _build_image(nodes: tuple[gs.Node, ...], function: str, helium: bool, layer: Layer) -> Counted:
    y, x, outputs = layer.y, layer.x, layer.outputs
    name = "arm_depthwise_conv_wrapper_s8" if layer.depthwise else "arm_convolve_wrapper_s8"
    struct = "cmsis_nn_dw_conv_params" if layer.depthwise else "cmsis_nn_conv_params"
    multiplier = "1, " if layer.depthwise else ""
    scratch = depthwise_bytes(layer, helium) if layer.depthwise else convolution_bytes(layer, helium)
    lines = (
        dims("source", 1, y.size, x.size, layer.inputs),
        dims("filter", 1 if layer.depthwise else outputs, y.kernel, x.kernel, layer.inputs),
        dims("channels", 1, 1, 1, outputs),
        dims("result", 1, y.out, x.out, outputs),
        f"    const {struct} numbers = {{{_numbers(layer)}, {multiplier}{_windows(layer)}, {_bounds(layer)}}};",
        f"    const cmsis_nn_per_channel_quant_params factors = {_QUANT};",
        *context(scratch, f"{name}_get_buffer_size(&numbers, &source, &filter, &result)"),
        f"    (void){name}(&context, &numbers, &factors, &source, in0, &filter, in1,",
        "        &channels, in2, &result, out0);",
    )
    inputs, constants = _inputs(layer, nodes[list(nodes).index(layer.product) + 1])
    kind = f"{layer.inputs} to {outputs} channels, kernel {y.kernel}x{x.kernel}, stride {y.stride}x{x.stride}"
    words = f"{'Depthwise convolution' if layer.depthwise else 'Convolution'} of CMSIS-NN: {kind}"
    counts = _depthwise_counts(layer) if layer.depthwise else _convolution_counts(layer, helium)
    group = "depthwise" if layer.depthwise else "convolve"
    return call(
        function, words, inputs, nodes[-1].outputs[:1], lines, group, helium, counts, constants, scratch, layer.macs
    )


def _convolution_counts(layer: Layer, helium: bool) -> dict[str, int]:
    run = layer.y.kernel * layer.x.kernel * layer.inputs
    blocks = -(-layer.positions // (4 if helium else 2))
    steps = blocks * layer.outputs * -(-run // (16 if helium else 4))
    copies = bool(convolution_bytes(layer, helium))
    return {
        "copied_steps" if copies else "steps": steps,
        "results": layer.positions * layer.outputs,
        "blocks": blocks * layer.outputs,
        "copied_taps": layer.positions * layer.y.kernel * layer.x.kernel if copies else 0,
        "copied_bytes": layer.positions * run if copies else 0,
    }


def _depthwise_counts(layer: Layer) -> dict[str, int]:
    three = layer.y.kernel == layer.x.kernel == 3 and max(layer.y.before, layer.x.before) <= 1
    return {
        "macs3" if three else "macs": layer.macs,
        "results": layer.positions * layer.outputs,
        "positions": layer.positions,
        "taps": 0 if three else layer.positions * layer.y.kernel * layer.x.kernel,
    }


def build_dense(nodes: tuple[gs.Node, ...], function: str, helium: bool = False) -> Counted:
    """The kernel of matrix product, Requant. On Helium cores the library starts its sums from the buffer of the
    context, which is the bias, because the input has no offset."""
    layer = _checked(nodes, function, depthwise=False)
    depth, outputs, rows = layer.inputs, layer.outputs, layer.x.out
    per_channel = len(set(layer.scale.multiplier.tolist())) > 1 or len(set(layer.scale.shift.tolist())) > 1
    lines = (
        dims("source", rows, 1, 1, depth),
        dims("filter", depth, 1, 1, outputs),
        dims("channels", 1, 1, 1, outputs),
        dims("result", rows, 1, 1, outputs),
        f"    const cmsis_nn_fc_params numbers = {{0, 0, {layer.scale.offset}, {_bounds(layer)}}};",
        f"    const cmsis_nn_quant_params factors = {_QUANT[:-1]}, {int(per_channel)}}};",
        f"    const cmsis_nn_context context = {{(int32_t *)in2, {4 * outputs}}};",
        "    (void)arm_fully_connected_wrapper_s8(&context, &numbers, &factors, &source, in0, &filter, in1,",
        "        &channels, in2, &result, out0);",
    )
    inputs, constants = _inputs(layer, nodes[list(nodes).index(layer.product) + 1])
    words = f"Dense layer of CMSIS-NN: {rows} rows, {depth} to {outputs} values"
    counts = {
        "steps": rows * -(-outputs // 4) * -(-depth // (16 if helium else 4)),
        "results": rows * outputs,
        "rows": rows,
    }
    group = "fully_connected"
    return call(function, words, inputs, nodes[-1].outputs[:1], lines, group, helium, counts, constants, 0, layer.macs)
