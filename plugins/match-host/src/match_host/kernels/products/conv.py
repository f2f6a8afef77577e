"""Convolutions: float and integer, any group, stride, dilation and padding, NCHW or NHWC, direct (no im2col).

Results are computed in tiles of neighbouring positions of one line times outputs (kernels/blocked.py). A tile whose
taps all lie inside the input reads it at fixed distances. At the ends of a line each tap has a table of addresses, in
which positions outside point to a line of padding. Whole lines outside are skipped, unless padding is not zero.
Integer sums are exact in 32 bits (a constraint of the patterns bounds the number of products). Every output starts
with the bias and adds its products in the order of taps, then channels.
"""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

from match_core.contract.element_types import c_type
from match_core.ir.reader import shape_of

from match_host.graph import dtype_of, elements
from match_host.kernels.built import Built
from match_host.kernels.code import affine, as_vectors, inline_code, mostly
from match_host.kernels.elementwise.elementwise import Body, body, describe, rounded_sum, statements
from match_host.kernels.nest import row_major
from match_host.kernels.products.blocked import After, tile_work, tiles
from match_host.kernels.products.conv_shape import CONV_OPS, ConvShape, conv_shape, flattened, pad_fill
from match_host.kernels.products.conv_sums import ConvSums
from match_host.kernels.products.depthwise import build_depthwise
from match_host.kernels.products.depthwise_shape import takes
from match_host.kernels.products.told import told_product, told_tiles
from match_host.kernels.scalar import arithmetic, moved_halves, scalar_type, stored
from match_host.kernels.window import Window, told_windows
from match_host.kernels.work import Work
from match_host.machine import GENERIC, Machine

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_core.contract.unit_api import InlineCode

__all__ = ["CONV_OPS", "build_conv", "pad_fill"]


def build_conv(nodes: tuple[gs.Node, ...], function: str, machine: Machine = GENERIC) -> Built:
    """The kernel of [Pad] convolution [elementwise operators on its result]."""
    if takes(nodes):
        return build_depthwise(nodes, function, machine)
    conv = conv_shape(nodes)
    machine = machine.products(conv.node.inputs[1])
    after = nodes[nodes.index(conv.node) + 1 :]
    epilogue = body(after, given=(conv.result.name,)) if after else None
    others = [argument.shape for argument in epilogue.arguments if argument.shape is not None] if epilogue else []
    writer = _Writer(flattened(conv, others), epilogue, machine)
    outputs, arguments = nodes[-1].outputs[:1], tuple(writer.arguments)

    def code() -> InlineCode:
        writer.write()
        comment, text = _comment(conv, epilogue), writer.code.text
        return inline_code(function, comment, arguments, outputs, text, writer.uses, writer.constants)

    work = tile_work(writer.tile, conv.macs, writer.source_type, floating=conv.floating)
    work += moved_halves(writer.dtype, elements(shape_of(conv.result)))
    per_output = (epilogue.work if epilogue else Work()) + Work(memory=1, steps=2)
    results = elements(shape_of(outputs[0]))
    told = {**told_windows(conv.windows), **told_product(conv.node, conv.macs), **writer.told}
    told |= epilogue.told_of(results) if epilogue else {}
    return Built(arguments, code, work + per_output.times(results), constants=writer.constants, told=told)


def _comment(conv: ConvShape, epilogue: Body | None) -> str:
    kernel = "x".join(str(window.kernel) for window in conv.windows)
    stride = "x".join(str(window.stride) for window in conv.windows)
    sizes = f"{conv.groups * conv.inputs} to {conv.groups * conv.outputs} channels, kernel {kernel}, stride {stride}"
    groups = f", {conv.groups} groups" if conv.groups > 1 else ""
    tail = f", {describe(epilogue)}" if epilogue else ""
    return f"{conv.node.op}{tail}: {sizes}{groups}"


