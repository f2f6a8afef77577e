"""Recurrent layers whose state continues from one inference to the next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from match_tflite import tables16
from match_tflite.call import Call
from match_tflite.faults import damaged
from match_tflite.fixed_point import Fixed
from match_tflite.model import Quantisation

#: Inputs of the LSTM, for its gates input, forget, cell, output: weights of the input, of the state, biases.
_WEIGHTS, _RECURRENT, _BIASES = (1, 2, 3, 4), (5, 6, 7, 8), (12, 13, 14, 15)
#: Forms of the LSTM that are not translated: what is present, or absent if the name says so.
_PEEPHOLES, _PROJECTION, _NORMALISATION = (9, 10, 11), (16, 17), (20, 21, 22, 23)
_STATE, _CELL = 18, 19
_TANH, _RELU = 4, 1
#: Gates have 12 fractional bits, functions of gates 15.
_GATE, _UNIT = 2.0**-12, 2.0**-15


@dataclass(frozen=True, slots=True)
class _Form:
    """Sizes of a sequence; ``time_first``: the axes are [time, batch, features], else [batch, time, features]."""

    time: int
    batch: int
    features: int
    units: int
    time_first: bool


def lstm(call: Call) -> None:
    """UNIDIRECTIONAL_SEQUENCE_LSTM, and LSTM for one step: float, or int8 with an int16 cell state. The latter
    computes as the integer kernel of TFLite for microcontrollers, bit for bit."""
    if not call.has(1):
        raise call.refuse("its input gate is coupled with the forget gate")
    for positions, what in (
        (_PEEPHOLES, "peepholes"),
        (_PROJECTION, "a projection"),
        (_NORMALISATION, "normalised gates"),
    ):
        if any(call.has(position) for position in positions):
            raise call.refuse(f"it has {what}")
    if call.operator.options.get("FusedActivationFunction", _TANH) != _TANH:
        raise call.refuse("its function is not TANH")
    form = _form(call, 5, (_STATE, _CELL))
    for position in (*_WEIGHTS, *_RECURRENT, *_BIASES):
        expected = (form.units, form.features if position in _WEIGHTS else form.units)
        if call.input(position).shape != (expected[:1] if position in _BIASES else expected):
            raise damaged(call.where, f"input {position} has shape {list(call.input(position).shape)[:8]}")
    if call.input(0).dtype == np.float32:
        _float_lstm(call, form)
    elif call.input(0).dtype == np.int8 and call.input(_CELL).dtype == np.int16:
        _integer_lstm(call, form)
    else:
        raise call.refuse(
            f"it computes with {call.input(0).dtype.name} inputs and a state of {call.input(_CELL).dtype.name}"
        )


def rnn(call: Call) -> None:
    """UNIDIRECTIONAL_SEQUENCE_RNN and RNN on float inputs: input, weights, recurrent weights, bias, state."""
    functions = {_TANH: "Tanh", _RELU: "Relu"}
    function = call.option("FusedActivationFunction")
    if function not in functions or call.input(0).dtype != np.float32:
        raise call.refuse("only float inputs with the functions TANH or RELU are supported")
    form = _form(call, 2, (4,))
    for position, shape in ((1, (form.units, form.features)), (2, (form.units, form.units)), (3, (form.units,))):
        if call.input(position).shape != shape:
            raise damaged(call.where, f"input {position} has shape {list(call.input(position).shape)[:8]}")
    bias = np.append(_real(call, 3), np.zeros(form.units, np.float32))
    arrays = [_real(call, 1), _real(call, 2), bias]
    inputs = [
        _sequence(call, form),
        *(call.constant("weights", array[np.newaxis]) for array in arrays),
        "",
        _held(call, 4, form),
    ]
    results = _layer(call, "RNN", inputs, 2, hidden_size=form.units, activations=[functions[function]])
    _keep(call, 4, results[1])
    _give(call, results[0], form)


def _form(call: Call, recurrent: int, states: tuple[int, ...]) -> _Form:
    """The sizes that input, weights and states agree on. Errors: MATCH-F021 (they do not)."""
    x, weights = call.input(0), call.input(recurrent)
    shape = x.shape if call.operator.kind.startswith("UNI") else (1, *x.shape)
    if len(shape) != 3 or weights.rank != 2:
        raise damaged(call.where, f"its input has shape {list(x.shape)[:8]}, its weights {list(weights.shape)[:8]}")
    time_first = bool(call.option("TimeMajor", 0)) or not call.operator.kind.startswith("UNI")
    time, batch = shape[:2] if time_first else (shape[1], shape[0])
    form = _Form(time, batch, shape[2], weights.shape[0], time_first)
    sizes = [call.input(position).size for position in states]
    if set(sizes) != {batch * form.units} or call.output().size != time * batch * form.units or not time:
        raise damaged(call.where, f"its states have {sizes} elements for {batch} x {form.units}")
    if not all(call.input(position).variable for position in states):
        raise call.refuse("its state is not a variable")
    return form


def _sequence(call: Call, form: _Form) -> str:
    """The input with the axes [time, batch, features]."""
    x = (
        call.graph.reshape(call.stored(0), [form.time, form.batch, form.features])
        if form.time_first
        else call.stored(0)
    )
    return x if form.time_first else call.node("Transpose", [x], perm=[1, 0, 2])


def _real(call: Call, position: int) -> NDArray[np.float32]:
    """Constant weights as floats."""
    tensor, values = call.input(position), call.constant_of(position, "weights")
    if tensor.quantisation is None:
        return values.astype(np.float32)
    shape = [-1 if axis == 0 else 1 for axis in range(tensor.rank)]
    scales, zeros = (array.reshape(shape) for array in (tensor.quantisation.scales, tensor.quantisation.zero_points))
    return ((values.astype(np.int64) - zeros) * scales).astype(np.float32)


def _held(call: Call, position: int, form: _Form) -> str:
    """A state with the axes [direction, batch, units]."""
    return call.graph.reshape(call.stored(position), [1, form.batch, form.units])


def _keep(call: Call, position: int, name: str) -> None:
    call.graph.change(call.index(position), call.graph.reshape(name, list(call.input(position).shape)))


def _layer(call: Call, op: str, inputs: list[str], count: int, **attributes: object) -> list[str]:
    names = [call.graph.unique(f"{call.graph.title}_{op.lower()}_{i}") for i in range(count)]
    call.graph.node(op, inputs, names, **attributes)
    return names


def _give(call: Call, name: str, form: _Form) -> None:
    """[time, direction, batch, units] as the result."""
    y = call.graph.reshape(name, [form.time, form.batch, form.units])
    if not form.time_first:
        y = call.node("Transpose", [y], perm=[1, 0, 2])
    call.give(call.graph.reshape(y, list(call.output().shape)))


def _float_lstm(call: Call, form: _Form) -> None:
    if call.operator.options.get("CellClip", 0.0) or call.operator.options.get("ProjClip", 0.0):
        raise call.refuse("it clips its state")
    order = (0, 3, 1, 2)  # ONNX: input, output, forget, cell
    stacked = [np.concatenate([_real(call, row[gate]) for gate in order]) for row in (_WEIGHTS, _RECURRENT, _BIASES)]
    stacked[2] = np.append(stacked[2], np.zeros_like(stacked[2]))
    inputs = [_sequence(call, form), *(call.constant("weights", array[np.newaxis]) for array in stacked), ""]
    inputs += [_held(call, _STATE, form), _held(call, _CELL, form)]
    results = _layer(call, "LSTM", inputs, 3, hidden_size=form.units)
    _keep(call, _STATE, results[1])
    _keep(call, _CELL, results[2])
    _give(call, results[0], form)


def _integer_lstm(call: Call, form: _Form) -> None:
    """Sums of all gates at once, in the order input, forget, output, cell: one function for the first three."""
    fixed, order = Fixed(call), (0, 1, 3, 2)
    cell, state = call.scale(_CELL), call.input(_STATE).quantisation
    power = np.log2(np.float64(cell))
    if power != round(power) or state is None or not state.same_as(call.output().quantisation):
        raise call.refuse("the scale of its cell state is not a power of two, or state and result differ in scale")
    if call.input(_STATE).dtype != np.int8 or call.output().dtype != np.int8:
        raise call.refuse("its state or result is not int8")
    biases = np.concatenate([call.constant_of(_BIASES[gate], "biases") for gate in order]).astype(np.int64)
    x = call.graph.reshape(_sequence(call, form), [form.time * form.batch, form.features])
    summed = _gates(call, x, 0, [_WEIGHTS[gate] for gate in order], biases)
    outer = call.graph.reshape(summed, [form.time, form.batch, 4 * form.units])
    h, c, steps = call.stored(_STATE), fixed.wide(call.stored(_CELL)), []
    h, c = (call.graph.reshape(name, [form.batch, form.units]) for name in (h, c))
    for step in range(form.time):
        inner = _gates(call, h, _STATE, [_RECURRENT[gate] for gate in order], None)
        now = fixed.node("Gather", outer, step)
        h, c = _step(call, fixed.clipped(fixed.node("Add", now, inner), -32768, 32767), c, state, int(power))
        steps.append(call.graph.reshape(h, [1, 1, form.batch, form.units]))
    _keep(call, _STATE, h)
    _keep(call, _CELL, call.node("Cast", [c], to=5))
    _give(call, call.node("Concat", steps, axis=0), form)


def _gates(call: Call, x: str, source: int, positions: list[int], biases: NDArray[np.int64] | None) -> str:
    """Products of int8 values and the weights of four gates, with 12 fractional bits, saturated to 16 bits."""
    fixed, held = Fixed(call), call.input(source).quantisation
    if held is None or not held.per_tensor:
        raise call.refuse(f"input {call.input(source).name!r} does not have one scale")
    stacked = np.concatenate([call.constant_of(position, "weights") for position in positions])
    if stacked.dtype != np.int8:
        raise call.refuse(f"its weights are {stacked.dtype.name}")
    factors = [np.float32(held.scales[0]) * np.float32(call.scale(position)) for position in positions]
    reals = np.repeat(np.array(factors, np.float64) / _GATE, len(stacked) // 4)
    weights = call.constant("gates", np.ascontiguousarray(stacked.T))
    sums = fixed.wide(call.node("MatMulInteger", [x, weights, call.zero_point(source)]))
    if biases is not None:
        sums = fixed.node("Add", sums, biases)
    return fixed.clipped(fixed.scaled(sums, reals), -32768, 32767)


def _step(call: Call, gates: str, c: str, state: Quantisation, power: int) -> tuple[str, str]:
    """The next state (int8) and cell state (int64) from the saturated sums of the gates."""
    fixed, units = Fixed(call), call.input(5).shape[0]
    bounded = tables16.sigmoid(fixed, _part(call, gates, 0, 3 * units), 3, 0)
    new = tables16.tanh(fixed, _part(call, gates, 3 * units, 4 * units), 3, 0)
    taken, kept, shown = (_part(call, bounded, gate * units, (gate + 1) * units) for gate in range(3))
    products = [
        fixed.clipped(fixed.scaled(fixed.node("Mul", a, b), real), -32768, 32767)
        for a, b, real in ((kept, c, _UNIT), (taken, new, _UNIT * _UNIT / 2.0**power))
    ]
    clip = float(call.operator.options.get("CellClip", 0.0))
    bound = int(min(clip / 2.0**power, 32767)) if clip > 0 else 0
    c = fixed.clipped(fixed.node("Add", *products), -bound if bound else -32768, bound or 32767)
    shift = 12 + power
    curved = tables16.tanh(fixed, c, 3 << max(shift, 0), max(-shift, 0))
    scaled = fixed.scaled(fixed.node("Mul", curved, shown), _UNIT * _UNIT / float(state.scales[0]))
    return fixed.narrow(fixed.node("Add", scaled, int(state.zero_points[0])), np.int8), c


def _part(call: Call, name: str, first: int, end: int) -> str:
    """Columns of a matrix."""
    bounds = [
        call.constant(what, np.array([value], np.int64))
        for what, value in (("first", first), ("end", end), ("axis", 1))
    ]
    return call.node("Slice", [name, *bounds])
