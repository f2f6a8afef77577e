"""What ITA refuses, in words and with numbers."""

from __future__ import annotations

import numpy as np
import onnx_graphsurgeon as gs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ita_graphs import ItaGraph
from match_core import Match
from match_core.patterns import rules_tensors
from match_ita.ita import attention_rules, rules
from match_ita.ita import structures as s
from match_ita.passes.linear_requant import as_ita
from match_quant.linear.layers import linear_layer

from tests.examples import examples


def one_linear(c: int = 64, k: int = 64, **numbers: int) -> tuple[ItaGraph, gs.Variable]:
    g = ItaGraph()
    return g, g.linear(g.input(10, c), k, **numbers)


def refusal(g: ItaGraph, y: gs.Variable, pattern: str = "ita_linear") -> tuple[str, str]:
    found = g.refusals(y, pattern)
    assert len(found) == 1, found
    return found[0]


def test_a_legal_layer_is_taken() -> None:
    g, y = one_linear(512, 192)
    assert set(g.matches(y)) == {"ita_linear"}
    assert not g.refusals(y, "ita_linear")


@pytest.mark.parametrize(
    ("changes", "rule", "value"),
    [
        ({"c": 96}, rules.linear_blocks, "there are 96 input columns"),
        ({"k": 100}, rules.linear_blocks, "there are 100 output columns"),
        ({"c": 576}, rules.sum_length, "sums have 576 products"),
        ({"multiplier": 256}, rules.linear_requant, "the multiplier is 256"),
        ({"multiplier": -1}, rules.linear_requant, "the multiplier is -1"),
        ({"shift": 34}, rules.linear_requant, f"the divisor is {1 << 34}"),
        ({"low": -5}, rules.linear_bounds, "bounds are -5 and 127"),
    ],
)
def test_refusals(changes: dict[str, int], rule: object, value: str) -> None:
    g, y = one_linear(**changes)
    assert refusal(g, y) == (rule.description, value)  # type: ignore[attr-defined]


def test_channels_with_multipliers_of_their_own_are_refused() -> None:
    g, y = one_linear()
    g.nodes[-1].inputs[1] = g.constant(np.arange(1, 65))
    rule, value = refusal(g, y)
    assert rule == rules.linear_requant.description
    assert value == "there are 64 multipliers"


def test_an_add_beyond_eight_bits_is_refused_where_no_bias_carries_it() -> None:
    """QuantLib's logits with add / divisor = -1070 (sheet 2.1)."""
    g = ItaGraph()
    y = g.attention(g.input(64, 64), g.input(64, 64), g.input(64, 64), qk=(20, 15, -1070))
    rule, value = refusal(g, y, "ita_attention")
    assert rule == attention_rules.attention_requant.description
    assert "multiplier 20 and divisor 32768" in value


def test_zero_points_are_refused() -> None:
    g, y = one_linear()
    dense = g.nodes[0]
    dense.inputs.append(g.constant(3, np.int8))
    assert refusal(g, y)[0] == rules_tensors.no_zero_points.description
    dense.inputs[2] = g.constant(0, np.int8)
    assert not g.refusals(y, "ita_linear")


@given(
    st.integers(1, 255),
    st.integers(0, 33),
    st.integers(-128, 127),
    st.lists(st.integers(-(1 << 23), (1 << 23) - 1), min_size=64, max_size=64),
)
@settings(max_examples=examples(40), deadline=None)
def test_what_was_put_together_is_taken_apart(multiplier: int, shift: int, add: int, bias: list[int]) -> None:
    g = ItaGraph()
    weight = g.constant(np.ones((64, 64)), np.int8)
    sums = g.node("MatMulInteger", [g.input(8, 64), weight], [8, 64], np.int32)
    y = g.requant(sums, multiplier, shift, bias, add)
    match = Match((*g.nodes,), {**_captures(g.nodes[-1]), "requant": g.nodes[-1], "weight": weight})
    found = s.requant_of(match)
    assert not isinstance(found, str)
    again = found.multiplier * found.bias + ((1 << shift) >> 1) + (found.add << shift)
    np.testing.assert_array_equal(np.broadcast_to(again, 64), g.nodes[-1].inputs[2].values.reshape(-1))
    own = linear_layer(g.nodes[-1], [y])
    assert own is not None
    passes = as_ita(own)  # what the passes take for ITA's is what the pattern takes
    assert passes is not None
    assert passes.add == found.add
    np.testing.assert_array_equal(passes.bias, np.broadcast_to(found.bias, 64))


