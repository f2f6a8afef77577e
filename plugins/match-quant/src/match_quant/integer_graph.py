"""State of integerisation: the integer tensor that replaces each quantised tensor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.hardware import Unit
from match_core.contract.passes import PassContext, Precision
from match_core.ir.editor import Editor
from match_core.ir.reader import EIGHT_BITS, WITH_INT16, DType, Quant, Site, constant, producer, quant_of, shape_of

from match_quant.expectation import Expectation, graph_input, of_values, unknown
from match_quant.integer_joins import append_join
from match_quant.integer_moves import append_move, is_move
from match_quant.nodes import reshape
from match_quant.requant import Arithmetic, Requant, Target, arithmetics, choose_requant, shared_arithmetics
from match_quant.requant_node import append_requant, per_channel, requantised

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

_INT8, _UINT8, _INT16 = np.dtype(np.int8), np.dtype(np.uint8), np.dtype(np.int16)
#: The largest tolerated share of results that differ by 1 LSB from the real-valued rounding; above it wider arithmetic
#: is used. With "fast" the goal is 0.5 % on real data, and the estimate is coarse. With "exact" hardly one result per
#: layer may differ: on the MLPerf Tiny ResNet8, a few differences in an early layer become several LSB at the output.
TOLERATED_MISMATCH = {"fast": 0.02, "exact": 2e-5}


def activation_type(units: Sequence[Unit]) -> DType | None:
    """The 8-bit type that the units prefer: uint8 if any unit does, else int8 if any unit does, else None (unchanged).
    Units that support both types are ignored if others support only one."""
    specs = [unit.requant for unit in units if unit.requant is not None]
    firm = [spec for spec in specs if not spec.takes_both_types]
    wanted = {spec.activation_type for spec in firm or specs}
    if not wanted:
        return None
    return _UINT8 if "uint8" in wanted else _INT8


def quantised_types(context: PassContext) -> tuple[DType, ...]:
    """Types of quantised tensors that become integer ones: int16 where a unit besides the host states it, or the host
    is alone and states it."""
    units = tuple(unit for unit in context.units if unit.name != context.soc.host) or context.units
    return WITH_INT16 if any(_INT16.name in unit.spatial_types for unit in units) else EIGHT_BITS


def stored_name(name: str) -> str:
    """The name in the integer graph of the tensor that replaces a quantised tensor of this name."""
    return f"{name}_stored"


class IntegerGraph:
    """The state of one integerisation. ``arithmetics``: candidates in order, those that all units support first."""

    def __init__(self, editor: Editor, context: PassContext) -> None:
        self.editor = editor
        self.arithmetics: tuple[Arithmetic, ...] = arithmetics(context.units)
        self.shared = shared_arithmetics(context.units)
        self.precision: Precision = context.precision
        self._context = context
        #: Whether some unit of the Soc has no floating point.
        self.integer_only = any(unit.integer_only for unit in context.units)
        #: Whether activations are stored with channels last.
        self.channels_last = all(unit.layout != "NCHW" for unit in context.units)
        self._type = activation_type(context.units)
        self.types = quantised_types(context)
        self._integer: dict[int, gs.Variable] = {}
        self._defined: set[int] = set()  # ids of its values
        self._position: dict[int, int] = {}
        self._expected: dict[int, Expectation] = {}
        self._old: list[gs.Variable] = []
        self._moved: dict[int, tuple[gs.Variable, Quant, gs.Node]] = {}
        self._joined: dict[int, tuple[gs.Variable, Quant, gs.Node] | None] = {}

    @property
    def _tolerated_mismatch(self) -> float:
        return TOLERATED_MISMATCH[self.precision]

    def begin(self, site: Site) -> None:
        """What follows is for this site: its precision, which the user may want exact there."""
        origin = self.editor.origin(*site.nodes)
        self.precision = self._context.precision if self._context.changes(origin) else "exact"

    def stored(self, quant: Quant) -> Quant:
        """The parameters of a tensor as the integer graph stores it."""
        return quant.shifted(self._type if self._type is not None else quant.dtype)

    def define(self, old: gs.Variable, new: gs.Variable, quant: Quant) -> None:
        """Quantised tensor ``old`` (parameters ``quant``, values in [quant.lo, quant.hi]) is now ``new``."""
        if id(new) not in self._expected:
            self._expected[id(new)] = unknown(self.stored(quant))
        if new is not old and id(new) not in self._defined:
            self.editor.rename(new, stored_name(old.name))
        self._keep(old, new)
        self._old.append(old)

    def expect(self, new: gs.Tensor, expectation: Expectation) -> None:
        """Record the expectation of a new integer tensor."""
        self._expected[id(new)] = expectation

    def expectation(self, new: gs.Tensor) -> Expectation:
        """The expectation of an integer tensor from ``lookup`` or ``source``."""
        return self._expected[id(new)]

    def lookup(self, old: gs.Tensor) -> gs.Variable | None:
        """The integer tensor for a quantised tensor, created on demand for graph inputs; None if there is none."""
        if id(old) in self._integer:
            return self._integer[id(old)]
        if not any(old is tensor for tensor in self.editor.graph.inputs) or old.dtype not in self.types:
            return None
        dtype = np.dtype(old.dtype)
        readers = self.editor.origin(*old.outputs)
        limits = np.iinfo(dtype)
        quant = Quant(1.0, 0, dtype, int(limits.min), int(limits.max))
        new = self.convert(old, dtype, self.stored(quant).dtype, f"{old.name}_offset", readers)
        self.expect(new, graph_input(self.stored(quant)))
        self.define(old, new, quant)
        return new

    def adopt(self, old: gs.Tensor) -> gs.Variable | None:
        """``lookup``, also for an 8-bit tensor that an operator outside the integer graph computes."""
        found = self.lookup(old)
        if found is not None or old.dtype not in (_INT8, _UINT8) or producer(old) is None:
            return found
        dtype = np.dtype(old.dtype)
        limits = np.iinfo(dtype)
        quant = Quant(1.0, 0, dtype, int(limits.min), int(limits.max))
        new = self.convert(old, dtype, self._type or dtype, f"{old.name}_offset", self.editor.origin(*old.outputs))
        self.expect(new, unknown(self.stored(quant)))
        self._keep(old, new)
        return new

    def _keep(self, old: gs.Tensor, new: gs.Variable) -> None:
        self._integer[id(old)] = new
        self._defined.add(id(new))

    def position(self, node: gs.Node | None) -> int:
        """The place of a node in the graph, -1 if it has none. Nodes are only appended until ``connect``."""
        nodes = self.editor.graph.nodes
        for place in range(len(self._position), len(nodes)):
            self._position[id(nodes[place])] = place
        return self._position.get(id(node), -1)

    def source(self, tensor: gs.Tensor) -> tuple[gs.Variable, Quant, gs.Node] | None:
        """For a float tensor that is DequantizeLinear of a known quantised tensor, possibly after moves and joins: the
        integer tensor, its parameters with the range of its values, and the DequantizeLinear node."""
        node = producer(tensor)
        if node is not None and is_move(node):
            return self._moved_source(node, tensor)
        if node is not None and node.op != "DequantizeLinear":
            if id(tensor) not in self._joined:
                self._joined[id(tensor)] = append_join(self, node)
            return self._joined[id(tensor)]
        if node is None or node.op != "DequantizeLinear":
            return None
        quant = quant_of(node, node.inputs[0].dtype, self.types)
        new = self.lookup(node.inputs[0]) if quant is not None else None
        if quant is None or new is None:
            return None
        lo, hi = self.expectation(new).bounds()
        return new, replace(self.stored(quant), lo=lo, hi=hi), node

    def _moved_source(self, node: gs.Node, tensor: gs.Tensor) -> tuple[gs.Variable, Quant, gs.Node] | None:
        """``source`` for a result of a move. The integer move is created once."""
        if id(tensor) not in self._moved:
            before = self.source(node.inputs[0]) or (self._table(node.inputs[0]) if node.op == "Gather" else None)
            if before is None or (node.op == "Resize" and before[1].dtype == _INT16):  # ONNX Runtime has none
                return None
            x, quant, dequantize = before
            origin = self.editor.origin(dequantize, node)
            results = append_move(self.editor, node, x, self.expectation(x), origin)
            for output, (result, expectation) in zip(node.outputs, results, strict=True):
                self.expect(result, expectation)
                lo, hi = expectation.bounds()
                self._moved[id(output)] = (result, replace(quant, lo=lo, hi=hi), dequantize)
        return self._moved[id(tensor)]

    def _table(self, tensor: gs.Tensor) -> tuple[gs.Tensor, Quant, gs.Node] | None:
        """``source`` for a constant (the rows of an embedding)."""
        node = producer(tensor)
        values = constant(node.inputs[0]) if node is not None and node.op == "DequantizeLinear" else None
        quant = quant_of(node, values.dtype) if node is not None and values is not None else None
        if node is None or values is None or quant is None or values.size == 0:
            return None
        stored = self.stored(quant)
        moved = values.astype(np.int64) + (stored.zero - quant.zero)
        new = self.editor.constant(f"{node.name}_stored", moved.astype(stored.dtype))
        self.expect(new, of_values(moved))
        return new, stored, node

    def convert(
        self,
        tensor: gs.Tensor,
        have: DType,
        want: DType,
        name: str,
        origin: Sequence[str],
    ) -> gs.Variable:
        """The tensor converted between int8 and uint8 by its sign offset (unchanged if it already has the type)."""
        if have == want:
            return tensor
        op = "match.arith::OffsetI8ToU8" if want == _UINT8 else "match.arith::OffsetU8ToI8"
        return self.editor.node(op, [tensor], want, shape_of(tensor), name=name, origin=origin)

    def reshaped(self, x: gs.Variable, shape: Sequence[int], name: str, origin: Sequence[str]) -> gs.Variable:
        """``x`` in another shape, with its expectation."""
        result = reshape(self.editor, x, shape, name, origin)
        if id(result) not in self._expected:
            self.expect(result, self.expectation(x).reshaped(shape_of(x), shape))
        return result

    def scalar(self, hint: str, value: int) -> gs.Constant:
        """A constant int64 of shape ()."""
        return self.editor.constant(hint, np.array(value, np.int64))

    def requantise(
        self, acc: gs.Variable, target: Target, quant: Quant, channel_axis: int, site: Site, origin: Sequence[str]
    ) -> gs.Variable:
        """Append Requant to an int32 tensor. ``target`` and ``quant`` (the result as stored) are per channel of
        ``channel_axis``."""
        requant = self.choose(target)
        self.note(site, requant.arithmetic)
        shape = tuple(-1 if axis == channel_axis else 1 for axis in range(len(acc.shape)))
        multiplier, addend = per_channel(requant.multiplier, shape), per_channel(requant.addend, shape)
        name = f"{site.op.name}_requant"
        result = append_requant(self.editor, acc, multiplier, addend, requant.shift, quant, name=name, origin=origin)
        self.expect(result, requantised(target, requant, channel_axis))
        return result

    def choose(self, target: Target, product_bits: int | None = None) -> Requant:
        """The integers of a requantisation that the units support. ``product_bits``: a smaller width to prefer, for
        large constants, if it is precise enough."""
        first = self.arithmetics[0]
        if product_bits is None or product_bits >= first.product_bits:
            return choose_requant(target, self.arithmetics, self._tolerated_mismatch)
        short = replace(first, product_bits=product_bits)
        requant = choose_requant(target, (short, *self.arithmetics), self._tolerated_mismatch)
        return replace(requant, arithmetic=first) if requant.arithmetic == short else requant

    def note(self, site: Site, used: Arithmetic) -> None:
        """Add a note if no arithmetic that all units share is precise enough."""
        if self.shared and used not in self.shared:
            self.editor.notes.append(
                f"{'/'.join(self.editor.origin(site.op))}: {self.shared[-1].product_bits}-bit products would leave "
                f"more than {100 * self._tolerated_mismatch:g} % of the results off by 1 LSB, or some by more; "
                f"{used.product_bits}-bit products are used, which not every unit supports"
            )

    def keep_quantize(self, node: gs.Node) -> None:
        """A QuantizeLinear that stays: its result gets the type that the units prefer."""
        quant = quant_of(node, node.outputs[0].dtype, self.types)
        if quant is None or not node.outputs[0].outputs:
            return  # a graph output keeps its type
        stored = self.stored(quant)
        if stored.dtype != quant.dtype:
            zero = self.editor.constant(f"{node.name}_zero", np.array(stored.zero, stored.dtype))
            new = self.editor.node(
                "QuantizeLinear",
                [node.inputs[0], node.inputs[1], zero],
                stored.dtype,
                shape_of(node.outputs[0]),
                name=node.name,
                origin=self.editor.origin(node),
            )
        else:
            new = node.outputs[0]
        self.define(node.outputs[0], new, quant)

    def connect(self) -> None:
        """Connect remaining readers of old quantised tensors: DequantizeLinear reads the new tensor with an adjusted
        zero point, other readers and graph outputs get the old type back."""
        for old in self._old:
            new = self._integer[id(old)]
            if new is old:
                continue
            for node in [n for n in old.outputs if n.op == "DequantizeLinear" and n.inputs[0] is old]:
                self._move_dequantize(node, new)
            rest = [n for n in old.outputs if n is not producer(new)]
            if not rest and not any(old is tensor for tensor in self.editor.graph.outputs):
                continue
            origin = self.editor.origin(*old.inputs)
            back = self.convert(new, np.dtype(new.dtype), np.dtype(old.dtype), f"{old.name}_as_stored", origin)
            if any(old is tensor for tensor in self.editor.graph.inputs):
                continue  # consumers of a graph input keep reading it
            self.editor.replace(old, back)

    def _move_dequantize(self, node: gs.Node, new: gs.Variable) -> None:
        quant = quant_of(node, node.inputs[0].dtype, self.types)
        if quant is None:
            return
        stored = self.stored(quant)
        zero = self.editor.constant(f"{node.name}_zero", np.array(stored.zero, stored.dtype))
        result = self.editor.node(
            "DequantizeLinear",
            [new, node.inputs[1], zero],
            node.outputs[0].dtype,
            shape_of(node.outputs[0]),
            name=node.name,
            origin=self.editor.origin(node),
        )
        self.editor.replace(node.outputs[0], result)
