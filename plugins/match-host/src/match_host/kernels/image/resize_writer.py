"""Common parts of the kernels of Resize: arguments, tables of the axes, scratch, and written values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.element_types import c_type
from match_core.ir.reader import shape_of

from match_host.graph import dtype_of
from match_host.kernels.built import Built
from match_host.kernels.code import Code, Uses, inline_code, literal
from match_host.kernels.image.resize_axis import ResizeAxis, modes_of, nearest_table, resized_axes, tap_table
from match_host.kernels.image.resize_computed import most_taps, nearest_call, read_inputs, taps_call
from match_host.kernels.scalar import arithmetic, scalar_type, stored
from match_host.kernels.work import Work

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Table:
    """C names of an axis' arrays: ``first`` element of each result and ``weights`` of ``taps`` elements from there on.
    ``leaves``: some results are outside; their ``first`` is -1."""

    axis: ResizeAxis
    first: str
    weights: str
    taps: int
    leaves: bool


class Writer:
    """Arguments, tables and body of one kernel. Tables known at compile time are constants in addition to the
    node's inputs; others lie in scratch: first all indices, then weights and lines in the working type."""

    def __init__(self, node: gs.Node) -> None:
        self.node, self.modes, self.axes = node, modes_of(node), resized_axes(node)
        self.code, self.uses = Code(), Uses()
        self.dtype = dtype_of(node.inputs[0])
        self.working = working_type(self.dtype)
        self.arguments: list[gs.Tensor] = [node.inputs[0]]
        self.inputs: dict[int, str] = {}
        for index in read_inputs(node, self.axes):
            self.inputs[index] = self._argument(node.inputs[index])
        self._indices = 0
        indices = sum(axis.out for axis in self.axes if not axis.known)
        self._words = -(-indices // 2) * 2 * 4 // self.working.itemsize

    def _argument(self, tensor: gs.Tensor) -> str:
        self.arguments.append(tensor)
        return f"in{len(self.arguments) - 1}"

    def _constant(self, axis: ResizeAxis, what: str, values: NDArray[np.generic]) -> str:
        import onnx_graphsurgeon as gs

        return self._argument(gs.Constant(f"{self.node.name}/{what}{axis.axis}", np.ascontiguousarray(values)))

    def reserve(self, name: str, words: int) -> str:
        """Declare an array of the working type in scratch."""
        kind = scalar_type(self.working)
        start = f"({kind} *)scratch + {self._words}" if self._words else "scratch"
        self.code.line(f"{kind} *const {name} = {start};")
        self._words += words
        return name

    def tables(self) -> list[Table]:
        """The tables of all axes; writes the C that computes unknown ones."""
        return [self._known(axis) if axis.known else self._computed(axis) for axis in self.axes]

    def _known(self, axis: ResizeAxis) -> Table:
        if self.modes.mode == "nearest":
            first = nearest_table(axis, self.modes)
            return Table(axis, self._constant(axis, "first", _smallest(first)), "", 1, bool((first < 0).any()))
        found = tap_table(axis, self.modes)
        names = self._constant(axis, "first", _smallest(found.first))
        weights = self._constant(axis, "weights", found.weights.astype(self.working))
        return Table(axis, names, weights, found.weights.shape[1], bool((found.first < 0).any()))

    def _computed(self, axis: ResizeAxis) -> Table:
        first = f"first{axis.axis}"
        start = f"(int32_t *)scratch + {self._indices}" if self._indices else "scratch"
        self.code.line(f"int32_t *const {first} = {start};")
        self._indices += axis.out
        if self.modes.mode == "nearest":
            self.code.line(nearest_call(self.node, axis, self.modes, self.inputs, first, self.uses))
            return Table(axis, first, "", 1, self.modes.crops or self.modes.exclude_outside)
        taps = most_taps(axis, self.modes)
        weights = self.reserve(f"weights{axis.axis}", axis.out * taps)
        names = (first, weights)
        self.code.line(taps_call(self.node, axis, self.modes, self.inputs, names, self.working, self.uses))
        return Table(axis, first, weights, taps, self.modes.crops)

    def outside(self, dtype: np.dtype[np.generic]) -> str:
        """C text of a result of this type outside the input; without a crop it is an empty sum."""
        value = self.modes.extrapolation if self.modes.crops else 0.0
        if dtype.kind == "b":
            return str(int(value != 0))
        if dtype.kind in "iu":
            limits = np.iinfo(dtype.name)
            return literal(min(max(round(value), limits.min), limits.max), dtype)
        return stored(literal(value, arithmetic(dtype)), dtype)

    def result(self, value: str) -> str:
        """C text of the stored value for an interpolated value: integers are rounded half to even and clipped."""
        dtype = self.dtype
        if dtype.kind not in "iu":
            return stored(value, dtype)
        kind, name = scalar_type(self.working), f"host_nearest_{dtype.kind}{8 * dtype.itemsize}"
        suffix = "f" if kind == "float" else ""
        limits = np.iinfo(dtype.name)
        low, high = (f"({kind}){literal(bound, dtype)}" for bound in (limits.min, limits.max))
        self.uses.include("math.h")
        self.uses.helper(
            name,
            "/* Half to even; what the type does not hold becomes its limit. */\n"
            f"static inline {c_type(dtype)} {name}({kind} x)\n{{\n"
            f"    const {kind} value = nearbyint{suffix}(x);\n"
            f"    return value <= {low} ? {literal(limits.min, dtype)} : value >= {high} ? "
            f"{literal(limits.max, dtype)} : ({c_type(dtype)})value;\n}}\n",
        )
        return f"{name}({value})"

    def built(self, function: str, work: Work) -> Built:
        """The finished kernel."""
        shape, out = shape_of(self.node.inputs[0]), shape_of(self.node.outputs[0])
        sizes = f"{'x'.join(map(str, shape))} to {'x'.join(map(str, out))}"
        comment = f"Resize ({self.modes.mode}, {self.modes.coordinates}): {sizes}"
        arguments, scratch = tuple(self.arguments), self._words * self.working.itemsize
        code = inline_code(
            function, comment, arguments, self.node.outputs, self.code.text, self.uses, scratch_bytes=scratch
        )
        return Built(arguments, code, work)


def _smallest(values: NDArray[np.int32]) -> NDArray[np.generic]:
    """Indices in the smallest type that holds them."""
    largest, least = int(values.max()), int(values.min())
    for kind in (np.uint8, np.int8, np.uint16, np.int16):
        if np.iinfo(kind).min <= least and largest <= np.iinfo(kind).max:
            return values.astype(kind)
    return values


def working_type(dtype: np.dtype[np.generic]) -> np.dtype[np.generic]:
    """The type of the interpolation: float32 if it holds the elements exactly."""
    own = arithmetic(dtype)
    wide = own.itemsize == 8 or (own.kind in "iu" and own.itemsize == 4)
    return np.dtype(np.float64 if wide else np.float32)
