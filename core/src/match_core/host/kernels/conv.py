"""Convolutions: float and integer, any group, stride, dilation and padding, NCHW or NHWC, direct (no im2col).

Results are computed in tiles of neighbouring positions of one line times outputs (kernels/blocked.py). A tile whose
taps all lie inside of the input reads it at fixed distances. At the ends of a line each tap has a table of addresses,
in which positions outside point to a line of padding. Whole lines outside are left out, unless padding is not zero.
Integer sums are exact in 32 bits (a constraint of the patterns bounds the number of products). Every output adds its
products in the order of taps, then channels, from the bias on.
"""

from __future__ import annotations

from contextlib import ExitStack, nullcontext
from typing import TYPE_CHECKING

import numpy as np

from match_core.emit.ctypes import c_type
from match_core.host.graph import dtype_of, elements, input_at, is_constant, shape_of, values_of
from match_core.host.kernels.blocked import TileWriter, address, tiles
from match_core.host.kernels.built import Built
from match_core.host.kernels.code import Code, Uses, affine, inline_code, literal, minus, mostly
from match_core.host.kernels.conv_shape import CONV_OPS, ConvShape, conv_shape, flattened, pad_fill
from match_core.host.kernels.depthwise import build_depthwise
from match_core.host.kernels.depthwise_shape import takes
from match_core.host.kernels.elementwise import Body, body, describe, packed_constants, rounded_sum, statements
from match_core.host.kernels.nest import row_major
from match_core.host.kernels.packing import packed_across, packed_along
from match_core.host.kernels.scalar import arithmetic, loaded, moved_halves, scalar_type, stored
from match_core.host.kernels.tiling import DOT_RUN, Product, tile_for
from match_core.host.kernels.window import Window
from match_core.host.kernels.work import Work
from match_core.host.machine import GENERIC, Machine

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from numpy.typing import NDArray

#: Bytes that a position reads, at least and at most, where they are brought together on the stack.
LEAST_GATHERED, GATHERED_BYTES = 8, 256

__all__ = ["CONV_OPS", "build_conv", "pad_fill"]


def build_conv(nodes: tuple[gs.Node, ...], function: str, machine: Machine = GENERIC) -> Built:
    """The kernel of [Pad] convolution [elementwise operators on its result]."""
    if takes(nodes):
        return build_depthwise(nodes, function)
    conv = conv_shape(nodes)
    after = nodes[nodes.index(conv.node) + 1 :]
    epilogue = body(after, given=(conv.result.name,)) if after else None
    others = [argument.shape for argument in epilogue.arguments if argument.shape is not None] if epilogue else []
    writer = _Writer(flattened(conv, others), epilogue, machine)
    writer.write()
    outputs, arguments = nodes[-1].outputs[:1], tuple(writer.arguments)
    code = inline_code(
        function, _comment(conv, epilogue), arguments, outputs, writer.code.text, writer.uses, writer.constants
    )
    work = Work(floating_macs=conv.macs) if conv.floating else Work(macs=conv.macs)
    work += moved_halves(dtype_of(conv.source), 2 * conv.macs + elements(shape_of(conv.result)))
    per_output = (epilogue.work if epilogue else Work()) + Work(memory=1, steps=2)
    return Built(arguments, code, work + per_output.times(elements(shape_of(outputs[0]))))


def _comment(conv: ConvShape, epilogue: Body | None) -> str:
    kernel = "x".join(str(window.kernel) for window in conv.windows)
    stride = "x".join(str(window.stride) for window in conv.windows)
    sizes = f"{conv.groups * conv.inputs} to {conv.groups * conv.outputs} channels, kernel {kernel}, stride {stride}"
    groups = f", {conv.groups} groups" if conv.groups > 1 else ""
    tail = f", {describe(epilogue)}" if epilogue else ""
    return f"{conv.node.op}{tail}: {sizes}{groups}"