class _Writer(ConvSums):
    """Writes one kernel and collects its operands."""

    @property
    def told(self) -> dict[str, int]:
        """The tiles."""
        conv, rows, columns = self.conv, self.tile.positions, self.tile.outputs
        lines = conv.batch * conv.groups * elements(tuple(window.out for window in conv.windows[:-1]))
        return told_tiles(rows, columns, lines * -(-self.line.out // rows) * -(-conv.outputs // columns))

    def write(self) -> None:
        """Write the whole body."""
        conv, code, tile = self.conv, self.code, self.tile
        with ExitStack() as stack:
            n, g = stack.enter_context(code.loops([("n", conv.batch), ("g", conv.groups)]))
            outside = tile.outputs_outside and not self.gathers
            if outside:
                block, o = stack.enter_context(tiles(code, "o", conv.outputs, tile.outputs))
            self.at = {"n": n, "g": g}
            for window in conv.windows[:-1]:
                self.at[window.name] = stack.enter_context(code.loop(window.name, window.out))
                self._lines(window)
            if self.copies:
                self.copy_lines()
            _, x = stack.enter_context(tiles(code, self.line.name, self.line.out, tile.positions))
            self.at[self.line.name] = x
            if self.gathers:
                self.gather()
            if not outside:
                block, o = stack.enter_context(tiles(code, "o", conv.outputs, tile.outputs))
            self.channel = ((g, conv.outputs), (o, 1))
            self.weights = self.weight_terms(g, block, o)
            sums = self.writer(code, tile, self.dtype, self._first_value)
            sums.open()
            inside = "" if self.gathers or self.copies else self.inside(x)
            if self.gathers:
                self.gather_sums(sums)
            elif self.widens:
                self.widened(sums, inside)
            elif inside:
                with code.block(f"if ({mostly(self.uses)}({inside}))"):
                    self.middle(sums)
                with code.block("else"):
                    self.edge(sums)
            elif inside is None:
                self.edge(sums)
            else:
                self.middle(sums)
            p, k = "p" if tile.positions > 1 else "", "k" if tile.outputs > 1 else ""
            place, shape = partial(self._index, p, k), shape_of(conv.result)
            if sums.finished(After(self.epilogue, conv.result.name, self.first, place, shape)):
                return
            sums.close(kept=self.apart)
            self._finish()

    def _lines(self, window: Window) -> None:
        """Declare the range of taps along an outer axis inside the input, if some lie outside."""
        if not window.leaves or not self.skips or self.gathers:
            return
        name, reach = window.name, (window.kernel - 1) * window.dilation
        position = affine([(self.at[name], window.stride)])
        first, end = "0", str(window.kernel)
        if window.leaves_before:
            taps = _divided(f"{window.before} - {position}", window.dilation)
            first = f"{position} < {window.before} ? {taps} : 0"
        if window.leaves_after:
            limit = window.size + window.before
            taps = _divided(f"{limit} - {position}", window.dilation)
            first_out = limit - reach
            end = f"{position} < {first_out} ? {window.kernel} : {taps}" if first_out > 0 else taps
        self.code.line(f"const int32_t first_{name} = {first}, end_{name} = {end};")

    def _first_value(self, k: str, number: int) -> str:
        return self.start.format(o=affine((*self.channel, (k, 1)), number))

    def _finish(self) -> None:
        """Write the operators fused after the sums, and the store."""
        code, tile, group = self.code, self.tile, self.epilogue
        with code.loop("p", tile.positions) as p:
            if self.apart:
                code.lines(as_vectors(self.uses, tile.outputs))
            with code.loop("k", tile.outputs) as k:
                value, place = f"sums[{p or 0}][{k or 0}]", self._place(p, k)
                if group is None:
                    code.line(f"{place} = {stored(value, self.dtype)};")
                    return
                mutable = arithmetic(self.dtype) != self.dtype
                code.line(f"{'' if mutable else 'const '}{scalar_type(self.dtype)} acc = {value};")
                known = {self.conv.result.name: rounded_sum(self.dtype, code)}
                index, target = partial(self._index, p, k), value if self.apart else place
                code.lines(statements(group, self.uses, index, target, self.first, known, wide=self.apart))
        if self.apart:
            with code.loops([("p", tile.positions), ("k", tile.outputs)]):
                code.line(f"{place} = ({c_type(dtype_of(group.nodes[-1].outputs[0]))}){value};")

    def _place(self, p: str, k: str) -> str:
        """The text of a result of the tile."""
        return f"out0[{self._index(p, k, shape_of(self.conv.result))}]"

    def _index(self, p: str, k: str, shape: tuple[int, ...]) -> str:
        """The index of the tile's element ``p``, ``k`` in a tensor of that shape."""
        conv = self.conv
        space = [((self.at[window.name], 1),) for window in conv.windows[:-1]]
        positions = ((self.at[self.line.name], 1), (p, 1))
        channel = (*self.channel, (k, 1))
        batch = ((self.at["n"], 1),)
        coordinates = [batch, *space, positions, channel]
        if not conv.channels_last:
            coordinates = [batch, channel, *space, positions]
        seen = conv.seen(shape)
        terms = [
            (name, factor * stride)
            for axis, stride, size in zip(coordinates, row_major(seen), seen, strict=True)
            for name, factor in axis
            if size != 1
        ]
        return affine(terms)


def _divided(text: str, divisor: int) -> str:
    """Text of the quotient rounded up; the value is not negative in the relevant cases."""
    return text if divisor == 1 else f"({text} + {divisor - 1}) / {divisor}"
