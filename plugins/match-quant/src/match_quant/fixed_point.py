"""Rounding that a network writes in elementary operators on integers, as exact functions of a convolution's sums.

A value is ``floor((sum * m + b) / d)``, with one m, b and d per channel. Truncating divisions and choices by sign
(``Where(x < 0, ...)``) give a value another b where a test is negative. TFLite's two roundings become such a function:
rounding to a multiple of 2^31 is one floor for both signs, rounding halves away from zero is one for each sign.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.reader import constant, optional_input, producer

from match_quant.sum_forms import Exact, Form, Linear

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: The range in which types hold all integers.
_REACH = {
    **{f"float{bits}": (-(1 << exact), 1 << exact) for bits, exact in ((32, 24), (64, 53))},
    **{f"int{bits}": (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) for bits in (32, 64)},
    **{f"uint{bits}": (0, (1 << bits) - 1) for bits in (32, 64)},
}
#: Operators above each other between the sums and the result.
_MOST_DEPTH = 60


class Chain:
    """Follows a tensor upwards to the only convolution or matrix product that it depends on. ``sums``: the smallest and
    the largest sum per channel, given that node; None if the node is not supported."""

    def __init__(self, sums: Callable[[gs.Node], tuple[Exact, Exact] | None]) -> None:
        self.base: gs.Node | None = None
        self.nodes: list[gs.Node] = []
        self._sums = sums
        self._range: tuple[Exact, Exact] | None = None
        self._known: dict[int, Form | None] = {}
        self._depth = 0

    def form(self, tensor: gs.Tensor) -> Form | None:
        """The tensor as a function of the sums; None if its operators are not supported, or could overflow."""
        if id(tensor) not in self._known and self._depth == _MOST_DEPTH:
            return None
        if id(tensor) not in self._known:
            self._depth += 1
            node = producer(tensor)
            found = self._of_node(node) if node is not None and node.domain in (None, "", "ai.onnx") else None
            if found is not None and not self._fits(found, tensor):
                found = None
            if node is not None and found is not None:
                self.nodes.append(node)
            self._known[id(tensor)] = found
            self._depth -= 1
        return self._known[id(tensor)]

    @property
    def range(self) -> tuple[Exact, Exact]:
        """Smallest and largest sums."""
        if self._range is None:
            raise ValueError("no sum was found")
        return self._range

    def _fits(self, form: Form, tensor: gs.Tensor) -> bool:
        if form.lo is not None and form.hi is not None:
            return True
        low, high = _REACH.get(np.dtype(tensor.dtype).name, (0, 0))
        ends = [int(value) for side in (form.high, form.low) for end in self.range for value in side.of(end)]
        return low <= min(ends) and max(ends) <= high

    def _of_node(self, node: gs.Node) -> Form | None:
        if node.op in ("ConvInteger", "MatMulInteger"):
            return self._base(node)
        rules = {
            "Cast": self._cast, "Add": self._add, "Sub": self._subtract, "Mul": self._multiply, "Div": self._divide,
            "Where": self._where, "Clip": self._clip, "Floor": self._floor, "Max": self._clip_one,
            "Min": self._clip_one, "BitShift": self._shift,
        }  # fmt: skip
        return rules[node.op](node) if node.op in rules else None

    def _base(self, node: gs.Node) -> Form | None:
        if self.base is not None and self.base is not node:
            return None
        found = self._sums(node)
        if found is None:
            return None
        self.base, self._range = node, found
        one, none = (np.full(found[0].shape, value, object) for value in (1, 0))
        line = Linear(one, none, one)
        return Form(line, line)

    # ---- constants --------------------------------------------------------------------------------------------------

    def _numbers(self, tensor: gs.Tensor) -> Exact | None:
        """A constant as one integer per channel; None for other tensors."""
        values = constant(tensor)
        if values is None or self.base is None or values.dtype.kind not in "iuf":
            return None
        count = len(self.range[0])
        tail = (count, 1, 1) if self.base.op == "ConvInteger" else (count,)
        shape = (1,) * max(0, len(tail) - values.ndim) + values.shape
        if values.size not in (1, count) or (values.size > 1 and shape[-len(tail) :] != tail):
            return None
        flat = np.broadcast_to(values.reshape(-1), (count,))
        if values.dtype.kind == "f" and not (np.all(np.isfinite(flat)) and np.all(flat == np.rint(flat))):
            return None
        return np.array([int(value) for value in flat], object)

    def _with_numbers(self, node: gs.Node) -> tuple[Form, Exact, int] | None:
        """The computed operand, the constant one and the position of the computed one."""
        for position in (0, 1):
            form = self.form(node.inputs[position]) if constant(node.inputs[position]) is None else None
            numbers = self._numbers(node.inputs[1 - position]) if form is not None else None
            if form is not None and numbers is not None:
                return form, numbers, position
        return None

    # ---- operators --------------------------------------------------------------------------------------------------

    def _cast(self, node: gs.Node) -> Form | None:
        return self.form(node.inputs[0])

    def _add(self, node: gs.Node) -> Form | None:
        found = self._with_numbers(node)
        if found is not None:
            return self._moved(found[0], found[1])
        a, b = (self.form(tensor) for tensor in node.inputs)
        if a is None or b is None:
            return None
        return self._stepped(a, b) or self._stepped(b, a)

    @staticmethod
    def _moved(form: Form, numbers: Exact) -> Form | None:
        if form.lo is None and form.hi is None:
            return form.sides(lambda line: line.plus(numbers))
        if not bool(np.all(numbers == numbers[0])):
            return None
        by = int(numbers[0])
        moved = form.sides(lambda line: line.plus(numbers))
        return replace(
            moved, lo=None if form.lo is None else form.lo + by, hi=None if form.hi is None else form.hi + by
        )

    @staticmethod
    def _stepped(form: Form, step: Form) -> Form | None:
        """The sum of a value and of a number that depends on a sign only."""
        fixed = not any(line.m.any() or bool(np.any(line.d != 1)) for line in (step.high, step.low))
        if not fixed or form.lo is not None or form.hi is not None or step.lo is not None or step.hi is not None:
            return None
        if form.test is not None and (step.test is None or not form.test.same(step.test)):
            return None
        return Form.joined(Form(form.high.plus(step.high.b), form.low.plus(step.low.b), step.test))

    def _subtract(self, node: gs.Node) -> Form | None:
        found = self._with_numbers(node)
        return self._moved(found[0], -found[1]) if found is not None and found[2] == 0 else None

    def _multiply(self, node: gs.Node) -> Form | None:
        found = self._with_numbers(node)
        if found is None:
            return None
        form, numbers, _ = found
        whole = all(bool(np.all(line.d == 1)) for line in (form.high, form.low))
        if not whole or numbers.min() < 0 or form.lo is not None or form.hi is not None:
            return None
        return form.sides(lambda line: Linear(line.m * numbers, line.b * numbers, line.d))

    def _divide(self, node: gs.Node) -> Form | None:
        divisor = self._divisor(node)
        if divisor is None or np.dtype(node.outputs[0].dtype).kind != "i":
            return None
        number, rest = divisor
        maker = producer(node.inputs[0])
        if rest is not None and maker is not None:  # x - Mod(x, E) is a multiple of E
            self.nodes.extend((maker, rest))
            form = self.form(rest.inputs[0])
            return self._floored(form, number) if form is not None else None
        form = self.form(node.inputs[0])
        return self._truncated(form, number) if form is not None else None

    def _divisor(self, node: gs.Node) -> tuple[Exact, gs.Node | None] | None:
        """The divisor, and the Mod node if the dividend is ``x - Mod(x, divisor)``."""
        maker = producer(node.inputs[0])
        rest = producer(maker.inputs[1]) if maker is not None and maker.op == "Sub" else None
        is_floor = rest is not None and rest.op == "Mod" and maker is not None and rest.inputs[0] is maker.inputs[0]
        source = rest.inputs[0] if is_floor and rest is not None else node.inputs[0]
        if self.form(source) is None:
            return None
        number = self._numbers(node.inputs[1])
        if number is None or number.min() <= 0:
            return None
        if not is_floor or rest is None:
            return number, None
        same = self._numbers(rest.inputs[1])
        given = same is not None and bool(np.all(same == number)) and not rest.attrs.get("fmod", 0)
        return (number, rest) if given else None

    def _floored(self, form: Form, number: Exact) -> Form | None:
        if form.lo is not None or form.hi is not None:
            return None
        return form.sides(lambda line: line.floor_div(number))

    def _truncated(self, form: Form, number: Exact) -> Form | None:
        """A division that rounds towards zero."""
        if form.lo is not None or form.hi is not None:
            return None
        if form.test is None:
            ends = form.high.of(self.range[0])
            if bool(np.all(ends >= 0)):
                return form.sides(lambda line: line.floor_div(number))
            return Form.joined(Form(form.high.floor_div(number), form.high.ceil_div(number), form.high))
        test = form.test
        if not (np.all(form.high.m == test.m) and np.all(form.low.m == test.m)):
            return None
        # Where the test is not negative, sum * m is at least -test.b; elsewhere at most -test.b - 1.
        if not (np.all(form.high.b >= test.b) and np.all(form.low.b - test.b - 1 < form.low.d)):
            return None
        return Form.joined(Form(form.high.floor_div(number), form.low.ceil_div(number), test))

    def _floor(self, node: gs.Node) -> Form | None:
        """Floor of a quotient of float64: exact below 2^53, whatever the divisor."""
        quotient = producer(node.inputs[0])
        if quotient is None or quotient.op not in ("Div", "Mul") or node.inputs[0].dtype != np.float64:
            return None
        form, by = self.form(quotient.inputs[0]), constant(quotient.inputs[1])
        if form is None or by is None:
            return None
        if quotient.op == "Mul":  # only powers of two have exact reciprocals
            exponent = np.log2(np.asarray(by, np.float64))
            number = (
                None if np.any(exponent != np.rint(exponent)) or by.size != 1 else int(2 ** -exponent.reshape(-1)[0])
            )
            numbers = None if not number else np.full(self.range[0].shape, number, object)
        else:
            numbers = self._numbers(quotient.inputs[1])
        if numbers is None or numbers.min() <= 0:
            return None
        self.nodes.append(quotient)
        return self._floored(form, numbers)

    def _shift(self, node: gs.Node) -> Form | None:
        """A shift of an unsigned value to the right."""
        form = self.form(node.inputs[0])
        amount = self._numbers(node.inputs[1]) if form is not None else None
        direction = node.attrs.get("direction", "")
        right = (direction.decode() if isinstance(direction, bytes) else direction) == "RIGHT"
        if form is None or amount is None or not right or form.test is not None or amount.max() > 62:
            return None
        return self._floored(form, np.array([1 << int(a) for a in amount], object))

    def _where(self, node: gs.Node) -> Form | None:
        found = self._comparison(node.inputs[0])
        if found is None:
            return None
        test, below = found
        sides = []
        for tensor in node.inputs[1:3]:
            numbers = self._numbers(tensor)
            none, one = (np.full(self.range[0].shape, value, object) for value in (0, 1))
            form = self.form(tensor) if numbers is None else Form(*(Linear(none, numbers, one),) * 2)
            if form is None or not form.is_single:
                return None
            sides.append(form.high)
        first, second = sides
        return Form.joined(Form(second, first, test) if below else Form(first, second, test))

    def _comparison(self, tensor: gs.Tensor) -> tuple[Linear, bool] | None:
        """A test that is negative where a value is below a bound, and whether the comparison is true there."""
        node = producer(tensor)
        names = {"Less": (0, True), "GreaterOrEqual": (0, False), "Greater": (1, False), "LessOrEqual": (1, True)}
        if node is None or node.op not in names:
            return None
        form = self.form(node.inputs[0])
        bound = self._numbers(node.inputs[1]) if form is not None else None
        if form is None or bound is None or not form.is_single:
            return None
        above, below = names[node.op]
        self.nodes.append(node)
        line = form.high
        return Linear(line.m, line.b - (bound + above) * line.d, line.d), below

    def _clip(self, node: gs.Node) -> Form | None:
        form = self.form(node.inputs[0])
        for position in (1, 2):
            tensor = optional_input(node, position)
            if form is None or tensor is None:
                continue
            numbers = self._numbers(tensor)
            if numbers is None or not bool(np.all(numbers == numbers[0])):
                return None
            form = self._bounded(form, int(numbers[0]), position == 1)
        return form

    def _clip_one(self, node: gs.Node) -> Form | None:
        found = self._with_numbers(node) if len(node.inputs) == 2 else None
        if found is None or not bool(np.all(found[1] == found[1][0])):
            return None
        return self._bounded(found[0], int(found[1][0]), node.op == "Max")

    @staticmethod
    def _bounded(form: Form, bound: int, lower: bool) -> Form:
        """Clipped from one side. The later bound holds if they contradict each other."""
        if lower:
            hi = None if form.hi is None else max(form.hi, bound)
            return replace(form, lo=bound if form.lo is None else max(form.lo, bound), hi=hi)
        lo = None if form.lo is None else min(form.lo, bound)
        return replace(form, hi=bound if form.hi is None else min(form.hi, bound), lo=lo)
