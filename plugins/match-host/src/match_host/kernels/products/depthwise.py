"""Depthwise convolutions of activations in NHWC: one filter per channel, and the innermost loop runs over channels.

Weights are stored as [taps][channels]. Few taps are unrolled: each reads the channels of one input position, or
of a line of padding if the position lies outside, so the inner loop has no checks. More taps (poolings that became
convolutions) are added in a loop. Every output starts with the bias and adds its taps in the kernel's order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.element_types import c_type
from match_core.ir.reader import optional_input, shape_of

from match_host.graph import dtype_of, elements, values_of
from match_host.kernels.built import Built
from match_host.kernels.code import Code, Uses, affine, as_vectors, inline_code, literal
from match_host.kernels.elementwise.elementwise import Body, body, describe, packed_constants, rounded_sum, statements
from match_host.kernels.elementwise.narrowing import stores_apart
from match_host.kernels.nest import row_major
from match_host.kernels.products.blocked import After, Tile, TileWriter, tiles
from match_host.kernels.products.depthwise_shape import Depthwise, depthwise_shape, pixels, tap_groups
from match_host.kernels.scalar import arithmetic, loaded, moved_halves, scalar_type, stored
from match_host.kernels.work import Work
from match_host.machine import GENERIC, Machine

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_core.contract.unit_api import InlineCode
    from numpy.typing import NDArray


def build_depthwise(nodes: tuple[gs.Node, ...], function: str, machine: Machine = GENERIC) -> Built:
    """The kernel of [Pad] depthwise convolution [elementwise operators on its result]."""
    conv = depthwise_shape(nodes)
    after = nodes[nodes.index(conv.node) + 1 :]
    epilogue = body(after, given=(conv.result.name,)) if after else None
    writer = _Writer(conv, epilogue, machine)
    outputs, arguments = nodes[-1].outputs[:1], tuple(writer.arguments)

    def code() -> InlineCode:
        writer.write()
        comment, text = _comment(conv, epilogue), writer.code.text
        return inline_code(function, comment, arguments, outputs, text, writer.uses, writer.constants)

    return Built(arguments, code, _work(conv, epilogue), constants=writer.constants)


def _comment(conv: Depthwise, epilogue: Body | None) -> str:
    kernel = "x".join(str(window.kernel) for window in conv.windows)
    stride = "x".join(str(window.stride) for window in conv.windows)
    tail = f", {describe(epilogue)}" if epilogue else ""
    return f"Depthwise {conv.node.op}{tail}: {conv.channels} channels, kernel {kernel}, stride {stride}"


def _work(conv: Depthwise, epilogue: Body | None) -> Work:
    positions = elements(shape_of(conv.result)[:-1])
    results = positions * conv.channels
    arithmetic_work = Work(floating_tile_macs=1) if conv.floating else Work(tile_macs=1)
    each = Work(memory=2 if conv.factor is None else 1) + arithmetic_work + moved_halves(dtype_of(conv.source), 2)
    if not conv.written:
        each += Work(memory=2, steps=1)  # the sums are in memory
    elif conv.checked:
        each += Work(memory=1)  # the address of a tap
    work = each.times(results * conv.taps) + Work(memory=1, steps=1).times(results)
    work += Work(integer=6).times(positions * conv.taps) + moved_halves(conv.dtype).times(results)
    return work + (epilogue.work.times(results) if epilogue else Work())


class _Writer:
    """Writes one kernel and collects its operands. ``apart``: results first replace their sums."""

    def __init__(self, conv: Depthwise, epilogue: Body | None, machine: Machine) -> None:
        self.conv, self.epilogue, self.apart = conv, epilogue, stores_apart(epilogue, conv.dtype, machine)
        self.code, self.uses = Code(), Uses(machine.vectors)
        floats = machine.products(conv.node.inputs[1])
        blocks = conv.written and conv.dtype == np.float32 and conv.channels >= floats.lanes(4) > 1
        self.lanes = floats.lanes(4) if blocks else 1
        self.writer = floats.writer if blocks else None
        self.channel: tuple[tuple[str, int], ...] = ()
        self.arguments: list[gs.Tensor] = [conv.source]
        self.constants: dict[int, NDArray[np.generic]] = {}
        self.pixels = pixels(conv, epilogue) if epilogue else 1
        # Positions with contiguous taps are one line from the start; weights are repeated accordingly.
        self.flat = self.pixels > 1 and conv.written and not conv.checked and conv.windows[-1].stride == 1
        self.line = conv.channels * (self.pixels if self.flat else 1)
        weight = np.tile(conv.weight, (1, self.line // conv.channels))
        self.weight = self._argument(conv.node.inputs[1], weight) if conv.factor is None else ""
        bias = optional_input(conv.node, 2)
        self.bias = self._argument(bias) if bias is not None else ""
        self.outside = self._outside() if conv.written and conv.checked else ""
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

    def write(self) -> None:
        """Write the whole body."""
        conv, code = self.conv, self.code
        batch, width = shape_of(conv.result)[0], conv.windows[-1].out
        loops = [("n", batch), *((window.name, window.out) for window in conv.windows[:-1])]
        with code.loops(loops) as names:
            self.at = dict(zip((name for name, _ in loops), names, strict=True))
            if self.pixels == 1:
                with code.loop("x", width) as self.at["x"]:
                    self._addresses()
                    if self.writer is not None:
                        self._lines(self.writer)
                        return
                    with code.loop("b", conv.channels // conv.block) as b:
                        self.channel = ((b, conv.block), ("c", 1))
                        self._block()
                return
            self.channel = (("c", 1),)
            with code.block(f"for (int32_t x = 0; x < {width}; x += {self.pixels})"):
                self._pixel_sums()
                self.at["x"] = "x"
                self._finish_sums(self.pixels * conv.channels)

    def _pixel_sums(self) -> None:
        """The sums of neighbouring output positions, stored contiguously."""
        conv, code = self.conv, self.code
        kind, count = scalar_type(conv.dtype), self.pixels * conv.channels
        if self.flat:
            self.at["x"] = "x"
            code.line(f"{kind} sum[{count}];")
            self._addresses()
            self._sums(count)
            return
        self.at["x"] = "(x + p)"
        code.line(f"{kind} sums[{count}];")
        with code.block(f"for (int32_t p = 0; p < {self.pixels}; p++)"):
            code.line(f"{kind} *const sum = &sums[p * {conv.channels}];")
            self._addresses()
            self._sums(conv.channels)

    def _addresses(self) -> None:
        """Declare the addresses of all taps, or of the first one if the others follow from it."""
        if self.conv.written and self.conv.checked:
            self._tap_addresses()
        elif self.conv.written:
            self._base("x0")

    def _base(self, name: str, terms: tuple[tuple[str, int], ...] = ()) -> None:
        """Declare the address of an input position's first channel."""
        source, offset = [(self.at["n"], self.conv.strides[0]), *terms], 0
        for window, step in zip(self.conv.windows, self.conv.strides[1:-1], strict=True):
            if self.conv.written:  # tap offsets are added when they are read
                source.append((self.at[window.name], window.stride * step))
            else:
                source += window.terms(step)
            offset += window.offset * step
        ctype = c_type(dtype_of(self.conv.source))
        self.code.line(f"const {ctype} *const {name} = &in0[{affine(source, offset)}];")

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

    def _block(self) -> None:
        """The sums of a block of channels, and the operators after them."""
        conv, code = self.conv, self.code
        if conv.written and conv.floating:
            with code.block(f"for (int32_t c = 0; c < {conv.channels}; c++)"):
                self._written_sum()
                self._finish("acc", self._place)
            return
        code.line(f"{scalar_type(conv.dtype)} sum[{conv.block}];")
        self._sums(conv.block)
        self._finish_sums(conv.block)

    def _lines(self, writer: type[TileWriter]) -> None:
        """The results of a position, in blocks of as many channels as a vector has."""
        conv, code, tile = self.conv, self.code, Tile(1, self.lanes, rows=True)
        with tiles(code, "c", conv.channels, self.lanes) as (_, c):
            self.channel = ((c, 1), ("k", 1))
            sums = writer(code, tile, conv.dtype, lambda k, number: self._start(((c, 1), (k, 1)), number))
            sums.open()
            for tap, place in enumerate(self._taps(((c, 1),))):
                sums.channels(place, f"{self.weight}[{affine([(c, 1)], tap * self.line)}]")
            after = After(self.epilogue, conv.result.name, self.first, self._index, shape_of(conv.result))
            if not sums.finished(after):
                sums.close()
                with code.loop("k", self.lanes):
                    code.line("const float acc = sums[0][k];")
                    self._finish("acc", self._place)

    def _sums(self, count: int) -> None:
        """Add the taps of ``count`` channels in ``sum``."""
        conv, code = self.conv, self.code
        head = f"for (int32_t c = 0; c < {count}; c++)"
        if conv.written:
            with code.block(head):
                self._written_sum()
                code.line("sum[c] = acc;")
            return
        with code.block(head):
            code.line(f"sum[c] = {self._start()};")
        self._looped_sums(head)

    def _finish_sums(self, count: int) -> None:
        """The operators after the sums of a block, in a separate loop: types of other widths would shorten its
        vectors."""
        conv, code = self.conv, self.code
        name = "sum" if self.pixels == 1 or self.flat else "sums"
        if self.apart:
            code.lines(as_vectors(self.uses, count))
        with code.block(f"for (int32_t c = 0; c < {count}; c++)"):
            code.line(f"{'' if conv.floating else 'const '}{scalar_type(conv.dtype)} acc = {name}[c];")
            self._finish("acc", f"{name}[c]" if self.apart else self._place)
        if self.apart and self.epilogue:
            with code.block(f"for (int32_t c = 0; c < {count}; c++)"):
                ctype = c_type(dtype_of(self.epilogue.nodes[-1].outputs[0]))
                code.line(f"{self._place} = ({ctype}){name}[c];")

    def _start(self, channel: tuple[tuple[str, int], ...] | None = None, number: int = 0) -> str:
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
        code.line(f"{scalar_type(conv.dtype)} acc = {self._start()};")
        taps = enumerate(self._taps(self.channel))
        products = [_product(loaded(place, source), self._weight((), tap)) for tap, place in taps]
        for group in tap_groups(conv):
            text = " + ".join(products[tap] for tap in group)
            code.line(f"acc += {text};" if len(group) == 1 else f"acc += (int16_t)({text});")

    def _taps(self, channel: tuple[tuple[str, int], ...]) -> list[str]:
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
                    code.line(f"sum[c] += {_product(str(conv.fill), weight)};")
                code.line("continue;")
        self._base("x0")
        with code.block(head):
            code.line(f"sum[c] += {_product(loaded(inside, source), weight)};")

    def _finish(self, acc: str, target: str) -> None:
        """Write the operators fused after the sum, and the store."""
        conv, code = self.conv, self.code
        if self.epilogue:
            known = {conv.result.name: rounded_sum(conv.dtype, code)}
            lines = statements(self.epilogue, self.uses, self._index, target, self.first, known, wide=self.apart)
            code.lines(lines)
        else:
            code.line(f"{target} = {stored(acc, conv.dtype)};")

    def _index(self, seen: tuple[int, ...]) -> str:
        """The index of the result's element in a tensor of that shape."""
        space = [((self.at[window.name], 1),) for window in self.conv.windows]
        coordinates = [((self.at["n"], 1),), *space, self.channel]
        terms = [
            (name, factor * stride)
            for axis, stride, size in zip(coordinates, row_major(seen), seen, strict=True)
            for name, factor in axis
            if size != 1
        ]
        return affine(terms)

    @property
    def _place(self) -> str:
        """The text of the result's element."""
        return f"out0[{self._index(shape_of(self.conv.result))}]"


def _product(x: str, weight: str) -> str:
    return x if weight == "1" else f"{x} * {weight}"
