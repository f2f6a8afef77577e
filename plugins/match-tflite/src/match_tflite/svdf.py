"""SVDF: filters of rank 1 over features and time, with the last features as state."""

from __future__ import annotations

import numpy as np

from match_tflite.call import Call
from match_tflite.faults import damaged
from match_tflite.fixed_point import Fixed

#: Inputs: input [batch, features], weights of features [filters, features] and time [filters, steps], bias [units],
#: state [batch, filters * steps].
_INPUT, _FEATURES, _TIME, _BIAS, _STATE = range(5)


def svdf(call: Call) -> None:
    """SVDF; on int8 inputs with an int16 state as TFLite's integer kernel computes, bit for bit."""
    x, features, time, state = (call.input(position) for position in (_INPUT, _FEATURES, _TIME, _STATE))
    rank = call.option("Rank")
    shapes = [tensor.rank for tensor in (x, features, time)]
    if shapes != [2, 2, 2] or rank < 1 or features.shape[0] % rank or features.shape[0] != time.shape[0]:
        raise damaged(call.where, f"SVDF: filters {list(features.shape)[:8]}, {list(time.shape)[:8]}, rank {rank}")
    filters, steps = time.shape
    units = filters // rank
    if (
        x.shape[1] != features.shape[1]
        or state.size != x.shape[0] * filters * steps
        or call.output().size != x.shape[0] * units
        or (call.has(_BIAS) and call.input(_BIAS).shape != (units,))
    ):
        raise damaged(call.where, f"SVDF: input {list(x.shape)[:8]}, state {list(state.shape)[:8]}, {units} units")
    if not state.variable:
        raise call.refuse("its state is not a variable")
    integers = x.dtype == np.int8 and state.dtype == np.int16
    if not integers and x.dtype != np.float32:
        raise call.refuse(f"it computes with {x.dtype.name} inputs and a state of {state.dtype.name}")
    (_on_integers if integers else _on_reals)(call, (x.shape[0], units, rank, steps))


def _shifted(call: Call, newest: str, form: tuple[int, int, int, int]) -> str:
    """The state without its oldest features and with the ``newest``, [batch, filters, steps]; it replaces the state."""
    batch, units, rank, steps = form
    old = call.graph.reshape(call.stored(_STATE), [batch, units * rank, steps])
    ends = [
        call.constant(name, np.array([value], np.int64)) for name, value in (("first", 1), ("end", steps), ("axis", 2))
    ]
    kept = call.node("Slice", [old, *ends])
    last = call.graph.reshape(newest, [batch, units * rank, 1])
    joined = call.node("Concat", [kept, last], axis=2)
    call.graph.change(call.index(_STATE), call.graph.reshape(joined, list(call.input(_STATE).shape)))
    return joined


def _on_reals(call: Call, form: tuple[int, int, int, int]) -> None:
    batch, units, rank, _ = form
    newest = call.node("Gemm", [call.real(_INPUT), call.weights(_FEATURES)], transB=1)
    products = call.node("Mul", [_shifted(call, newest, form), call.weights(_TIME)])
    sums = _summed(call, products, [2], [batch, units, rank])
    result = _summed(call, sums, [2], [batch, units])
    if call.has(_BIAS):
        result = call.node("Add", [result, call.weights(_BIAS)])
    call.give_real(call.reshaped(call.activated(result), batch * units))


def _on_integers(call: Call, form: tuple[int, int, int, int]) -> None:
    batch, units, rank, _ = form
    fixed = Fixed(call)
    x, features, time, state = (np.float32(call.scale(position)) for position in (_INPUT, _FEATURES, _TIME, _STATE))
    y = call.output().quantisation
    if y is None or not y.per_tensor or call.output().dtype != np.int8:
        raise call.refuse("its result is not int8 with one scale")
    products = call.node(
        "MatMulInteger", [call.stored(_INPUT), call.turned_weights(_FEATURES), call.zero_point(_INPUT)]
    )
    newest = fixed.narrow(fixed.scaled(fixed.wide(products), float(x * features / state)), np.int16)
    window = fixed.wide(_shifted(call, newest, form))
    weighted = call.node("Mul", [window, fixed.wide(call.graph.read(call.index(_TIME)))])
    sums = _summed(call, _summed(call, weighted, [2], [batch, units, rank]), [2], [batch, units])
    if call.has(_BIAS):
        sums = call.node("Add", [sums, fixed.wide(call.graph.read(call.index(_BIAS)))])
    result = fixed.node("Add", fixed.scaled(sums, float(state * time / y.scales[0])), int(y.zero_points[0]))
    call.give(call.reshaped(fixed.narrow(result, np.int8), batch * units))


def _summed(call: Call, name: str, axes: list[int], shape: list[int]) -> str:
    total = call.node("ReduceSum", [name, call.constant("axes", np.array(axes, np.int64))], keepdims=0)
    return call.graph.reshape(total, shape)
