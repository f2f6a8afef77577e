"""How matches of ITA's patterns become workloads. Tensors lie in the home memory row by row; the order of an operand's
axes is that of its blocks in L1 (``ita_interfaces``), and their strides say where they lie at home."""

from __future__ import annotations

from math import prod

from match_core import Axis, Dim, Match, Operand, Workload
from match_core.patterns.captures import number
from match_core.patterns.workloads import Numbers, Scratch, axis

from match_ita.captures import rows_of
from match_ita.ita import attention_rules as rules
from match_ita.ita import structures as s
from match_ita.ita.interfaces import BIAS_BYTES, BLOCK_BYTES
from match_ita.ita.limits import BLOCK
from match_ita.ita.requantisation import ItaRequant

#: Codes of the activations after a linear layer (sheet 2.6, register 13).
IDENTITY, GELU, RELU = 0, 1, 2


def _inside(name: str, stride: int) -> Axis:
    """The 64 rows or columns of a block."""
    return Axis(name, BLOCK, stride=stride)


def _spare_blocks(rows: int) -> Scratch:
    """Where blocks that reach behind the end of a tile are computed: those of fewer than 64 rows, and all of them
    where a column block has fewer rows than that."""
    return (((), 2 * BLOCK_BYTES),) if rows % BLOCK else ()


def _registers(found: ItaRequant | str, prefix: str = "") -> Numbers:
    assert not isinstance(found, str)  # a rule says so
    return ((f"{prefix}multiplier", found.multiplier), (f"{prefix}shift", found.shift), (f"{prefix}add", found.add))


def _activation(match: Match) -> Numbers:
    if match.has("gelu"):
        constants = (("gelu_b", number(match, "gelu_b")), ("gelu_c", number(match, "gelu_c")))
        return (("activation", GELU), *constants, *_registers(s.requant_of(match, "gelu_"), "act_"))
    relu = number(match, "low") == 0
    plain = (("act_multiplier", 1), ("act_shift", 0), ("act_add", 0))
    return (("activation", RELU if relu else IDENTITY), ("gelu_b", 0), ("gelu_c", 0), *plain)


