"""C of one layer on a unit with a memory of its own: loops over tiles, copies, kernel launch and wait."""

from __future__ import annotations

from dataclasses import dataclass

from match_core.emit.api import Kernel, MemoryApi
from match_core.emit.interfaces import context_type
from match_core.schedule.geometry import axis_tile, round_up
from match_core.schedule.loops import LoopSchedule, Placement
from match_core.schedule.workload import Axis, Operand, Workload


@dataclass(frozen=True, slots=True)
class Level:
    """One strided level of a copy: how often, and how far apart in far memory. Expressions are C text."""

    count: str
    stride_bytes: int


@dataclass(frozen=True, slots=True)
class Copy:
    """A strided copy: contiguous ``row_bytes`` and up to three outer levels, outermost first."""

    far_offset: str
    row_bytes: str
    levels: tuple[Level, ...]


def product(*factors: str) -> str:
    """C text of a product; literals are multiplied now."""
    literal = 1
    symbols: list[str] = []
    for factor in factors:
        if factor.endswith("u") and factor[:-1].isdigit():
            literal *= int(factor[:-1])
        else:
            symbols.append(factor)
    if not symbols:
        return f"{literal}u"
    return " * ".join([*symbols, f"{literal}u"] if literal != 1 else symbols)


def in_bytes(bits: str) -> str:
    """C text of a product counted in bits, in bytes."""
    factors = bits.split(" * ")
    count = int(factors[-1][:-1]) if factors[-1][:-1].isdigit() else 1
    symbols = factors[:-1] if factors[-1][:-1].isdigit() else factors
    if count % 8 == 0:
        return product(*symbols, f"{count // 8}u")
    return f"{product(*symbols, f'{count}u')} / 8u"


