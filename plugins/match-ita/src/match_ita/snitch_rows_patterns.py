"""What the compute cores can run on rows and elements."""

from __future__ import annotations

from match_core import Pattern

from match_ita import snitch_rows_move_rules as move_rules
from match_ita import snitch_rows_move_workloads as mw
from match_ita import snitch_rows_rules as rules
from match_ita import snitch_rows_structures as s
from match_ita import snitch_rows_sum_rules as sum_rules
from match_ita import snitch_rows_sum_workloads as sw
from match_ita import snitch_rows_workloads as w

_SCALED = (rules.BYTES, rules.SHIFT)
_PAIR = (*_SCALED, rules.SAME_SHAPES)
_FUSED = (*_SCALED, rules.SIGNED, rules.PER_CHANNEL, rules.ONE_CLIP)
_TOTAL = (*_SCALED, rules.SIGNED, sum_rules.ONE_AXIS, rules.PER_TENSOR)
_TOTAL_ADD = (*_TOTAL, sum_rules.OUTERMOST, rules.SUM_PER_TENSOR, sum_rules.RESIDUAL, rules.ONE_CLIP)

PATTERNS: tuple[Pattern, ...] = (
    Pattern("add", "sum of two tensors", s.ADD, (*_PAIR, rules.PER_TENSOR, rules.ADD_FITS), w.add),
    Pattern(
        "requant",
        "requantisation per channel",
        s.REQUANT,
        (*_SCALED, rules.PER_CHANNEL, rules.REQUANT_FITS),
        w.requant,
    ),
    Pattern(
        "requant_twice",
        "two requantisations per channel",
        s.REQUANT_TWICE,
        (*_FUSED, rules.TWICE_FITS),
        w.requant_twice,
    ),
    Pattern(
        "requant_each",
        "requantisation with an addend for each element",
        s.REQUANT,
        (*_SCALED, rules.SIGNED, rules.FOR_EACH, rules.EACH_FITS),
        w.offset_each,
    ),
    Pattern(
        "add_requant",
        "sum of two tensors and requantisation per channel",
        s.ADD_REQUANT,
        (*_FUSED, rules.SAME_SHAPES, rules.SUM_PER_TENSOR, rules.ADD_REQUANT_FITS),
        w.add_requant,
    ),
    Pattern(
        "add_requant_twice",
        "sum of two tensors and two requantisations per channel",
        s.ADD_REQUANT_TWICE,
        (*_FUSED, rules.SAME_SHAPES, rules.SUM_PER_TENSOR, rules.ADD_TWICE_FITS),
        w.add_requant_twice,
    ),
    Pattern("sum", "sum along an axis with requantisation", s.SUM, (*_TOTAL, sum_rules.TOTAL_FITS), sw.total),
    Pattern(
        "sum_two",
        "sum of two tensors that are joined for it, with requantisation",
        s.SUM_TWO,
        (*_TOTAL, rules.ALL_INPUTS, sum_rules.STACKED, sum_rules.TWO_FITS),
        w.two,
    ),
    Pattern(
        "sum_three",
        "sum of three tensors that are joined for it, with requantisation",
        s.SUM_THREE,
        (*_TOTAL, rules.ALL_INPUTS, sum_rules.STACKED, sum_rules.THREE_FITS),
        sw.three,
    ),
    Pattern(
        "sum_add",
        "sum along the outermost axis with requantisation, and another tensor",
        s.SUM_ADD,
        (*_TOTAL_ADD, sum_rules.TOTAL_ADD_FITS),
        sw.total_add,
    ),
    Pattern(
        "add_sum",
        "another tensor, and the sum along the outermost axis with requantisation",
        s.ADD_SUM,
        (*_TOTAL_ADD, sum_rules.ADD_TOTAL_FITS),
        sw.add_total,
    ),
    Pattern("lut", "function of single values, by a table", s.LUT, (rules.BYTES,), w.lut),
    Pattern("gelu", "integer GELU, by a table", s.GELU, (*_SCALED, rules.SIGNED), w.lut),
    Pattern(
        "layernorm",
        "layer normalisation of rows",
        s.LAYERNORM,
        (*_SCALED, rules.NORM_LENGTH, rules.NORM_NUMBERS),
        w.layernorm,
    ),
    Pattern(
        "integer_layernorm",
        "layer normalisation of rows in QuantLib's integers",
        s.INTEGER_LAYERNORM,
        (*_SCALED, rules.WEIGHTS),
        w.integer_norm,
    ),
    Pattern(
        "rmsnorm",
        "normalisation of rows by their root mean square in QuantLib's integers",
        s.RMSNORM,
        (*_SCALED, rules.WEIGHTS),
        w.integer_norm,
    ),
    Pattern(
        "transpose_rows",
        "permutation of axes that keeps the last one",
        s.TRANSPOSE,
        (rules.BYTES, move_rules.KEEPS_ROWS),
        mw.copied,
    ),
    Pattern(
        "transpose",
        "permutation of axes that moves the last one",
        s.TRANSPOSE,
        (rules.BYTES, move_rules.TURNS),
        mw.turned,
    ),
    Pattern("slice", "part of a tensor", s.SLICE, (rules.BYTES, move_rules.SLICES), mw.sliced),
    Pattern("offset", "int8 to uint8 with zero 128 and back", s.OFFSET, (rules.BYTES,), mw.offset),
    Pattern(
        "gather",
        "rows by constant indices",
        s.GATHER,
        (rules.BYTES, move_rules.FIRST_AXIS, move_rules.INDICES),
        mw.gather,
    ),
    Pattern(
        "windows",
        "windows of rows that follow each other",
        s.GATHER,
        (rules.BYTES, move_rules.FIRST_AXIS, move_rules.INDICES, move_rules.WINDOWS),
        mw.windows,
    ),
    Pattern("pad", "padding along one axis", s.PAD, (rules.BYTES, move_rules.ONE_PADDED), mw.pad),
    Pattern(
        "pad_rows",
        "padding before the first row and behind the last",
        s.PAD,
        (rules.BYTES, move_rules.ONE_PADDED, move_rules.OUTERMOST_PADDED),
        mw.pad_rows,
    ),
    Pattern("concat", "two tensors joined", s.CONCAT, (rules.BYTES, rules.ALL_INPUTS), mw.concat),
    Pattern(
        "concat_constant", "a tensor behind a constant", s.CONCAT_CONSTANT, (rules.BYTES, rules.ALL_INPUTS), mw.concat
    ),
    Pattern("concat_three", "three tensors joined", s.CONCAT_THREE, (rules.BYTES, rules.ALL_INPUTS), mw.concat),
)
