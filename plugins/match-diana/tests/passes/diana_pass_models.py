"""Small quantised networks for the tests of passes, made with a fixed seed, and their integer graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import onnx
from match_core import Model, PassContext
from match_core.contract.model import OPSET, qualified_op
from match_core.contract.passes import Pass
from match_core.load.load import model_from_proto
from match_core.passes.pipeline import run_passes
from match_diana.digital.limits import SHIFT_UNIT
from match_diana.hardware import hardware
from match_host.unit import HOST_UNIT
from match_quant.powers import shift_passes
from match_verify.reference import ReferenceRunner
from numpy.typing import NDArray
from onnx import helper, numpy_helper

from tests.all_passes import core_passes

Ints = NDArray[np.int64]
PASSES: tuple[Pass, ...] = shift_passes(SHIFT_UNIT)
POWER_OF_TWO, SHIFT, FOLD_STRIDE, SYMMETRIC_PADDING = PASSES


@dataclass(frozen=True)
class Scale:
    """Parameters of an 8-bit tensor."""

    scale: float
    zero: int = 0
    dtype: type[np.generic] = np.int8


@dataclass
class Network:
    """A graph that grows. Tensors between operators are named by their integer form."""

    seed: int = 0
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: dict[str, NDArray[np.generic]] = field(default_factory=dict)
    inputs: list[onnx.ValueInfoProto] = field(default_factory=list)
    parameters: dict[str, Scale] = field(default_factory=dict)
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)

    def input(self, name: str, shape: Sequence[int], scale: Scale) -> str:
        """An 8-bit graph input."""
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(scale.dtype))
        self.inputs.append(helper.make_tensor_value_info(name, kind, list(shape)))
        self.parameters[name], self.shapes[name] = scale, tuple(shape)
        return name

    def real(self, name: str) -> str:
        """The dequantised tensor, a new node for every reader."""
        given = self.parameters[name]
        out = f"{name}_real_{len(self.nodes)}"
        self._node("DequantizeLinear", [name, *self._scale(out, given)], out)
        return out

    def quantised(self, real: str, name: str, scale: Scale) -> str:
        """The result of an operator as an 8-bit tensor."""
        self._node("QuantizeLinear", [real, *self._scale(name, scale)], name)
        self.parameters[name] = scale
        return name

    def layer(
        self,
        op: str,
        x: str,
        name: str,
        weight: Ints,
        weight_scale: float | Sequence[float],
        result: Scale,
        *,
        bias: Ints | None = None,
        clamp: tuple[float, float] | str | None = None,
        **attributes: object,
    ) -> str:
        """Conv or Gemm (transB) with per-tensor or per-channel weights. ``clamp``: Relu, or bounds of a Clip."""
        scales = np.asarray(weight_scale, np.float32)
        inputs = [self.real(x), self._constant(f"{name}_w", weight.astype(np.int8), scales)]
        if bias is not None:
            step = (self.parameters[x].scale * scales).astype(np.float32)
            inputs.append(self._constant(f"{name}_b", bias.astype(np.int32), step))
        if op == "Gemm":
            attributes = {"transB": 1, **attributes}
        self._node(op, inputs, f"{name}_sum", **attributes)
        return self.quantised(self.clamped(f"{name}_sum", clamp), name, result)

    def clamped(self, real: str, clamp: tuple[float, float] | str | None) -> str:
        """The tensor behind a Relu or Clip."""
        if clamp is None:
            return real
        if clamp == "Relu":
            self._node("Relu", [real], f"{real}_relu")
            return f"{real}_relu"
        bounds = [f"{real}_low", f"{real}_high"]
        for bound, value in zip(bounds, clamp, strict=True):
            self.constants[bound] = np.array(value, np.float32)
        self._node("Clip", [real, *bounds], f"{real}_clip")
        return f"{real}_clip"

    def sum(self, a: str, b: str, name: str, result: Scale, clamp: str | None = None) -> str:
        """The sum of two 8-bit tensors."""
        self._node("Add", [self.real(a), self.real(b)], f"{name}_sum")
        return self.quantised(self.clamped(f"{name}_sum", clamp), name, result)

    def apply(self, op: str, x: str, name: str, result: Scale, **attributes: object) -> str:
        """Any operator of one tensor."""
        self._node(op, [self.real(x)], f"{name}_value", **attributes)
        return self.quantised(f"{name}_value", name, result)

    def weights(self, *shape: int) -> Ints:
        """Bell-shaped int8 weights whose largest is 127."""
        values = self.random.normal(size=shape)
        return np.asarray(np.rint(values / np.abs(values).max() * 127), np.int64)

    def model(self, *outputs: str) -> Model:
        """The checked model with these 8-bit outputs."""
        kinds = {name: np.dtype(self.parameters[name].dtype) for name in outputs}
        ends = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(kinds[name]), None) for name in outputs
        ]
        initial = [numpy_helper.from_array(value, name) for name, value in self.constants.items()]
        graph = helper.make_graph(self.nodes, "network", self.inputs, ends, initial)
        proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
        return model_from_proto(proto, name="network", source="network")

    def _node(self, op: str, inputs: list[str], output: str, **attributes: object) -> None:
        self.nodes.append(helper.make_node(op, inputs, [output], name=f"n_{output}", **attributes))

    def _scale(self, name: str, given: Scale) -> list[str]:
        self.constants[f"{name}_scale"] = np.array(given.scale, np.float32)
        self.constants[f"{name}_zero"] = np.array(given.zero, given.dtype)
        return [f"{name}_scale", f"{name}_zero"]

    def _constant(self, name: str, values: NDArray[np.generic], scale: NDArray[np.float32]) -> str:
        self.constants[name], self.constants[f"{name}_scale"] = values, scale
        axis = {"axis": 0} if scale.ndim else {}
        self._node("DequantizeLinear", [name, f"{name}_scale"], f"{name}_real", **axis)
        return f"{name}_real"


def context() -> PassContext:
    """DIANA with all its units."""
    declared = hardware()
    return PassContext(declared.socs[0], (HOST_UNIT, *declared.units))


def integer_graph(model: Model, passes: Sequence[Pass] = PASSES) -> Model:
    """The model after the core's passes and these."""
    given = context()
    return run_passes(model, [*core_passes(given.soc, given.units), *passes], given)


def quantised_graph(model: Model) -> Model:
    """The model as diana_power_of_two sees it."""
    given = context()
    later = ("integerise", "unsigned_activations", "dequantise_constants", "clean_up")
    return run_passes(model, [item for item in core_passes(given.soc, given.units) if item.name not in later], given)


def results(model: Model, **inputs: NDArray[np.generic]) -> Ints:
    """The first output."""
    return np.asarray(next(iter(ReferenceRunner(model).run(inputs).values()))).astype(np.int64)


def random_int8(seed: int, *shape: int) -> NDArray[np.int8]:
    """All of int8."""
    return np.random.default_rng(seed).integers(-128, 128, shape).astype(np.int8)


def operators(model: Model) -> list[str]:
    """The operators in order."""
    return [qualified_op(node).rpartition("::")[2] for node in model.graph.nodes]