class LayerWriter:
    """Writes the body of one layer function. ``far`` maps operand names to C expressions of their base address
    (``const uint8_t *`` or ``uint8_t *``)."""

    def __init__(
        self, workload: Workload, schedule: LoopSchedule, kernel: Kernel, memory: MemoryApi, far: dict[str, str]
    ) -> None:
        self.workload = workload
        self.schedule = schedule
        self.kernel = kernel
        self.memory = memory
        self.far = far
        self.cut = {loop.dim: loop for loop in schedule.loops}
        self.lines: list[str] = []
        self.indent = 1

    def write(self) -> str:
        """The function body, indented by one level."""
        self._context()
        self._level(0)
        return "\n".join(self.lines)

    def _line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def _context(self) -> None:
        tile = dict(self.schedule.tile)
        geometry = dict(self.workload.geometry)
        self._line(f"{context_type(self.kernel.interface)} tile = {{")
        self.indent += 1
        for placement in sorted(self.schedule.placements, key=lambda p: p.offset_bytes):
            self._line(f".{placement.operand} = near + {placement.offset_bytes}u,")
        if self.schedule.scratch_bytes:
            self._line(f".scratch = near + {self.schedule.scratch_offset_bytes}u,")
        self._pairs([f".{dim.name.lower()} = {tile[dim.name]}u" for dim in self.workload.dims])
        window = []
        for operand, axis in self._windowed(cut=False):
            part = axis_tile(axis, {}, tile)
            name = f".{operand.name}_{axis.name}"
            window += [f"{name} = {part.extent}u"]
            window += [f"{name}_pad_before = {part.pad_before}u"] if part.pad_before else []
            window += [f"{name}_pad_after = {part.pad_after}u"] if part.pad_after else []
        self._pairs(window, per_line=3)
        self._pairs([f".{name} = {geometry[name]}" for name in self.kernel.interface.geometry])
        self.indent -= 1
        self._line("};")

    def _pairs(self, items: list[str], per_line: int = 6) -> None:
        for start in range(0, len(items), per_line):
            self._line(", ".join(items[start : start + per_line]) + ",")

    @staticmethod
    def _needed(axis: Axis, tile: dict[str, int]) -> int:
        return sum(coefficient * (tile[dim] - 1) for dim, coefficient in axis.terms) + 1

    def _windowed(self, cut: bool) -> list[tuple[Operand, Axis]]:
        declared = set(self.kernel.interface.windowed)
        return [
            (operand, axis)
            for operand in self.workload.operands
            for axis in operand.axes
            if (operand.name, axis.name) in declared and self._is_cut(axis) == cut
        ]

    def _is_cut(self, axis: Axis) -> bool:
        return any(dim in self.cut for dim, _ in axis.terms)

    def _level(self, depth: int) -> None:
        """Everything inside the first ``depth`` loops."""
        if depth:
            self._spans(self.schedule.loops[depth - 1].dim)
        loads = [p for p in self._placements(depth) if self.workload.operand(p.operand).role != "output"]
        for placement in loads:
            self._copy(placement, "in")
        if depth < len(self.schedule.loops):
            loop = self.schedule.loops[depth]
            index = loop.dim.lower()
            self._line(f"for (uint32_t {index} = 0u; {index} < {loop.size}u; {index} += {loop.tile}u) {{")
            self.indent += 1
            if loop.size % loop.tile:
                self._line(f"tile.{index} = match_min_u32({loop.tile}u, {loop.size}u - {index});")
            self._level(depth + 1)
            self.indent -= 1
            self._line("}")
        else:
            self._line(f"{self.memory.wait}();")
            self._line(f"{self.kernel.launch}(&tile);")
            if self.kernel.wait:
                self._line(f"{self.kernel.wait}();")
        stores = [p for p in self._placements(depth) if self.workload.operand(p.operand).role == "output"]
        for placement in stores:
            self._copy(placement, "out")
        if stores:
            self._line(f"{self.memory.wait}();")

    def _placements(self, depth: int) -> list[Placement]:
        return [p for p in self.schedule.placements if p.depth == depth]

    def _spans(self, dim: str) -> None:
        """Where a tile of this dimension needs the input from, clipped to what exists."""
        for operand, axis in self._windowed(cut=True):
            name = f"{operand.name}_{axis.name}"
            cut_dims = [term for term in axis.terms if term[0] in self.cut]
            if len(cut_dims) != 1:
                raise ValueError(f"{name}: more than one cut dimension in one axis")
            cut_dim, coefficient = cut_dims[0]
            index = cut_dim.lower()
            if cut_dim != dim:
                continue
            fixed = self._needed(axis, {**dict(self.schedule.tile), cut_dim: 1})
            if coefficient == 1:
                extent = f"tile.{index} + {fixed - 1}u"
            else:
                extent = f"(tile.{index} - 1u) * {coefficient}u + {fixed}u"
            start = product(index, f"{coefficient}u")
            self._line(f"const match_span_t {name} = match_span({start}, {axis.offset}u, {extent}, {axis.size}u);")
            self._line(f"tile.{name} = {name}.size;")
            self._line(f"tile.{name}_pad_before = {name}.before;")
            self._line(f"tile.{name}_pad_after = {name}.after;")

    def _axis(self, operand: Operand, axis: Axis) -> tuple[str, str, bool]:
        """C text of first index and extent of the tile on this axis, and whether that is all of the axis."""
        far = round_up(axis.size, axis.round_up)
        if not self._is_cut(axis):
            whole = round_up(axis_tile(axis, {}, dict(self.schedule.tile)).extent, axis.round_up)
            return "0u", f"{whole}u", whole == far
        if axis.windowed:
            return f"{operand.name}_{axis.name}.first", f"{operand.name}_{axis.name}.size", False
        dim = axis.terms[0][0]
        loop = self.cut[dim]
        if loop.size % loop.tile == 0:
            return dim.lower(), f"{round_up(loop.tile, axis.round_up)}u", False
        extent = f"tile.{dim.lower()}"
        if axis.round_up > 1:
            extent = f"(({extent} + {axis.round_up - 1}u) / {axis.round_up}u * {axis.round_up}u)"
        return dim.lower(), extent, False

    def copy_of(self, operand: Operand) -> Copy:
        """How the operand's tile lies in far memory (dense row-major over the operand's axes)."""
        stride_bits = operand.element_bits
        row_bits = f"{stride_bits}u"
        levels: list[Level] = []
        offsets: list[str] = []
        contiguous, inner_whole = True, True
        for axis in reversed(operand.axes):
            first, extent, whole = self._axis(operand, axis)
            if first != "0u":
                offsets.append(in_bytes(product(first, f"{stride_bits}u")))
            if contiguous:
                row_bits = product(extent, row_bits)
                contiguous = whole
            elif levels and inner_whole:
                levels[-1] = Level(product(extent, levels[-1].count), levels[-1].stride_bytes)
                inner_whole = whole
            else:
                levels.append(Level(extent, stride_bits // 8))
                inner_whole = whole
            stride_bits *= round_up(axis.size, axis.round_up)
        levels = [level for level in levels if level.count != "1u"]
        return Copy(" + ".join(reversed(offsets)), in_bytes(row_bits), tuple(reversed(levels)))

    def _copy(self, placement: Placement, direction: str) -> None:
        operand = self.workload.operand(placement.operand)
        copy = self.copy_of(operand)
        near = f"near + {placement.offset_bytes}u"
        far = self.far[operand.name] + (f" + {copy.far_offset}" if copy.far_offset else "")
        first, second = (near, far) if direction == "in" else (far, near)
        names = {
            "in": (self.memory.copy_in_1d, self.memory.copy_in_2d, self.memory.copy_in_3d),
            "out": (self.memory.copy_out_1d, self.memory.copy_out_2d, self.memory.copy_out_3d),
        }[direction]
        levels = copy.levels
        if len(levels) == 0:
            self._line(f"{names[0]}({first}, {second}, {copy.row_bytes});")
        elif len(levels) == 1:
            (rows,) = levels
            self._line(f"{names[1]}({first}, {second}, {rows.count}, {copy.row_bytes}, {rows.stride_bytes}u);")
        elif len(levels) == 2:
            planes, rows = levels
            self._line(
                f"{names[2]}({first}, {second}, {planes.count}, {rows.count}, {copy.row_bytes}, "
                f"{rows.stride_bytes}u, {planes.stride_bytes}u);"
            )
        else:
            raise ValueError(f"operand {operand.name}: a copy of {len(levels) + 1} dimensions is not supported")
