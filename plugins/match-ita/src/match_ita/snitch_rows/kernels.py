"""The kernels for rows and elements by pattern, and the packing of their constants."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from match_core import Kernel, KernelInterface, Match, Workload
from match_core.patterns.captures import number, shift
from match_core.patterns.packing import Arrays, Pack, nothing
from numpy.typing import NDArray

from match_ita.arithmetic import gelu_polynomial
from match_ita.snitch_rows import interfaces, plan
from match_ita.snitch_rows import structures as s
from match_ita.snitch_rows.exact import Affine, Sum
from match_ita.snitch_rows.plan import Wide


def _columns(workload: Workload, *numbers: NDArray[np.int64]) -> Arrays:
    """Numbers of each channel side by side."""
    channels = workload.dim("C").size
    spread = [np.broadcast_to(values.reshape(-1), (channels,)) for values in numbers]
    return {"parameters": np.stack(spread, axis=1).astype(np.int32)}


def _scales(workload: Workload, *steps: Affine) -> Arrays:
    return _columns(workload, *(values for step in steps for values in (step.multiplier, step.addend)))


def pair_table(both: Sum | Wide | None) -> NDArray[np.int32]:
    """The addend and the first product of a narrow sum, for every int8; a wide one has none."""
    if not isinstance(both, Sum):
        return np.zeros(1, np.int32)
    return (np.arange(-128, 128) * both.multiplier_a + both.addend).astype(np.int32)


def _add(match: Match, workload: Workload) -> Arrays:
    return {"table": pair_table(plan.add(match))}


def _two(match: Match, workload: Workload) -> Arrays:
    return {"table": pair_table(plan.two(match))}


def _requant(match: Match, workload: Workload) -> Arrays:
    chosen = plan.requant(match)
    assert chosen is not None  # a rule says so
    if isinstance(chosen, Affine):
        return _scales(workload, chosen)
    low = (chosen.addend & 0xFFFFFFFF).astype(np.uint32).view(np.int32).astype(np.int64)
    return _columns(workload, chosen.multipliers, low, chosen.addend >> 32)


def _requant_twice(match: Match, workload: Workload) -> Arrays:
    steps = plan.requant_twice(match)
    assert steps is not None  # a rule says so
    return _scales(workload, *steps)


def _offset_each(match: Match, workload: Workload) -> Arrays:
    chosen = plan.requant_narrow(match)
    assert chosen is not None  # a rule says so
    shape = workload.dim("R").size, workload.dim("C").size
    return {"addend": chosen.addend.reshape(shape).astype(np.int32)}


def _add_requant(match: Match, workload: Workload) -> Arrays:
    steps = plan.add_requant(match)
    assert steps is not None  # a rule says so
    both, one = steps
    ends = [one.of(value) for value in (both.low, both.high)]
    parameters = _columns(workload, one.multiplier, one.addend, np.minimum(*ends), np.maximum(*ends))
    return {**parameters, "table": pair_table(both)}


def _add_requant_twice(match: Match, workload: Workload) -> Arrays:
    steps = plan.add_requant_twice(match)
    assert steps is not None  # a rule says so
    return {**_scales(workload, *steps[1:]), "table": pair_table(steps[0])}


def _by_byte(match: Match, table: NDArray[np.generic]) -> Arrays:
    """A table of 256 results in the order of the inputs' bytes; those of int8 begin with 0."""
    turned = np.roll(table, -128) if s.flip(match) else table
    return {"table": turned.astype(match.output.dtype)}


def _lut(match: Match, workload: Workload) -> Arrays:
    return _by_byte(match, match.const("table").reshape(-1))


def _gelu(match: Match, workload: Workload) -> Arrays:
    """ITA's GELU of every int8 value, requantised."""
    b, c, multiplier, addend = (number(match, name) for name in ("gelu_b", "gelu_c", "multiplier", "addend"))
    value = gelu_polynomial(np.arange(-128, 128), b, c)[1] * multiplier + addend
    return _by_byte(match, np.clip(value >> shift(match), -128, 127))


def norm_table(columns: int, low: int) -> NDArray[np.int32]:
    """``columns`` times each of 256 values from ``low`` on, and their squares in 16 bits."""
    x = np.arange(low, low + 256)
    return np.concatenate([(columns * x).astype(np.int32), (x * x).astype("<u2").view("<i4")])


def _layernorm(match: Match, workload: Workload) -> Arrays:
    parameters = _columns(workload, *(match.const(name).astype(np.int64) for name in ("multiplier", "addend")))
    return {**parameters, "table": norm_table(workload.dim("C").size, -s.flip(match))}


def _integer_norm(match: Match, workload: Workload) -> Arrays:
    bias = match.const("bias").astype(np.int64) if match.has("bias") else np.zeros(1, np.int64)
    return _columns(workload, match.const("weight").astype(np.int64), bias)


def _gather(match: Match, workload: Workload) -> Arrays:
    index = match.const("index").astype(np.int64).reshape(-1)
    rows = workload.dim("V").size
    return {"index": np.where(index < 0, index + rows, index).astype(np.int32)}


def _concat(match: Match, workload: Workload) -> Arrays:
    """The first tensor, [O][size][I]."""
    shape = [workload.dim("O").size, workload.parameters["size_a"], workload.dim("I").size]
    return {"input_a": match.const("input_a").reshape(shape)}


def _kernel(interface: KernelInterface, pack: Pack = nothing) -> Kernel:
    return Kernel(interface, launch=f"match_{interface.kind}", wait="match_ita_team_wait", pack=pack)


KERNELS: Mapping[str, Kernel] = MappingProxyType(
    {
        "add": _kernel(interfaces.ADD, _add),
        "requant": _kernel(interfaces.REQUANT, _requant),
        "requant_twice": _kernel(interfaces.REQUANT_TWICE, _requant_twice),
        "requant_each": _kernel(interfaces.OFFSET_EACH, _offset_each),
        "add_requant": _kernel(interfaces.ADD_REQUANT, _add_requant),
        "add_requant_twice": _kernel(interfaces.ADD_REQUANT_TWICE, _add_requant_twice),
        "sum": _kernel(interfaces.SUM),
        "sum_two": _kernel(interfaces.ADD, _two),
        "sum_three": _kernel(interfaces.SUM_THREE),
        "sum_add": _kernel(interfaces.SUM_ADD),
        "add_sum": _kernel(interfaces.SUM_ADD),
        "lut": _kernel(interfaces.LUT, _lut),
        "gelu": _kernel(interfaces.LUT, _gelu),
        "layernorm": _kernel(interfaces.LAYERNORM, _layernorm),
        "integer_layernorm": _kernel(interfaces.INTEGER_NORM, _integer_norm),
        "rmsnorm": _kernel(interfaces.INTEGER_NORM, _integer_norm),
        "transpose_rows": _kernel(interfaces.COPY),
        "transpose": _kernel(interfaces.TRANSPOSE),
        "slice": _kernel(interfaces.COPY),
        "offset": _kernel(interfaces.COPY),
        "gather": _kernel(interfaces.GATHER, _gather),
        "windows": _kernel(interfaces.WINDOWS),
        "pad": _kernel(interfaces.PAD),
        "pad_rows": _kernel(interfaces.WINDOWS),
        "concat": _kernel(interfaces.CONCAT),
        "concat_constant": _kernel(interfaces.CONCAT_CONSTANT, _concat),
        "concat_three": _kernel(interfaces.CONCAT_THREE),
    }
)
