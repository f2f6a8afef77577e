"""The kernel's context of a step: its value at the first step, and the function that advances it to the next."""

from __future__ import annotations

from contextlib import ExitStack

from match_core.contract.workload import Axis, Operand
from match_core.emit.expression import ZERO, Expression
from match_core.emit.layer_facts import Function, Layer
from match_core.emit.tile_text import FirstTile, TileText
from match_core.lower.text import Block


class ContextWriter:
    """Writes the C for the context of one layer."""

    def __init__(self, layer: Layer) -> None:
        self.layer = layer
        self.text = TileText(layer.workload, layer.schedule, "step->", "tile->")
        self.first = FirstTile(layer.workload, layer.schedule)

    def initial(self, block: Block) -> None:
        """The fields of the context at the first step, as lines of an initialiser."""
        schedule, tile = self.layer.schedule, dict(self.layer.schedule.tile)
        for moved in sorted(self.layer.moved, key=lambda m: m.near.offset_bytes):
            for field, offset in self._fields(self.first, moved.operand):
                block.line(f".{field} = {self.layer.near_address(moved, '') + offset},")
        if schedule.scratch_bytes:
            block.line(f".scratch = near + {schedule.scratch_offset_bytes}u,")
        _pairs(block, [f".{dim.name.lower()} = {tile[dim.name]}u" for dim in self.layer.workload.dims])
        for operand, axis in self._windows():
            part, name = self.first.part(axis, self.layer.depth), f".{operand.name}_{axis.name}"
            padding = (("before", part.pad_before), ("after", part.pad_after))
            pads = [f"{name}_pad_{side} = {pad}u" for side, pad in padding if pad]
            _pairs(block, [f"{name} = {part.extent}u", *pads])
        geometry = self.layer.workload.parameters
        _pairs(block, [f".{name} = {geometry[name]}" for name in self.layer.kernel.interface.geometry])
        if self.layer.kernel.interface.accumulates:
            _pairs(block, [".first = 1u", f".last = {0 if self._reductions() else 1}u"])

    def initial_spans(self) -> list[str]:
        """The spans of the first step, as lines of an initialiser."""
        lines = []
        for name, axis, depth in self._spans():
            part = self.first.part(axis, depth)
            lines.append(f".{name} = {{{part.first}u, {part.extent}u, {part.pad_before}u, {part.pad_after}u}},")
        return lines

    def fields(self) -> list[str]:
        """The fields of a step besides the context."""
        indices = ", ".join(self.text.index(loop) for loop in range(self.layer.depth))
        lines = [f"uint32_t {indices}; /* start of the tile, by loop */"]
        if self._reads_changed():
            lines.append("uint32_t changed; /* the outermost loop that advanced */")
        if self.layer.turns:
            lines.append(f"uint32_t {', '.join(self.layer.turns.values())}; /* number of the buffer in use */")
        if spans := [name for name, _, _ in self._spans()]:
            lines.append(f"match_span_t {', '.join(spans)};")
        return lines

    def next(self) -> Function:
        """The function that advances to the next tile."""
        block = Block()
        carry(block, self.text, self.layer, self.layer.depth, changed=self._reads_changed())
        for dim in self.layer.workload.dims:
            if len(self.text.lengths(dim.name, self.layer.depth)) > 1:
                block.line(f"tile->{dim.name.lower()} = {self.text.computed_size(dim.name, self.layer.depth)};")
        for name, axis, depth in self._spans():
            block.line(f"step->{name} = {self.text.clipped(axis, depth)};")
        for operand, axis in self._windows():
            self._window(block, operand, axis)
        for moved in self.layer.moved:
            inside = self.text.offset(moved.operand, moved.near.depth, self.layer.depth)
            for field, offset in self._fields(self.text, moved.operand):
                if moved.double or inside.terms or offset.value is None:
                    block.line(f"tile->{field} = {self.layer.near_address(moved, 'step->') + inside + offset};")
        if self._reductions():
            self._ends(block)
        return self.layer.function("next", "Advances to the next tile.", block, qualifier="")

    def _fields(self, text: TileText, operand: Operand) -> list[tuple[str, Expression]]:
        """The context's pointers to an operand, and the distance of each from the start of its tile."""
        if not operand.parts:
            return [(operand.name, ZERO)]
        length = text.span(operand, operand.axes[0], self.layer.depth).extent
        found, before = [], 0
        for part in operand.parts:
            found.append((part.field, length * before))
            before += part.bytes_per_index
        return found

    def _reads_changed(self) -> bool:
        depths = [placement.depth for placement in self.layer.schedule.placements]
        return any(0 < depth < self.layer.depth for depth in depths)

    def _windows(self) -> list[tuple[Operand, Axis]]:
        """Windows of the interface that the workload has."""
        return [
            (self.layer.workload.operand(operand), axis)
            for operand, name in self.layer.kernel.interface.windowed
            for axis in self.layer.workload.operand(operand).axes
            if axis.name == name
        ]

    def _spans(self) -> list[tuple[str, Axis, int]]:
        """(field, axis, depth) of every span that changes: of the tile, and of the buffers that hold several tiles."""
        found: dict[str, tuple[str, Axis, int]] = {}
        for moved in self.layer.moved:
            for axis in (axis for axis in moved.operand.axes if self.text.is_clipped(axis)):
                for depth in (self.layer.depth, moved.near.depth):
                    if self.text.is_cut(axis, 0, depth):
                        name = self.text.span_name(moved.operand, axis, depth)
                        found.setdefault(name, (name, axis, depth))
        return list(found.values())

    def _window(self, block: Block, operand: Operand, axis: Axis) -> None:
        if not self.text.is_cut(axis):
            return
        name = f"{operand.name}_{axis.name}"
        extent = self.text.span(operand, axis, self.layer.depth).extent
        if extent.value is None:
            block.line(f"tile->{name} = {extent};")
        if self.text.is_clipped(axis):
            block.line(f"tile->{name}_pad_before = step->{name}.before;")
            block.line(f"tile->{name}_pad_after = step->{name}.after;")

    def _reductions(self) -> list[str]:
        """Dimensions with loops that the output does not have; kernels accumulate over them."""
        if not self.layer.kernel.interface.accumulates:
            return []
        kept = {dim for axis in self.layer.output.operand.axes for dim, _ in axis.terms}
        looped = dict.fromkeys(loop.dim for loop in self.layer.schedule.loops)
        return [dim for dim in looped if dim not in kept]

    def _ends(self, block: Block) -> None:
        begins, ends = [], []
        for dim in self._reductions():
            start = self.text.start(dim)
            begins += [f"({symbols[0]} == 0u)" for symbols, _ in start.terms]
            end = start + self.text.size(dim, self.layer.depth)
            ends.append(f"({end} == {self.layer.workload.dim(dim).size}u)")
        block.line(f"tile->first = ({' && '.join(begins)}) ? 1u : 0u;")
        block.line(f"tile->last = ({' && '.join(ends)}) ? 1u : 0u;")


def carry(block: Block, text: TileText, layer: Layer, depth: int, changed: bool, end: str = "") -> None:
    """Statements that advance to the next tile of the first ``depth`` loops: the innermost index and, when that reaches
    its end, the next outer one. ``end``: the statement after the last tile; empty if it is never reached."""
    with ExitStack() as nest:
        for loop in reversed(range(depth)):
            index = f"{text.record}{text.index(loop)}"
            if changed:
                block.line(f"{text.record}changed = {loop}u;")
            block.line(f"{index} += {layer.schedule.loops[loop].tile}u;")
            if loop + 1 in layer.turns:
                block.line(f"{text.record}{layer.turn(loop + 1)} ^= 1u;")
            if loop > 0 or end:
                size = text.computed_size(layer.schedule.loops[loop].dim, loop)
                nest.enter_context(block.braces(f"if ({index} >= {size})"))
                if loop > 0:
                    block.line(f"{index} = 0u;")
        if end:
            block.line(end)


def _pairs(block: Block, items: list[str], per_line: int = 6) -> None:
    for start in range(0, len(items), per_line):
        block.line(", ".join(items[start : start + per_line]) + ",")
