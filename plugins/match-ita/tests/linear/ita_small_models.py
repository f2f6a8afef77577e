"""Small integer graphs for the passes' tests."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx
import onnx_graphsurgeon as gs
from match_core import Model, PassContext
from match_core.contract.model import OPSET
from match_core.ir.editor import Editor
from match_ita.hardware import hardware
from match_verify.reference import ReferenceRunner
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def context() -> PassContext:
    """The Soc and its units."""
    target = hardware()
    return PassContext(target.socs[0], target.units)


def start(shape: tuple[int, ...]) -> tuple[Editor, gs.Variable]:
    """An editor of a graph with one int8 input ``x``."""
    x = gs.Variable("x", np.dtype(np.int8), list(shape))
    opsets = [onnx.helper.make_opsetid("", OPSET)]
    graph = gs.Graph(nodes=[], inputs=[x], outputs=[], opset=OPSET, import_domains=opsets)
    editor = Editor(Model("m", graph))
    return editor, editor.graph.inputs[0]


def linear(
    editor: Editor,
    x: gs.Tensor,
    weight: Ints,
    multiplier: int | Ints,
    addend: int | Ints,
    divisor: int,
    bounds: tuple[int, int] = (-128, 127),
    name: str = "fc",
) -> gs.Variable:
    """MatMulInteger and RequantI8."""
    shape = (*x.shape[:-1], weight.shape[1])
    w = editor.constant(f"{name}_w", weight.astype(np.int8))
    acc = editor.node("MatMulInteger", [x, w], np.int32, shape, name=name, origin=(name,))
    values = {"M": multiplier, "B": addend, "D": divisor, "lo": bounds[0], "hi": bounds[1]}
    given = [editor.constant(f"{name}_{key}", np.array(value, np.int64)) for key, value in values.items()]
    return editor.node("match.arith::RequantI8", [acc, *given], np.int8, shape, name=f"{name}_requant", origin=(name,))


def table(editor: Editor, x: gs.Tensor, entries: Ints, name: str = "table") -> gs.Variable:
    """LutI8."""
    values = editor.constant(f"{name}_entries", entries.astype(np.int8))
    return editor.node("match.arith::LutI8", [x, values], np.int8, x.shape, name=name, origin=(name,))


def finish(editor: Editor, y: gs.Variable) -> Model:
    """The model with this output."""
    editor.graph.outputs = [y]
    return editor.finish()


def results(model: Model, inputs: Mapping[str, NDArray[np.generic]]) -> Ints:
    """The one output, as int64."""
    (y,) = ReferenceRunner(model).run(inputs).values()
    return np.asarray(y).astype(np.int64)


def random_int8(shape: tuple[int, ...], seed: int = 0) -> NDArray[np.int8]:
    """Uniform int8."""
    return np.random.default_rng(seed).integers(-128, 128, shape).astype(np.int8)


def convolution(
    editor: Editor,
    x: gs.Tensor,
    weight: Ints,
    *,
    strides: tuple[int, int] = (1, 1),
    dilations: tuple[int, int] = (1, 1),
    pads: tuple[int, int, int, int] = (0, 0, 0, 0),
    pad_value: int = 0,
    name: str = "conv",
) -> gs.Variable:
    """Pad (where there is one), ConvInteger and RequantI8 of [1, C, H, W], with the results well inside of int8."""
    if any(pads):
        top, left, bottom, right = pads
        amounts = editor.constant(f"{name}_amounts", np.array([0, 0, top, left, 0, 0, bottom, right], np.int64))
        value = editor.constant(f"{name}_value", np.array(pad_value, np.int8))
        shape = (1, x.shape[1], x.shape[2] + top + bottom, x.shape[3] + left + right)
        x = editor.node("Pad", [x, amounts, value], np.int8, shape, name=f"{name}_pad", origin=(name,))
    channels, kernel = weight.shape[0], weight.shape[2:]
    size = [(int(x.shape[2 + axis]) - (kernel[axis] - 1) * dilations[axis] - 1) // strides[axis] + 1 for axis in (0, 1)]
    w = editor.constant(f"{name}_w", weight.astype(np.int8))
    attrs = {"kernel_shape": kernel, "strides": strides, "dilations": dilations, "pads": [0] * 4, "group": 1}
    shape = (1, channels, *size)
    acc = editor.node("ConvInteger", [x, w], np.int32, shape, name=name, origin=(name,), attrs=attrs)
    slope = 40 / (np.sqrt(weight[0].size) * 74 * 74)
    addend = np.random.default_rng(5).integers(-(10 << 31), 10 << 31, (1, channels, 1, 1))
    values = {"M": round(slope * 2**31), "B": addend, "D": 2**31, "lo": -128, "hi": 127}
    given = [editor.constant(f"{name}_{key}", np.array(value, np.int64)) for key, value in values.items()]
    return editor.node("match.arith::RequantI8", [acc, *given], np.int8, shape, name=f"{name}_requant", origin=(name,))


def reshape(editor: Editor, x: gs.Tensor, shape: tuple[int, ...], name: str) -> gs.Variable:
    """Reshape."""
    target = editor.constant(f"{name}_to", np.array(shape, np.int64))
    return editor.node("Reshape", [x, target], x.dtype, shape, name=name, origin=(name,))
