"""int8 results of requantisation are stored as uint8 where the units want that: u = q + 128.

What reads them either takes the offset in (convolutions and products with constant weights into the requantisation
behind them, sums, tables, moves) or gets the int8 values back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from match_core.ir.editor import Editor, sort_nodes
from match_core.ir.model import Model, qualified_op
from match_core.transforms.base import Pass, PassContext, Phase
from match_core.transforms.integer_graph import activation_type
from match_core.transforms.integer_values import Ints
from match_core.transforms.quant import constant, producer, shape_of

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

_OFFSET = 128
_REQUANT = frozenset(("match.arith::RequantU8", "match.arith::RequantI8"))
_MOVES = frozenset(
    ("Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "MaxPool", "Slice", "Expand", "Tile", "Gather")
)
#: Operators that read differences along an axis only.
_DIFFERENCES = frozenset(("match.arith::SoftmaxFloorU8", "match.arith::ShiftSoftmaxU8"))


def run(model: Model, context: PassContext) -> Model:
    """Change the type of every such tensor and of what moves its values."""
    if activation_type(context.units) != np.dtype(np.uint8):
        return model
    editor = Editor(model)
    sort_nodes(editor.graph)
    state = _Unsigned(editor)
    for node in list(editor.graph.nodes):
        state.visit(node)
    return editor.finish() if state.changed else model


class _Unsigned:
    """``_stored`` maps the id of an int8 tensor to its uint8 counterpart."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self._stored: dict[int, gs.Variable] = {}
        self._rules: dict[str, Callable[[gs.Node], gs.Variable | None]] = {
            "match.arith::RequantI8": self._requant,
            "match.arith::RequantU8": self._requant,
            "match.arith::AddRequantI8": self._add,
            "match.arith::AddRequantU8": self._add,
            "match.arith::LutI8": self._table,
            "match.arith::LutU8": self._table,
            "MatMulInteger": self._product,
            **dict.fromkeys(_MOVES, self._move),
            **dict.fromkeys(_DIFFERENCES, self._difference),
        }

    @property
    def changed(self) -> bool:
        """Whether any tensor has another type now."""
        return bool(self._stored)

    def visit(self, node: gs.Node) -> None:
        """Rewrite one node (topological order), if it makes or reads such a tensor."""
        rule = self._rules.get(qualified_op(node))
        new = rule(node) if rule is not None else None
        if new is None:
            return
        old = node.outputs[0]
        if np.dtype(new.dtype) == np.dtype(old.dtype):
            self._editor.replace(old, new)
            return
        back = self._editor.node(
            "match.arith::OffsetU8ToI8",
            [new],
            np.int8,
            shape_of(old),
            name=f"{node.name}_signed",
            origin=self._editor.origin(node),
        )
        self._editor.replace(old, back)
        self._stored[id(back)] = new

    def _unsigned(self, tensor: gs.Tensor, reader: gs.Node) -> gs.Variable | None:
        """An int8 tensor as uint8; None for other types and constants."""
        if constant(tensor) is not None or tensor.dtype is None or np.dtype(tensor.dtype) != np.int8:
            return None
        if id(tensor) not in self._stored:
            self._stored[id(tensor)] = self._editor.node(
                "match.arith::OffsetI8ToU8",
                [tensor],
                np.uint8,
                shape_of(tensor),
                name=f"{tensor.name}_unsigned",
                origin=self._editor.origin(*(tensor.inputs or [reader])),
            )
        return self._stored[id(tensor)]

    # ---- requantisation -----------------------------------------------------------------------------------------

    def _requant(self, node: gs.Node) -> gs.Variable | None:
        """Of the sums of constant weights: the input's offset goes into the addend. The result becomes uint8."""
        numbers = _integers(node, 1)
        sums = producer(node.inputs[0])
        if numbers is None or sums is None:
            return None
        multiplier, addend, divisor, lo, hi = numbers
        acc = node.inputs[0]
        weighted = self._weighted_sums(sums, acc, node)
        signed = node.op == "RequantI8"
        only_cast = all(reader.op == "Cast" for reader in node.outputs[0].outputs)
        if weighted is None and (not signed or (only_cast and not _has_weights(sums))):
            return None
        if weighted is not None:
            acc, totals = weighted
            addend = addend - multiplier * (_OFFSET * totals)
        return self._result(node, "RequantU8", [acc], [multiplier], (addend, divisor, lo, hi), signed)

    def _result(
        self,
        node: gs.Node,
        op: str,
        data: list[gs.Tensor],
        factors: list[Ints],
        rest: tuple[Ints, Ints, Ints, Ints],
        signed: bool,
    ) -> gs.Variable:
        addend, divisor, lo, hi = rest
        if signed:
            addend, lo, hi = addend + _OFFSET * divisor, lo + _OFFSET, hi + _OFFSET
        names: tuple[str, ...] = ("multiplier", "second_multiplier")[: len(factors)]
        parameters = dict(
            zip((*names, "addend", "divisor", "lo", "hi"), (*factors, addend, divisor, lo, hi), strict=True)
        )
        constants = [self._editor.constant(f"{node.name}_{name}", _single(v)) for name, v in parameters.items()]
        return self._editor.node(
            f"match.arith::{op}",
            [*data, *constants],
            np.uint8,
            shape_of(node.outputs[0]),
            name=node.name,
            origin=self._editor.origin(node),
        )

    def _weighted_sums(self, sums: gs.Node, acc: gs.Variable, reader: gs.Node) -> tuple[gs.Variable, Ints] | None:
        """The sums over the uint8 counterpart of the input, and the totals of the weights in the result's rank; None
        where the input is no int8 tensor, weights are computed, or others read the sums."""
        weight = constant(sums.inputs[1]) if _has_weights(sums) else None
        shared = len(acc.outputs) != 1 or any(acc is output for output in self._editor.graph.outputs)
        if weight is None or shared:
            return None
        x = self._unsigned(sums.inputs[0], sums)
        if x is None:
            return None
        attrs, wide = dict(sums.attrs), weight.astype(np.int64)
        if sums.op == "ConvInteger":
            totals = wide.reshape(wide.shape[0], -1).sum(axis=1).reshape(1, -1, *[1] * (wide.ndim - 2))
            x = self._padded(sums, x, attrs)
        else:
            totals = wide.sum(axis=-2, keepdims=True)
            totals = totals.reshape((1,) * (len(acc.shape) - totals.ndim) + totals.shape)
        origin = self._editor.origin(sums)
        new = self._editor.node(
            sums.op, [x, sums.inputs[1]], np.int32, shape_of(acc), name=sums.name, origin=origin, attrs=attrs
        )
        return new, totals

    def _padded(self, node: gs.Node, x: gs.Variable, attrs: dict[str, object]) -> gs.Variable:
        """Padding must read as 0, which is stored as 128."""
        pads = [int(amount) for amount in node.attrs["pads"]]
        if not any(pads):
            return x
        attrs["pads"] = [0] * len(pads)
        half = len(pads) // 2
        amounts = np.array([0, 0, *pads[:half], 0, 0, *pads[half:]], np.int64)
        shape = [size + int(a) + int(b) for size, a, b in zip(shape_of(x), amounts, amounts[half + 2 :], strict=False)]
        inputs = [
            x,
            self._editor.constant(f"{node.name}_pads", amounts),
            self._editor.constant(f"{node.name}_pad_value", np.array(_OFFSET, np.uint8)),
        ]
        origin = self._editor.origin(node)
        return self._editor.node(
            "Pad", inputs, np.uint8, shape, name=f"{node.name}_pad", origin=origin, attrs={"mode": "constant"}
        )

    def _add(self, node: gs.Node) -> gs.Variable | None:
        numbers = _integers(node, 2)
        inputs = [self._unsigned(tensor, node) for tensor in node.inputs[:2]]
        signed = node.op == "AddRequantI8"
        if numbers is None or (all(new is None for new in inputs) and not signed):
            return None
        first, second, addend, divisor, lo, hi = numbers
        for factor, stored in zip((first, second), inputs, strict=True):
            addend = addend - factor * (_OFFSET if stored is not None else 0)
        data = [stored if stored is not None else old for stored, old in zip(inputs, node.inputs, strict=False)]
        return self._result(node, "AddRequantU8", data, [first, second], (addend, divisor, lo, hi), signed)

    # ---- other operators ----------------------------------------------------------------------------------------

    def _table(self, node: gs.Node) -> gs.Variable | None:
        """Tables are indexed by u = q + 128 already; int8 results become uint8."""
        table, x = constant(node.inputs[1]), self._stored.get(id(node.inputs[0]))
        signed = table is not None and table.dtype == np.int8
        if table is None or (x is None and not signed):
            return None
        values = (table.astype(np.int64) + _OFFSET).astype(np.uint8) if signed else table
        inputs = [x if x is not None else node.inputs[0], self._editor.constant(f"{node.name}_table", values)]
        origin = self._editor.origin(node)
        shape = shape_of(node.outputs[0])
        return self._editor.node("match.arith::LutU8", inputs, values.dtype, shape, name=node.name, origin=origin)

    def _product(self, node: gs.Node) -> gs.Variable | None:
        """A product of two computed tensors: the offset of either is its zero point."""
        if len(node.inputs) != 2 or any(constant(tensor) is not None for tensor in node.inputs):
            return None
        stored = [self._stored.get(id(tensor)) for tensor in node.inputs]
        if all(new is None for new in stored):
            return None
        data = [new if new is not None else old for new, old in zip(stored, node.inputs, strict=True)]
        zeros = [
            self._editor.constant(f"{node.name}_zero_{side}", np.array(_OFFSET if new is not None else 0, old.dtype))
            for side, new, old in zip("ab", stored, data, strict=True)
        ]
        origin = self._editor.origin(node)
        shape = shape_of(node.outputs[0])
        return self._editor.node("MatMulInteger", [*data, *zeros], np.int32, shape, name=node.name, origin=origin)

    def _move(self, node: gs.Node) -> gs.Variable | None:
        """Only where the input is stored as uint8 anyway."""
        stored = self._stored.get(id(node.inputs[0]))
        if stored is None or len(node.outputs) != 1:
            return None
        return self._copy(node, [stored, *node.inputs[1:]], np.dtype(np.uint8))

    def _difference(self, node: gs.Node) -> gs.Variable | None:
        stored = self._stored.get(id(node.inputs[0]))
        if stored is None:
            return None
        return self._copy(node, [stored, *node.inputs[1:]], np.dtype(node.outputs[0].dtype))

    def _copy(self, node: gs.Node, inputs: list[gs.Tensor], dtype: np.dtype[np.generic]) -> gs.Variable:
        return self._editor.node(
            qualified_op(node),
            inputs,
            dtype,
            shape_of(node.outputs[0]),
            name=node.name,
            origin=self._editor.origin(node),
            attrs=dict(node.attrs),
        )


def _has_weights(node: gs.Node) -> bool:
    """A convolution or product with constant weights and without zero points: what units run."""
    plain = node.op in ("ConvInteger", "MatMulInteger") and not node.domain and len(node.inputs) == 2
    return plain and constant(node.inputs[1]) is not None


def _integers(node: gs.Node, first: int) -> tuple[Ints, ...] | None:
    values = [constant(tensor) for tensor in node.inputs[first:]]
    if any(v is None or v.dtype != np.int64 for v in values):
        return None
    return tuple(np.asarray(v, np.int64) for v in values)


def _single(values: Ints) -> Ints:
    """Shape () where all values agree."""
    flat = np.asarray(values)
    return np.array(flat.flat[0], np.int64) if flat.size and np.all(flat == flat.flat[0]) else flat


UNSIGNED_ACTIVATIONS = Pass(
    "unsigned_activations",
    Phase.INTEGER,
    run,
    "int8 results of requantisation are stored as uint8 where the units want that",
    after=("integerise", "narrow_integers"),
)
