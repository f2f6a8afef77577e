"""Operands of a convolution kernel in order: values, packed weights, bias or zero points, padding."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.reader import optional_input, shape_of
from match_core.ir.topology import is_constant

from match_host.graph import dtype_of, elements, values_of
from match_host.kernels.code import Code, Uses, literal
from match_host.kernels.elementwise.elementwise import Body, packed_constants
from match_host.kernels.elementwise.narrowing import stores_apart
from match_host.kernels.nest import row_major
from match_host.kernels.products.blocked import TileWriter
from match_host.kernels.products.conv_shape import ConvShape
from match_host.kernels.products.packing import packed_across, packed_along
from match_host.kernels.products.tiling import DOT_RUN, Product, adds_along, tile_for
from match_host.kernels.scalar import arithmetic, loaded
from match_host.machine import COPIED_BYTES, Machine

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from numpy.typing import NDArray

#: Least and most bytes per position that are gathered on the stack.
LEAST_GATHERED, GATHERED_BYTES = 16, 256
#: Values of a word: copies of words are faster.
WORD = 4
#: Most bytes of weights that are stored as 32-bit numbers, and least outputs for a vector.
WIDENED_BYTES, LEAST_WIDENED = 4096, 8


class ConvOperands:
    """Collects the operands of one kernel. ``along``: the weights of an output are contiguous, else those of a block of
    outputs; ``gathers``: the values of a position are copied together first; ``widens``: the values of a line for a
    tile become 32-bit numbers first, like weights; ``copies``: the lines of a window, of one channel, are copied
    with their padding first; ``flips``: signed values are offset by 128; ``apart``: results first replace their sums;
    ``start`` is the text of a sum before its first product, ``outside`` that of a line of
    padding."""

    def __init__(self, conv: ConvShape, epilogue: Body | None, machine: Machine) -> None:
        self.conv, self.epilogue, self.code, self.uses = conv, epilogue, Code(), Uses(machine.vectors)
        self.writer = machine.writer or TileWriter
        self.dtype, self.source_type = dtype_of(conv.result), dtype_of(conv.source)
        self.weight_type = dtype_of(conv.node.inputs[1])
        self.constants: dict[int, NDArray[np.generic]] = {}
        self.arguments: list[gs.Tensor] = [conv.source, conv.node.inputs[1]]
        self.extra = self._extra()
        self.line = conv.windows[-1]
        self.apart = stores_apart(epilogue, self.dtype, machine)
        self.widens = self._widens(machine)
        self.gathers = not self.widens and self._gathers(machine)
        product = self._product()
        self.tile = tile_for(product, machine)
        self.along = adds_along(product, machine)
        self.flips = self._flips(machine)
        self._pack()
        self.start = self._start()
        checked = self.line.leaves or (self.checked and not self.skips)
        self.copies = checked and self._copies(machine)
        self.outside = self._outside() if checked and not (self.gathers or self.widens or self.copies) else ""
        self.first = len(self.arguments)
        if epilogue:
            self.arguments += [argument.tensor for argument in epilogue.arguments]
            self.constants |= packed_constants(epilogue, self.first)

    def _argument(self, tensor: gs.Tensor) -> str:
        self.arguments.append(tensor)
        return f"in{len(self.arguments) - 1}"

    def _constant(self, name: str, values: NDArray[np.generic]) -> str:
        import onnx_graphsurgeon as gs

        return self._argument(gs.Constant(f"{self.conv.node.name}/{name}", values))

    def _extra(self) -> dict[int, str]:
        """C text of the node's inputs 2 and 3, bias or zero points, if they are not 0; ``{o}`` is replaced by the
        output channel."""
        extra: dict[int, str] = {}
        for index in (2, 3):
            tensor = optional_input(self.conv.node, index)
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

    @property
    def reach(self) -> int:
        """Values of a line that its windows read, and padding."""
        return (self.line.out - 1) * self.line.stride + self.line.kernel

    @property
    def copied(self) -> int:
        """Values of the lines of a window, of one channel."""
        return self.conv.taps // self.line.kernel * self.line_step

    @property
    def before_line(self) -> int:
        """Values before the padding of a line that make its first value that of a word."""
        return -self.line.before % WORD

    @property
    def line_step(self) -> int:
        """From one line to the next one."""
        return -(-(self.before_line + self.reach) // WORD) * WORD

    def _copies(self, machine: Machine) -> bool:
        """Whether lines of one channel are copied with their padding: addresses would be as many as products."""
        single = self.conv.inputs == 1 and self.tile.outputs == 1 and self.conv.merges_taps
        single &= self.tile.positions < self.line.out and 0 <= self.line.before < self.reach
        small = self.copied * self.source_type.itemsize <= COPIED_BYTES
        return single and small and not machine.vectors and not self.fill_text.startswith("in")

    def _dot_run(self) -> int:
        """Contiguous bytes along which sums may be reordered."""
        conv = self.conv
        bytes_only = not conv.floating and is_constant(conv.node.inputs[1]) and not self.extra
        return (self.gathered if self.gathers else conv.run) if bytes_only and not self.widens else 0

    @property
    def gathered(self) -> int:
        """Bytes of the gathered values, zero-padded to whole vectors."""
        return -(-self.conv.taps * self.conv.inputs // DOT_RUN) * DOT_RUN

    def _gathers(self, machine: Machine) -> bool:
        """Whether the values of a position are gathered first: if they lie in pieces too short for dot products and
        outputs read them many times."""
        conv, length = self.conv, self.conv.taps * self.conv.inputs
        bytes_only = not conv.floating and is_constant(conv.node.inputs[1]) and not self.extra
        return bytes_only and machine.vectors and conv.run < DOT_RUN and LEAST_GATHERED <= length <= GATHERED_BYTES

    def _widens(self, machine: Machine) -> bool:
        """Whether values and weights become 32-bit numbers before multiplication: if a tile reads short pieces of
        lines. The loop over outputs then has one type, and so whole vectors."""
        conv, weight = self.conv, self.conv.node.inputs[1]
        bytes_only = not conv.floating and is_constant(weight) and not self.extra and machine.vectors
        small = 4 * elements(shape_of(weight)) <= WIDENED_BYTES and conv.outputs >= LEAST_WIDENED
        return bytes_only and small and conv.merges_taps and conv.run < DOT_RUN

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
            floating=conv.floating,
            checked_taps=conv.taps if line.leaves and not self.gathers else 0,
            run=self._dot_run(),
        )

    def _flips(self, machine: Machine) -> bool:
        signed = self.source_type == np.int8 and self.weight_type == np.int8
        return self.along and signed and machine.unsigned_dot

    def _pack(self) -> None:
        """Choose the order of the weights and their strides: output, spatial axes, input channel."""
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
            if self.widens:
                self.constants[1], self.weight_type = self.constants[1].astype(np.int32), np.dtype(np.int32)
            self.constants[1] = self.writer.stored(self.constants[1], self.tile)
            width = self.constants[1].shape[-1]
            *steps, self.input_step, self.output_step = row_major((*kernel, conv.inputs, width))
            self.tap_steps = tuple(steps)

    def _start(self) -> str:
        """C text of a sum before the first product; ``{o}`` is replaced by the output channel."""
        if self.conv.floating and 2 in self.extra:
            return loaded(self.extra[2], self.dtype)
        if self.flips:
            weight = values_of(self.conv.node.inputs[1]).astype(np.int32)
            total = weight.sum(axis=tuple(range(1, weight.ndim)), dtype=np.int32)
            return f"{self._constant('moved', -128 * total)}[{{o}}]"
        return literal(0, arithmetic(self.dtype))

    @property
    def checked(self) -> bool:
        """Whether whole lines can lie outside."""
        return any(window.leaves for window in self.conv.windows[:-1])

    @property
    def fill_text(self) -> str:
        """C text of an element outside the input: the value of a fused Pad, or the zero point."""
        return str(self.conv.fill) if self.conv.floating else self.extra.get(2, str(self.conv.fill))

    @property
    def skips(self) -> bool:
        """Whether lines outside the input may be skipped."""
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
