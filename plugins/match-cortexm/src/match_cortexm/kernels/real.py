"""Operators on float32 numbers, element by element, in vectors of Helium: sums, products, Relu and Clip.

Vectors flush subnormal numbers to zero. So results are stored after a look at the status: if a number was flushed,
scalar functions compute these few again. Nothing of the inputs is overwritten before, so kernels work in place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

from match_core.contract.structure import Match
from match_host.graph import dtype_of
from match_host.kernels.code import Code, Uses, affine, inline_code
from match_host.kernels.elementwise.elementwise import Body, body, describe
from match_host.kernels.nest import Nest, broadcast_strides, merge, row_major
from match_host.kernels.overlap import element_by_element
from match_host.kernels.work import Work
from match_host.region import find_regions

from match_cortexm.headers import FLOAT, header
from match_cortexm.kernels.counted import Counted
from match_cortexm.kernels.vectors import LANES, PREFIX, SCALAR, VECTOR, load, operator, store, taken

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

    from match_cortexm.cores import Core

#: Vectors whose status is read once.
BLOCK = 4


def real_refusal(nodes: Sequence[gs.Node]) -> str | None:
    """Why the kernel does not take the operators."""
    others = [node.op for node in nodes if not taken(node)]
    if others:
        return f"{', '.join(sorted(set(others)))} of {dtype_of(nodes[-1].outputs[0]).name}"
    nest = _nest(body(nodes))
    if not nest.groups or nest.groups[-1][1] < LANES:
        return "lines are shorter than a vector"
    return None


def real_regions(graph: gs.Graph) -> tuple[Match, ...]:
    """The host's regions that the kernel takes."""
    return tuple(match for match in find_regions(graph) if real_refusal(match.nodes) is None)


def _nest(group: Body) -> Nest:
    operands = [broadcast_strides(argument.shape) for argument in group.arguments if argument.shape is not None]
    return merge(group.shape, [row_major(group.shape), *operands])


def build_real(nodes: tuple[gs.Node, ...], function: str, core: Core) -> Counted:
    """The kernel of the operators, which follow one another."""
    refusal = real_refusal(nodes)
    if refusal is not None or not core.helium:
        raise ValueError(f"{function}: {refusal or 'the core has no vectors'}")
    group, code, uses = body(nodes), Code(), Uses()
    lines = _Lines(group, code)
    lines.write()
    arguments, result = tuple(argument.tensor for argument in group.arguments), nodes[-1].outputs[0]
    uses.headers[FLOAT] = header(FLOAT)
    comment = f"{describe(group)}: {'x'.join(map(str, group.shape))}"
    text = inline_code(function, comment, arguments, (result,), code.text, uses)
    elsewhere = {argument.tensor.name for argument in group.arguments if argument.shape != group.shape}
    overlaps = element_by_element((tensor for tensor in arguments if tensor.name not in elsewhere), result)
    return Counted(arguments, replace(text, overlaps=overlaps), Work(), "real", tuple(lines.counts().items()))


