"""Bodies of scalar operators: a group of nodes whose results have one shape, computed element by element in scalar
variables. Used alone as one loop nest, and as the epilogue of convolutions and matrix products."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import frexp
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import qualified_op
from match_core.ir.reader import optional_input, shape_of
from match_core.ir.topology import is_constant

from match_host.graph import dtype_of, elements, values_of
from match_host.kernels.code import Code, Uses, literal
from match_host.kernels.elementwise.requant_ops import in_one_word, shifted_digits
from match_host.kernels.elementwise.scalar_table import SCALAR_OPS
from match_host.kernels.scalar import (
    ScalarOp,
    Site,
    Value,
    arithmetic,
    loaded,
    moved_halves,
    rounded,
    scalar_type,
    stored,
)
from match_host.kernels.work import Work

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from numpy.typing import NDArray

#: Operators whose result is one of their arguments, up to the sign.
_EXACT_OPS = frozenset(("Relu", "Max", "Min", "Neg", "Abs", "Where", "Expand"))

#: Operators with limits of their own, of which two of three operations compare.
_LIMITED = frozenset(("HardSigmoid", "HardSwish"))
#: Operators that add floats.
_ADDED = frozenset(("Add", "Sub"))
#: Comparisons of floats by operator, beside extremes of several values.
_COMPARED = {
    **dict.fromkeys(("Relu", "LeakyRelu", "PRelu"), 1),
    **dict.fromkeys((*sorted(_LIMITED), "Clip"), 2),
}

#: Index text of an input element, given the input's shape as seen from the result.
Index = Callable[[tuple[int, ...]], str]


@dataclass(frozen=True)
class Argument:
    """A tensor that a body reads: ``shape`` as seen from the result (None: a table), ``packed``: the stored values if
    they differ from the tensor's."""

    tensor: gs.Tensor
    shape: tuple[int, ...] | None
    packed: NDArray[np.generic] | None = None


@dataclass(frozen=True)
class Body:
    """A group of scalar nodes in topological order, result last. ``given`` names tensors that the surrounding code
    already has in a variable."""

    nodes: tuple[gs.Node, ...]
    shape: tuple[int, ...]
    given: tuple[str, ...]
    arguments: tuple[Argument, ...]

    @property
    def work(self) -> Work:
        """Operations for one element of the result, including loads."""
        total = Work(memory=sum(argument.shape is not None for argument in self.arguments))
        for argument in self.arguments:
            total += moved_halves(dtype_of(argument.tensor))
        for node in self.nodes:
            op = SCALAR_OPS[qualified_op(node)]
            total += _node_work(node, op)
            if op.name not in _EXACT_OPS:
                total += moved_halves(dtype_of(node.outputs[0]), 1 if node is self.nodes[-1] else 2)
        return total

    def told_of(self, results: int) -> dict[str, int]:
        """What ``Built.told`` tells of some elements: calls by function, where ``Work`` counts all as ``special``, and
        roots as divisions; ``sums``: additions of floats, which are calls, too, on cores without instructions;
        ``compared``: comparisons of floats; ``limited``: results of HardSigmoid and HardSwish; ``doubled``: products of
        floats and a power of two; ``rectified``: additions of what Relu makes; ``unclipped``: requantisations whose
        shift leaves no more bits than the result has; ``digits`` of factors, ``digits_wide`` and ``digits_products``
        (``shifted_digits``)."""
        real = [node for node in self.nodes if dtype_of(node.outputs[0]).kind == "f"]
        called = (n.op for n in real if n.op == "Sqrt" or _node_work(n, SCALAR_OPS[qualified_op(n)]).special)
        added = sum(node.op in _ADDED for node in real)
        unclipped = sum(_is_unclipped(node) for node in self.nodes)
        found = Counter(f"calls_{op.lower()}" for op in called)
        found |= {"sums": added, "compared": sum(map(_compared, real)), "doubled": sum(map(_is_doubled, real))}
        relus = {node.outputs[0].name for node in real if node.op == "Relu"}
        read = (relus & {tensor.name for tensor in node.inputs} for node in real if node.op in _ADDED)
        shifted = map(sum, zip(*map(shifted_digits, self.nodes), strict=True))
        found |= dict(zip(("digits", "digits_wide", "digits_products"), shifted, strict=True))
        found |= {"unclipped": unclipped, "rectified": sum(map(bool, read))}
        found |= {"limited": sum(node.op in _LIMITED for node in real)}
        return {name: count * results for name, count in found.items() if count}


