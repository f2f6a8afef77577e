"""Layers get a requantisation with two roundings, for units that have no other."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import Model, qualified_op
from match_core.contract.passes import Pass, PassContext, Phase
from match_core.ir.editor import Editor
from match_core.ir.reader import constant, producer
from numpy.typing import NDArray

from match_quant.bounds import every
from match_quant.double.numbers import Double, Single, doubled_numbers

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_core.contract.hardware import RequantSpec

_REQUANTS = {f"match.arith::Requant{kind}": f"RequantDouble{kind}" for kind in ("I8", "U8")}
#: Products with constant weights, and the axis of their outputs in the weights.
_PRODUCTS = {"ConvInteger": 0, "match.nhwc::ConvInteger": 0, "MatMulInteger": -1}

Ints = NDArray[np.int64]


def run(spec: RequantSpec, takes: Callable[[gs.Node], bool], model: Model, context: PassContext) -> Model:
    """Rewrite the requantisations of all products that the package wants and the user lets change."""
    editor = Editor(model)
    changed = [
        _rewrite(editor, node, spec, context.changes(editor.origin(node)))
        for node in list(editor.graph.nodes)
        if qualified_op(node) in _REQUANTS and (product := producer(node.inputs[0])) is not None and takes(product)
    ]
    return editor.finish() if any(changed) or editor.notes else model


def _rewrite(editor: Editor, node: gs.Node, spec: RequantSpec, may_change: bool) -> bool:
    single = _single(node)
    if single is None:
        return False
    found = doubled_numbers(single, spec.shift_max)
    name = "/".join(editor.origin(node))
    if isinstance(found, str):
        editor.notes.append(f"{name}: two roundings cannot replace one: {found}; it runs elsewhere")
        return False
    if found.differing > 0 and not may_change:
        return False
    _write(editor, node, found)
    if found.differing > 0:
        editor.notes.append(
            f"{name}: two roundings change {found.differing:.2%} of the results that do not saturate, by 1 LSB"
        )
    return True


def _single(node: gs.Node) -> Single | None:
    """The numbers of a requantisation; None where they or the weights are computed, or the divisor is no power of
    two."""
    product = producer(node.inputs[0])
    given = [constant(tensor) for tensor in node.inputs[1:]]
    weight = constant(product.inputs[1]) if product is not None and qualified_op(product) in _PRODUCTS else None
    if product is None or weight is None or weight.ndim < 2 or any(values is None for values in given):
        return None
    multiplier, addend, divisor, low, high = (np.asarray(values, np.int64).reshape(-1) for values in given)
    step = int(divisor[0])
    if divisor.size != 1 or step <= 0 or step & (step - 1):
        return None
    rows = np.moveaxis(weight.astype(np.int64), _PRODUCTS[qualified_op(product)], 0)
    rows = rows.reshape(len(rows), -1)
    if {multiplier.size, addend.size} - {1, len(rows)}:
        return None
    limits = np.iinfo(np.dtype(product.inputs[0].dtype))
    ends = np.stack([np.minimum(rows, 0).sum(1), np.maximum(rows, 0).sum(1)])
    least = limits.min * ends[1] + limits.max * ends[0]
    most = limits.max * ends[1] + limits.min * ends[0]
    multiplier, addend = (np.broadcast_to(values, (len(rows),)) for values in (multiplier, addend))
    return Single(multiplier, addend, step.bit_length() - 1, int(low[0]), int(high[0]), least, most)


def _write(editor: Editor, node: gs.Node, found: Double) -> None:
    """Constants in the shape of the old ones: of the whole layer, or by channel."""
    shapes = [np.shape(tensor.values) for tensor in node.inputs[1:3]]
    shape = max(shapes, key=lambda sizes: int(np.prod(sizes)))

    def placed(name: str, values: Ints) -> gs.Constant:
        one = np.all(values == values[0]) or int(np.prod(shape)) == 1
        return editor.constant(f"{node.name}_{name}", np.array(values[0]) if one else values.reshape(shape))

    node.inputs = [
        node.inputs[0],
        placed("multiplier", found.multiplier),
        placed("addend", found.addend),
        placed("divisor", np.int64(1) << found.shift),
        editor.constant(f"{node.name}_zero", np.array(found.zero, np.int64)),
        *node.inputs[4:],
    ]
    node.op = _REQUANTS[qualified_op(node)]


def double_rounding(name: str, spec: RequantSpec, takes: Callable[[gs.Node], bool] = every) -> Pass:
    """The pass for a unit: ``name`` begins its name, ``spec`` states the largest shift, and ``takes`` says whether the
    unit could run a product (ConvInteger, also of match.nhwc, or MatMulInteger)."""
    return Pass(
        f"{name}_double_rounding",
        Phase.TARGET,
        partial(run, spec, takes),
        "requantisation of products with weights rounds twice, as the unit does",
        exact=None,
        lossy=True,
        optional=True,
    )
