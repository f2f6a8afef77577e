"""Requantisation of known integers: a table, a sum of two tensors, or ``Requant`` with the recorded factors."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.reader import constant, producer, shape_of

from match_quant.integer_values import EIGHT_BITS, LIMIT, Integers, Ints, cast, scaled_bounds
from match_quant.narrowing import Narrowing

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


@dataclass(frozen=True, slots=True)
class Requantisation:
    """``clip(floor((x * multiplier + addend) / divisor), lo, hi)``."""

    multiplier: Ints
    addend: Ints
    divisor: int
    lo: int
    hi: int

    def of(self, values: Ints) -> Ints:
        """Results for these values."""
        results: Ints = np.clip((values * self.multiplier + self.addend) // self.divisor, self.lo, self.hi)
        return results

    def bounds(self, low: int, high: int) -> tuple[int, int]:
        """Bounds of the sum before the division for x in [low, high]."""
        ends = scaled_bounds(low, high, self.multiplier)
        return ends[0] + int(self.addend.min()), ends[1] + int(self.addend.max())

    def reduced(self, *factors: Ints) -> tuple[Requantisation, tuple[Ints, ...]]:
        """The same with smaller numbers: common factors of ``factors`` (used for the multiplier) and the divisor are
        removed. ``floor((g n + B) / (g d))`` is ``floor((n + floor(B / g)) / d)``."""
        common = self.divisor
        for factor in factors:
            common = gcd(common, int(np.gcd.reduce(factor.reshape(-1))))
        smaller = tuple(factor // common for factor in factors)
        return Requantisation(smaller[0], self.addend // common, self.divisor // common, self.lo, self.hi), smaller


def requantise(state: Narrowing, node: gs.Node) -> None:
    """Replace a ``RequantU8`` or ``RequantI8`` with a known input."""
    x, wanted = state.lookup(node.inputs[0]), _parameters(node)
    if x is None or wanted is None or max(map(abs, wanted.bounds(*x.bounds()))) >= LIMIT:
        return
    result = _tabulated(state, node, x, wanted) or _sum(state, node, x, wanted) or _general(state, node, x, wanted)
    if result is None:
        return
    state.alias(result.tensor, result)
    state.editor.replace(node.outputs[0], result.tensor)


def _parameters(node: gs.Node) -> Requantisation | None:
    values = [constant(tensor) for tensor in node.inputs[1:6]]
    if any(v is None or v.dtype != np.int64 for v in values):
        return None
    multiplier, addend, divisor, lo, hi = (np.asarray(v, np.int64) for v in values)
    if any(v.size != 1 for v in (divisor, lo, hi)) or int(divisor.reshape(-1)[0]) <= 0:
        return None
    return Requantisation(multiplier, addend, *(int(v.reshape(-1)[0]) for v in (divisor, lo, hi)))


def _tabulated(state: Narrowing, node: gs.Node, x: Integers, wanted: Requantisation) -> Integers | None:
    """A function of one 8-bit tensor."""
    found = state.table(x)
    if found is None or wanted.multiplier.size != 1 or wanted.addend.size != 1:
        return None
    source, results = found
    if max(map(abs, wanted.bounds(int(results.min()), int(results.max())))) >= LIMIT:
        return None
    table = wanted.of(results).reshape(-1)
    dtype = np.dtype(node.outputs[0].dtype)
    result = state.tabulated(source, table, node, dtype)
    if result.dtype == dtype or all(reader.op in ("Cast", "AsInteger") for reader in node.outputs[0].outputs):
        return result
    return Integers(cast(state.editor, result.tensor, dtype, node.name, state.origin(node)), result.lo, result.hi)


def _sum(state: Narrowing, node: gs.Node, x: Integers, wanted: Requantisation) -> Integers | None:
    """Two 8-bit tensors."""
    if x.other is None or x.dtype not in EIGHT_BITS or x.other.dtype not in EIGHT_BITS:
        return None
    factors = x.multiplier * wanted.multiplier, x.other.multiplier * wanted.multiplier
    addend = x.addend * wanted.multiplier + wanted.addend
    small, (first, second) = Requantisation(
        factors[0], np.asarray(addend), wanted.divisor, wanted.lo, wanted.hi
    ).reduced(*factors)
    constants = _constants(
        state,
        node,
        x.shape,
        multiplier_a=first,
        multiplier_b=second,
        addend=small.addend,
        divisor=small.divisor,
        lo=small.lo,
        hi=small.hi,
    )
    inputs = [x.tensor, x.other.tensor, *constants]
    return _new(state, node, x, f"Add{node.op}", inputs, wanted)


def _general(state: Narrowing, node: gs.Node, x: Integers, wanted: Requantisation) -> Integers:
    """One tensor, usually the sums of a convolution or a matrix product."""
    origin = state.origin(node, x)
    if x.other is not None:
        x = state.plain(x, node)
    multiplier = np.asarray(x.multiplier * wanted.multiplier)
    addend = np.asarray(x.addend * wanted.multiplier + wanted.addend)
    whole = Requantisation(multiplier, addend, wanted.divisor, wanted.lo, wanted.hi)
    small, _ = whole.reduced(multiplier)
    constants = _constants(
        state,
        node,
        x.shape,
        multiplier=small.multiplier,
        addend=small.addend,
        divisor=small.divisor,
        lo=small.lo,
        hi=small.hi,
    )
    tensor = x.tensor
    if x.dtype != np.int64:
        # Units expect one multiplier per channel in "sums, then Requant"; other cases must have a different structure.
        usual = all(is_per_channel(tensor, constants[i].values) for i in (0, 1))
        tensor = cast(state.editor, tensor, np.int32 if usual else np.int64, f"{node.name}_wide", origin)
    return _new(state, node, x, node.op, [tensor, *constants], wanted)


def _new(
    state: Narrowing, node: gs.Node, x: Integers, op: str, inputs: list[gs.Tensor], wanted: Requantisation
) -> Integers:
    sums = wanted.bounds(*x.bounds())
    lo, hi = (int(np.clip(end // wanted.divisor, wanted.lo, wanted.hi)) for end in sums)
    dtype = np.dtype(node.outputs[0].dtype)
    origin = state.origin(node, x)
    tensor = state.editor.node(f"match.arith::{op}", inputs, dtype, x.shape, name=node.name, origin=origin)
    return Integers(tensor, lo, hi)


def _constants(state: Narrowing, node: gs.Node, shape: tuple[int, ...], **values: Ints | int) -> list[gs.Constant]:
    """Constants in a shape of the result's rank, or single values."""
    result = []
    for name, value in values.items():
        array = np.asarray(value, np.int64)
        if array.size and np.all(array == array.flat[0]):
            array = np.array(array.flat[0], np.int64)
        if array.ndim:
            array = array.reshape((1,) * (len(shape) - array.ndim) + array.shape)
        result.append(state.editor.constant(f"{node.name}_{name}", array))
    return result


def is_per_channel(tensor: gs.Variable, values: Ints) -> bool:
    """Whether there is one value, or one per channel of the operator that computes the sums."""
    maker = producer(tensor)
    if values.size == 1 or maker is None or maker.op not in ("ConvInteger", "MatMulInteger"):
        return True
    axis = 1 if maker.op == "ConvInteger" else len(shape_of(tensor)) - 1
    return all(size == 1 for position, size in enumerate(values.shape) if position != axis)
