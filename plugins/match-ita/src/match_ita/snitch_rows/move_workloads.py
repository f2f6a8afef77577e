"""Turns matches of moves into workloads: the DMA reorders, kernels copy, transpose, gather and join rows."""

from __future__ import annotations

from math import prod

from match_core import Axis, Dim, Match, Operand, Workload
from match_core.patterns.workloads import axis, whole

from match_ita.snitch_rows import moves
from match_ita.snitch_rows import structures as s

#: Dimensions of a copy, outermost first.
_COPY = "OPABC"


def _dims(names: str, sizes: tuple[int, ...]) -> tuple[Dim, ...]:
    return tuple(Dim(name, size) for name, size in zip(names, sizes, strict=True))


def _copy(moved: moves.Moved, flip: int) -> Workload:
    sizes = tuple(size for size, _ in moved.axes)
    inputs = tuple(axis(name.lower(), size, step) for name, (size, step) in zip(_COPY, moved.axes, strict=True))
    outputs = tuple(axis(name.lower(), size) for name, size in zip(_COPY, sizes, strict=True))
    operands = (Operand("input", "input", inputs, base=moved.base), Operand("output", "output", outputs))
    return Workload("snitch_copy", _dims(_COPY, sizes), operands, 0, (("flip", flip),))


def copied(match: Match) -> Workload:
    """A Transpose that keeps rows: O, P, A, B, C."""
    moved = moves.copied(match)
    assert moved is not None  # a rule says so
    return _copy(moved, 0)


def sliced(match: Match) -> Workload:
    """A Slice."""
    moved = moves.sliced(match)
    assert moved is not None  # a rule says so
    return _copy(moved, 0)


def offset(match: Match) -> Workload:
    """Signs changed."""
    shape = match.shape("input")
    rows, columns = s.matrix(shape)
    size = rows * columns
    return _copy(moves.Moved((*[(1, size)] * 3, (rows, columns), (columns, 1))), 0x80808080 - 2**32)


def turned(match: Match) -> Workload:
    """A Transpose that turns rows into columns: P, A, R, C."""
    found = moves.turned(match)
    assert found is not None  # a rule says so
    entries = list(zip("PARC", found.sizes, found.input_steps, found.output_steps, strict=True))
    inputs = tuple(axis(name.lower(), size, step) for name, size, step, _ in entries)
    outer, r, c = entries[:2], entries[2], entries[3]
    outputs = tuple(axis(name.lower(), size, step) for name, size, _, step in (*outer, c, r))
    operands = (Operand("input", "input", inputs), Operand("output", "output", outputs))
    return Workload("snitch_transpose", _dims("PARC", found.sizes), operands, 0)


def gather(match: Match) -> Workload:
    """Rows by index: N, V, C."""
    shape = match.shape("input")
    number = int(match.node("gather").attrs.get("axis", 0))
    n, v, c = int(match.const("index").size), shape[number], prod(shape[number + 1 :])
    operands = (
        Operand("input", "input", (axis("v", v), axis("c", c))),
        Operand("index", "constant", (axis("n", n),), 32),
        Operand("output", "output", (axis("n", n), axis("c", c))),
    )
    return Workload("snitch_gather", (Dim("N", n), whole("V", v), Dim("C", c)), operands, 0)


def windows(match: Match) -> Workload:
    """Windows of rows: T, K, C."""
    found = moves.windows_of(match)
    assert found is not None  # a rule says so
    shape = match.shape("input")
    number = int(match.node("gather").attrs.get("axis", 0))
    v, c = shape[number], prod(shape[number + 1 :])
    rows = Axis("v", v, (("T", found.stride), ("K", found.dilation)))
    operands = (
        Operand("input", "input", (rows, axis("c", c))),
        Operand("output", "output", (axis("t", found.count), axis("k", found.taps), axis("c", c))),
    )
    dims = (Dim("T", found.count), whole("K", found.taps), Dim("C", c))
    geometry = (("stride", found.stride), ("dilation", found.dilation), ("pad_value", 0))
    return Workload("snitch_windows", dims, operands, 0, geometry)


def pad(match: Match) -> Workload:
    """Padding along one axis: O, I."""
    found = moves.padding(match)
    assert found is not None  # a rule says so
    o, i = axis("o", found.outer), axis("i", found.inner)
    padded = found.before + found.size + found.after
    operands = (
        Operand("input", "input", (o, Axis("n", found.size), i)),
        Operand("output", "output", (o, Axis("n", padded), i)),
    )
    geometry = (
        ("before", found.before),
        ("size", found.size),
        ("after", found.after),
        ("pad_value", found.value),
    )
    return Workload("snitch_pad", _dims("OI", (found.outer, found.inner)), operands, 0, geometry)


def pad_rows(match: Match) -> Workload:
    """Rows with others before and behind them: windows of one row each, T, K, C."""
    found = moves.padding(match)
    assert found is not None  # a rule says so
    count = found.before + found.size + found.after
    # Two terms, so that parts without padding too say how many rows they have.
    rows, c = Axis("v", found.size, (("T", 1), ("K", 1)), offset=found.before), axis("c", found.inner)
    operands = (
        Operand("input", "input", (rows, c)),
        Operand("output", "output", (axis("t", count), axis("k", 1), c)),
    )
    dims = (Dim("T", count), whole("K", 1), Dim("C", found.inner))
    geometry = (("stride", 1), ("dilation", 1), ("pad_value", found.value))
    return Workload("snitch_windows", dims, operands, 0, geometry)


def concat(match: Match) -> Workload:
    """Two or three tensors joined: O, I."""
    outer, sizes, inner = moves.joined(match)
    names = tuple(name for name in ("input_a", "input_b", "input_c") if match.has(name))
    o, i = axis("o", outer), axis("i", inner)
    operands = tuple(
        Operand(name, "constant" if hasattr(match.tensor(name), "values") else "input", (o, Axis("n", size), i))
        for name, size in zip(names, sizes, strict=True)
    )
    output = Operand("output", "output", (o, Axis("n", sum(sizes)), i))
    geometry = tuple((name.replace("input", "size"), size) for name, size in zip(names, sizes, strict=True))
    kind = "snitch_concat" if len(names) == 2 else "snitch_concat_three"
    return Workload(kind, _dims("OI", (outer, inner)), (*operands, output), 0, geometry)