def body(nodes: Sequence[gs.Node], given: Sequence[str] = ()) -> Body:
    """Determine the tensors that the group reads. Constants with one value become literals."""
    produced = {*given, *(tensor.name for node in nodes for tensor in node.outputs)}
    shape = shape_of(nodes[-1].outputs[0])
    found: dict[tuple[str, tuple[int, ...] | None], Argument] = {}
    for node in nodes:
        op = SCALAR_OPS[qualified_op(node)]
        for index, tensor in enumerate(node.inputs):
            if tensor.is_empty() or tensor.name in produced or index in op.settings:
                continue
            seen = None if index in op.tables else _seen_shape(node, op, index, len(shape))
            if seen is not None and _uniform(tensor) is not None:
                continue
            found.setdefault((tensor.name, seen), Argument(tensor, seen, _narrowed(tensor, seen)))
    return Body(tuple(nodes), shape, tuple(given), tuple(found.values()))


def statements(
    group: Body,
    uses: Uses,
    index: Index,
    target: str,
    first: int = 0,
    given: Mapping[str, Value] | None = None,
    in_memory: bool = True,
    wide: bool = False,
) -> tuple[str, ...]:
    """The C statements for one element. Arguments are ``in<first>``, ``in<first + 1>``, ...; the result is assigned
    to ``target``, a place in memory or else a variable. ``wide``: as an int32_t, if ``narrowing.stores_apart``."""
    writer = _Writer(group, index, first, dict(given or {}))
    lines: list[str] = []
    for number, node in enumerate(group.nodes):
        op = SCALAR_OPS[qualified_op(node)]
        dtype = dtype_of(node.outputs[0])
        last = number == len(group.nodes) - 1
        result = np.dtype(np.int32) if last and wide else arithmetic(dtype)
        site = Site(node, writer.values(node, op, lines), result, uses, writer.array(node))
        expression = op.render(site)
        if last and in_memory:
            lines.append(f"{target} = {stored(expression, dtype)};")
            continue
        name = target if last else f"t{number}"
        lines.append(f"const {scalar_type(dtype)} {name} = {_kept(op, expression, dtype)};")
        writer.known[node.outputs[0].name] = Value(name, site.result)
    return tuple(lines)


def _kept(op: ScalarOp, expression: str, dtype: np.dtype[np.generic]) -> str:
    """The expression as the result of an operator, rounded unless the operator only selects or negates."""
    return expression if op.name in _EXACT_OPS else rounded(expression, dtype)


def rounded_sum(dtype: np.dtype[np.generic], code: Code) -> Value:
    """The variable ``acc`` as the result of its operator, for operators fused after it."""
    if rounded("acc", dtype) != "acc":
        code.line(f"acc = {rounded('acc', dtype)};")
    return Value("acc", arithmetic(dtype))


class _Writer:
    """Loads arguments once each, at first use."""

    def __init__(self, group: Body, index: Index, first: int, known: dict[str, Value]) -> None:
        self.group = group
        self.index = index
        self.first = first
        self.known = known
        self.loaded: dict[int, Value] = {}

    def values(self, node: gs.Node, op: ScalarOp, lines: list[str]) -> tuple[Value | None, ...]:
        result: list[Value | None] = []
        for index, tensor in enumerate(node.inputs):
            if tensor.is_empty() or index in op.tables or index in op.settings:
                result.append(None)
            elif tensor.name in self.known:
                result.append(self.known[tensor.name])
            elif (uniform := _uniform(tensor)) is not None:
                dtype = arithmetic(dtype_of(tensor))
                result.append(Value(literal(uniform, dtype), dtype, uniform))
            else:
                seen = _seen_shape(node, op, index, len(self.group.shape))
                result.append(self._load(self._position(tensor.name, seen), lines))
        return tuple(result)

    def array(self, node: gs.Node) -> Callable[[int], str]:
        return lambda index: f"in{self.first + self._position(node.inputs[index].name, None)}"

    def _position(self, name: str, seen: tuple[int, ...] | None) -> int:
        for position, argument in enumerate(self.group.arguments):
            if argument.tensor.name == name and argument.shape == seen:
                return position
        raise KeyError(name)

    def _load(self, position: int, lines: list[str]) -> Value:
        if position not in self.loaded:
            argument = self.group.arguments[position]
            dtype = dtype_of(argument.tensor)
            name, place = f"x{self.first + position}", f"in{self.first + position}[{self.index(argument.shape or ())}]"
            lines.append(f"const {scalar_type(dtype)} {name} = {loaded(place, dtype)};")
            low = high = None
            if is_constant(argument.tensor) and dtype.kind in "iuf":
                values = values_of(argument.tensor)
                low, high = float(values.min()), float(values.max())
            self.loaded[position] = Value(name, arithmetic(dtype), None, low, high)
        return self.loaded[position]


def _seen_shape(node: gs.Node, op: ScalarOp, index: int, rank: int) -> tuple[int, ...]:
    """The input's shape as numpy broadcasting sees it from a result of that rank."""
    seen = op.align(node, index, rank) if op.align is not None else None
    if seen is not None:
        return seen
    shape = shape_of(node.inputs[index])
    return (1,) * (rank - len(shape)) + shape


