"""How matches of moves become workloads: the DMA makes the order, kernels copy, turn, choose and join rows."""

from __future__ import annotations

from math import prod

from match_core import Axis, Dim, Match, Operand, Workload

from match_ita import snitch_rows_moves as moves
from match_ita import snitch_rows_structures as s
from match_ita.snitch_rows_workloads import axis

Geometry = tuple[tuple[str, int], ...]
#: Dimensions of a copy, outermost first.
_COPY = "OPABC"


def _dims(names: str, sizes: tuple[int, ...]) -> tuple[Dim, ...]:
    return tuple(Dim(name, size) for name, size in zip(names, sizes, strict=True))


def _copy(moved: moves.Moved, flip: int) -> Workload:
    sizes = tuple(size for size, _ in moved.axes)
    inputs = tuple(
        Axis(name.lower(), size, ((name, 1),), stride=step)
        for name, (size, step) in zip(_COPY, moved.axes, strict=True)
    )
    outputs = tuple(axis(name, size) for name, size in zip(_COPY, sizes, strict=True))
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
    inputs = tuple(Axis(name.lower(), size, ((name, 1),), stride=step) for name, size, step, _ in entries)
    outer, r, c = entries[:2], entries[2], entries[3]
    outputs = tuple(Axis(name.lower(), size, ((name, 1),), stride=step) for name, size, _, step in (*outer, c, r))
    operands = (Operand("input", "input", inputs), Operand("output", "output", outputs))
    return Workload("snitch_transpose", _dims("PARC", found.sizes), operands, 0)


def gather(match: Match) -> Workload:
    """Rows by index: N, V, C."""
    shape = match.shape("input")
    number = int(match.node("gather").attrs.get("axis", 0))
    n, v, c = int(match.const("index").size), shape[number], prod(shape[number + 1 :])
    operands = (
        Operand("input", "input", (axis("V", v), axis("C", c))),
        Operand("index", "constant", (axis("N", n),), 32),
        Operand("output", "output", (axis("N", n), axis("C", c))),
    )
    return Workload("snitch_gather", (Dim("N", n), Dim("V", v, tileable=False), Dim("C", c)), operands, 0)


def windows(match: Match) -> Workload:
    """Windows of rows: T, K, C."""
    found = moves.windows_of(match)
    assert found is not None  # a rule says so
    shape = match.shape("input")
    number = int(match.node("gather").attrs.get("axis", 0))
    v, c = shape[number], prod(shape[number + 1 :])
    rows = Axis("v", v, (("T", found.stride), ("K", found.dilation)))
    operands = (
        Operand("input", "input", (rows, axis("C", c))),
        Operand("output", "output", (axis("T", found.count), axis("K", found.taps), axis("C", c))),
    )
    dims = (Dim("T", found.count), Dim("K", found.taps, tileable=False), Dim("C", c))
    geometry = (("stride", found.stride), ("dilation", found.dilation), ("pad_value", 0))
    return Workload("snitch_windows", dims, operands, 0, geometry)


def pad(match: Match) -> Workload:
    """Padding along one axis: O, I."""
    found = moves.padding(match)
    assert found is not None  # a rule says so
    o, i = axis("O", found.outer), axis("I", found.inner)
    whole = found.before + found.size + found.after
    operands = (
        Operand("input", "input", (o, Axis("n", found.size), i)),
        Operand("output", "output", (o, Axis("n", whole), i)),
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
    rows, c = Axis("v", found.size, (("T", 1), ("K", 1)), offset=found.before), axis("C", found.inner)
    operands = (
        Operand("input", "input", (rows, c)),
        Operand("output", "output", (axis("T", count), axis("K", 1), c)),
    )
    dims = (Dim("T", count), Dim("K", 1, tileable=False), Dim("C", found.inner))
    geometry = (("stride", 1), ("dilation", 1), ("pad_value", found.value))
    return Workload("snitch_windows", dims, operands, 0, geometry)


def concat(match: Match) -> Workload:
    """Two or three tensors joined: O, I."""
    outer, sizes, inner = moves.joined(match)
    names = tuple(name for name in ("input_a", "input_b", "input_c") if match.has(name))
    o, i = axis("O", outer), axis("I", inner)
    operands = tuple(
        Operand(name, "constant" if hasattr(match.tensor(name), "values") else "input", (o, Axis("n", size), i))
        for name, size in zip(names, sizes, strict=True)
    )
    output = Operand("output", "output", (o, Axis("n", sum(sizes)), i))
    geometry = tuple((name.replace("input", "size"), size) for name, size in zip(names, sizes, strict=True))
    kind = "snitch_concat" if len(names) == 2 else "snitch_concat_three"
    return Workload(kind, _dims("OI", (outer, inner)), (*operands, output), 0, geometry)
