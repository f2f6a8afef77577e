"""Turns requantisation whose multipliers are one power of two, up to the rounding of scales, into a shift.

The unit computes ``clip(floor((acc + bias) / 2^n))``. With ``M = 2^j`` and ``D = 2^S`` that is
``floor((acc * 2^j + B) / 2^S) = floor((acc + floor(B / 2^j)) / 2^(S - j))``, exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import Model, qualified_op
from match_core.contract.passes import Pass, PassContext, Phase
from match_core.ir.editor import Editor
from match_core.ir.reader import constant, producer

from match_quant.powers.kernels import ShiftUnit
from match_quant.powers.weights import Ints

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: Multipliers this close to a power of two, relative, come from float32 scales, and from the core's choice of
#: multipliers that avoid ties: results are at most 512 * 2^-20 LSB off before they are rounded.
_TOLERANCE = 2.0**-20
#: A bias this far below an integer is one: scales of float32 leave it there.
_BIAS_TOLERANCE = 2.0**-4
_REQUANTS = ("match.arith::RequantI8", "match.arith::RequantU8")
_SUMS = ("match.arith::AddRequantI8", "match.arith::AddRequantU8")


@dataclass(frozen=True, slots=True)
class Requantisation:
    """``clip(floor((acc * multiplier + addend) / 2^shift), lo, hi)``."""

    multiplier: Ints
    addend: Ints
    shift: int
    lo: int
    hi: int

    @property
    def exponent(self) -> int | None:
        """j where every multiplier that is not 0 is about 2^j; None where they are not. With none, no shift is left."""
        moving = self.multiplier[self.multiplier != 0]
        if moving.size == 0:
            return self.shift
        if moving.min() <= 0:
            return None
        exponent = int(np.rint(np.log2(float(moving.flat[0]))))
        off = np.abs(moving / float(1 << exponent) - 1.0)
        return exponent if exponent <= self.shift and off.max() <= _TOLERANCE else None


def run(model: Model, context: PassContext) -> Model:
    """Rewrite every requantisation that is a shift."""
    editor = Editor(model)
    changed = [_rewrite(editor, node) for node in list(editor.graph.nodes)]
    return editor.finish() if any(changed) else model


def _rewrite(editor: Editor, node: gs.Node) -> bool:
    sums = 2 if qualified_op(node) in _SUMS else 1
    if sums == 1 and qualified_op(node) not in _REQUANTS:
        return False
    found = _read(node, sums)
    exponent = found.exponent if found is not None else None
    if found is None or exponent is None or (exponent == 0 and np.all(found.multiplier == 1)):
        return False
    if np.all(found.multiplier == 1 << exponent):
        _write(editor, node, sums, replace(found, addend=found.addend >> exponent, shift=found.shift - exponent))
        return True
    still = found.multiplier == 0
    if editor.model.integer_source or sums == 2 or (np.any(still) and not _silence(editor, node, still)):
        return False
    _write(editor, node, sums, _nearest(found, exponent))
    return True


def _read(node: gs.Node, sums: int) -> Requantisation | None:
    """The integers of a requantisation; None where they are not constant, two multipliers differ, or the divisor is no
    power of two."""
    given = [constant(tensor) for tensor in node.inputs[sums:]]
    if any(values is None for values in given):
        return None
    whole = [np.asarray(values, np.int64) for values in given]
    multiplier, (addend, divisor, lo, hi) = whole[0], whole[sums:]
    if sums == 2 and not np.array_equal(multiplier, whole[1]):
        return None
    step = int(divisor.reshape(-1)[0])
    if divisor.size != 1 or step <= 0 or step & (step - 1):
        return None
    return Requantisation(multiplier, addend, step.bit_length() - 1, int(lo.flat[0]), int(hi.flat[0]))


def _write(editor: Editor, node: gs.Node, sums: int, found: Requantisation) -> None:
    """Multiplier 1, and these."""
    one = editor.constant(f"{node.name}_one", np.array(1, np.int64))
    addend = editor.constant(f"{node.name}_bias", found.addend)
    divisor = editor.constant(f"{node.name}_divisor", np.array(1 << found.shift, np.int64))
    node.inputs = [*node.inputs[:sums], *[one] * sums, addend, divisor, *node.inputs[-2:]]


def _nearest(found: Requantisation, exponent: int) -> Requantisation:
    """The shift that equals the requantisation where its result is in the middle of its range."""
    multiplier, addend = (np.asarray(a) for a in np.broadcast_arrays(found.multiplier, found.addend))
    shift = found.shift - exponent
    middle = np.ldexp(0.5 * (found.lo + found.hi), found.shift)
    middle_sum = np.rint((middle - addend) / np.where(multiplier == 0, 1, multiplier))
    pivot = np.where(multiplier == 0, 0, middle_sum).astype(np.int64)
    moved = addend + (multiplier - (1 << exponent)) * pivot
    bias = np.floor(np.ldexp(moved.astype(np.float64), -exponent) + _BIAS_TOLERANCE).astype(np.int64)
    still = (addend >> found.shift) << shift  # outputs whose multiplier is 0
    bias = np.where(multiplier == 0, still, bias)
    if found.addend.size == 1 and np.all(bias == bias.flat[0]):
        bias = bias.flat[0].reshape(found.addend.shape)
    return replace(found, addend=bias, shift=shift)


def _silence(editor: Editor, node: gs.Node, still: Ints) -> bool:
    """Make the weights of constant outputs 0, since a shift has no multiplier for that. Whether it was done."""
    product = producer(node.inputs[0])
    if product is None or product.op not in ("ConvInteger", "MatMulInteger") or len(product.outputs[0].outputs) != 1:
        return False
    weight = constant(product.inputs[1])
    if weight is None:
        return False
    axis = 0 if product.op == "ConvInteger" else weight.ndim - 1
    if still.size not in (1, weight.shape[axis]):
        return False
    shape = [-1 if position == axis else 1 for position in range(weight.ndim)]
    silent = np.where(still.reshape(shape), 0, weight).astype(weight.dtype)
    product.inputs[1] = editor.constant(f"{product.name}_weight", silent)
    return True


def shift(unit: ShiftUnit) -> Pass:
    """The pass for a unit."""
    return Pass(
        f"{unit.name}_shift",
        Phase.TARGET,
        run,
        "requantisation by one power of two becomes a shift without multiplier",
        exact=None,
    )