def _uniform(tensor: gs.Tensor) -> float | None:
    """The value of a constant with one value (integers stay exact)."""
    if not is_constant(tensor):
        return None
    values = values_of(tensor).reshape(-1)
    if not values.size or not bool((values == values[0]).all()):
        return None
    value = values[0].item()
    return int(value) if values.dtype.kind in "iub" else float(value)


def _narrowed(tensor: gs.Tensor, seen: tuple[int, ...] | None) -> NDArray[np.generic] | None:
    """64-bit constants whose values fit 32 bits are stored in 32."""
    if seen is None or not is_constant(tensor) or dtype_of(tensor) != np.int64:
        return None
    values = values_of(tensor)
    limit = np.iinfo(np.int32)
    fits = bool(((values >= limit.min) & (values <= limit.max)).all())  # type: ignore[operator]  # int64, see above
    return values.astype(np.int32) if fits else None


def _node_work(node: gs.Node, op: ScalarOp) -> Work:
    source = dtype_of(node.inputs[op.data])
    work = op.work(source)
    if "Requant" in node.op:
        return work + _requantised(node)
    if node.op == "Pow" and source.kind == "f" and _uniform(node.inputs[1]) in (2, 3):
        return Work(floating=int(_uniform(node.inputs[1]) or 0) - 1)  # products instead of a function
    if node.op == "DequantizeLinear" and (optional_input(node, 2) is None or _uniform(node.inputs[2]) == 0):
        return Work(floating=2)  # no zero point is subtracted
    if node.op == "QuantizeLinear" and (scale := _uniform(node.inputs[1])) and frexp(abs(scale))[0] == 0.5:
        return Work(floating=3 + (abs(scale) != 1))  # compilers multiply by the inverse power of two
    if work.wide_divide or work.divide:
        divisor = _uniform(node.inputs[1]) if len(node.inputs) > 1 else None
        if divisor is not None and divisor > 0 and int(divisor) & (int(divisor) - 1) == 0:
            return Work(wide=3) if work.wide_divide else Work(integer=3)  # compilers shift instead
        if divisor is not None and work.wide_divide and _in_words(abs(int(divisor))):
            return Work(wide=6, wide_multiply=2)
    return work


def _requantised(node: gs.Node) -> Work:
    """What its numbers tell of a requantisation."""
    divisor = _uniform(node.inputs[-3])
    if divisor is not None and int(divisor) & (int(divisor) - 1) == 0:
        return Work(words=int(in_one_word(node)))
    return Work(quotients=1 if divisor is not None and _in_words(int(divisor)) else 2)


def _compared(node: gs.Node) -> int:
    """The comparisons of floats of an operator."""
    return len(node.inputs) - 1 if node.op in ("Max", "Min") else _COMPARED.get(node.op, 0)


def _is_doubled(node: gs.Node) -> bool:
    """Whether a product or a quotient changes the exponent only."""
    values = [_uniform(tensor) for tensor in node.inputs] if node.op in ("Mul", "Div") else []
    return any(value is not None and frexp(abs(value))[0] == 0.5 for value in values)


def _is_unclipped(node: gs.Node) -> bool:
    """Whether compilers leave a requantisation's limits out: no sum of 32 bits reaches them."""
    if "Requant" not in node.op or not in_one_word(node):
        return False
    divisor, low, high = (_uniform(node.inputs[place]) for place in (-3, -2, -1))
    if not divisor or low is None or high is None:
        return False
    return low <= -((1 << 31) // int(divisor)) and high >= ((1 << 31) - 1) // int(divisor)


def _in_words(divisor: int) -> bool:
    """Whether gcc divides 64 bits by a constant without a call on a machine of 32 bits: the sum of a dividend's digits
    of 16 to 31 bits then has the same remainder. (expand_doubleword_mod in gcc's optabs.cc; compared with gcc 12 for
    Cortex-M3, M4 and M55 and all divisors up to 1,024.)"""
    odd = divisor // (divisor & -divisor)
    return any(pow(2, bits, odd) == 1 for bits in range(16, 32))


def packed_constants(group: Body, first: int) -> dict[int, NDArray[np.generic]]:
    """Argument position -> array to store instead of the tensor's values."""
    return {
        first + position: argument.packed
        for position, argument in enumerate(group.arguments)
        if argument.packed is not None
    }


def describe(group: Body) -> str:
    """Operators of the group for a comment: ``Add, Mul x 3``."""
    names = [qualified_op(node).rsplit("::", 1)[-1] for node in group.nodes]
    counted = {name: names.count(name) for name in names}
    return ", ".join(f"{name} x {count}" if count > 1 else name for name, count in counted.items())


def result_elements(group: Body) -> int:
    """Elements of the result."""
    return elements(group.shape)
