"""Turns matches of row and element patterns into workloads: requantisation, tables, normalisation."""

from __future__ import annotations

from match_core import Axis, Dim, Match, Operand, Workload
from match_core.patterns.captures import number, words
from match_core.patterns.workloads import Kernels, Numbers, axis, bounds

from match_ita.snitch_rows import plan
from match_ita.snitch_rows import structures as s
from match_ita.snitch_rows.exact import Affine, Sum


def clip(part: Affine | Sum) -> Numbers:
    """The bounds of results."""
    return (("low", part.low), ("high", part.high))


def _numbers(both: Sum) -> Numbers:
    return (("multiplier_b", both.multiplier_b),)


def _matrix(match: Match) -> tuple[Axis, Axis]:
    rows, columns = s.matrix(s.output_shape(match))
    return axis("r", rows), axis("c", columns)


def elements(
    match: Match,
    kind: str,
    arithmetic: Numbers,
    inputs: tuple[str, ...],
    constants: tuple[Operand, ...] = (),
    geometry: Numbers = (),
) -> Workload:
    """R rows of C elements; all activations have the result's shape."""
    axes = _matrix(match)
    operands = (
        *(Operand(name, "input", axes) for name in inputs),
        *constants,
        Operand("output", "output", axes),
    )
    dims = tuple(Dim(a.name.upper(), a.size) for a in axes)
    return Workload(kind, dims, operands, 0, geometry, arithmetic=arithmetic)


def _parameters(match: Match, numbers: int) -> tuple[Operand, ...]:
    _, columns = _matrix(match)
    return (Operand("parameters", "constant", (columns, Axis("parameter", numbers)), 32),)


def _table(words: int = 256) -> Operand:
    """Results of a multiplication, as the cores share one multiplier."""
    return Operand("table", "constant", (Axis("word", words),), 32)


#: Inputs of a sum of two.
BOTH = ("input_a", "input_b")


def add(match: Match) -> Workload:
    """The sum of two tensors."""
    chosen = plan.add(match)
    assert chosen is not None  # a rule says so
    if isinstance(chosen, Sum):
        factors, addend, shift, wide = (chosen.multiplier_a, chosen.multiplier_b), chosen.addend, chosen.shift, 0
    else:
        first, second = (int(value) for value in chosen.multipliers)
        factors, addend, shift, wide = (first, second), int(chosen.addend[0]), chosen.shift, 1
    return _pair(match, factors, addend, shift, wide)


def two(match: Match) -> Workload:
    """The sum of two tensors with one multiplier, which nobody has to join."""
    chosen = plan.two(match)
    assert chosen is not None  # a rule says so
    return _pair(match, (chosen.multiplier_a, chosen.multiplier_b), chosen.addend, chosen.shift, 0)


def _pair(match: Match, factors: tuple[int, int], addend: int, shift: int, wide: int) -> Workload:
    low, high = words(addend)
    arithmetic = (
        ("multiplier_a", factors[0]),
        ("multiplier_b", factors[1]),
        ("addend_low", low),
        ("addend_high", high),
        ("shift", shift),
        ("low", number(match, "low")),
        ("high", number(match, "high")),
        ("flip_a", s.flip(match, "input_a")),
        ("flip_b", s.flip(match, "input_b")),
    )
    return elements(match, "snitch_add", arithmetic, BOTH, (_table(1 if wide else 256),), (("wide", wide),))


def requant(match: Match) -> Workload:
    """One requantisation per channel."""
    chosen = plan.requant(match)
    assert chosen is not None  # a rule says so
    wide = not isinstance(chosen, Affine)
    arithmetic = (
        ("shift", chosen.shift),
        ("low", number(match, "low")),
        ("high", number(match, "high")),
        ("flip", s.flip(match)),
    )
    parameters = _parameters(match, 3 if wide else 2)
    return elements(match, "snitch_requant", arithmetic, ("input",), parameters, (("wide", int(wide)),))


def requant_twice(match: Match) -> Workload:
    """Two requantisations per channel."""
    steps = plan.requant_twice(match)
    assert steps is not None  # a rule says so
    arithmetic = (("shift", steps[0].shift), ("second_shift", steps[1].shift), *clip(steps[0]))
    return elements(match, "snitch_requant_twice", arithmetic, ("input",), _parameters(match, 4))


def offset_each(match: Match) -> Workload:
    """A requantisation with an addend for each element."""
    chosen = plan.requant_narrow(match)
    assert chosen is not None  # a rule says so
    addend = Operand("addend", "constant", _matrix(match), 32)
    arithmetic = (("multiplier", int(chosen.multiplier[0])), ("shift", chosen.shift), *clip(chosen))
    return elements(match, "snitch_offset_each", arithmetic, ("input",), (addend,))


def add_requant(match: Match) -> Workload:
    """A sum of two and a requantisation per channel."""
    steps = plan.add_requant(match)
    assert steps is not None  # a rule says so
    both, one = steps
    arithmetic = (*_numbers(both), ("sum_shift", both.shift), ("shift", one.shift))
    return elements(match, "snitch_add_requant", arithmetic, BOTH, (*_parameters(match, 4), _table()))


def add_requant_twice(match: Match) -> Workload:
    """A sum of two and two requantisations per channel."""
    steps = plan.add_requant_twice(match)
    assert steps is not None  # a rule says so
    both, one, two = steps
    shifts = (("sum_shift", both.shift), ("shift", one.shift), ("second_shift", two.shift))
    arithmetic = (*_numbers(both), *shifts, *clip(both))
    return elements(match, "snitch_add_requant_twice", arithmetic, BOTH, (*_parameters(match, 4), _table()))


def lut(match: Match) -> Workload:
    """A table."""
    return elements(match, "snitch_lut", (), ("input",), (Operand("table", "constant", (Axis("value", 256),)),))


def _rows(
    match: Match, kind: str, arithmetic: Numbers, geometry: Numbers = (), tables: tuple[Operand, ...] = ()
) -> Workload:
    """Rows that kernels need whole."""
    numbers = (*arithmetic, *bounds(match), ("flip", s.flip(match)))
    return Kernels().rows(match, kind, (*_parameters(match, 2), *tables), geometry, numbers)


def layernorm(match: Match) -> Workload:
    """LayerNormRequant."""
    low, high = words(number(match, "epsilon"))
    numbers = (("epsilon_low", low), ("epsilon_high", high))
    return _rows(match, "snitch_layernorm", numbers, tables=(_table(256 + 256 // 2),))


def integer_norm(match: Match) -> Workload:
    """LayerNormI8 or RmsNormI8."""
    return _rows(match, "snitch_integer_norm", (), (("centred", int(match.has("bias"))),))
