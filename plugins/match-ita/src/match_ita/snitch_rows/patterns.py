"""The compute cores' patterns of rows and elements."""

from __future__ import annotations

from match_core import Pattern

from match_ita.snitch_rows import move_rules, rules, sum_rules
from match_ita.snitch_rows import move_workloads as mw
from match_ita.snitch_rows import structures as s
from match_ita.snitch_rows import sum_workloads as sw
from match_ita.snitch_rows import workloads as w

_SCALED = (rules.byte_elements, rules.shift)
_PAIR = (*_SCALED, rules.same_shapes)
_FUSED = (*_SCALED, rules.signed, rules.per_channel, rules.one_clip)
_TOTAL = (*_SCALED, rules.signed, sum_rules.one_axis, rules.every_scale)
_TOTAL_ADD = (*_TOTAL, sum_rules.outermost, rules.sum_scales, sum_rules.residual, rules.one_clip)

PATTERNS: tuple[Pattern, ...] = (
    Pattern("add", "sum of two tensors", s.ADD, (*_PAIR, rules.every_scale, rules.add_fits), w.add),
    Pattern(
        "requant",
        "requantisation per channel",
        s.REQUANT,
        (*_SCALED, rules.per_channel, rules.requant_fits),
        w.requant,
    ),
    Pattern(
        "requant_twice",
        "two requantisations per channel",
        s.REQUANT_TWICE,
        (*_FUSED, rules.twice_fits),
        w.requant_twice,
    ),
    Pattern(
        "requant_each",
        "requantisation with an addend for each element",
        s.REQUANT,
        (*_SCALED, rules.signed, rules.for_each, rules.each_fits),
        w.offset_each,
    ),
    Pattern(
        "add_requant",
        "sum of two tensors and requantisation per channel",
        s.ADD_REQUANT,
        (*_FUSED, rules.same_shapes, rules.sum_scales, rules.add_requant_fits),
        w.add_requant,
    ),
    Pattern(
        "add_requant_twice",
        "sum of two tensors and two requantisations per channel",
        s.ADD_REQUANT_TWICE,
        (*_FUSED, rules.same_shapes, rules.sum_scales, rules.add_twice_fits),
        w.add_requant_twice,
    ),
    Pattern("sum", "sum along an axis with requantisation", s.SUM, (*_TOTAL, sum_rules.total_fits), sw.total),
    Pattern(
        "sum_two",
        "sum of two tensors that are joined for it, with requantisation",
        s.SUM_TWO,
        (*_TOTAL, rules.all_inputs, sum_rules.stacked, sum_rules.two_fits),
        w.two,
    ),
    Pattern(
        "sum_three",
        "sum of three tensors that are joined for it, with requantisation",
        s.SUM_THREE,
        (*_TOTAL, rules.all_inputs, sum_rules.stacked, sum_rules.three_fits),
        sw.three,
    ),
    Pattern(
        "sum_add",
        "sum along the outermost axis with requantisation, and another tensor",
        s.SUM_ADD,
        (*_TOTAL_ADD, sum_rules.total_add_fits),
        sw.total_add,
    ),
    Pattern(
        "add_sum",
        "another tensor, and the sum along the outermost axis with requantisation",
        s.ADD_SUM,
        (*_TOTAL_ADD, sum_rules.add_total_fits),
        sw.add_total,
    ),
    Pattern("lut", "function of single values, by a table", s.LUT, (rules.byte_elements,), w.lut),
    Pattern("gelu", "integer GELU, by a table", s.GELU, (*_SCALED, rules.signed), w.lut),
    Pattern(
        "layernorm",
        "layer normalisation of rows",
        s.LAYERNORM,
        (*_SCALED, rules.norm_length, rules.norm_numbers),
        w.layernorm,
    ),
    Pattern(
        "integer_layernorm",
        "layer normalisation of rows in QuantLib's integers",
        s.INTEGER_LAYERNORM,
        (*_SCALED, rules.weights),
        w.integer_norm,
    ),
    Pattern(
        "rmsnorm",
        "normalisation of rows by their root mean square in QuantLib's integers",
        s.RMSNORM,
        (*_SCALED, rules.weights),
        w.integer_norm,
    ),
    Pattern(
        "transpose_rows",
        "permutation of axes that keeps the last one",
        s.TRANSPOSE,
        (rules.byte_elements, move_rules.keeps_rows),
        mw.copied,
    ),
    Pattern(
        "transpose",
        "permutation of axes that moves the last one",
        s.TRANSPOSE,
        (rules.byte_elements, move_rules.turns),
        mw.turned,
    ),
    Pattern("slice", "part of a tensor", s.SLICE, (rules.byte_elements, move_rules.slices), mw.sliced),
    Pattern("offset", "int8 to uint8 with zero 128 and back", s.OFFSET, (rules.byte_elements,), mw.offset),
    Pattern(
        "gather",
        "rows by constant indices",
        s.GATHER,
        (rules.byte_elements, move_rules.first_axis, move_rules.indices),
        mw.gather,
    ),
    Pattern(
        "windows",
        "windows of rows that follow each other",
        s.GATHER,
        (rules.byte_elements, move_rules.first_axis, move_rules.indices, move_rules.windows),
        mw.windows,
    ),
    Pattern("pad", "padding along one axis", s.PAD, (rules.byte_elements, move_rules.one_padded), mw.pad),
    Pattern(
        "pad_rows",
        "padding before the first row and behind the last",
        s.PAD,
        (rules.byte_elements, move_rules.one_padded, move_rules.outermost_padded),
        mw.pad_rows,
    ),
    Pattern("concat", "two tensors joined", s.CONCAT, (rules.byte_elements, rules.all_inputs), mw.concat),
    Pattern(
        "concat_constant",
        "a tensor behind a constant",
        s.CONCAT_CONSTANT,
        (rules.byte_elements, rules.all_inputs),
        mw.concat,
    ),
    Pattern("concat_three", "three tensors joined", s.CONCAT_THREE, (rules.byte_elements, rules.all_inputs), mw.concat),
)
