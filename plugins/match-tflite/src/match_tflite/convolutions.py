"""Convolutions and poolings: on planes, with explicit padding."""

from __future__ import annotations

from typing import Any

import numpy as np

from match_tflite.call import Call
from match_tflite.faults import damaged

Geometry = tuple[tuple[int, ...], tuple[int, ...], int]

#: Values of Padding.
_SAME, _VALID = 0, 1
#: TFLite stores filters as OHWI, and depthwise ones as 1HWO; ONNX as OIHW, and IOHW for transposed convolutions.
_FROM_OHWI, _FROM_1HWO, _IOHW_FROM_OHWI = (0, 3, 1, 2), (3, 0, 1, 2), (3, 0, 1, 2)


def conv(call: Call) -> None:
    """CONV_2D; inputs with more channels than the filters read are split into groups."""
    _convolution(call, *of_conv(call))


def of_conv(call: Call) -> Geometry:
    """The order of axes of CONV_2D's filters, their height and width, the groups."""
    channels, filters = _image(call, 0)[3], _image(call, 1)
    if not filters[3] or channels % filters[3]:
        raise damaged(call.where, f"filters read {filters[3]} channels, but the input has {channels}")
    return _FROM_OHWI, filters[1:3], channels // filters[3]


def depthwise(call: Call) -> None:
    """DEPTHWISE_CONV_2D, also with several results for each channel."""
    _convolution(call, *of_depthwise(call))


def of_depthwise(call: Call) -> Geometry:
    """The same of DEPTHWISE_CONV_2D."""
    return _FROM_1HWO, _image(call, 1)[1:3], _image(call, 0)[3]


def windows_of(call: Call, kernel: tuple[int, ...]) -> dict[str, Any]:
    """The attributes of a convolution's windows."""
    dilations = (call.option("DilationHFactor"), call.option("DilationWFactor"))
    return {**windows(call, kernel, dilations), "dilations": list(dilations)}


def _convolution(call: Call, order: tuple[int, ...], kernel: tuple[int, ...], group: int) -> None:
    # A Pad before it writes the same real zero as the convolution's own padding.
    x = call.graph.padded.get(call.index(0)) or call.real(0, planes=True)
    inputs = [x, call.weights(1, order, order[0]), *bias_of(call, 2)]
    result = call.node("Conv", inputs, group=group, **windows_of(call, kernel))
    call.give_real(call.activated(result), planes=True)


def transposed(call: Call) -> None:
    """TRANSPOSE_CONV: inputs are the result's shape, filters, image, bias. The shape is taken from the result."""
    kernel = _image(call, 1)[1:3]
    strides = _strides(call)
    if call.output().rank != 4:
        raise damaged(call.where, f"its result has {call.output().rank} axes instead of 4")
    sizes = zip(_image(call, 2)[1:3], call.output().shape[1:3], kernel, strides, strict=True)
    # Values beyond the result are cut off; positions that no filter reaches stay zero.
    beyond = [(length - 1) * stride + taps - result for length, result, taps, stride in sizes]
    if any(-size >= stride for size, stride in zip(beyond, strides, strict=True)):
        raise damaged(call.where, f"its result is {-min(beyond)} pixels larger than filters and strides allow")
    cut = [max(size, 0) for size in beyond]
    attributes: dict[str, Any] = {
        "kernel_shape": list(kernel),
        "strides": list(strides),
        "pads": [*(size // 2 for size in cut), *(size - size // 2 for size in cut)],
        "output_padding": [max(-size, 0) for size in beyond],
    }
    inputs = [call.real(2, planes=True), call.weights(1, _IOHW_FROM_OHWI, 0), *bias_of(call, 3, image=2)]
    call.give_real(call.activated(call.node("ConvTranspose", inputs, **attributes)), planes=True)


def average_pool(call: Call) -> None:
    """AVERAGE_POOL_2D; padding does not count."""
    attributes = windows(call, filter_of(call), (1, 1))
    call.give_real(call.activated(call.node("AveragePool", [call.real(0, planes=True)], **attributes)), planes=True)


def max_pool(call: Call) -> None:
    """MAX_POOL_2D, on the stored integers if the result has the same quantisation."""
    x, same = call.moved(0, planes=True)
    same = same and not call.option("FusedActivationFunction", 0)
    x = x if same else call.real(0, planes=True)
    name = call.node("MaxPool", [x], **windows(call, filter_of(call), (1, 1)))
    call.give_moved(name if same else call.activated(name), same, planes=True)


def _image(call: Call, position: int) -> tuple[int, ...]:
    tensor = call.input(position)
    if tensor.rank != 4:
        raise damaged(call.where, f"{call.operator.kind}: {tensor.name!r} has {tensor.rank} axes instead of 4")
    return tensor.shape


def filter_of(call: Call) -> tuple[int, int]:
    kernel = (call.option("FilterHeight"), call.option("FilterWidth"))
    if min(kernel) < 1:
        raise damaged(call.where, f"its windows have {kernel[0]} x {kernel[1]} elements")
    return kernel


def _strides(call: Call) -> tuple[int, int]:
    strides = (call.option("StrideH"), call.option("StrideW"))
    if min(strides) < 1:
        raise damaged(call.where, f"its strides are {strides[0]} and {strides[1]}")
    return strides


def windows(call: Call, kernel: tuple[int, ...], dilations: tuple[int, int]) -> dict[str, Any]:
    """kernel_shape, strides and pads. SAME: ceil(size / stride) results; padding that cannot be split evenly goes to
    the end."""
    strides, padding = _strides(call), call.option("Padding")
    if padding not in (_SAME, _VALID) or min(dilations) < 1:
        raise damaged(call.where, f"padding {padding}, dilations {dilations[0]} and {dilations[1]}")
    missing = [0, 0]
    if padding == _SAME:
        sizes = zip(_image(call, 0)[1:3], kernel, strides, dilations, strict=True)
        missing = [max((-(-size // s) - 1) * s + (k - 1) * d + 1 - size, 0) for size, k, s, d in sizes]
    pads = [*(size // 2 for size in missing), *(size - size // 2 for size in missing)]
    return {"kernel_shape": list(kernel), "strides": list(strides), "pads": pads}


def bias_of(call: Call, position: int, image: int = 0) -> list[str]:
    """A bias as real numbers, if there is one. The unit of int64 (in int16 networks) and of int32 without a
    scale is the product of the scales of the inputs ``image`` and 1, the weights."""
    if not call.has(position):
        return []
    tensor, x, weights = call.input(position), call.input(image).quantisation, call.input(1).quantisation
    own = tensor.quantisation if tensor.dtype == np.int32 else None
    if tensor.dtype.kind != "i" or x is None or weights is None or not x.per_tensor:
        return [call.weights(position)]
    steps = x.scales.astype(np.float64) * weights.scales
    if steps.size not in (1, tensor.size):
        raise damaged(call.where, f"it has {tensor.size} biases for {steps.size} filters")
    if own is not None and own.scales.size in (1, steps.size) and np.allclose(own.scales, steps, rtol=1e-3):
        return [call.weights(position, channel=0)]
    values = call.constant_of(position, "biases")
    if tensor.dtype != np.int32:
        return [call.constant("bias", (values.astype(np.float64) * steps).astype(np.float32))]
    # TFLite's kernels add the integers to the sums, whatever scale old converters wrote.
    scales = call.constant("bias_scale", steps.astype(np.float32).reshape(-1 if steps.size > 1 else ()))
    axis = {"axis": 0} if steps.size > 1 else {}
    return [call.node("DequantizeLinear", [call.graph.constant(tensor.name, values), scales], **axis)]
