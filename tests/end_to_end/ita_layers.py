"""Integer graphs in the arithmetic of ITA, built operator by operator, and their way through compiler and twin.

ONNX files cannot hold ITA's operators (the loader puts the bodies of functions in their place), so a graph enters the
compiler where a loaded file would, in front of all passes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import onnx
import onnx_graphsurgeon as gs
from match_core.contract.model import OPSET, Model
from match_core.ir.editor import Editor
from match_core.plugin.facade import Plugins
from match_ita.arithmetic import GeluConstants, RequantStep
from match_ita.functions import ATTENTION, GELU, function_protos
from match_verify.verify import VerifyRequest, VerifyResult, verify_model
from numpy.typing import DTypeLike, NDArray

Arrays = Mapping[str, NDArray[Any]]
Values = NDArray[Any]

#: Shift and numerator of the accelerator's softmax, by preset.
SOFTMAX = {"rtl": (0, 65280), "islped": (5, 65280), "quantlib": (5, 127 * 256)}
_INT32 = 6  # TensorProto element type


class Layers:
    """Adds operators, each with one output. Tensors are int8, weights [C, K], biases [K] at the scale of sums."""

    def __init__(self) -> None:
        opsets = [onnx.helper.make_opsetid("", OPSET)]
        self._editor = Editor(
            Model("net", gs.Graph(nodes=[], inputs=[], outputs=[], opset=OPSET, import_domains=opsets))
        )
        self._editor.define(function_protos())
        self._graph = self._editor.graph

    def input(self, name: str, shape: Sequence[int]) -> gs.Variable:
        """A graph input."""
        self._graph.inputs.append(gs.Variable(name, np.dtype(np.int8), list(shape)))
        return self._graph.inputs[-1]

    def linear(
        self, x: gs.Variable, weight: Values, bias: Values, step: RequantStep, bounds: tuple[int, int] = (-128, 127)
    ) -> gs.Variable:
        """x [.., C] times ``weight``, plus ``bias``, requantised."""
        w = self.constant(weight.astype(np.int8))
        sums = self.node("MatMulInteger", [x, w], (*x.shape[:-1], weight.shape[1]), np.int32)
        multiplier, addend, divisor = step.requant
        return self.requant(sums, multiplier, addend + multiplier * bias.astype(np.int64), divisor, bounds)

    def requant(
        self,
        x: gs.Variable,
        multiplier: int | Values,
        addend: int | Values,
        divisor: int,
        bounds: tuple[int, int] = (-128, 127),
    ) -> gs.Variable:
        """clip(floor((x * multiplier + addend) / divisor))."""
        numbers = self._numbers(multiplier, addend, divisor, *bounds)
        return self.node("match.arith::RequantI8", [x, *numbers], x.shape)

    def relu(self, x: gs.Variable, step: RequantStep) -> gs.Variable:
        """max(x, 0), requantised again, as a table."""
        multiplier, addend, divisor = step.requant
        positive = np.maximum(np.arange(-128, 128), 0)
        return self.table(x, np.clip((positive * multiplier + addend) // divisor, -128, 127))

    def table(self, x: gs.Variable, entries: Values) -> gs.Variable:
        """entries[x + 128]."""
        return self.node("match.arith::LutI8", [x, self.constant(entries.astype(np.int8))], x.shape)

    def gelu(self, x: gs.Variable, constants: GeluConstants) -> gs.Variable:
        """ITA's, negated."""
        numbers = self._numbers(constants.b, constants.c, *constants.step.requant)
        return self.node(GELU, [x, *numbers], x.shape)

    def turned(self, v: gs.Variable) -> gs.Variable:
        """Rows and columns change places, columns are filled up with zeros to a multiple of 64."""
        rows, width = v.shape
        turned = self.node("Transpose", [v], (width, rows), perm=[1, 0])
        missing = -rows % 64
        if not missing:
            return turned
        amounts = [self.constant(np.array([0, 0, 0, missing], np.int64)), self.constant(np.array(0, np.int8))]
        return self.node("Pad", [turned, *amounts], (width, rows + missing))

    def attention(
        self,
        q: gs.Variable,
        k: gs.Variable,
        vt: gs.Variable,
        qk: RequantStep,
        av: RequantStep,
        heads: int = 1,
        preset: str = "rtl",
    ) -> gs.Variable:
        """q [S, HP], k [T, HP], vt [HP, Tp] -> [S, HP]."""
        shift, numerator = SOFTMAX[preset]
        numbers = self._numbers(*qk.requant, numerator, *av.requant)
        return self.node(ATTENTION, [q, k, vt, *numbers], q.shape, heads=heads, shift=shift, group=16)

    def product(self, a: gs.Variable, b: gs.Variable, step: RequantStep) -> gs.Variable:
        """a [M, C] times b [N, C] turned, requantised."""
        turned = self.node("Transpose", [b], (b.shape[1], b.shape[0]), perm=[1, 0])
        sums = self.node("MatMulInteger", [a, turned], (a.shape[0], b.shape[0]), np.int32)
        return self.requant(sums, *step.requant)

    def total(self, parts: Sequence[gs.Variable], step: RequantStep) -> gs.Variable:
        """The sum of parts of one shape, requantised."""
        shape = tuple(parts[0].shape)
        rows = [self.reshape(part, (1, *shape)) for part in parts]
        joined = self.node("Concat", rows, (len(parts), *shape), axis=0) if len(parts) > 1 else rows[0]
        wide = self.node("Cast", [joined], (len(parts), *shape), np.int32, to=_INT32)
        axes = self.constant(np.array([0], np.int64))
        return self.requant(self.node("ReduceSum", [wide, axes], shape, np.int32, keepdims=0), *step.requant)

    def reshape(self, x: gs.Variable, shape: tuple[int, ...]) -> gs.Variable:
        """Reshape."""
        return self.node("Reshape", [x, self.constant(np.array(shape, np.int64))], shape)

    def output(self, name: str, tensor: gs.Variable) -> None:
        """Make a tensor a graph output of this name."""
        self._editor.rename(tensor, name)
        self._graph.outputs.append(tensor)

    def node(
        self, op: str, inputs: Sequence[gs.Tensor], shape: Sequence[int], dtype: DTypeLike = np.int8, **attrs: object
    ) -> gs.Variable:
        """Any node."""
        name = op.rpartition("::")[2].lower()
        return self._editor.node(op, inputs, dtype, shape, name=name, origin=(name,), attrs=attrs)

    def model(self) -> Model:
        """The finished graph."""
        return self._editor.finish()

    def _numbers(self, *values: int | Values) -> list[gs.Constant]:
        return [self.constant(np.asarray(value, np.int64)) for value in values]

    def constant(self, values: Values) -> gs.Constant:
        """A constant tensor."""
        return self._editor.constant("constant", values)


def verify(model: Model, inputs: Arrays, plugins: Plugins, folder: Path, **options: Any) -> VerifyResult:
    """Compile for target ``ita``, run on the twin, compare with the graph. ``inputs``: first axis the sample."""
    onnx.save(model.to_onnx(), folder / "net.onnx")
    request = VerifyRequest(folder / "net.onnx", "ita", arrays=inputs, **options)
    with mock.patch("match_core.pipeline._load", return_value=model):
        return verify_model(request, plugins)


def patterns(result: VerifyResult) -> list[str]:
    """What every layer of a program matched, in its order."""
    return [task.assignment.candidate.pattern.name for task in result.compilation.program.tasks]


def units(result: VerifyResult) -> set[str]:
    """The units that worked."""
    return {node.unit for node in result.run.nodes}


def random_int8(seed: int, *shape: int) -> NDArray[np.int8]:
    """All values, equally often."""
    return np.random.default_rng(seed).integers(-128, 128, shape).astype(np.int8)
