"""The sums of one tile of a convolution: loops over taps and channels around the tile's products."""

from __future__ import annotations

from contextlib import ExitStack, nullcontext

from match_core.contract.element_types import c_type
from match_core.ir.topology import is_constant

from match_host.kernels.code import affine, minus, mostly
from match_host.kernels.nest import row_major
from match_host.kernels.products.blocked import TileWriter, address
from match_host.kernels.products.conv_operands import ConvOperands
from match_host.kernels.scalar import loaded
from match_host.kernels.window import Window


class ConvSums(ConvOperands):
    """Writes the sums of the tile at ``at`` (variables of batch, group and positions); ``channel`` are the terms of
    its first output, ``weights`` those of its first weight."""

    at: dict[str, str]
    channel: tuple[tuple[str, int], ...]
    weights: list[tuple[str, int]]

    def inside(self, x: str, *, lines: bool = False) -> str | None:
        """The condition that all taps of a tile lie inside the input: empty if they always do, None if they never do.
        ``lines``: whether taps on lines outside are computed."""
        window, checks = self.line, []
        first, last = inner_positions(window)
        if last - first + 1 < self.tile.positions:
            return None
        if first > 0:
            checks.append(f"{x or 0} >= {first}")
        if last < window.out - 1:
            checks.append(f"{x or 0} <= {last - self.tile.positions + 1}")
        for outer in self.conv.windows[:-1] if lines or not self.skips else ():
            low, high = inner_positions(outer)
            if high < low:
                return None
            checks += [f"{self.at[outer.name] or 0} >= {low}"] if low > 0 else []
            checks += [f"{self.at[outer.name] or 0} <= {high}"] if high < outer.out - 1 else []
        return " && ".join(checks)

    def weight_terms(self, g: str, block: str, o: str) -> list[tuple[str, int]]:
        """Terms of the index of the tile's first weight."""
        if is_constant(self.conv.node.inputs[1]) and not self.along:
            blocks = -(-self.conv.outputs // self.tile.outputs)
            return [(g, blocks * self.depth * self.constants[1].shape[-1]), (block, self.depth)]
        return [(g, self.conv.outputs * self.output_step), (o, self.output_step)]

    def _outer_taps(self, stack: ExitStack) -> list[str]:
        """Loops over the taps of outer axes; returns their variables."""
        names = []
        for window in self.conv.windows[:-1]:
            k = f"k{window.name}"
            if window.leaves and self.skips:
                head = f"for (int32_t {k} = first_{window.name}; {k} < end_{window.name}; {k}++)"
                stack.enter_context(self.code.block(head))
            else:
                k = stack.enter_context(self.code.loop(k, window.kernel))
            names.append(k)
        return names

    def _outer_place(self, taps: list[str]) -> tuple[list[tuple[str, int]], int]:
        """Terms and constant of the index of an input line for given outer taps."""
        batch, space, channel = self.conv.strides
        terms, offset = [(self.at["n"], batch), (self.at["g"], self.conv.inputs * channel)], 0
        for window, step, k in zip(self.conv.windows[:-1], space[:-1], taps, strict=True):
            terms += [(self.at[window.name], window.stride * step), (k, window.dilation * step)]
            offset -= window.before * step
        return terms, offset

    def middle(self, sums: TileWriter) -> None:
        """Add the products of a tile whose taps all lie inside the input."""
        conv, line, code = self.conv, self.line, self.code
        _, space, channel = conv.strides
        with ExitStack() as stack:
            taps = self._outer_taps(stack)
            weights = [*self.weights, *zip(taps, self.tap_steps[:-1], strict=True)]
            length, k = conv.run, ""
            if not conv.merges_taps:
                length, k = conv.inputs, stack.enter_context(code.loop(f"k{line.name}", line.kernel))
                weights.append((k, self.tap_steps[-1]))
            if self.copies:
                place = address("lines", [*self._line_terms(taps), (self.at[line.name], line.stride)], self.before_line)
            else:
                terms, offset = self._outer_place(taps)
                terms += [(self.at[line.name], line.stride * space[-1]), (k, line.dilation * space[-1])]
                place = address("in0", terms, offset - line.before * space[-1])
            code.line(f"const {c_type(self.source_type)} *const a = {place};")
            code.line(f"const {c_type(self.weight_type)} *const b = {address('in1', weights)};")
            step = line.stride * space[-1]
            i = stack.enter_context(sums.steps("i", length))
            values = [f"a[{affine([(i, channel)], p * step)}]" for p in range(self.tile.positions)]
            self._products(sums, i, values)

    def edge(self, sums: TileWriter) -> None:
        """Add the products of a tile if some of its taps may lie outside the input."""
        conv, line, code = self.conv, self.line, self.code
        _, space, channel = conv.strides
        ctype = c_type(self.source_type)
        with ExitStack() as stack:
            taps = self._outer_taps(stack)
            outside = self._lines_outside(taps)
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
                code.line(f"const bool outside = {' || '.join(outside)};")
                code.line(f"from[{p or 0}] = outside ? {self.outside} : {place};")
                if self.stepped:
                    code.line(f"step[{p or 0}] = outside ? 0 : {channel};")
            with sums.steps("i", conv.inputs, edge=True) as i:
                numbers = range(self.tile.positions)
                index = [f"{i or 0} * step[{number}]" if self.stepped else i or "0" for number in numbers]
                self._products(sums, i, [f"from[{number}][{index[number]}]" for number in numbers])

    def copy_lines(self) -> None:
        """Declare ``lines``: the values of a window's lines, of all positions, and their padding."""
        line, code, fill = self.line, self.code, self.fill_text
        code.line(f"{c_type(self.source_type)} lines[{self.copied}];")
        with ExitStack() as stack:
            taps = self._outer_taps(stack)
            outside = " || ".join(self._lines_outside(taps))
            place = address("lines", self._line_terms(taps), self.before_line)
            code.line(f"{c_type(self.source_type)} *const to = {place};")
            self._fill(0, line.before)
            size = min(line.size, self.reach - line.before)
            with code.loop("j", size) as j:
                outer, offset = self._outer_place(taps)
                value = f"in0[{affine([*outer, (j, 1)], offset)}]"
                value = f"{outside} ? {fill} : {value}" if outside else value
                code.line(f"to[{affine([(j, 1)], line.before)}] = {value};")
            self._fill(line.before + size, self.reach)

    def _fill(self, first: int, end: int) -> None:
        """Padding at these places of ``to``."""
        if first < end:
            with self.code.loop("j", end - first) as j:
                self.code.line(f"to[{affine([(j, 1)], first)}] = {self.fill_text};")

    def _line_terms(self, taps: list[str]) -> list[tuple[str, int]]:
        """Terms of the index of a line in ``lines``."""
        steps = row_major((*(window.kernel for window in self.conv.windows[:-1]), self.line_step))
        return list(zip(taps, steps, strict=False))

    def widened(self, sums: TileWriter, inside: str | None) -> None:
        """Add the products of a tile, line by line: its values of a line become 32-bit numbers first. ``inside`` is the
        condition that no tap lies outside the input."""
        conv, line, code = self.conv, self.line, self.code
        step = line.stride * conv.inputs
        length = (self.tile.positions - 1) * step + conv.run
        with ExitStack() as stack:
            taps = self._outer_taps(stack)
            self._widened_line(taps, length, inside)
            weights = [*self.weights, *zip(taps, self.tap_steps[:-1], strict=True)]
            code.line(f"const {c_type(self.weight_type)} *const b = {address('in1', weights)};")
            with code.loop("i", conv.run) as i:
                values = [f"line[{affine([(i, 1)], p * step)}]" for p in range(self.tile.positions)]
                sums.add(values, lambda k, n: f"b[{affine([(i, self.input_step), (k, 1)], n)}]")

    def _widened_line(self, taps: list[str], length: int, inside: str | None) -> None:
        """Declare ``line``: ``length`` values of a line as 32-bit numbers, including padding."""
        line, code = self.line, self.code
        outer, offset = self._outer_place(taps)
        start = [(self.at[line.name], line.stride * self.conv.inputs)]
        before = line.before * self.conv.inputs
        outside = self._lines_outside(taps)
        code.line(f"int32_t line[{length}];")
        if inside is not None:
            head = code.block(f"if ({mostly(self.uses)}({inside}))") if inside else nullcontext()
            with head, code.loop("j", length) as j:
                place = affine([*outer, *start, (j, 1)], offset - before)
                code.line(f"line[{j or 0}] = in0[{place}];")
        if inside != "":
            with code.block("else") if inside else nullcontext(), code.loop("j", length) as j:
                code.line(f"const int32_t at = {affine([*start, (j, 1)], -before)};")
                outside.append(f"(uint32_t)at >= {line.size * self.conv.inputs}")
                value = f"in0[{affine([*outer, ('at', 1)], offset)}]"
                code.line(f"line[{j or 0}] = {' || '.join(outside)} ? {self.fill_text} : {value};")

    def _lines_outside(self, taps: list[str]) -> list[str]:
        """Declare the coordinates of lines that may lie outside the input; returns the conditions that they do."""
        outside = []
        for window, tap in zip(self.conv.windows[:-1], taps, strict=True):
            if window.leaves and not self.skips:
                terms = ((self.at[window.name], window.stride), (tap, window.dilation))
                self.code.line(f"const int32_t i{window.name} = {affine(terms, -window.before)};")
                outside.append(window.outside)
        return outside

    def gather(self) -> None:
        """Gather the values of the position, including padding."""
        conv, code = self.conv, self.code
        steps = row_major((*(window.kernel for window in conv.windows), conv.inputs))
        length = conv.taps * conv.inputs
        zeros = " = {0}" if self.gathered > length else ""
        code.line(f"{'uint8_t' if self.flips else c_type(self.source_type)} taps[{self.gathered}]{zeros};")
        inside = self.inside(self.at[self.line.name], lines=True)
        if inside is None or inside:
            with code.block(f"if ({mostly(self.uses)}({inside}))") if inside else nullcontext():
                self._gather_taps(steps, checked=inside is None)
        if inside:
            with code.block("else"):
                self._gather_taps(steps, checked=True)
        if inside == "":
            self._gather_taps(steps, checked=False)

    def _gather_taps(self, steps: tuple[int, ...], *, checked: bool) -> None:
        """The loops over the values of the position; ``checked`` if some may be padding."""
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

    def gather_sums(self, sums: TileWriter) -> None:
        """Add the products of the gathered values."""
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


def inner_positions(window: Window) -> tuple[int, int]:
    """The first and the last output position whose taps all lie inside the input."""
    reach = (window.kernel - 1) * window.dilation
    last = (window.size - 1 - reach + window.before) // window.stride
    return max(0, -(-window.before // window.stride)), min(window.out - 1, last)