class _Writer:
    """Writes one kernel and collects what it reads."""

    def __init__(self, conv: ConvShape, epilogue: Body | None, machine: Machine) -> None:
        self.conv, self.epilogue, self.code, self.uses = conv, epilogue, Code(), Uses()
        self.dtype, self.source_type = dtype_of(conv.result), dtype_of(conv.source)
        self.weight_type = dtype_of(conv.node.inputs[1])
        self.constants: dict[int, NDArray[np.generic]] = {}
        self.arguments: list[gs.Tensor] = [conv.source, conv.node.inputs[1]]
        self.extra = self._extra()
        self.line = conv.windows[-1]
        self.gathers = self._gathers(machine)
        product = self._product()
        self.tile = tile_for(product, machine)
        self.along = not self.tile.rows and (product.run > 1 or not is_constant(conv.node.inputs[1]))
        self.flips = self._flips(machine)
        self._pack()
        self.start = self._start()
        checked = self.line.leaves or (self._checked and not self._skips)
        self.outside = self._outside() if checked and not self.gathers else ""
        self.first = len(self.arguments)
        if epilogue:
            self.arguments += [argument.tensor for argument in epilogue.arguments]
            self.constants |= packed_constants(epilogue, self.first)

    # What the kernel reads.

    def _argument(self, tensor: gs.Tensor) -> str:
        self.arguments.append(tensor)
        return f"in{len(self.arguments) - 1}"

    def _constant(self, name: str, values: NDArray[np.generic]) -> str:
        import onnx_graphsurgeon as gs

        return self._argument(gs.Constant(f"{self.conv.node.name}/{name}", values))

    def _extra(self) -> dict[int, str]:
        """C text behind the node's inputs 2 and 3, bias or zero points, where they are not 0; ``{o}`` stands for the
        output channel."""
        extra: dict[int, str] = {}
        for index in (2, 3):
            tensor = input_at(self.conv.node, index)
            if tensor is None:
                continue
            values = values_of(tensor).reshape(-1) if is_constant(tensor) else None
            if values is not None and not self.conv.floating and bool((values == values[0]).all()):
                if int(values[0]):
                    extra[index] = str(int(values[0]))
                continue
            scalar = elements(shape_of(tensor)) == 1
            extra[index] = f"{self._argument(tensor)}[{'0' if scalar else '{o}'}]"
        return extra

    def _dot_run(self) -> int:
        """Bytes side by side along which sums may be reordered."""
        conv = self.conv
        bytes_only = not conv.floating and is_constant(conv.node.inputs[1]) and not self.extra
        return (self.gathered if self.gathers else conv.run) if bytes_only else 0

    @property
    def gathered(self) -> int:
        """Bytes of what is brought together, filled up with zeros to whole vectors."""
        return -(-self.conv.taps * self.conv.inputs // DOT_RUN) * DOT_RUN

    def _gathers(self, machine: Machine) -> bool:
        """Whether what a position reads is brought together first: where its bytes lie in pieces too short for dot
        products, which outputs read many times."""
        conv, length = self.conv, self.conv.taps * self.conv.inputs
        bytes_only = not conv.floating and is_constant(conv.node.inputs[1]) and not self.extra
        return bytes_only and machine.vectors and conv.run < DOT_RUN and LEAST_GATHERED <= length <= GATHERED_BYTES

    def _product(self) -> Product:
        conv, line = self.conv, self.line
        depth, size = conv.taps * conv.inputs, self.source_type.itemsize
        return Product(
            line=1 if self.gathers else line.out,
            outputs=conv.outputs,
            depth=depth,
            value_bytes=conv.inputs * line.stride * size,
            weight_bytes=depth * self.weight_type.itemsize,
            sum_bytes=arithmetic(self.dtype).itemsize,
            checked_taps=conv.taps if line.leaves and not self.gathers else 0,
            run=self._dot_run(),
        )

    def _flips(self, machine: Machine) -> bool:
        signed = self.source_type == np.int8 and self.weight_type == np.int8
        return self.along and signed and machine.unsigned_dot and self._dot_run() > 1

    def _pack(self) -> None:
        """Choose the order of the weights, and with it their strides: output, spatial axes, input channel."""
        conv, weight, block = self.conv, self.conv.node.inputs[1], self.tile.outputs
        kernel = tuple(window.kernel for window in conv.windows)
        outputs = conv.groups * conv.outputs
        self.depth = conv.taps * conv.inputs
        if not is_constant(weight):
            self.output_step, self.input_step, *steps = row_major((outputs, conv.inputs, *kernel))
            self.tap_steps = tuple(steps)
        elif self.gathers:
            packed = packed_along(values_of(weight)).reshape(outputs, -1)
            self.constants[1] = np.pad(packed, ((0, 0), (0, self.gathered - packed.shape[1])))
            self.output_step, self.input_step, self.tap_steps = self.gathered, 1, ()
        elif self.along:
            self.constants[1] = packed_along(values_of(weight))
            self.output_step, *steps, self.input_step = row_major((outputs, *kernel, conv.inputs))
            self.tap_steps = tuple(steps)
        else:
            self.constants[1] = packed_across(values_of(weight), conv.groups, block)
            *steps, self.input_step, self.output_step = row_major((*kernel, conv.inputs, block))
            self.tap_steps = tuple(steps)

    def _start(self) -> str:
        """C text of a sum before the first product; ``{o}`` stands for the output channel."""
        if self.conv.floating and 2 in self.extra:
            return loaded(self.extra[2], self.dtype)
        if self.flips:
            weight = values_of(self.conv.node.inputs[1]).astype(np.int32)
            total = weight.sum(axis=tuple(range(1, weight.ndim)), dtype=np.int32)
            return f"{self._constant('moved', -128 * total)}[{{o}}]"
        return literal(0, arithmetic(self.dtype))

    @property
    def _checked(self) -> bool:
        """Whether whole lines can lie outside."""
        return any(window.leaves for window in self.conv.windows[:-1])

    @property
    def fill_text(self) -> str:
        """What stands for an element outside of the input: what a fused Pad writes, or the zero point."""
        return str(self.conv.fill) if self.conv.floating else self.extra.get(2, str(self.conv.fill))

    @property
    def _skips(self) -> bool:
        """Whether lines outside of the input may be left out."""
        return self.conv.floating or 2 in self.extra or self.conv.fill == (-128 if self.flips else 0)

    def _outside(self) -> str:
        """The text of a line of padding: constant, or the zero point that is known at run time."""
        text = self.fill_text
        if self.stepped and text.startswith("in"):
            return text.partition("[")[0]
        length = 1 if self.stepped else self.conv.inputs
        value = np.full(length, int(text)) if not self.conv.floating else np.zeros(length)
        return self._constant("outside", value.astype(self.source_type))

    @property
    def stepped(self) -> bool:
        """Whether padding is one element that all channels read."""
        return self.conv.strides[2] != 1 or self.fill_text.startswith("in")

    # The loops.

    def write(self) -> None:
        """All of the body."""
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
            _, x = stack.enter_context(tiles(code, self.line.name, self.line.out, tile.positions))
            self.at[self.line.name] = x
            if self.gathers:
                self._gather()
            if not outside:
                block, o = stack.enter_context(tiles(code, "o", conv.outputs, tile.outputs))
            self.channel = ((g, conv.outputs), (o, 1))
            self.weights = self._weight_terms(g, block, o)
            sums = TileWriter(code, tile, self.dtype, self._first_value)
            sums.open()
            inside = "" if self.gathers else self._inside(x)
            if self.gathers:
                self._gathered(sums)
            elif inside:
                with code.block(f"if ({mostly(self.uses)}({inside}))"):
                    self._middle(sums)
                with code.block("else"):
                    self._edge(sums)
            elif inside is None:
                self._edge(sums)
            else:
                self._middle(sums)
            sums.close()
            self._finish()

    def _lines(self, window: Window) -> None:
        """Declare which taps along an outer axis lie inside of the input, where some lie outside."""
        if not window.leaves or not self._skips or self.gathers:
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

    def _inside(self, x: str, *, lines: bool = False) -> str | None:
        """The condition that all taps of a tile lie inside of the input: empty where they always do, None where they
        never do. ``lines``: whether taps on lines outside are not left out."""
        window, checks = self.line, []
        first, last = _inner(window)
        if last - first + 1 < self.tile.positions:
            return None
        if first > 0:
            checks.append(f"{x or 0} >= {first}")
        if last < window.out - 1:
            checks.append(f"{x or 0} <= {last - self.tile.positions + 1}")
        for outer in self.conv.windows[:-1] if lines or not self._skips else ():
            low, high = _inner(outer)
            if high < low:
                return None
            checks += [f"{self.at[outer.name] or 0} >= {low}"] if low > 0 else []
            checks += [f"{self.at[outer.name] or 0} <= {high}"] if high < outer.out - 1 else []
        return " && ".join(checks)

    def _weight_terms(self, g: str, block: str, o: str) -> list[tuple[str, int]]:
        """Terms of the index of the tile's first weight."""
        if is_constant(self.conv.node.inputs[1]) and not self.along:
            blocks = -(-self.conv.outputs // self.tile.outputs)
            return [(g, blocks * self.depth * self.tile.outputs), (block, self.depth)]
        return [(g, self.conv.outputs * self.output_step), (o, self.output_step)]

    def _first_value(self, k: str, number: int) -> str:
        return self.start.format(o=affine((*self.channel, (k, 1)), number))

    def _outer_taps(self, stack: ExitStack) -> list[str]:
        """Loops over the taps of outer axes; gives their variables."""
        names = []
        for window in self.conv.windows[:-1]:
            k = f"k{window.name}"
            if window.leaves and self._skips:
                head = f"for (int32_t {k} = first_{window.name}; {k} < end_{window.name}; {k}++)"
                stack.enter_context(self.code.block(head))
            else:
                k = stack.enter_context(self.code.loop(k, window.kernel))
            names.append(k)
        return names

    def _outer_place(self, taps: list[str]) -> tuple[list[tuple[str, int]], int]:
        """Terms and constant of the index of an input line, all outer taps given."""
        batch, space, channel = self.conv.strides
        terms, offset = [(self.at["n"], batch), (self.at["g"], self.conv.inputs * channel)], 0
        for window, step, k in zip(self.conv.windows[:-1], space[:-1], taps, strict=True):
            terms += [(self.at[window.name], window.stride * step), (k, window.dilation * step)]
            offset -= window.before * step
        return terms, offset

    def _middle(self, sums: TileWriter) -> None:
        """Add the products of a tile whose taps all lie inside of the input."""
        conv, line, code = self.conv, self.line, self.code
        _, space, channel = conv.strides
        with ExitStack() as stack:
            taps = self._outer_taps(stack)
            weights = [*self.weights, *zip(taps, self.tap_steps[:-1], strict=True)]
            length, k = conv.run, ""
            if not conv.merges_taps:
                length, k = conv.inputs, stack.enter_context(code.loop(f"k{line.name}", line.kernel))
                weights.append((k, self.tap_steps[-1]))
            terms, offset = self._outer_place(taps)
            terms += [(self.at[line.name], line.stride * space[-1]), (k, line.dilation * space[-1])]
            place = address("in0", terms, offset - line.before * space[-1])
            code.line(f"const {c_type(self.source_type)} *const a = {place};")
            code.line(f"const {c_type(self.weight_type)} *const b = {address('in1', weights)};")
            step = line.stride * space[-1]
            i = stack.enter_context(code.loop("i", length))
            values = [f"a[{affine([(i, channel)], p * step)}]" for p in range(self.tile.positions)]
            self._products(sums, i, values)

    def _edge(self, sums: TileWriter) -> None:
        """Add the products of a tile some of whose taps may lie outside of the input."""
        conv, line, code = self.conv, self.line, self.code
        _, space, channel = conv.strides
        ctype = c_type(self.source_type)
        with ExitStack() as stack:
            taps = self._outer_taps(stack)
            outside = []
            for window, tap in zip(conv.windows[:-1], taps, strict=True):
                if window.leaves and not self._skips:
                    place_terms = ((self.at[window.name], window.stride), (tap, window.dilation))
                    code.line(f"const int32_t i{window.name} = {affine(place_terms, -window.before)};")
                    outside.append(window.outside)
            k = stack.enter_context(code.loop(f"k{line.name}", line.kernel))
            weights = [*self.weights, *zip([*taps, k], self.tap_steps, strict=True)]
            code.line(f"const {c_type(self.weight_type)} *const b = {address('in1', weights)};")
            code.line(f"const {ctype} *from[{self.tile.positions}];")
            if self.stepped:
                code.line(f"int32_t step[{self.tile.positions}];")
            with code.loop("p", self.tile.positions) as p:
                own = [(self.at[line.name], line.stride), (p, line.stride), (k, line.dilation)]
                code.line(f"const int32_t i{line.name} = {affine(own, -line.before)};")
                outside += [line.outside] if line.leaves else []
                outer, offset = self._outer_place(taps)
                place = address("in0", [*outer, (f"i{line.name}", space[-1])], offset)
                code.line(f"from[{p or 0}] = {' || '.join(outside)} ? {self.outside} : {place};")
                if self.stepped:
                    code.line(f"step[{p or 0}] = {' || '.join(outside)} ? 0 : {channel};")
            with code.loop("i", conv.inputs) as i:
                numbers = range(self.tile.positions)
                index = [f"{i or 0} * step[{number}]" if self.stepped else i or "0" for number in numbers]
                self._products(sums, i, [f"from[{number}][{index[number]}]" for number in numbers])

    def _gather(self) -> None:
        """Bring what the position reads together, padding included."""
        conv, code = self.conv, self.code
        steps = row_major((*(window.kernel for window in conv.windows), conv.inputs))
        length = conv.taps * conv.inputs
        zeros = " = {0}" if self.gathered > length else ""
        code.line(f"{'uint8_t' if self.flips else c_type(self.source_type)} taps[{self.gathered}]{zeros};")
        inside = self._inside(self.at[self.line.name], lines=True)
        if inside is None or inside:
            with code.block(f"if ({mostly(self.uses)}({inside}))") if inside else nullcontext():
                self._gather_taps(steps, checked=inside is None)
        if inside:
            with code.block("else"):
                self._gather_taps(steps, checked=True)
        if inside == "":
            self._gather_taps(steps, checked=False)

    def _gather_taps(self, steps: tuple[int, ...], *, checked: bool) -> None:
        """The loops over what the position reads; ``checked`` where some of it may be padding."""
        conv, code = self.conv, self.code
        _, space, channel = conv.strides
        with ExitStack() as stack:
            names, outside, offset = [], [], 0
            source = [(self.at["n"], conv.strides[0]), (self.at["g"], conv.inputs * channel)]
            for window, step in zip(conv.windows, space, strict=True):
                names.append(stack.enter_context(code.loop(f"k{window.name}", window.kernel)))
                terms = [(self.at[window.name], window.stride), (names[-1], window.dilation)]
                if checked:
                    code.line(f"const int32_t i{window.name} = {affine(terms, -window.before)};")
                    source.append((f"i{window.name}", step))
                    outside += [window.outside] if window.leaves else []
                else:
                    source += [(name, factor * step) for name, factor in terms]
                    offset -= window.before * step
            names.append(stack.enter_context(code.loop("i", conv.inputs)))
            value = f"in0[{affine([*source, (names[-1], channel)], offset)}]"
            if self.flips:
                value = f"(uint8_t)({value} ^ 0x80)"
            target = f"taps[{affine(list(zip(names, steps, strict=True)))}]"
            if outside:
                code.line(f"const bool outside = {' || '.join(outside)};")
                value = f"outside ? {conv.fill + 128 if self.flips else conv.fill} : {value}"
            code.line(f"{target} = {value};")

    def _gathered(self, sums: TileWriter) -> None:
        """Add the products of what was brought together."""
        self.code.line(f"const {c_type(self.weight_type)} *const b = {address('in1', self.weights)};")
        with self.code.loop("i", self.gathered) as i:
            sums.add([f"taps[{i}]"], lambda k, n: f"b[{affine([(i, 1), (k, self.output_step)], n * self.output_step)}]")

    def _products(self, sums: TileWriter, i: str, places: list[str]) -> None:
        """One step of the reduction: the values at these places by the weights at ``b``."""
        zero = "" if self.conv.floating else self.extra.get(2, "")
        values = [minus(loaded(place, self.source_type), zero) for place in places]
        if self.flips:
            values = [f"(uint8_t)({value} ^ 0x80)" for value in values]

        def weight(k: str, number: int) -> str:
            terms, offset = [(i, self.input_step), (k, self.output_step)], number * self.output_step
            text = loaded(f"b[{affine(terms, offset)}]", self.weight_type)
            if self.conv.floating:
                return text
            return minus(text, self.extra.get(3, "").format(o=affine((*self.channel, (k, 1)), number)))

        sums.add(values, weight)

    def _finish(self) -> None:
        """What is fused behind the sums, and the store."""
        conv, code = self.conv, self.code
        with code.loops([("p", self.tile.positions), ("k", self.tile.outputs)]) as (p, k):
            mutable = self.epilogue is not None and arithmetic(self.dtype) != self.dtype
            value = f"sums[{p or 0}][{k or 0}]"
            space = [((self.at[window.name], 1),) for window in conv.windows[:-1]]
            positions = ((self.at[self.line.name], 1), (p, 1))
            channel = (*self.channel, (k, 1))
            batch = ((self.at["n"], 1),)
            coordinates = [batch, *space, positions, channel]
            if not conv.channels_last:
                coordinates = [batch, channel, *space, positions]

            def index(shape: tuple[int, ...]) -> str:
                seen = conv.seen(shape)
                terms = [
                    (name, factor * stride)
                    for axis, stride, size in zip(coordinates, row_major(seen), seen, strict=True)
                    for name, factor in axis
                    if size != 1
                ]
                return affine(terms)

            place = f"out0[{index(shape_of(conv.result))}]"
            if self.epilogue is None:
                code.line(f"{place} = {stored(value, self.dtype)};")
                return
            code.line(f"{'' if mutable else 'const '}{scalar_type(self.dtype)} acc = {value};")
            known = {conv.result.name: rounded_sum(self.dtype, code)}
            code.lines(statements(self.epilogue, self.uses, index, place, self.first, known))


def _inner(window: Window) -> tuple[int, int]:
    """The first and the last output position whose taps all lie inside of the input."""
    reach = (window.kernel - 1) * window.dilation
    last = (window.size - 1 - reach + window.before) // window.stride
    return max(0, -(-window.before // window.stride)), min(window.out - 1, last)


def _divided(text: str, divisor: int) -> str:
    """The quotient, rounded up, of a text whose value is not negative where it matters."""
    return text if divisor == 1 else f"({text} + {divisor - 1}) / {divisor}"