class _Lines:
    """Writes the loops. A line is the innermost one; operands are read along it, or have one value for all of it."""

    def __init__(self, group: Body, code: Code) -> None:
        self.group, self.code, self.nest = group, code, _nest(group)
        *self.outer, (self.name, self.size) = self.nest.variables
        self.rest = self.size % (BLOCK * LANES)
        self.strides = [broadcast_strides(argument.shape or ()) for argument in group.arguments]

    def write(self) -> None:
        """Write the whole body."""
        code = self.code
        code.line("const uint32_t status = match_cortexm_status();")
        code.line("match_cortexm_set_status(status & ~MATCH_CORTEXM_FLUSHED);")
        with code.loops(self.outer):
            for number, strides in enumerate(self.strides):
                if not self._step(strides):
                    code.line(f"const {VECTOR} x{number} = {PREFIX}all(in{number}[{self._index(strides)}]);")
            line, whole, step = self.name, self.size - self.rest, BLOCK * LANES
            if whole:
                with code.block(f"for (int32_t {line} = 0; {line} < {whole}; {line} += {step})"):
                    self._block(line, 0, step)
            if self.rest:
                self._block("", whole, self.rest)
        code.line("match_cortexm_set_status(match_cortexm_status() | status);")

    def _block(self, variable: str, first: int, count: int) -> None:
        """The numbers from a place of the line on."""
        code, parts = self.code, [(start, min(LANES, count - start)) for start in range(0, count, LANES)]
        read = [number for number, strides in enumerate(self.strides) if self._step(strides)]
        dense = row_major(self.group.shape)
        targets = [f"out0[{self._index(dense, variable, first + start)}]" for start, _ in parts]
        for number in read:
            place = self._index(self.strides[number], variable, first)
            code.line(f"const float *const p{number} = {PREFIX}place(&in{number}[{place}]);")
        for number, (start, lanes) in enumerate(parts):
            code.line(f"{VECTOR} r{number} = {self._value(f't{number}', start, lanes, False)};")
            code.line(f"{PREFIX}computed(&r{number});")
        with code.block("if (match_cortexm_raised(MATCH_CORTEXM_FLUSHED))"):
            for number in read:  # others than those of vectors, which need no registers for these
                code.line(f"const float *const q{number} = {PREFIX}place(p{number});")
            for number, (target, (start, lanes)) in enumerate(zip(targets, parts, strict=True)):
                value = self._value(f"s{number}", start, lanes, True)
                code.line(store(target, value, lanes).replace(PREFIX, SCALAR))
        with code.block("else"):
            for number, (target, (_, lanes)) in enumerate(zip(targets, parts, strict=True)):
                code.line(store(target, f"r{number}", lanes))

    def _value(self, name: str, start: int, lanes: int, scalar: bool) -> str:
        """C text of the result's numbers from ``start`` of a block on, in scalar code or in vectors; ``name`` of what
        comes before it."""
        known: dict[str, str] = {}

        def operand(tensor: gs.Tensor) -> str:
            number = next(n for n, argument in enumerate(self.group.arguments) if argument.tensor.name == tensor.name)
            strides = self.strides[number]
            if self._step(strides):
                return load(f"{'q' if scalar else 'p'}{number}[{start}]", lanes)
            return f"{PREFIX}all(in{number}[{self._index(strides)}])" if scalar else f"x{number}"

        *before, last = self.group.nodes
        for number, node in enumerate(before):
            line = f"const {VECTOR} {name}_{number} = {operator(node, known, operand)};"
            self.code.line(line.replace(PREFIX, SCALAR) if scalar else line)
            known[node.outputs[0].name] = f"{name}_{number}"
        return operator(last, known, operand)

    def _step(self, strides: Sequence[int]) -> int:
        """The distance of neighbours of a line, 0 or 1."""
        return strides[self.nest.groups[-1][0]]

    def _repeats(self, strides: Sequence[int]) -> int:
        """Neighbouring lines that have the same numbers, which compilers load once if they are one block."""
        again = bool(self.outer) and self.size <= BLOCK * LANES and strides[self.nest.groups[-2][0]] == 0
        return self.outer[-1][1] if again else 1

    def _index(self, strides: Sequence[int], variable: str = "", place: int = 0) -> str:
        """The index of a number of the line."""
        terms = self.nest.terms(strides)[:-1]
        return affine([*terms, (variable, self._step(strides))], place * self._step(strides))

    def counts(self) -> dict[str, int]:
        """What the cost model multiplies."""
        lines = prod(size for _, size in self.outer)
        vectors, blocks = -(-self.size // LANES), -(-self.size // (BLOCK * LANES))
        kinds = Counter({"Relu": "bounds", "Clip": "bounds"}.get(node.op, "pairs") for node in self.group.nodes)
        bounds = kinds["bounds"] + sum(node.op == "Clip" for node in self.group.nodes)
        read = [strides for strides in self.strides if self._step(strides)]
        loads = len(read)
        return {
            "lines": lines if self.outer else 0,
            "blocks": lines * blocks,
            "loads": vectors * sum(lines // self._repeats(strides) for strides in read),
            "pairs": lines * vectors * kinds["pairs"],
            "bounds": lines * vectors * bounds,
            "vectors": lines * vectors,
            "parts": lines * (self.size % LANES > 0) * (loads + 1),
            "repeated": lines * (len(self.strides) - loads),
        }