def linear(match: Match) -> Workload:
    """A linear layer: S rows, K1 blocks of output columns, C1 of input columns."""
    c, k = match.shape("weight")
    lies = s.input_rows(match)
    assert lies is not None  # a rule says so
    rows = lies.count
    blocks = (axis("c1", c // BLOCK, BLOCK), axis("s", rows, lies.step), _inside("c0", 1))
    dims = (Dim("S", rows, granularity=BLOCK), Dim("K1", k // BLOCK), Dim("C1", c // BLOCK, tileable=False))
    operands = (
        Operand("input", "input", blocks, base=lies.base),
        Operand("weight", "constant", (Axis("k1", k // BLOCK, (("K1", 1),)), Axis("block", c // BLOCK * BLOCK_BYTES))),
        Operand("bias", "constant", (Axis("k1", k // BLOCK, (("K1", 1),)), Axis("byte", BIAS_BYTES))),
        Operand("output", "output", (axis("k1", k // BLOCK, BLOCK), axis("s", rows, k), _inside("k0", 1))),
    )
    arithmetic = (*_registers(s.requant_of(match)), *_activation(match))
    scratch = _spare_blocks(rows)
    return Workload("ita_linear", dims, operands, rows * c * k, scratch=scratch, arithmetic=arithmetic)


def linear_turned(match: Match) -> Workload:
    """The same, turned: P1 blocks of output rows, T1 of output columns, C1 of input columns; T0: columns of a block."""
    c, p = match.shape("weight")
    rows, columns = rows_of(match.shape("input")), int(match.output.shape[-1])
    dims = (
        Dim("P1", p // BLOCK),
        Dim("T1", columns // BLOCK),
        Dim("C1", c // BLOCK, tileable=False),
        Dim("T0", BLOCK, tileable=False),
    )
    t = Axis("t", rows, (("T1", BLOCK), ("T0", 1)), stride=c)
    operands = (
        Operand("input", "input", (axis("c1", c // BLOCK, BLOCK), t, _inside("c0", 1))),
        Operand("weight", "constant", (Axis("p1", p // BLOCK, (("P1", 1),)), Axis("block", c // BLOCK * BLOCK_BYTES))),
        Operand("bias", "constant", (Axis("p1", p // BLOCK, (("P1", 1),)), Axis("byte", BIAS_BYTES))),
        Operand(
            "output",
            "output",
            (
                axis("p1", p // BLOCK, BLOCK * columns),
                axis("t1", columns // BLOCK, BLOCK),
                _inside("p0", columns),
                _inside("t0", 1),
            ),
        ),
    )
    scratch: Scratch = (((), BLOCK),) if rows % BLOCK else ()
    arithmetic = _registers(s.requant_of(match))
    return Workload("ita_linear_turned", dims, operands, rows * c * p, scratch=scratch, arithmetic=arithmetic)


def attention(match: Match) -> Workload:
    """Heads of attention: H heads, S rows, T keys in T1 blocks, P1 blocks of columns of a head."""
    (rows, width), keys, columns = match.shape("q")[-2:], match.shape("k")[-2], match.shape("vt")[-1]
    heads = rules.heads_of(match)
    each = width // heads
    dims = (
        Dim("H", heads),
        Dim("S", rows, granularity=BLOCK),
        Dim("T", keys, tileable=False),
        Dim("T1", columns // BLOCK, tileable=False),
        Dim("P1", each // BLOCK, tileable=False),
    )
    h, p1, p0 = axis("h", heads, each), axis("p1", each // BLOCK, BLOCK), _inside("p0", 1)
    turned = (
        axis("h", heads, each * columns),
        axis("t1", columns // BLOCK, BLOCK),
        axis("p1", each // BLOCK, BLOCK * columns),
        _inside("p0", columns),
        _inside("t0", 1),
    )
    operands = (
        Operand("q", "input", (h, p1, axis("s", rows, width), p0)),
        Operand("k", "input", (h, p1, axis("t", keys, width), p0)),
        Operand("vt", "input", turned),
        Operand("mask", "constant", (Axis("byte", BIAS_BYTES),)),
        Operand("output", "output", (h, p1, axis("s", rows, width), p0)),
    )
    arithmetic = (
        ("masked", int(rules.is_masked(match))),
        *_registers(s.requant_of(match, "qk_"), "qk_"),
        *_registers(s.requant_of(match, "av_"), "av_"),
    )
    scratch = ((("T1",), BLOCK_BYTES), *_spare_blocks(rows))
    macs = 2 * heads * rows * keys * each
    return Workload("ita_attention", dims, operands, macs, scratch=scratch, arithmetic=arithmetic)


def matmul(match: Match) -> Workload:
    """Products of two activations: H products of M rows, N1 blocks of output columns, C1 in a sum."""
    (rows, c), n = match.shape("a")[-2:], match.shape("b")[-2]
    heads = prod(match.shape("a")[:-2])
    dims = (
        Dim("H", heads),
        Dim("M", rows, granularity=BLOCK),
        Dim("N1", n // BLOCK),
        Dim("C1", c // BLOCK, tileable=False),
    )
    c1, c0 = axis("c1", c // BLOCK, BLOCK), _inside("c0", 1)
    operands = (
        Operand("a", "input", (axis("h", heads, rows * c), c1, axis("m", rows, c), c0)),
        Operand("b", "input", (axis("h", heads, n * c), c1, axis("n1", n // BLOCK, BLOCK * c), _inside("n0", c), c0)),
        Operand(
            "output",
            "output",
            (
                axis("h", heads, rows * n),
                axis("n1", n // BLOCK, BLOCK),
                axis("m", rows, n),
                _inside("n0", 1),
            ),
        ),
    )
    macs, arithmetic = heads * rows * n * c, _registers(s.requant_of(match))
    return Workload("ita_matmul", dims, operands, macs, scratch=_spare_blocks(rows), arithmetic=arithmetic)
