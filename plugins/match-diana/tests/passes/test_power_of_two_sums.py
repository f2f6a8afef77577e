"""Operands and results of sums share one scale, and so do sums that meet."""

from __future__ import annotations

from diana_forms import layers
from diana_pass_models import (
    POWER_OF_TWO,
    Network,
    Scale,
    context,
    integer_graph,
    quantised_graph,
)
from power_of_two_models import parameters, readers, relative, residual


def test_operands_and_result_of_a_sum_share_one_scale() -> None:
    after = POWER_OF_TWO.run(quantised_graph(residual()), context())
    found = {node.inputs[0].name: parameters(node) for node in readers(after)}
    assert found["a"] == found["b"] == found["s"] and found["s"][1] == 0
    (added,) = [layer for layer in layers(integer_graph(residual())) if layer.kind == "Add"]
    assert added.lacks == "" and added.shift == 0


def test_sums_that_meet_share_one_scale() -> None:
    net = Network(5)
    net.input("x", (1, 4, 6, 6), Scale(0.02, -128))
    net.layer("Conv", "x", "a", net.weights(4, 4, 1, 1), 0.01, Scale(0.07, -4))
    last = "a"
    for index, scale in enumerate((0.08, 0.1, 0.12)):
        net.layer("Conv", last, f"b{index}", net.weights(4, 4, 3, 3), 0.002, Scale(scale, 2), pads=[1, 1, 1, 1])
        last = net.sum(last, f"b{index}", f"s{index}", Scale(scale, 1))
    net.layer("Conv", last, "y", net.weights(4, 4, 1, 1), 0.01, Scale(0.2))
    model = net.model("y")
    after = integer_graph(model)
    assert {layer.lacks for layer in layers(after)} == {""}
    scales = {
        parameters(node)
        for node in readers(POWER_OF_TWO.run(quantised_graph(model), context()))
        if node.inputs[0].name not in ("x", "y")
    }
    assert len(scales) == 1
    assert relative(model, after) < 0.15


def test_a_sum_of_the_networks_own_inputs_stays_with_the_host() -> None:
    net = Network(5)
    for name, scale in (("x", 0.02), ("z", 0.03)):
        net.input(name, (1, 4, 6, 6), Scale(scale, 7))
    model = net.model(net.sum("x", "z", "y", Scale(0.04, 1)))
    assert POWER_OF_TWO.run(model, context()) is model
