"""What the overview says: where cycles go, what would help, who refused what."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from match_report.view.bottleneck import bottleneck, parts, split
from match_report.view.helps import helps
from match_report.view.offload import offloaded
from match_report.view.refused import refused_nodes

from tests.report.documents import small_report


def test_the_busiest_unit_is_the_bottleneck() -> None:
    found = bottleneck(small_report())
    assert found is not None and (found.unit, found.cycles, found.share) == ("array", 800, 0.8)
    assert [(part.work, part.cycles, part.layer, part.links) for part in found.parts] == [
        ("copies", 400, 4, ("dma", "flash")),
        ("compute", 400, 1, ()),
    ]
    assert sum(part.cycles for part in parts(small_report())) == 1300, "of units that work at the same time"


def test_a_program_without_cycles_has_no_bottleneck() -> None:
    report = small_report()
    for layer in report["layers"]:
        layer["view"] = True
    assert bottleneck(report) is None and helps(report) == ()


@given(st.tuples(*[st.integers(0, 1000)] * 4), st.integers(0, 4000))
def test_parts_of_a_layer_add_up(costs: tuple[int, ...], hidden: int) -> None:
    names = ("compute_cycles", "transfer_cycles", "launch_cycles", "sync_cycles")
    cost = dict(zip(names, costs, strict=True)) | {"overlapped_cycles": min(hidden, sum(costs))}
    found = split({"schedule": {"cost": cost}})
    assert sum(found.values()) == sum(costs) - cost["overlapped_cycles"] and min(found.values()) >= 0
    if hidden <= cost["transfer_cycles"]:
        assert found["compute"] == cost["compute_cycles"], "what is hidden is copies first"


def fallback(**more: Any) -> dict[str, Any]:
    facts = {"cause": "float", "rule": "units compute with 8-bit integers", "value": "the network is float32"}
    work = {"unit": "array", "onnx_names": ["quantise"], "cycles": 200, "share": 0.2, "help": ["match quantize X"]}
    return {**facts, **work, **more}


def test_helps_state_what_they_save_at_most() -> None:
    report = small_report()
    report["fallbacks"] = [fallback(), fallback(cause="rule", cycles=9, onnx_names=["a", "b"])]
    report.update(declined_cycles=950, uncertainty=0.1)
    found = helps(report)
    assert [(help_.action, help_.cycles, help_.next) for help_ in found] == [
        ("Hide copies behind computation", 400, ""),
        ("Compute in 8-bit integers", 200, "match quantize X"),
        ("Change the layer that suits array least", 90, "match explain small.onnx dense -t chip"),
        ("Run units concurrently", 50, "add --concurrent"),
    ], "the fallback of 9 cycles is less than one percent"
    assert found[1].why.startswith("quantise runs on the host. Required: units compute with 8-bit integers. Found: the")
    assert (
        found[2].why
        == "dense computes 2,000 MACs in 100 cycles: 9 % of the best rate that array reaches in this program."
    )
    assert found[3].why == "Modelled at 950 cycles; the model may be off by 10 %."
    report["fallbacks"] = [fallback(cycles=5000)]
    assert helps(report)[0].share == 1.0, "queues overlap: never more than the program"


def test_refusals_belong_to_the_node_that_computes() -> None:
    report = small_report()
    rule = {"unit": "array", "pattern": "conv", "rule": "it is square", "value": "3 x 1"}
    report["refusals"] = [
        {**rule, "onnx_names": ["quantise", "conv"]},
        {**rule, "onnx_names": ["conv", "flatten"]},
        {**rule, "unit": "analog", "onnx_names": ["conv"]},
        {**rule, "onnx_names": ["dequantise"]},
        {**rule, "onnx_names": []},
    ]
    conv, *others = refused_nodes(report)
    assert (conv.node, conv.operator, conv.runs_on, conv.cycles) == ("conv", "Conv", ("array", "core"), 700)
    assert [unit for unit, _ in conv.units] == ["analog", "array"], "a unit that runs it comes last"
    assert len(conv.units[1][1]) == 1, "the same rule at two places of one node"
    assert sorted(node.node for node in others) == ["(inserted)", "dequantise"]


def test_regions_and_units_are_broken_down_where_a_unit_takes_regions() -> None:
    report = small_report()
    found = offloaded(report)
    assert found is not None
    assert [(part.title, part.unit, part.macs) for part in found.regions] == [
        ("conv", "array", 64_000),
        ("dense", "array", 2_000),
    ]
    assert [(part.unit, part.title) for part in found.units] == [
        ("array", "2 layers"),
        ("core", "1 layers"),
        ("host", "1 layers"),
    ]
    layers = [layer for layer in report["layers"] if not layer["view"]]
    for name in ("macs", "input_bytes", "output_bytes", "constant_bytes", "predicted_cycles"):
        assert sum(getattr(part, name) for part in found.units) == sum(layer[name] for layer in layers)
    counted = {layer["index"]: layer["cycles"] for layer in report["measured"]["layers"]}
    assert [part.cycles for part in found.regions] == [counted[1], counted[4]]
    assert all(part.ms is None for part in found.units)
    unmeasured = offloaded({**report, "measured": None})
    assert unmeasured is not None and {part.cycles for part in unmeasured.units} == {None}
    assert offloaded({**report, "regions": []}) is None
