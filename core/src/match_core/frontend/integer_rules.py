"""How each integer operator of QuantLib and Deeploy is written with operators of ``match.arith``.

Semantics: the network-level integer operators of pulp-platform/quantlib and pulp-platform/Deeploy, as reproduced bit
for bit on Deeploy's test networks (docs/integer-models.md lists them).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from match_core.errors import ModelError
from match_core.ir.functions import ARITH
from match_core.ir.naming import comment_text

if TYPE_CHECKING:
    import onnx

Ints = NDArray[np.int64]

MEAN = "IntegerMean"
#: Values of graph inputs lie in [-255, 255]; so differences of two of them are below this.
_DIFFERENCES = 511
#: Bits of 1.0 in ITA's softmax.
_ITA_UNIT = 256


class Call:
    """One node to replace: its parameters as integers, and the nodes that replace it."""

    def __init__(
        self,
        node: onnx.NodeProto,
        known: Mapping[str, onnx.ValueInfoProto],
        constants: Mapping[str, onnx.TensorProto],
        source: str,
    ) -> None:
        self.node = node
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self._known, self._constants, self._source = known, constants, source

    def refuse(self, why: str) -> ModelError:
        """The error that the node cannot be taken."""
        name = comment_text(self.node.op_type)
        return ModelError(
            "MATCH-F017",
            f"the integer operator {name} cannot be taken",
            f"{self._source}, node {self.node.name!r} ({name})",
            why,
            ("export the network again", "docs/integer-models.md says what each operator needs"),
        )

    def attribute(self, *names: str, default: int | None = None) -> int:
        """An attribute that is one integer, as a number or as a tensor; the first of ``names`` that is there."""
        import onnx

        for attribute in self.node.attribute:
            if attribute.name in names:
                value = onnx.helper.get_attribute_value(attribute)
                tensor = isinstance(value, onnx.TensorProto)
                values = onnx.numpy_helper.to_array(value) if tensor else np.asarray(value)
                return int(self._whole(values, f"attribute {attribute.name}", 1).reshape(-1)[0])
        if default is None:
            raise self.refuse(f"it has no attribute {names[0]}")
        return default

    def integers(self, position: int, what: str) -> Ints:
        """A constant input that holds integers."""
        import onnx

        name = self.node.input[position] if position < len(self.node.input) else ""
        if name not in self._constants:
            raise self.refuse(f"its {what} (input {position}) is no constant")
        return self._whole(onnx.numpy_helper.to_array(self._constants[name]), what)

    def _whole(self, values: NDArray[np.generic], what: str, size: int | None = None) -> Ints:
        wide = np.asarray(values, np.float64)
        if not wide.size or (size is not None and wide.size != size):
            raise self.refuse(f"{what} has {wide.size} values")
        if not np.all(np.isfinite(wide)) or np.any(wide != np.rint(wide)) or np.any(np.abs(wide) >= 2.0**53):
            raise self.refuse(f"{what} holds values that are no integers")
        return np.asarray(values).astype(np.int64)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the first input."""
        value = self._known.get(self.node.input[0])
        if value is None or not value.type.tensor_type.HasField("shape"):
            raise self.refuse("the shape of its input is not known")
        return tuple(int(dim.dim_value) for dim in value.type.tensor_type.shape.dim)

    def per_channel(self, values: Ints, what: str) -> Ints:
        """In a shape that broadcasts as numpy does: a vector lies along the channels, axis 1 of images and the last one
        of other tensors."""
        shape = self.shape
        if values.size == 1:
            return values.reshape(())
        if values.ndim == 1 and len(shape) == 4 and shape[1] == values.size:
            return values.reshape(-1, 1, 1)
        fits = values.ndim <= len(shape) and all(
            size in (1, full) for size, full in zip(values.shape[::-1], shape[::-1], strict=False)
        )
        if not fits:
            raise self.refuse(f"its {what} has shape {list(values.shape)}, its input {list(shape)}")
        return values

    # ---- writing ------------------------------------------------------------------------------------------------

    def emit(self, op: str, inputs: Sequence[str], suffix: str, **attributes: object) -> str:
        """A node; the one without suffix keeps the node's name. Returns its output's name."""
        import onnx

        domain, _, short = op.rpartition("::")
        name = f"{self.node.name}_{suffix}" if suffix else self.node.name
        output = f"{self.node.output[0]}_{suffix or 'integers'}"
        node = onnx.helper.make_node(short, list(inputs), [output], name=name, domain=domain)
        node.attribute.extend(onnx.helper.make_attribute(key, value) for key, value in attributes.items())
        self.nodes.append(node)
        return output

    def arith(self, op: str, x: str, parameters: Mapping[str, object], suffix: str = "", **attributes: object) -> str:
        """An operator of ours on ``x`` and int64 constants."""
        import onnx

        inputs = [x]
        for what, value in parameters.items():
            name = f"{self.node.output[0]}_{suffix}{what}"
            self.initializers.append(onnx.numpy_helper.from_array(np.asarray(value, np.int64), name))
            inputs.append(name)
        return self.emit(f"{ARITH}::{op}", inputs, suffix, **attributes)

    def source(self, x: str = "", suffix: str = "source") -> str:
        """The integers in the first input (or in ``x``)."""
        return self.emit(f"{ARITH}::AsInteger", [x or self.node.input[0]], suffix)

    def hold(self, integers: str) -> None:
        """Put the result's integers into a tensor of the type that the model has there."""
        import onnx

        value = self._known.get(self.node.input[0])
        to = value.type.tensor_type.elem_type if value is not None else onnx.TensorProto.FLOAT
        self.nodes.append(
            onnx.helper.make_node("Cast", [integers], list(self.node.output), name=f"{self.node.name}_held", to=to)
        )

    def levels(self) -> int:
        """How many values the result can take."""
        levels = self.attribute("n_levels", "n_levels_out")
        if not 2 <= levels <= 256:
            raise self.refuse(f"its result has {levels} levels, which are not 1 to 8 bits")
        return levels

    def requantised(self, x: str, multiplier: Ints, addend: Ints, divisor: int, bounds: tuple[int, int]) -> str:
        """``clip(floor((x * multiplier + addend) / divisor + 1 / 2))``."""
        if divisor <= 0:
            raise self.refuse(f"it divides by {divisor}")
        op = "RequantI8" if bounds[0] < 0 else "RequantU8"
        parameters = {"multiplier": multiplier, "addend": addend + divisor // 2, "divisor": divisor}
        return self.arith(op, x, {**parameters, "lo": bounds[0], "hi": bounds[1]})


def _bounds(levels: int, signed: bool) -> tuple[int, int]:
    return (-(levels // 2), levels // 2 - 1) if signed else (0, levels - 1)


def axes_of(node: onnx.NodeProto) -> list[int] | None:
    """The attribute ``axes``; None where there is none (then they may be an input)."""
    return next((list(attribute.ints) for attribute in node.attribute if attribute.name == "axes"), None)


def _requant_shift(call: Call) -> None:
    multiplier = call.per_channel(call.integers(1, "multiplier"), "multiplier")
    addend = call.per_channel(call.integers(2, "addend"), "addend")
    bounds = _bounds(call.levels(), bool(call.attribute("signed")))
    call.hold(call.requantised(call.source(), multiplier, addend, call.attribute("div"), bounds))


def _gelu(call: Call) -> None:
    call.hold(call.arith("IntegerGelu", call.source(), {"b": call.attribute("b"), "one": call.attribute("one")}))


def _requantized_gelu(call: Call) -> None:
    constants = {"b": call.attribute("b"), "one": call.attribute("one")}
    gelu = call.arith("IntegerGelu", call.source(), constants, "gelu")
    multiplier = call.per_channel(call.integers(1, "multiplier"), "multiplier")
    addend = call.per_channel(call.integers(2, "addend"), "addend")
    shift = int(call.integers(3, "shift").reshape(-1)[0])
    if not 0 <= shift < 62:
        raise call.refuse(f"it shifts by {shift}")
    call.hold(call.requantised(gelu, multiplier, addend, 1 << shift, _bounds(256, signed=True)))


def _hardswish(call: Call) -> None:
    names = {"sixth": "one_over_six", "three": "three", "six": "six"}
    constants = {short: call.attribute(name) for short, name in names.items()}
    call.hold(call.arith("IntegerHardswish", call.source(), constants))


def _softmax(call: Call) -> None:
    a, b, c, log2 = (call.attribute(name) for name in ("coeffA", "coeffB", "coeffC", "log2"))
    if log2 <= 0:
        raise call.refuse(f"log2 is {log2}")
    levels = call.levels()
    call.hold(call.arith("SoftmaxFloorU8", call.source(), {"table": exponentials(a, b, c, log2), "levels": levels - 1}))


def exponentials(a: int, b: int, c: int, log2: int) -> Ints:
    """I-BERT's integer exponential of -d for d = 0, 1, ...: ``(a (p + b)^2 + c) / 2^z`` with z = d / log2 (at most 31)
    and p = z log2 - d."""
    distance = np.arange(_DIFFERENCES, dtype=np.int64)
    halvings: Ints = np.minimum(distance // log2, 31)
    rest = halvings * log2 - distance
    table: Ints = (a * np.square(rest + b) + c) >> halvings
    return table


def _ita_max(call: Call) -> None:
    _shift_softmax(call, call.shape[-1], (call.levels() - 1) * _ITA_UNIT)


def _ita_partial_max(call: Call) -> None:
    # Half of the levels, as in the integer model of these networks' exporter.
    _shift_softmax(call, call.attribute("group_width"), (call.levels() // 2 - 1) * _ITA_UNIT)


def _shift_softmax(call: Call, group: int, numerator: int) -> None:
    columns = call.shape[-1]
    if group <= 0 or columns % group:
        raise call.refuse(f"{columns} columns are no whole groups of {group}")
    call.hold(call.arith("ShiftSoftmaxU8", call.source(), {"numerator": numerator}, group=group))


def _layer_norm(call: Call) -> None:
    bounds = _bounds(call.levels(), signed=True)
    parameters = {"weight": call.integers(1, "weight"), "bias": call.integers(2, "bias")}
    _normalisation(call, "LayerNormI8", parameters, bounds)


def _rms_norm(call: Call) -> None:
    _normalisation(call, "RmsNormI8", {"weight": call.integers(1, "weight")}, _bounds(256, signed=True))


def _normalisation(call: Call, op: str, parameters: dict[str, Ints], bounds: tuple[int, int]) -> None:
    divisor = call.attribute("D")
    if divisor <= 0:
        raise call.refuse(f"it divides by {divisor}")
    for what, values in parameters.items():
        if values.shape not in ((), (1,), call.shape[-1:]):
            raise call.refuse(f"its {what} has shape {list(values.shape)}, the last axis {call.shape[-1]} elements")
    constants = {**parameters, "divisor": divisor, "lo": bounds[0], "hi": bounds[1]}
    call.hold(call.arith(op, call.source(), constants))


def _mean(call: Call) -> None:
    axes = axes_of(call.node)
    shape = call.shape
    if axes is None:
        given = len(call.node.input) > 1 and call.node.input[1]
        axes = call.integers(1, "axes").tolist() if given else list(range(len(shape)))
    axes = [axis % len(shape) for axis in axes]
    count = int(np.prod([shape[axis] for axis in axes], dtype=np.int64))
    keepdims = call.attribute("keepdims", default=1)
    total = call.arith("ReduceSum", call.node.input[0], {"axes": axes}, "sum", keepdims=keepdims)
    call.nodes[-1].domain = ""
    call.hold(call.arith("RoundedQuotient", call.source(total), {"count": count}))


RULES: Mapping[str, Callable[[Call], None]] = {
    "RequantShift": _requant_shift,
    "iGELU": _gelu,
    "RequantizediGELU": _requantized_gelu,
    "iHardswish": _hardswish,
    "iSoftmax": _softmax,
    "ITAMax": _ita_max,
    "ITAPartialMax": _ita_partial_max,
    "iLayerNorm": _layer_norm,
    "iRMSNorm": _rms_norm,
    MEAN: _mean,
}
