"""Quantised networks in QDQ form in double precision: what their files state, without the roundings of float32 sums.
Layers of image classifiers only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

Reals = NDArray[np.float64]


def computed(model: onnx.ModelProto, inputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """All tensors of the graph by name."""
    found: dict[str, NDArray[Any]] = {t.name: onnx.numpy_helper.to_array(t) for t in model.graph.initializer}
    found |= {name: values.astype(np.float64) for name, values in inputs.items()}
    for node in model.graph.node:
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        found[node.output[0]] = _result(node.op_type, [found[name] for name in node.input], attributes)
    return found


def _result(op: str, given: list[NDArray[Any]], attributes: Mapping[str, Any]) -> NDArray[Any]:
    x = given[0]
    if op == "QuantizeLinear":
        limits = np.iinfo(given[2].dtype)
        whole = np.rint(x / np.float64(given[1])) + given[2].astype(np.float64)
        return np.clip(whole, limits.min, limits.max).astype(given[2].dtype)
    if op == "DequantizeLinear":
        shape = [-1 if axis == attributes.get("axis", 1) else 1 for axis in range(x.ndim)]
        scale, zero = (values.astype(np.float64).reshape(shape if values.ndim else ()) for values in given[1:])
        return np.asarray((x.astype(np.float64) - zero) * scale)
    if op == "Conv":
        return _convolution(x, given[1], given[2], attributes)
    if op == "Relu":
        return np.maximum(x, 0.0)
    if op in ("GlobalAveragePool", "AveragePool", "ReduceMean"):  # of whole images
        return np.asarray(x.mean((2, 3), keepdims=bool(attributes.get("keepdims", 1))))
    if op in ("Flatten", "Reshape", "Squeeze"):
        return x.reshape(len(x), -1)
    if op == "Gemm":
        weight = given[1].T if attributes.get("transB") else given[1]
        return np.asarray(x @ weight + given[2])
    if op in ("MatMul", "Add"):
        return np.asarray(x @ given[1] if op == "MatMul" else x + given[1])
    raise ValueError(f"{op} has no form in double precision here")


def _convolution(x: Reals, weight: Reals, bias: Reals, attributes: Mapping[str, Any]) -> Reals:
    top, left, bottom, right = attributes.get("pads", [0] * 4)
    (down, along), groups = attributes.get("strides", [1, 1]), attributes.get("group", 1)
    outputs, inputs, *kernel = weight.shape
    padded = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)))
    height, width = ((n - k) // s + 1 for n, k, s in zip(padded.shape[2:], kernel, (down, along), strict=True))
    sums = np.zeros((1, groups, outputs // groups, height, width))
    for row, column in np.ndindex(*kernel):
        part = padded[
            :, :, row : row + down * (height - 1) + 1 : down, column : column + along * (width - 1) + 1 : along
        ]
        taps = weight[:, :, row, column].reshape(groups, outputs // groups, inputs)
        sums += np.einsum("ngihw,goi->ngohw", part.reshape(1, groups, inputs, height, width), taps)
    result: Reals = sums.reshape(1, outputs, height, width) + bias.reshape(1, -1, 1, 1)
    return result
