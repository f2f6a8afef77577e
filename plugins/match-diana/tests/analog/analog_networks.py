"""Small quantised networks (QuantizeLinear and DequantizeLinear) with symmetric int8 tensors."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from analog_graphs import context
from match_core import Model
from match_core.load.load import load_model
from match_core.passes.pipeline import run_passes
from match_diana.hardware import hardware
from match_diana.passes import diana_passes
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from tests.all_passes import core_passes

#: Passes of the package that these networks do not need: their scales are powers of two.
OTHERS = frozenset(("diana_power_of_two",))


@dataclass(frozen=True)
class Conv:
    """A 3x3 convolution of integer ``weights`` [K, C, 3, 3], which stand for ``weights * scale``, and a real ``bias``
    for all channels. With ``halved`` it has stride 2 and padding behind the last row and column, else padding of 1."""

    weights: NDArray[np.int8]
    scale: float | NDArray[np.float32]
    relu: bool = True
    bias: float = 0.0
    halved: bool = False


@dataclass(frozen=True)
class Network:
    """Layers one after another, on ``side`` x ``side`` pixels; ``inside``: of them, float tensors at the ends."""

    layers: tuple[Conv, ...]
    side: int = 16
    inside: bool = True

    def save(self, path: Path) -> Path:
        """The model's file. All activations have the scale 1/32."""
        nodes: list[onnx.NodeProto] = []
        constants = [
            numpy_helper.from_array(np.array(1 / 32, np.float32), "step"),
            numpy_helper.from_array(np.array(0, np.int8), "zero"),
        ]
        channels = [self.layers[0].weights.shape[1], *(layer.weights.shape[0] for layer in self.layers)]
        quantised = "x"
        if self.inside:
            quantised = "x_q"
            nodes.append(helper.make_node("QuantizeLinear", ["x", "step", "zero"], [quantised], name="in_q"))
        for index, layer in enumerate(self.layers):
            name = f"conv{index}"
            scale = np.broadcast_to(np.asarray(layer.scale, np.float32), (layer.weights.shape[0],))
            constants += [
                numpy_helper.from_array(layer.weights, f"{name}_w"),
                numpy_helper.from_array(np.ascontiguousarray(scale), f"{name}_s"),
                numpy_helper.from_array(np.zeros(scale.size, np.int8), f"{name}_z"),
                numpy_helper.from_array(np.full(scale.size, layer.bias, np.float32), f"{name}_b"),
            ]
            nodes += [
                helper.make_node("DequantizeLinear", [quantised, "step", "zero"], [f"{name}_x"], name=f"{name}_dq"),
                helper.make_node(
                    "DequantizeLinear",
                    [f"{name}_w", f"{name}_s", f"{name}_z"],
                    [f"{name}_f"],
                    name=f"{name}_wdq",
                    axis=0,
                ),
                helper.make_node(
                    "Conv", [f"{name}_x", f"{name}_f", f"{name}_b"], [name], name=name, **_geometry(layer)
                ),
            ]
            if layer.relu:
                nodes.append(helper.make_node("Relu", [name], [f"{name}_r"], name=f"{name}_relu"))
            quantised = f"{name}_q"
            nodes.append(
                helper.make_node(
                    "QuantizeLinear", [f"{name}_r" if layer.relu else name, "step", "zero"], [quantised], name=quantised
                )
            )
        output = quantised
        if self.inside:
            nodes.append(helper.make_node("DequantizeLinear", [quantised, "step", "zero"], ["y"], name="out_dq"))
            output = "y"
        kind = TensorProto.FLOAT if self.inside else TensorProto.INT8
        sides = (self.side, self.side >> sum(layer.halved for layer in self.layers))
        shapes = [[1, count, side, side] for count, side in zip((channels[0], channels[-1]), sides, strict=True)]
        graph = helper.make_graph(
            nodes,
            "network",
            [helper.make_tensor_value_info("x", kind, shapes[0])],
            [helper.make_tensor_value_info(output, kind, shapes[1])],
            constants,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        onnx.checker.check_model(model, full_check=True)
        onnx.save(model, path)
        return path


def _geometry(layer: Conv) -> dict[str, list[int]]:
    return {"strides": [2, 2], "pads": [0, 0, 1, 1]} if layer.halved else {"pads": [1] * 4}


def ternary(k: int, c: int, seed: int, size: int = 1) -> NDArray[np.int8]:
    """Weights of which half are 0."""
    values = np.random.default_rng(seed).choice(np.array([-size, 0, 0, size]), (k, c, 3, 3))
    return values.astype(np.int8)


def integer_graph(path: Path, *without: str, power_of_two: bool = False) -> Model:
    """The model behind all passes but these, and ``power_of_two``: that which the networks here do not need."""
    target = hardware()
    soc = target.socs[0]
    passes = (*core_passes(soc, target.units), *diana_passes(soc))
    left = tuple(item for item in passes if item.name not in without and (power_of_two or item.name not in OTHERS))
    return run_passes(load_model(path, None), left, context())
