"""Writes each integer operator of QuantLib and Deeploy with operators of ``match.arith``.

Semantics: the network-level integer operators of pulp-platform/quantlib and pulp-platform/Deeploy, as reproduced bit
for bit on Deeploy's test networks (docs/integer-models.md lists them).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from match_core.load.integer_call import Call, Ints

if TYPE_CHECKING:
    import onnx

MEAN = "IntegerMean"
#: Values of graph inputs lie in [-255, 255]; differences of two values are below this.
_DIFFERENCES = 511
#: The fixed-point 1.0 of the softmax in powers of two.
_SHIFT_UNIT = 256


def _bounds(levels: int, signed: bool) -> tuple[int, int]:
    return (-(levels // 2), levels // 2 - 1) if signed else (0, levels - 1)


def axes_of(node: onnx.NodeProto) -> list[int] | None:
    """The attribute ``axes``; None if it is absent (the axes may then be an input)."""
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
    _shift_softmax(call, call.shape[-1], (call.levels() - 1) * _SHIFT_UNIT)


def _ita_partial_max(call: Call) -> None:
    # Half of the levels, as in the integer model of these networks' exporter.
    _shift_softmax(call, call.attribute("group_width"), (call.levels() // 2 - 1) * _SHIFT_UNIT)


def _shift_softmax(call: Call, group: int, numerator: int) -> None:
    columns = call.shape[-1]
    if group <= 0 or columns % group:
        raise call.refuse(f"{columns} columns are not a multiple of {group}")
    call.hold(call.arith("ShiftSoftmaxU8", call.source(), {"numerator": numerator}, group=group))


def _layer_norm(call: Call) -> None:
    bounds = _bounds(call.levels(), signed=True)
    parameters = {"weight": call.integers(1, "weight"), "bias": call.integers(2, "bias")}
    _normalisation(call, "LayerNormI8", parameters, bounds)


def _rms_norm(call: Call) -> None:
    _normalisation(call, "RmsNormI8", {"weight": call.integers(1, "weight")}, _bounds(256, signed=True))


def _no_norm(call: Call) -> None:
    """Weights and bias only: ``clip(floor((x * w + b) * mul / D))``."""
    weight, bias = call.integers(1, "weight"), call.integers(2, "bias")
    factor, divisor = call.attribute("mul"), call.attribute("D")
    _along_last_axis(call, {"weight": weight, "bias": bias})
    addend = bias * factor - divisor // 2  # cancels the rounding
    call.hold(call.requantised(call.source(), weight * factor, addend, divisor, _bounds(256, signed=True)))


def _normalisation(call: Call, op: str, parameters: dict[str, Ints], bounds: tuple[int, int]) -> None:
    divisor = call.attribute("D")
    if divisor <= 0:
        raise call.refuse(f"it divides by {divisor}")
    _along_last_axis(call, parameters)
    constants = {**parameters, "divisor": divisor, "lo": bounds[0], "hi": bounds[1]}
    call.hold(call.arith(op, call.source(), constants))


def _along_last_axis(call: Call, parameters: Mapping[str, Ints]) -> None:
    for what, values in parameters.items():
        if values.shape not in ((), (1,), call.shape[-1:]):
            raise call.refuse(f"its {what} has shape {list(values.shape)}, the last axis {call.shape[-1]} elements")


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
    "iNoNorm": _no_norm,
    MEAN: _mean,
}
