"""State of narrowing: the integers of each float tensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.editor import Editor
from match_core.ir.reader import INPUT_LIMIT, constant, shape_of

from match_quant.integer_values import EIGHT_BITS, Integers, Ints, cast, plain, smallest_type

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


Rule = Callable[["Narrowing", "gs.Node"], "Integers | None"]


class Narrowing:
    """``inputs``: ids of the float graph inputs that hold integers."""

    def __init__(self, editor: Editor, inputs: frozenset[int]) -> None:
        self.editor = editor
        self._inputs = inputs
        self._values: dict[int, Integers] = {}
        self._tables: dict[int, tuple[Integers, Ints]] = {}
        self._floats: dict[int, gs.Variable] = {}
        self._parts: dict[int, tuple[gs.Variable, gs.Variable]] = {}
        self._joined: dict[tuple[int, ...], gs.Variable] = {}
        self._defined: list[tuple[gs.Node, gs.Variable]] = []

    def lookup(self, tensor: gs.Tensor) -> Integers | None:
        """The integers of a tensor; None if they are not known."""
        known = self._values.get(id(tensor))
        if known is not None:
            return known
        if id(tensor) in self._inputs:
            known = self.taken(tensor, -INPUT_LIMIT, INPUT_LIMIT, self.editor.origin(*tensor.outputs))
        elif tensor.dtype is not None and np.dtype(tensor.dtype).kind in "iu" and constant(tensor) is None:
            limits = np.iinfo(np.dtype(tensor.dtype))
            known = Integers(tensor, int(limits.min), int(limits.max))
        if known is not None:
            self._values[id(tensor)] = known
        return known

    def define(self, node: gs.Node, value: Integers) -> None:
        """Set the value of the first result of a node that is replaced."""
        self._values[id(node.outputs[0])] = value
        self._defined.append((node, node.outputs[0]))

    def alias(self, tensor: gs.Variable, value: Integers) -> None:
        """Record another tensor (of an integer type) for this value."""
        self._values[id(tensor)] = value

    def origin(self, node: gs.Node, *values: Integers) -> tuple[str, ...]:
        """Source nodes of a node and of the factors and offsets that its operands record."""
        names = [name for value in values for name in value.origin]
        return tuple(dict.fromkeys((*names, *self.editor.origin(node))))

    def kept(self, node: gs.Node, value: Integers | None) -> Integers | None:
        """The value, with ``node`` recorded as part of it."""
        if value is None:
            return None
        return replace(value, origin=tuple(dict.fromkeys((*value.origin, *self.editor.origin(node)))))

    def plain(self, value: Integers, node: gs.Node) -> Integers:
        """The value as one tensor, for an operand of ``node``."""
        return plain(self.editor, value, f"{node.name}_operand", self.editor.origin(node))

    def eight_bits(self, value: Integers, node: gs.Node) -> Integers | None:
        """The value as one tensor of 8 bits; None if it has more."""
        result = self.plain(value, node)
        dtype = smallest_type(result.lo, result.hi)
        if result.dtype in EIGHT_BITS:
            return result
        if dtype not in EIGHT_BITS:
            return None
        name = f"{result.tensor.name}_{dtype.name}"
        narrow = cast(self.editor, result.tensor, dtype, name, self.editor.origin(node))
        return Integers(narrow, result.lo, result.hi)

    def table(self, value: Integers) -> tuple[Integers, Ints] | None:
        """The value as a function of one 8-bit tensor: that tensor, and the result for every value of its type in
        order. None for values that are not such a function."""
        if value.other is not None or value.multiplier.size != 1 or value.addend.size != 1:
            return None
        source, results = self._tables.get(id(value.tensor), (None, None))
        if source is None or results is None:
            if value.dtype not in EIGHT_BITS:
                return None
            limits = np.iinfo(value.dtype)
            source = Integers(value.tensor, value.lo, value.hi)
            results = np.arange(int(limits.min), int(limits.max) + 1, dtype=np.int64)
        return source, results * value.multiplier.reshape(()) + value.addend.reshape(())

    def tabulated(self, source: Integers, results: Ints, node: gs.Node, dtype: np.dtype[np.generic]) -> Integers:
        """A new tensor ``results[source]``, or ``source`` itself if they are equal."""
        limits = np.iinfo(source.dtype)
        reached = results[source.lo - int(limits.min) : source.hi - int(limits.min) + 1]
        if np.array_equal(reached, np.arange(source.lo, source.hi + 1)):
            return source
        op = "match.arith::LutU8" if source.dtype == np.uint8 else "match.arith::LutI8"
        values = self.editor.constant(f"{node.name}_table", results.astype(dtype))
        tensor = self.editor.node(
            op, [source.tensor, values], dtype, source.shape, name=node.name, origin=self.editor.origin(node)
        )
        self._tables[id(tensor)] = (source, results)
        return Integers(tensor, int(reached.min()), int(reached.max()))

    def signed_parts(self, value: Integers, node: gs.Node) -> tuple[gs.Variable, gs.Variable]:
        """max(x, 0) and max(-x, 0) as uint8 (x saturates at +-255)."""
        key = id(value.tensor)
        if key not in self._parts:
            make = self._quantised_part if key in self._floats else self._limited_part
            origin = self.editor.origin(node)
            self._parts[key] = make(value, "positive", 1, origin), make(value, "negative", -1, origin)
        return self._parts[key]

    def joined(
        self, parts: Sequence[gs.Variable], shape: Sequence[int], axis: int, name: str, origin: tuple[str, ...]
    ) -> gs.Variable:
        """The tensors concatenated along ``axis``; created once for all operators that read them this way."""
        key = (*(id(part) for part in parts), axis)
        if key not in self._joined:
            self._joined[key] = self.editor.node(
                "Concat", parts, parts[0].dtype, shape, name=name, origin=origin, attrs={"axis": axis}
            )
        return self._joined[key]

    def _quantised_part(self, value: Integers, side: str, step: int, origin: tuple[str, ...]) -> gs.Variable:
        """One part of a float tensor: QuantizeLinear saturates at 0 and 255; a step of -1 selects the negative part."""
        source, editor = self._floats[id(value.tensor)], self.editor
        name = f"{source.name}_{side}"
        scale = editor.constant(f"{name}_step", np.array(step, np.dtype(source.dtype)))
        zero = editor.constant(f"{name}_zero", np.array(0, np.uint8))
        return editor.node(
            "QuantizeLinear", [source, scale, zero], np.uint8, value.shape, name=f"{name}_part", origin=origin
        )

    def _limited_part(self, value: Integers, side: str, factor: int, origin: tuple[str, ...]) -> gs.Variable:
        editor, name = self.editor, f"{value.tensor.name}_{side}"
        signed = plain(editor, replace(value, multiplier=np.array(factor, np.int64)), name, origin)
        bounds = [editor.constant(f"{name}_{end}", np.array(end, signed.dtype)) for end in (0, INPUT_LIMIT)]
        inputs = [signed.tensor, *bounds]
        limited = editor.node("Clip", inputs, signed.dtype, value.shape, name=f"{name}_limited", origin=origin)
        return cast(editor, limited, np.uint8, f"{name}_part", origin)

    def connect(self) -> None:
        """Create float tensors for the remaining readers of tensors that are now integers."""
        replaced = {id(node) for node, _ in self._defined}
        for node, old in self._defined:
            readers = [reader for reader in old.outputs if id(reader) not in replaced]
            if not readers and not any(old is tensor for tensor in self.editor.graph.outputs):
                continue
            value = self._values[id(old)]
            origin = self.origin(node, value)
            whole = plain(self.editor, value, f"{node.name}_integers", origin)
            self.editor.replace(old, cast(self.editor, whole.tensor, old.dtype, f"{node.name}_float", origin))

    def taken(self, tensor: gs.Variable, lo: int, hi: int, origin: tuple[str, ...]) -> Integers:
        """The integers in a float tensor that stays, limited to a range within +-255."""
        name, dtype = tensor.name, np.dtype(tensor.dtype)
        bounds = [
            self.editor.constant(f"{name}_{end}", np.array(value, dtype))
            for end, value in (("lowest", lo), ("highest", hi))
        ]
        limited = self.editor.node(
            "Clip", [tensor, *bounds], dtype, shape_of(tensor), name=f"{name}_limited", origin=origin
        )
        integers = cast(self.editor, limited, np.int32, f"{name}_integers", origin)
        self._floats[id(integers)] = tensor
        return Integers(integers, lo, hi)
