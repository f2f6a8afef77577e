"""Discrete Fourier transforms of any length, whole or in frames. The length is factored into primes; each factor is one
pass over the line (Stockham's order, no bit reversal), so a length with small factors costs n log n."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.reader import optional_input, shape_of
from match_core.ir.topology import is_constant

from match_host.graph import dtype_of, elements, integer, integers_at
from match_host.kernels.built import Built
from match_host.kernels.code import Code, Uses, literal
from match_host.kernels.movement.indexed import place
from match_host.kernels.nest import row_major
from match_host.kernels.scalar import arithmetic, loaded, scalar_type, stored
from match_host.kernels.sequence.fourier import fourier, turn_table, turns_function
from match_host.kernels.single import names_of, single
from match_host.kernels.work import Work

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


@dataclass(frozen=True, slots=True)
class _Line:
    """A line in C. ``kind``: the type of the computation, double for real numbers, as in numpy; ``length`` of the
    transform (a number if it is known), at most ``longest``; how to ``read`` the parts of element ``k``, which exists
    while ``present`` holds, and where to ``write`` the parts of result ``k`` of ``results``."""

    kind: np.dtype[np.generic]
    length: int | str
    longest: int
    inverse: bool
    half: bool
    present: str
    read: tuple[str, str]
    write: tuple[str, str]
    results: str


def _known(node: gs.Node, index: int) -> int | None:
    """The value of a constant scalar input; None if it is computed or omitted."""
    tensor = optional_input(node, index)
    values = integers_at(node, index) if tensor is not None and is_constant(tensor) else None
    return values[0] if values else None


def _prepare(line: _Line, code: Code, uses: Uses) -> None:
    """Declare buffers ``from`` and ``to`` and the table ``turns``; an unknown length becomes the variable
    ``length``."""
    kind = scalar_type(line.kind)
    if isinstance(line.length, int):
        code.lines(turn_table(line.length, line.inverse, line.kind))
        code.line(f"{kind} *const from = scratch;")
    else:
        code.line(f"const int64_t asked = {line.length};")
        code.line(f"const int32_t length = asked < 1 ? 1 : asked > {line.longest} ? {line.longest} : (int32_t)asked;")
        code.line(f"{kind} *const turns = scratch;")
        code.line(f"{turns_function(uses, line.kind)}(turns, length, {1 if line.inverse else -1});")
        code.line(f"{kind} *const from = turns + {2 * line.longest};")
    code.line(f"{kind} *const to = from + {2 * line.longest};")


def _transform(line: _Line, dtype: np.dtype[np.generic], code: Code, uses: Uses) -> None:
    """Read one line, transform it, and write it."""
    length = line.length if isinstance(line.length, int) else "length"
    kind, zero, one = scalar_type(line.kind), literal(0, line.kind), literal(1, line.kind)
    with code.block(f"for (int32_t k = 0; k < {length}; k++)"):
        code.line(f"const bool there = {line.present};")
        for part, value in enumerate(line.read):
            code.line(f"from[2 * k + {part}] = {f'there ? {value} : {zero}' if value else zero};")
    if line.half:
        code.line(f"from[1] = {zero};")
        with code.block(f"for (int32_t k = ({length} + 1) / 2; k < {length}; k++)"):
            code.line(f"from[2 * k] = from[2 * ({length} - k)];")
            code.line(f"from[2 * k + 1] = 2 * k == {length} ? {zero} : -from[2 * ({length} - k) + 1];")
    code.line(f"const {kind} *const found = {fourier(uses, line.kind)}(turns, {length}, from, to);")
    by = f" * ({one} / ({kind}){length})" if line.inverse else ""
    narrows = line.kind.itemsize > arithmetic(dtype).itemsize
    with code.block(f"for (int32_t k = 0; k < {line.results}; k++)"):
        for part, target in enumerate(line.write):
            value = f"found[2 * k + {part}]{by}"
            value = f"({scalar_type(dtype)})({value})" if narrows else value
            if target:
                code.line(f"{target} = {stored(value, dtype)};")


def _kind(dtype: np.dtype[np.generic], channels: int) -> np.dtype[np.generic]:
    return np.dtype(np.float64) if channels == 1 else arithmetic(dtype)


def _parts(name: str, at: str, channels: int) -> tuple[str, str]:
    """C text of the real and the imaginary part of an element."""
    if channels == 1:
        return f"{name}[{at}]", ""
    return f"{name}[2 * ({at})]", f"{name}[2 * ({at}) + 1]"


def _loads(places: tuple[str, str], dtype: np.dtype[np.generic]) -> tuple[str, str]:
    first, second = (loaded(place, dtype) if place else "" for place in places)
    return first, second


def build_dft(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """DFT: of real or complex lines along an axis, forward or inverse, whole or the non-redundant half."""
    (node,), code, uses = nodes, Code(), Uses()
    *shape, channels = shape_of(node.inputs[0])
    *out, parts = shape_of(node.outputs[0])
    dtype, names = dtype_of(node.inputs[0]), names_of(node, (0, 1, 2))
    inverse, half = (integer(node, name, 0) != 0 for name in ("inverse", "onesided"))
    axis = _known(node, 2) if 2 in names else integer(node, "axis", -2)
    rank = len(shape) + 1
    changed = [place for place, sizes in enumerate(zip(shape, out, strict=True)) if sizes[0] != sizes[1]]
    if axis is None and changed:  # whatever it is asked for: others do not fit the result
        axis = changed[0]
    if axis is None:
        code.line(f"static const int32_t sizes[{len(shape)}] = {_listed(shape)};")
        code.line(f"static const int32_t results[{len(shape)}] = {_listed(out)};")
        code.line(f"static const int32_t strides[{len(shape)}] = {_listed(row_major(shape))};")
        code.line(f"const int32_t asked_axis = {place(uses, f'{names[2]}[0]', rank)};")
        code.line(f"const int32_t axis = asked_axis < {len(shape)} ? asked_axis : {len(shape) - 1};")
        size, count, inner = "sizes[axis]", "results[axis]", "strides[axis]"
        sizes = list(zip(shape, out, strict=True))
    else:
        size, count, inner = (str(values[axis % rank]) for values in (shape, out, row_major(shape)))
        sizes = [(shape[axis % rank], out[axis % rank])]
    code.line(f"const int32_t size = {size}, count = {count}, inner = {inner};")
    folded = half and not inverse
    length: int | str = f"{names[1]}[0]" if 1 in names else "size" if folded else "count"
    if axis is not None and not (folded and 1 in names):
        length = sizes[0][0] if folded else sizes[0][1]
    elif (given := _known(node, 1)) is not None and axis is not None:
        length = given
    longest = length if isinstance(length, int) else max(2 * b if folded else b for _, b in sizes)
    line = _Line(
        kind=_kind(dtype, channels),
        length=length,
        longest=longest,
        inverse=inverse,
        half=inverse and half,
        present="k < size",
        read=_loads(_parts("in0", "source + k * inner", channels), dtype),
        write=_parts("out0", "target + k * inner", parts),
        results="count",
    )
    _prepare(line, code, uses)
    with code.block(f"for (int32_t i = 0; i < {elements(tuple(shape))} / size; i++)"):
        code.line("const int32_t source = i / inner * inner * size + i % inner;")
        code.line("const int32_t target = i / inner * inner * count + i % inner;")
        _transform(line, dtype, code, uses)
    lines = elements(tuple(shape)) // min(size for size, _ in sizes)
    return _built(node, function, code, uses, line, lines, (0, 1, 2))


def build_stft(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """STFT: transforms of frames of a signal, multiplied with a window."""
    (node,), code, uses = nodes, Code(), Uses()
    batch, size, channels = (*shape_of(node.inputs[0]), 1)[:3]
    _, frames, bins, _ = shape_of(node.outputs[0])
    dtype, names = dtype_of(node.inputs[0]), names_of(node, (0, 1, 2, 3))
    window, folded = optional_input(node, 2), integer(node, "onesided", 1) != 0
    length: int | str = f"{names[3]}[0]" if 3 in names else size
    if not folded:
        length = bins
    elif (given := _known(node, 3)) is not None:
        length = given
    elif window is not None:
        length = elements(shape_of(window))
    longest = length if isinstance(length, int) else 2 * bins
    reads = _loads(_parts("in0", "source + k", channels), dtype)
    weight = f" * {loaded(f'{names[2]}[k]', dtype)}" if window is not None else ""
    present = f"begin + k < {size}" + (f" && k < {elements(shape_of(window))}" if window is not None else "")
    line = _Line(
        kind=_kind(dtype, channels),
        length=length,
        longest=longest,
        inverse=False,
        half=False,
        present=present,
        read=(f"{reads[0]}{weight}", f"{reads[1]}{weight}" if reads[1] else ""),
        write=_parts("out0", "target + k", 2),
        results=str(bins),
    )
    _prepare(line, code, uses)
    code.line(f"const int64_t step = in1[0] < 0 ? 0 : in1[0] < {size} ? in1[0] : {size};")
    with code.loops([("b", batch), ("f", frames)]) as (b, f):
        code.line(f"const int64_t first = {f or 0} * step;")
        code.line(f"const int32_t begin = first < {size} ? (int32_t)first : {size};")
        code.line(f"const int32_t source = {f'{b} * {size} + ' if b else ''}begin;")
        code.line(f"const int32_t target = ({f'{b} * {frames} + ' if b else ''}{f or 0}) * {bins};")
        _transform(line, dtype, code, uses)
    return _built(node, function, code, uses, line, batch * frames, (0, 1, 2, 3))


def _listed(values: Sequence[int]) -> str:
    return f"{{{', '.join(map(str, values))}}}"


def _built(
    node: gs.Node, function: str, code: Code, uses: Uses, line: _Line, lines: int, used: tuple[int, ...]
) -> Built:
    known = isinstance(line.length, int)
    passes = sum(factor for factor, _ in _factors(line.longest))
    work = (Work(floating_macs=4 * passes, memory=4, steps=2) + Work(special=0 if known else 2)).times(line.longest)
    scratch = (4 if known else 6) * line.longest * line.kind.itemsize
    return single(node, function, code.text, uses, work.times(max(1, lines)), used, scratch)


def _factors(number: int) -> tuple[tuple[int, int], ...]:
    """Prime factors in order, each with the remaining length before it."""
    found, factor = [], 2
    while number > 1:
        while number % factor:
            factor += 1
        found.append((factor, number))
        number //= factor
    return tuple(found)