def _captures(requant: gs.Node) -> dict[str, gs.Tensor]:
    return dict(zip(("multiplier", "addend", "divisor", "low", "high"), requant.inputs[1:], strict=True))


# ---- GELU ------------------------------------------------------------------------------------------------------


def test_gelu_belongs_to_the_layer() -> None:
    g, y = one_linear()
    last = g.gelu(y)
    match = g.matches(last)["ita_linear"]
    assert [node.op for node in match.nodes] == ["MatMulInteger", "RequantI8", "Gelu"]


def test_gelu_is_refused_where_26_bits_do_not_hold_it() -> None:
    g, y = one_linear()
    last = g.gelu(y, b=-30000)
    rule, value = next(found for found in g.refusals(last, "ita_linear"))
    assert rule == rules.gelu.description
    assert value.startswith("a value reaches ")


def test_gelu_behind_a_relu_is_refused() -> None:
    g, y = one_linear(low=0)
    assert (rules.linear_bounds.description, "bounds are 0 and 127") in g.refusals(g.gelu(y), "ita_linear")


# ---- parts of matrices -----------------------------------------------------------------------------------------


def test_rows_and_columns_belong_to_the_layer() -> None:
    g = ItaGraph()
    y = g.linear(g.part(g.input(100, 192), (1, 100, 2), (64, 192, 1)), 64)
    match = g.matches(y)["ita_linear_part"]
    assert s.input_rows(match) == s.Rows(50, 2 * 192, 192 + 64)


def test_columns_that_do_not_follow_each_other_are_refused() -> None:
    g = ItaGraph()
    y = g.linear(g.part(g.input(100, 192), (0, 100, 1), (0, 128, 2)), 64)
    assert refusal(g, y, "ita_linear_part") == (rules.part.description, "it is not")


# ---- turned layers ---------------------------------------------------------------------------------------------


def test_a_turned_layer_is_filled_up_to_blocks() -> None:
    g = ItaGraph()
    y = g.turned(g.linear(g.input(100, 64), 64), 128)
    assert set(g.matches(y)) == {"ita_linear_turned"}


@pytest.mark.parametrize(("columns", "value"), [(100, "there are 100 columns"), (192, "100 columns become 192")])
def test_other_columns_are_refused(columns: int, value: str) -> None:
    g = ItaGraph()
    y = g.turned(g.linear(g.input(100, 64), 64), columns)
    assert (rules.turned_pad.description, value) in g.refusals(y, "ita_linear_turned")


def test_padding_with_another_number_is_refused() -> None:
    g = ItaGraph()
    y = g.turned(g.linear(g.input(100, 64), 64), 128)
    g.nodes[-1].inputs[2] = g.constant(1, np.int8)
    found = g.refusals(y, "ita_linear_turned")
    assert (rules.turned_pad.description, "other places or values are filled") in found


# ---- attention -------------------------------------------------------------------------------------------------


def one_attention(
    rows: int = 100, keys: int = 100, columns: int = 128, width: int = 128, **changes: object
) -> tuple[ItaGraph, gs.Variable]:
    g = ItaGraph()
    inputs = (g.input(rows, width), g.input(keys, width), g.input(width, columns))
    return g, g.attention(*inputs, **changes)  # type: ignore[arg-type]


def test_a_legal_attention_is_taken() -> None:
    g, y = one_attention(heads=2)
    assert set(g.matches(y)) == {"ita_attention"}


@pytest.mark.parametrize(
    ("changes", "rule", "value"),
    [
        ({"columns": 192}, attention_rules.heads, "there are 100 keys and 192 columns of values"),
        ({"heads": 4}, attention_rules.heads, "4 heads have 128 columns"),
        ({"keys": 1000, "columns": 1024}, attention_rules.tiles, "there are 1024"),
        ({"softmax": (3, 65280)}, attention_rules.softmax, "shift is 3, numerator 65280"),
        ({"qk": (1, 17, 0)}, attention_rules.masked, "a logit can be -48"),
        ({"width": 960, "heads": 1}, attention_rules.masked, "a logit can be 127"),
    ],
)
def test_attentions_that_are_refused(changes: dict[str, object], rule: object, value: str) -> None:
    g, y = one_attention(**changes)  # type: ignore[arg-type]
    assert (rule.description, value) in g.refusals(y, "ita_attention")  # type: ignore[attr-defined]


