"""Depthwise convolutions of activations in NHWC: one filter per channel, and the innermost loop runs over channels.

Weights are stored as [taps][channels]. Few taps are unrolled: each reads the channels of one input position, or
of a line of padding if the position lies outside, so the inner loop has no checks. More taps (poolings that became
convolutions) are added in a loop; without vectors, of a few channels at a time, whose sums have registers. Every output
starts with the bias and adds its taps in the kernel's order.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from match_core.contract.element_types import c_type
from match_core.ir.reader import shape_of

from match_host.graph import dtype_of, elements
from match_host.kernels.built import Built
from match_host.kernels.code import affine, apart, as_vectors, inline_code
from match_host.kernels.elementwise.elementwise import Body, body, describe, rounded_sum, statements
from match_host.kernels.nest import row_major
from match_host.kernels.products.blocked import After, Tile, TileWriter, tiles
from match_host.kernels.products.depthwise_shape import Depthwise, depthwise_shape
from match_host.kernels.products.depthwise_sums import FEW, DepthwiseSums, product
from match_host.kernels.products.told import told_product, told_tiles
from match_host.kernels.scalar import loaded, moved_halves, scalar_type, stored
from match_host.kernels.window import told_windows
from match_host.kernels.work import Work
from match_host.machine import GENERIC, Machine

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_core.contract.unit_api import InlineCode


def build_depthwise(nodes: tuple[gs.Node, ...], function: str, machine: Machine = GENERIC) -> Built:
    """The kernel of [Pad] depthwise convolution [elementwise operators on its result]."""
    conv = depthwise_shape(nodes)
    after = nodes[nodes.index(conv.node) + 1 :]
    epilogue = body(after, given=(conv.result.name,)) if after else None
    writer = _Writer(conv.in_one_line, epilogue, machine)
    outputs, arguments = nodes[-1].outputs[:1], tuple(writer.arguments)

    def code() -> InlineCode:
        writer.write()
        comment, text = _comment(conv, epilogue), writer.code.text
        kernel = inline_code(function, comment, arguments, outputs, text, writer.uses, writer.constants)
        return apart(kernel) if writer.has_pointers else kernel

    work, results = _work(conv, epilogue, writer.few), elements(shape_of(conv.result))
    filled = {"filled": 1} if conv.fill and not conv.written else {}
    told = {**told_windows(conv.windows), **told_product(conv.node, results * conv.taps)}
    told |= filled | writer.told | (epilogue.told_of(results) if epilogue else {})
    return Built(arguments, code, work, constants=writer.constants, told=told)


def _comment(conv: Depthwise, epilogue: Body | None) -> str:
    kernel = "x".join(str(window.kernel) for window in conv.windows)
    stride = "x".join(str(window.stride) for window in conv.windows)
    tail = f", {describe(epilogue)}" if epilogue else ""
    return f"Depthwise {conv.node.op}{tail}: {conv.channels} channels, kernel {kernel}, stride {stride}"


def _work(conv: Depthwise, epilogue: Body | None, few: bool) -> Work:
    positions = elements(shape_of(conv.result)[:-1])
    results = positions * conv.channels
    arithmetic_work = Work(floating_tile_macs=1) if conv.floating else Work(tile_macs=1)
    each = Work(memory=2 if conv.factor is None else 1) + arithmetic_work + moved_halves(dtype_of(conv.source), 2)
    if not conv.written and not few:
        each += Work(memory=2, steps=1)  # the sums are in memory
    elif conv.checked:
        each += Work(memory=1)  # the address of a tap
    work = each.times(results * conv.taps) + Work(memory=1, steps=1).times(results)
    work += Work(integer=6).times(positions * conv.taps) + moved_halves(conv.dtype).times(results)
    return work + (epilogue.work.times(results) if epilogue else Work())


class _Writer(DepthwiseSums):
    """Writes one kernel and collects its operands."""

    @property
    def has_pointers(self) -> bool:
        """Whether a loop over channels has pointers to taps that are written one after another."""
        blocks = self.pixels == 1 and self.writer is None and not self.few
        return blocks and self.conv.written and self.conv.floating

    @property
    def told(self) -> dict[str, int]:
        """The blocks of channels, where these have all variables of their own."""
        columns, positions = self.lanes if self.writer else FEW, elements(shape_of(self.conv.result)[:-1])
        return told_tiles(1, columns, positions * -(-self.conv.channels // columns)) if self.writer or self.few else {}

    def write(self) -> None:
        """Write the whole body."""
        conv, code = self.conv, self.code
        batch, width = shape_of(conv.result)[0], conv.windows[-1].out
        loops = [("n", batch), *((window.name, window.out) for window in conv.windows[:-1])]
        with code.loops(loops) as names:
            self.at = dict(zip((name for name, _ in loops), names, strict=True))
            if self.pixels == 1:
                with code.loop("x", width) as self.at["x"]:
                    self.addresses()
                    if self.writer is not None:
                        self._lines(self.writer)
                        return
                    if self.few:
                        self._few_channels()
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
            self.addresses()
            self.sums(count)
            return
        self.at["x"] = "(x + p)"
        code.line(f"{kind} sums[{count}];")
        with code.block(f"for (int32_t p = 0; p < {self.pixels}; p++)"):
            code.line(f"{kind} *const sum = &sums[p * {conv.channels}];")
            self.addresses()
            self.sums(conv.channels)

    def _block(self) -> None:
        """The sums of a block of channels, and the operators after them."""
        conv, code = self.conv, self.code
        if conv.written and conv.floating:
            with code.block(f"for (int32_t c = 0; c < {conv.channels}; c++)"):
                self._written_sum()
                self._finish("acc", self._place)
            return
        code.line(f"{scalar_type(conv.dtype)} sum[{conv.block}];")
        self.sums(conv.block)
        self._finish_sums(conv.block)

    def _lines(self, writer: type[TileWriter]) -> None:
        """The results of a position, in blocks of as many channels as a vector has."""
        conv, code, tile = self.conv, self.code, Tile(1, self.lanes, rows=True)
        with tiles(code, "c", conv.channels, self.lanes) as (_, c):
            self.channel = ((c, 1), ("k", 1))
            sums = writer(code, tile, conv.dtype, lambda k, number: self.start(((c, 1), (k, 1)), number))
            sums.open()
            for tap, place in enumerate(self.taps(((c, 1),))):
                sums.channels(place, f"{self.weight}[{affine([(c, 1)], tap * self.line)}]")
            after = After(self.epilogue, conv.result.name, self.first, self._index, shape_of(conv.result))
            if not sums.finished(after):
                sums.close()
                with code.loop("k", self.lanes):
                    code.line("const float acc = sums[0][k];")
                    self._finish("acc", self._place)

    def _few_channels(self) -> None:
        """The results of a position, in blocks of channels whose sums are variables."""
        conv, code, tile = self.conv, self.code, Tile(1, FEW, rows=False)
        source, weights = dtype_of(conv.source), dtype_of(conv.node.inputs[1])
        with tiles(code, "c", conv.channels, FEW) as (_, c):
            sums = TileWriter(code, tile, conv.dtype, lambda k, number: self.start(((c, 1), (k, 1)), number))
            sums.open()
            self.channel = ((c, 1),)
            with ExitStack() as stack:
                tap = self.tap_loops(stack)
                if conv.factor is None:
                    code.line(f"const {c_type(weights)} *const w = &{self.weight}[{affine([*tap, (c, 1)])}];")
                for k in range(FEW):
                    weight = loaded(f"w[{k}]", weights) if conv.factor is None else str(conv.factor)
                    code.line(f"s{k} += {product(loaded(f'x0[{k}]', source), weight)};")
            sums.close()
            self.channel = ((c, 1), ("k", 1))
            with code.loop("k", FEW):
                code.line(f"{'' if conv.floating else 'const '}{scalar_type(conv.dtype)} acc = sums[0][k];")
                self._finish("acc", self._place)

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
