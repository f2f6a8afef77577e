"""The sums of depthwise convolutions (kernels/depthwise.py): places of taps, loops over them, and their operands."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.element_types import c_type
from match_core.ir.reader import optional_input

from match_host.graph import dtype_of, elements, values_of
from match_host.kernels.code import Code, Uses, affine, literal
from match_host.kernels.elementwise.elementwise import Body, packed_constants
from match_host.kernels.elementwise.narrowing import stores_apart
from match_host.kernels.nest import row_major
from match_host.kernels.products.depthwise_shape import Depthwise, pixels, tap_groups
from match_host.kernels.scalar import arithmetic, loaded, scalar_type
from match_host.machine import Machine

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from numpy.typing import NDArray

#: Channels whose sums are variables, where loops add many taps: with their addresses, they fit the registers of all
#: cores.
FEW = 4


class DepthwiseSums:
    """Writes the sums of one kernel and collects its operands. ``apart``: results first replace their sums."""

    def __init__(self, conv: Depthwise, epilogue: Body | None, machine: Machine) -> None:
        self.conv, self.epilogue, self.apart = conv, epilogue, stores_apart(epilogue, conv.dtype, machine)
        self.code, self.uses = Code(), Uses(machine.vectors)
        floats = machine.products(conv.node.inputs[1])
        blocks = conv.written and conv.dtype == np.float32 and conv.channels >= floats.lanes(4) > 1
        self.lanes = floats.lanes(4) if blocks else 1
        self.writer = floats.writer if blocks else None
        self.channel: tuple[tuple[str, int], ...] = ()
        self.at: dict[str, str] = {}
        self.arguments: list[gs.Tensor] = [conv.source]
        self.constants: dict[int, NDArray[np.generic]] = {}
        self.few = not (conv.written or machine.vectors) and conv.channels >= FEW
        self.pixels = pixels(conv, epilogue) if epilogue and not self.few else 1
        # Positions with contiguous taps are one line from the start; weights are repeated accordingly.
        self.flat = self.pixels > 1 and conv.written and not conv.checked and conv.windows[-1].stride == 1
        self.line = conv.channels * (self.pixels if self.flat else 1)
        weight = np.tile(conv.weight, (1, self.line // conv.channels))
        self.weight = self._argument(conv.node.inputs[1], weight) if conv.factor is None else ""
        bias = optional_input(conv.node, 2)
        self.bias = self._argument(bias) if bias is not None else ""
        filled = conv.written or (self.few and conv.fill != 0)
        self.outside = self._outside() if filled and conv.checked else ""
        self.first = len(self.arguments)
        if epilogue:
            self.arguments += [argument.tensor for argument in epilogue.arguments]
            self.constants |= packed_constants(epilogue, self.first)
            for position, argument in enumerate(epilogue.arguments, self.first):
                if self.pixels > 1 and argument.shape is not None and elements(argument.shape) == conv.channels:
                    values = self.constants.get(position, values_of(argument.tensor))
                    self.constants[position] = np.tile(values.reshape(-1), self.pixels)

    def _argument(self, tensor: gs.Tensor, packed: NDArray[np.generic] | None = None) -> str:
        self.arguments.append(tensor)
        if packed is not None:
            self.constants[len(self.arguments) - 1] = packed
        return f"in{len(self.arguments) - 1}"

    def _outside(self) -> str:
        """A line of padding, a constant of the kernel."""
        import onnx_graphsurgeon as gs

        line = np.full(self.conv.channels, self.conv.fill).astype(dtype_of(self.conv.source))
        return self._argument(gs.Constant(f"{self.conv.node.name}/outside", line))

    def addresses(self) -> None:
        """Declare the addresses of all taps, or of the first one if the others follow from it."""
        if self.conv.written and self.conv.checked:
            self._tap_addresses()
        elif self.conv.written:
            self._base("x0")

    def _base(self, name: str, terms: tuple[tuple[str, int], ...] = (), instead: str = "") -> None:
        """Declare the address of an input position's first channel. ``instead``: of padding, C text before it."""
        source, offset = [(self.at["n"], self.conv.strides[0]), *terms], 0
        for window, step in zip(self.conv.windows, self.conv.strides[1:-1], strict=True):
            if self.conv.written:  # tap offsets are added when they are read
                source.append((self.at[window.name], window.stride * step))
            else:
                source += window.terms(step)
            offset += window.offset * step
        ctype = c_type(dtype_of(self.conv.source))
        self.code.line(f"const {ctype} *const {name} = {instead}&in0[{affine(source, offset)}];")

    def _tap_addresses(self) -> None:
        """Declare the addresses of all taps' first channels."""
        conv, code = self.conv, self.code
        code.line(f"const {c_type(dtype_of(conv.source))} *tap[{conv.taps}];")
        place = [(self.at["n"], conv.strides[0])]
        number: list[tuple[str, int]] = []
        kernel_steps = row_major(tuple(window.kernel for window in conv.windows))

        def nested(position: int) -> None:
            if position == len(conv.windows):
                outside = " || ".join(window.outside for window in conv.windows if window.leaves)
                target = f"tap[{affine(number)}]"
                code.line(f"{target} = {outside} ? {self.outside} : &in0[{affine(place)}];")
                return
            window, step = conv.windows[position], conv.strides[1 + position]
            with code.loop(f"k{window.name}", window.kernel) as k:
                terms = ((self.at[window.name], window.stride), (k, window.dilation))
                code.line(f"const int32_t i{window.name} = {affine(terms, -window.before)};")
                place.append((f"i{window.name}", step))
                number.append((k, kernel_steps[position]))
                nested(position + 1)

        nested(0)

    def start(self, channel: tuple[tuple[str, int], ...] | None = None, number: int = 0) -> str:
        """The text of a sum's first value."""
        dtype, place = self.conv.dtype, affine(channel or self.channel, number)
        return loaded(f"{self.bias}[{place}]", dtype) if self.bias else literal(0, arithmetic(dtype))

    def _weight(self, tap: tuple[tuple[str, int], ...], offset: int = 0) -> str:
        if self.conv.factor is not None:
            return str(self.conv.factor)
        place = affine([*tap, *self.channel], offset * self.line)
        return loaded(f"{self.weight}[{place}]", dtype_of(self.conv.node.inputs[1]))

    def _written_sum(self) -> None:
        """``acc``: the sum of one channel, tap by tap."""
        conv, code, source = self.conv, self.code, dtype_of(self.conv.source)
        code.line(f"{scalar_type(conv.dtype)} acc = {self.start()};")
        taps = enumerate(self.taps(self.channel))
        products = [product(loaded(place, source), self._weight((), tap)) for tap, place in taps]
        for group in tap_groups(conv):
            text = " + ".join(products[tap] for tap in group)
            code.line(f"acc += {text};" if len(group) == 1 else f"acc += (int16_t)({text});")

    def taps(self, channel: tuple[tuple[str, int], ...]) -> list[str]:
        """The places of a channel's values at all taps."""
        conv, places = self.conv, []
        for tap, at in enumerate(np.ndindex(tuple(window.kernel for window in conv.windows))):
            if conv.checked:
                places.append(f"tap[{tap}][{affine(channel)}]")
            else:
                steps = zip(at, conv.windows, conv.strides[1:-1], strict=True)
                places.append(f"x0[{affine(channel, sum(k * w.dilation * step for k, w, step in steps))}]")
        return places

    def _looped_sums(self, head: str) -> None:
        """Add tap after tap to the sums of a block."""
        conv, code = self.conv, self.code
        kernel_steps = row_major(tuple(window.kernel for window in conv.windows))

        def nested(position: int, tap: tuple[tuple[str, int], ...]) -> None:
            if position == len(conv.windows):
                self._tap(head, tap)
                return
            window = conv.windows[position]
            with code.loop(f"k{window.name}", window.kernel) as k:
                if window.leaves:
                    terms = ((self.at[window.name], window.stride), (k, window.dilation))
                    code.line(f"const int32_t i{window.name} = {affine(terms, -window.before)};")
                nested(position + 1, (*tap, (k, kernel_steps[position] * conv.channels)))

        nested(0, ())

    def _tap(self, head: str, tap: tuple[tuple[str, int], ...]) -> None:
        conv, code = self.conv, self.code
        weight, source = self._weight(tap), dtype_of(conv.source)
        outside = " || ".join(window.outside for window in conv.windows if window.leaves)
        inside = f"x0[{affine(self.channel)}]"
        if outside and not conv.fill:
            with code.block(f"if ({outside})"):
                code.line("continue;")
        elif outside:
            with code.block(f"if ({outside})"):
                with code.block(head):
                    code.line(f"sum[c] += {product(str(conv.fill), weight)};")
                code.line("continue;")
        self._base("x0")
        with code.block(head):
            code.line(f"sum[c] += {product(loaded(inside, source), weight)};")

    def tap_loops(self, stack: ExitStack) -> list[tuple[str, int]]:
        """Open loops over the taps and declare the first channel of each, ``x0``; returns the terms of the tap's
        weights. Padding of zeros is left out."""
        conv, code, tap = self.conv, self.code, list[tuple[str, int]]()
        steps = row_major(tuple(window.kernel for window in conv.windows))
        for window, step in zip(conv.windows, steps, strict=True):
            k = stack.enter_context(code.loop(f"k{window.name}", window.kernel))
            tap.append((k, step * conv.channels))
            if window.leaves:
                terms = ((self.at[window.name], window.stride), (k, window.dilation))
                code.line(f"const int32_t i{window.name} = {affine(terms, -window.before)};")
        outside = " || ".join(window.outside for window in conv.windows if window.leaves)
        if outside and not self.outside:
            with code.block(f"if ({outside})"):
                code.line("continue;")
        self._base("x0", self.channel, f"{outside} ? {self.outside} : " if self.outside else "")
        return tap

    def sums(self, count: int) -> None:
        """Add the taps of ``count`` channels in ``sum``."""
        conv, code = self.conv, self.code
        head = f"for (int32_t c = 0; c < {count}; c++)"
        if conv.written:
            with code.block(head):
                self._written_sum()
                code.line("sum[c] = acc;")
            return
        with code.block(head):
            code.line(f"sum[c] = {self.start()};")
        self._looped_sums(head)


def product(x: str, weight: str) -> str:
    """The text of a product; a weight of 1 is left out."""
    return x if weight == "1" else f"{x} * {weight}"