def test_queries_keys_and_values_of_other_widths_are_refused() -> None:
    g = ItaGraph()
    y = g.attention(g.input(100, 128), g.input(100, 64), g.input(192, 128))
    assert (attention_rules.heads.description, "widths are 128, 64 and 192") in g.refusals(y, "ita_attention")


def test_whole_blocks_of_keys_need_no_mask() -> None:
    g, y = one_attention(keys=128, qk=(1, 17, 0))
    assert set(g.matches(y)) == {"ita_attention"}


# ---- products --------------------------------------------------------------------------------------------------


def test_products_of_activations() -> None:
    g = ItaGraph()
    y = g.matmul(g.input(3, 10, 64), g.input(3, 128, 64))
    assert set(g.matches(y)) == {"ita_matmul"}
    g = ItaGraph()
    y = g.matmul(g.input(3, 10, 64), g.input(3, 100, 64))
    assert refusal(g, y, "ita_matmul") == (rules.matmul_blocks.description, "there are 100 output columns")


def test_products_with_other_multipliers_are_refused() -> None:
    g = ItaGraph()
    y = g.matmul(g.input(1, 64, 64), g.input(1, 64, 64), multiplier=300)
    assert refusal(g, y, "ita_matmul") == (rules.product_requant.description, "the multiplier is 300")


def test_products_with_zero_points_are_refused() -> None:
    g = ItaGraph()
    y = g.matmul(g.input(1, 64, 64), g.input(1, 64, 64))
    g.nodes[1].inputs.append(g.constant(3, np.int8))
    assert refusal(g, y, "ita_matmul") == (rules_tensors.no_zero_points.description, "there are zero points")


# ---- what no pass makes, but a graph may hold --------------------------------------------------------------------


def test_other_types_are_refused() -> None:
    g, y = one_linear()
    g.nodes[0].inputs[1] = g.constant(np.ones((64, 64)), np.uint8)
    assert (rules_tensors.int8_tensors.description, "weight is uint8") in g.refusals(y, "ita_linear")


def test_weights_of_a_batch_are_refused() -> None:
    g, y = one_linear()
    g.nodes[0].inputs[1] = g.constant(np.ones((1, 64, 64)), np.int8)
    assert (rules_tensors.matrix_weights.description, "weights have rank 3") in g.refusals(y, "ita_linear")


def test_sums_beyond_the_accumulator_are_refused() -> None:
    g, y = one_linear(2112)
    g.nodes[0].inputs[1] = g.constant(np.full((2112, 64), 127), np.int8)
    said = dict(g.refusals(y, "ita_linear"))[rules.accumulator.description]
    assert int(said.removeprefix("a sum reaches ")) >= 128 * 127 * 2112


@pytest.mark.parametrize(
    ("numbers", "value"),
    [({"b": -40000}, "constants are -40000 and -7091"), ({"multiplier": 256}, "after it the multiplier is 256")],
)
def test_gelus_that_registers_do_not_hold_are_refused(numbers: dict[str, int], value: str) -> None:
    g, y = one_linear()
    assert (rules.gelu.description, value) in g.refusals(g.gelu(y, **numbers), "ita_linear")


def test_a_result_in_another_order_is_not_turned() -> None:
    g, y = one_linear()
    same = g.node("Transpose", [y], [10, 64], np.int8, perm=[0, 1])
    assert (rules.turned.description, "it is [0, 1]") in g.refusals(same, "ita_linear_turned")


def test_several_matrices_are_not_turned() -> None:
    g = ItaGraph()
    y = g.linear(g.input(3, 10, 64), 64)
    turned = g.node("Transpose", [y], [3, 64, 10], np.int8, perm=[0, 2, 1])
    assert (rules.turned.description, "there are 3 matrices") in g.refusals(turned, "ita_linear_turned")


def test_a_turned_relu_is_refused() -> None:
    g = ItaGraph()
    y = g.turned(g.linear(g.input(64, 64), 64, low=0), 64)
    assert (rules.bounds.description, "bounds are 0 and 127") in g.refusals(y, "ita_linear_turned")


def test_a_softmax_in_other_groups_is_refused() -> None:
    g, y = one_attention()
    g.nodes[-1].attrs["group"] = 8
    assert refusal(g, y, "ita_attention") == (attention_rules.softmax.description, "it takes 8 columns at once")


def test_results_beyond_the_accumulator_are_refused() -> None:
    g, y = one_attention(keys=1088, columns=1088)
    value = f"a sum can reach {1088 * 255 * 128}"
    assert (attention_rules.attention_accumulator.description, value) in g.refusals(y, "ita_attention")
