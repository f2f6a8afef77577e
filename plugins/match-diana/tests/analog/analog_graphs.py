"""Small graphs with ternary layers, before and behind integers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import onnx
import onnx_graphsurgeon as gs
from match_core import Match, Model, PassContext
from match_core.contract.model import OPSET
from match_core.ir.editor import Editor
from match_core.match.candidates import Candidates, find_candidates
from match_diana.analog.patterns import ANALOG_PATTERNS
from match_diana.hardware import hardware
from match_diana.passes.analog import run
from match_verify.reference import ReferenceRunner
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Shape:
    """A convolution: channels, feature map, kernel, stride, padding (top, left, bottom, right)."""

    c: int = 64
    k: int = 64
    size: tuple[int, int] = (6, 6)
    kernel: tuple[int, int] = (3, 3)
    stride: int = 1
    pads: tuple[int, int, int, int] = (1, 1, 1, 1)


def context() -> PassContext:
    """The Soc and its units."""
    target = hardware()
    return PassContext(target.socs[0], target.units)


def cells_of(shape: Shape, seed: int) -> Ints:
    """Random cells, half of them 0."""
    random = np.random.default_rng(seed)
    return random.choice(np.array([-1, 0, 0, 1]), (shape.k, shape.c, *shape.kernel))


def start(shape: Shape) -> tuple[Editor, gs.Variable]:
    """A graph with an int8 input ``x``, and the tensor of 7 bits that half of it is."""
    x = gs.Variable("x", np.dtype(np.int8), [1, shape.c, *shape.size])
    graph = gs.Graph(
        nodes=[], inputs=[x], outputs=[], opset=OPSET, import_domains=[onnx.helper.make_opsetid("", OPSET)]
    )
    editor = Editor(Model("m", graph))
    return editor, requantised(editor, editor.graph.inputs[0], 1, 0, 2, (-64, 63), "half")


def requantised(
    editor: Editor,
    x: gs.Tensor,
    multiplier: int | Ints,
    addend: int | Ints,
    divisor: int,
    bounds: tuple[int, int],
    name: str,
) -> gs.Variable:
    """RequantI8."""
    values = {"M": multiplier, "B": addend, "D": divisor, "lo": bounds[0], "hi": bounds[1]}
    given = [editor.constant(f"{name}_{key}", np.array(value, np.int64)) for key, value in values.items()]
    return editor.node("match.arith::RequantI8", [x, *given], np.int8, x.shape, name=name, origin=(name,))


def convolved(editor: Editor, x: gs.Tensor, weights: Ints, shape: Shape, name: str = "conv") -> gs.Variable:
    """ConvInteger."""
    top, left, bottom, right = shape.pads
    oy = (shape.size[0] + top + bottom - shape.kernel[0]) // shape.stride + 1
    ox = (shape.size[1] + left + right - shape.kernel[1]) // shape.stride + 1
    attrs = {"kernel_shape": list(shape.kernel), "strides": [shape.stride] * 2, "pads": list(shape.pads)}
    inputs = [x, editor.constant(f"{name}_w", weights.astype(np.int8))]
    attributes = {**attrs, "dilations": [1, 1], "group": 1}
    return editor.node(
        "ConvInteger", inputs, np.int32, (1, shape.k, oy, ox), name=name, origin=(name,), attrs=attributes
    )


def layer(shape: Shape, weights: Ints, *, relu: bool = False, spread: float = 1.0) -> Model:
    """Half of x, a convolution, a requantisation to 7 bits of which results use most."""
    editor, x = start(shape)
    random = np.random.default_rng(1)
    slope = 20 / (np.sqrt(np.square(weights).reshape(shape.k, -1).sum(axis=1)) * 37 + 1)
    slope = slope * spread ** random.uniform(-1, 0, shape.k)
    bias = np.rint((random.normal(0, 3, shape.k) + 0.5) * 2**20).astype(np.int64)
    multiplier = np.maximum(np.rint(slope * 2**20), 1).astype(np.int64)
    sums = convolved(editor, x, weights, shape)
    constants = (multiplier.reshape(-1, 1, 1), bias.reshape(-1, 1, 1))
    return finish(editor, requantised(editor, sums, *constants, 2**20, (0 if relu else -64, 63), "requant"))


def analog(shape: Shape, cells: Ints, *, relu: bool = False) -> Model:
    """The layer in the arithmetic of the analog array."""
    return run(layer(shape, cells, relu=relu), context())


def finish(editor: Editor, y: gs.Variable) -> Model:
    """The model with this output."""
    editor.rename(y, "y")
    editor.graph.outputs.append(y)
    return editor.finish()


def candidates(model: Model) -> Candidates:
    """What the analog array could run."""
    target = hardware()
    unit = next(unit for unit in target.units if unit.name == "analog")
    return find_candidates(model.graph, [(unit, ANALOG_PATTERNS)])


def only_match(model: Model) -> Match:
    """The one layer that the array can run."""
    (candidate,) = candidates(model).legal
    return candidate.match


def results(model: Model, inputs: Mapping[str, NDArray[np.generic]]) -> Ints:
    """The output in ONNX Runtime."""
    return ReferenceRunner(model).run(inputs)["y"].astype(np.int64)


def random_input(shape: Shape, seed: int = 3) -> NDArray[np.int8]:
    """Any int8 values."""
    values = np.random.default_rng(seed).integers(-128, 128, (1, shape.c, *shape.size))
    return values.astype(np.int8)
