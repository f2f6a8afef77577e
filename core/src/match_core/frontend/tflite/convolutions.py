"""Convolutions and poolings: on planes, with padding spelt out."""

from __future__ import annotations

from typing import Any

import numpy as np

from match_core.frontend.tflite.call import Call
from match_core.frontend.tflite.faults import damaged
from match_core.frontend.tflite.graph import TO_PLANES

#: Values of Padding.
_SAME, _VALID = 0, 1
#: TFLite keeps filters as OHWI, and depthwise ones as 1HWO; ONNX wants OIHW, for transposed convolutions IOHW.
_FROM_OHWI, _FROM_1HWO, _IOHW_FROM_OHWI = (0, 3, 1, 2), (3, 0, 1, 2), (3, 0, 1, 2)


def conv(call: Call) -> None:
    """CONV_2D; inputs with more channels than the filters read are cut into groups."""
    channels, filters = _image(call, 0)[3], _image(call, 1)
    if not filters[3] or channels % filters[3]:
        raise damaged(call.where, f"filters read {filters[3]} channels, the input has {channels}")
    _convolution(call, _FROM_OHWI, filters[1:3], channels // filters[3])


def depthwise(call: Call) -> None:
    """DEPTHWISE_CONV_2D, also with several results for each channel."""
    _convolution(call, _FROM_1HWO, _image(call, 1)[1:3], _image(call, 0)[3])


def _convolution(call: Call, order: tuple[int, ...], kernel: tuple[int, ...], group: int) -> None:
    dilations = (call.option("DilationHFactor"), call.option("DilationWFactor"))
    # A Pad in front writes the same real zero as the convolution's own padding.
    x = call.graph.padded.get(call.index(0)) or call.real(0, planes=True)
    inputs = [x, call.weights(1, order), *bias_of(call, 2)]
    result = call.node("Conv", inputs, dilations=list(dilations), group=group, **_windows(call, kernel, dilations))
    call.give_real(call.activated(result), planes=True)


def transposed(call: Call) -> None:
    """TRANSPOSE_CONV: inputs are the result's shape, filters, image, bias. The shape is taken from the result."""
    kernel = _image(call, 1)[1:3]
    strides = _strides(call)
    if call.output().rank != 4:
        raise damaged(call.where, f"its result has {call.output().rank} axes instead of 4")
    sizes = zip(_image(call, 2)[1:3], call.output().shape[1:3], kernel, strides, strict=True)
    # What the filters reach beyond the result is cut off, what they do not reach stays empty.
    beyond = [(length - 1) * stride + taps - result for length, result, taps, stride in sizes]
    if any(-size >= stride for size, stride in zip(beyond, strides, strict=True)):
        raise damaged(call.where, f"its result is {-min(beyond)} pixels larger than filters and strides reach")
    cut = [max(size, 0) for size in beyond]
    attributes: dict[str, Any] = {
        "kernel_shape": list(kernel),
        "strides": list(strides),
        "pads": [*(size // 2 for size in cut), *(size - size // 2 for size in cut)],
        "output_padding": [max(-size, 0) for size in beyond],
    }
    inputs = [call.real(2, planes=True), call.weights(1, _IOHW_FROM_OHWI), *bias_of(call, 3, image=2)]
    call.give_real(call.activated(call.node("ConvTranspose", inputs, **attributes)), planes=True)


def average_pool(call: Call) -> None:
    """AVERAGE_POOL_2D; padding is not counted."""
    attributes = _windows(call, _filter(call), (1, 1))
    call.give_real(call.activated(call.node("AveragePool", [call.real(0, planes=True)], **attributes)), planes=True)


def max_pool(call: Call) -> None:
    """MAX_POOL_2D, on the stored integers where the result is quantised alike."""
    x, same = call.moved(0, planes=True)
    same = same and not call.option("FusedActivationFunction", 0)
    x = x if same else call.real(0, planes=True)
    name = call.node("MaxPool", [x], **_windows(call, _filter(call), (1, 1)))
    call.give_moved(name if same else call.activated(name), same, planes=True)


def _image(call: Call, position: int) -> tuple[int, ...]:
    tensor = call.input(position)
    if tensor.rank != 4:
        raise damaged(call.where, f"{call.operator.kind}: {tensor.name!r} has {tensor.rank} axes instead of 4")
    return tensor.shape


def _filter(call: Call) -> tuple[int, int]:
    kernel = (call.option("FilterHeight"), call.option("FilterWidth"))
    if min(kernel) < 1:
        raise damaged(call.where, f"its windows have {kernel[0]} x {kernel[1]} elements")
    return kernel


def _strides(call: Call) -> tuple[int, int]:
    strides = (call.option("StrideH"), call.option("StrideW"))
    if min(strides) < 1:
        raise damaged(call.where, f"its strides are {strides[0]} and {strides[1]}")
    return strides


def _windows(call: Call, kernel: tuple[int, ...], dilations: tuple[int, int]) -> dict[str, Any]:
    """kernel_shape, strides and pads. SAME: ceil(size / stride) results, what is missing is padded, behind first."""
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
    """A bias as real numbers, if there is one. int64 (of int16 networks), and int32 without a scale, count in steps of
    the product of the scales of the inputs ``image`` and 1, the weights."""
    if not call.has(position):
        return []
    tensor, x, weights = call.input(position), call.input(image).quantisation, call.input(1).quantisation
    scaled = tensor.dtype == np.int32 and tensor.quantisation is not None
    if scaled or tensor.dtype.kind != "i" or x is None or weights is None:
        return [call.weights(position)]
    steps = x.scales.astype(np.float64) * weights.scales
    if steps.size not in (1, tensor.size):
        raise damaged(call.where, f"{tensor.size} biases for {steps.size} filters")
    return [call.constant("bias", (call.constant_of(position, "biases").astype(np.float64) * steps).astype(np.float32))]


def mean_over_image(call: Call, kept: bool) -> None:
    """The mean over height and width, with or without these axes in the result."""
    result, tensor = call.node("GlobalAveragePool", [call.real(0, planes=True)]), call.output()
    if kept:
        call.give_real(result, planes=True)
        return
    image = call.input(0).shape
    call.give(call.reshaped(call.quantised(result, tensor), image[0] * image[3]))


def pad(call: Call) -> None:
    """PAD and PADV2: zeros or a constant around the tensor."""
    planes = call.is_planes(0)
    amounts = _amounts(call)
    filling = "" if call.input_count < 3 else _filling(call)
    ordered = [amounts[axis] for axis in (TO_PLANES if planes else range(len(amounts)))]
    ends = np.array([*(begin for begin, _ in ordered), *(end for _, end in ordered)], np.int64)
    inputs = [call.real(0, planes), call.constant("pads", ends), *([filling] if filling else [])]
    result = call.node("Pad", inputs)
    call.give_real(result, planes)
    around = len(amounts) == 4 and amounts[0] == amounts[3] == (0, 0)
    if planes and around and not filling and call.output().quantisation is not None and call.same_values():
        call.graph.padded[call.output().index] = result


def mirror_pad(call: Call) -> None:
    """MIRROR_PAD without repeating the edge (REFLECT). ONNX has no other."""
    if call.option("Mode") != 0:
        raise call.refuse("its mode SYMMETRIC repeats the edge, for which ONNX has no operator", "use mode REFLECT")
    amounts = _amounts(call)
    ends = np.array([*(begin for begin, _ in amounts), *(end for _, end in amounts)], np.int64)
    call.give_real(call.node("Pad", [call.real(0), call.constant("pads", ends)], mode="reflect"))


def _amounts(call: Call) -> list[tuple[int, int]]:
    """What is put before and behind each axis."""
    values = call.integers(1, "amounts")
    if len(values) != 2 * call.input(0).rank or min(values, default=0) < 0:
        raise damaged(call.where, f"amounts {values[:8]} for {call.input(0).rank} axes")
    return list(zip(values[::2], values[1::2], strict=True))


def _filling(call: Call) -> str:
    """PADV2's constant as a real scalar."""
    name, tensor = call.real(2), call.input(2)
    if tensor.size != 1:
        raise damaged(call.where, f"it pads with {tensor.size} values")
    return call.graph.reshape(name, []) if tensor.rank else name
