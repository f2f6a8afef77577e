"""What falls to the host, and why: one test for each cause, on chips of this repository; and what the verbs say."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from match_core.cli.results import show_fallbacks
from match_core.cli.terminal import Terminal
from match_core.contract.compilation import Planned
from match_core.contract.fallback import Fallback
from match_core.contract.observe import NullObserver
from match_core.pipeline import CompileRequest, decide, prepare
from match_core.plugin.facade import Plugins
from match_core.summary.fallbacks import fallbacks, fallbacks_json
from onnx import TensorProto, helper, numpy_helper

from benchmarks.breadth_models import MADE, Graph, float_network, quantised
from tests.envelope import opened
from tests.float_models import exported_network

Match = Callable[..., subprocess.CompletedProcess[str]]
Golden = Callable[[str, str], None]


def _planned(model: onnx.ModelProto, path: Path, plugins: Plugins, target: str = "gap9", **options: Any) -> Planned:
    onnx.save(model, str(path / "net.onnx"))
    request = CompileRequest(path / "net.onnx", target, execution="sequential", **options)
    return decide(prepare(request, plugins, NullObserver()), plugins, NullObserver())[0]


def _of(cause: str, found: tuple[Fallback, ...]) -> Fallback:
    (fallback,) = (fallback for fallback in found if fallback.cause == cause)
    return fallback


def _grouped(graph: Graph) -> str:
    """The second convolution has two groups of channels."""
    x = graph.conv("x", 8, 16, (3, 3))
    return graph.conv(x, 16, 16, (3, 3), group=2)


def _summed(graph: Graph) -> str:
    """The result of the second convolution stays float."""
    x = graph.conv("x", 8, 16, (3, 3))
    axis = graph.constant(np.array(1))
    return graph.node("CumSum", graph.conv(x, 16, 16, (3, 3), relu=False), axis)


@pytest.mark.parametrize("target", ["gap9", "carfield", "diana", "ita"])
def test_a_float_network(target: str, tmp_path: Path, plugins: Plugins) -> None:
    planned = _planned(MADE["float"](), tmp_path, plugins, target)
    (fallback,) = fallbacks(planned)
    assert (fallback.cause, fallback.value, round(fallback.share, 3)) == ("float", "the network is float32", 1)
    assert fallback.help == ("match quantize net.onnx --data X.npz --output net_int8.onnx",)
    assert fallback.cycles == planned.program.predicted_cycles
    assert "conv_0" in fallback.nodes
    assert fallbacks_json(planned)["all_on_host"] is True


def test_a_quantised_network_has_none(tmp_path: Path, plugins: Plugins) -> None:
    planned = _planned(MADE["batch 1"](), tmp_path, plugins)
    assert fallbacks_json(planned) == {"fallbacks": [], "all_on_host": False}


def test_a_chip_with_the_host_alone_has_none(tmp_path: Path, plugins: Plugins) -> None:
    planned = _planned(MADE["float"](), tmp_path, plugins, "host")
    assert fallbacks_json(planned) == {"fallbacks": [], "all_on_host": False}


def test_a_rule_of_a_pattern(tmp_path: Path, plugins: Plugins) -> None:
    fallback = _of("rule", fallbacks(_planned(quantised(_grouped, (1, 8, 16, 16)), tmp_path, plugins)))
    assert fallback.nodes == ("conv_2",)
    assert "there is one group" in fallback.rule and "there are 2 groups" in fallback.value
    assert fallback.unit in ("cluster", "ne16")
    assert fallback.help == ("match explain net.onnx conv_2 -t gap9",)
    assert fallback.cycles > 100_000 and fallback.share > 0.5


def test_one_operator_in_float(tmp_path: Path, plugins: Plugins) -> None:
    made = quantised(_summed, (1, 8, 16, 16))
    _without_quantiser(made, before="cumsum_3")
    found = fallbacks(_planned(made, tmp_path, plugins))
    fallback = next(fallback for fallback in found if "conv_2" in fallback.nodes)
    assert (fallback.cause, fallback.value) == ("float", "the result of Conv is read by CumSum")
    assert fallback.help == ("quantise inputs, weights and results to 8 bits",)
    nowhere = _of("no pattern", found)
    assert (nowhere.nodes, nowhere.rule) == (("cumsum_3",), "a unit has a pattern with CumSum")


def test_samples_of_a_batch_are_not_the_cause(tmp_path: Path, plugins: Plugins) -> None:
    made = quantised(_summed, (4, 8, 16, 16))
    _without_quantiser(made, before="cumsum_3")
    found = fallbacks(_planned(made, tmp_path, plugins))
    fallback = next(fallback for fallback in found if "conv_2" in fallback.nodes)
    assert fallback.value == "the result of Conv is read by CumSum"


def _dilated(graph: Graph) -> str:
    x = graph.conv("x", 8, 16, (3, 3))
    return graph.conv(x, 16, 16, (3, 3), group=16, dilations=[2, 2], pads=[2, 2, 2, 2])


def test_weights_that_need_nine_bits_are_not_the_cause(tmp_path: Path, plugins: Plugins) -> None:
    made = quantised(_dilated, (1, 8, 16, 16))
    for tensor in made.graph.initializer:  # the weights become uint8, with the zero point 0
        values = numpy_helper.to_array(tensor)
        if tensor.name == "c2_quantized":
            tensor.CopyFrom(numpy_helper.from_array(values.astype(np.uint8), tensor.name))
        elif tensor.name == "c2_zero_point":
            tensor.CopyFrom(numpy_helper.from_array(np.zeros(16, np.uint8), tensor.name))
    found = fallbacks(_planned(made, tmp_path, plugins))
    fallback = next(fallback for fallback in found if "conv_2" in fallback.nodes)
    assert fallback.cause == "rule" and "no dilation" in fallback.rule


def _without_quantiser(model: onnx.ModelProto, before: str) -> None:
    """The node reads the float result that the quantiser before it reads."""
    makers = {name: node for node in model.graph.node for name in node.output}
    (node,) = (node for node in model.graph.node if node.name == before)
    while (maker := makers[node.input[0]]).op_type in ("DequantizeLinear", "QuantizeLinear"):
        node.input[0] = maker.input[0]


def test_a_unit_that_the_user_disabled(tmp_path: Path, plugins: Plugins) -> None:
    planned = _planned(MADE["batch 1"](), tmp_path, plugins, without_units=("cluster",))
    fallback = _of("disabled", fallbacks(planned))
    assert (fallback.unit, fallback.value) == ("cluster", "--without-unit cluster disables it")
    assert fallback.help == ("omit --without-unit cluster",)
    assert "add_3" in fallback.nodes
    other = _of("disabled", fallbacks(_planned(MADE["batch 1"](), tmp_path, plugins, only_units=("ne16",))))
    assert (other.value, other.help) == ("--only-unit omits it", ("add --only-unit cluster",))


def test_a_unit_that_another_one_replaces_is_not_missed(tmp_path: Path, plugins: Plugins) -> None:
    planned = _planned(MADE["batch 1"](), tmp_path, plugins, without_units=("ne16",))
    assert not [fallback for fallback in fallbacks(planned) if fallback.unit == "ne16"]


def test_no_package_makes_operators_integer(tmp_path: Path) -> None:
    plugins = Plugins.load(environment={"MATCH_DISABLE_PLUGINS": "match-quant"})
    planned = _planned(MADE["batch 1"](), tmp_path, plugins)
    fallback = fallbacks(planned)[0]
    assert (fallback.cause, fallback.rule) == ("float", "a package makes quantised operators integer")
    assert fallback.help == ("match-quant is disabled: enable it",)
    assert fallbacks_json(planned)["all_on_host"] is True


def test_sizes_that_the_data_give(tmp_path: Path, plugins: Plugins) -> None:
    ends = (("x", TensorProto.FLOAT, [2, 8]), ("y", TensorProto.INT64, [2, 5]))
    x, y = (helper.make_tensor_value_info(*end) for end in ends)
    graph = helper.make_graph([helper.make_node("NonZero", ["x"], ["y"], "found")], "net", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    (fallback,) = fallbacks(_planned(model, tmp_path, plugins))
    assert (fallback.cause, fallback.value) == ("data size", "data give that of NonZero")


def test_the_host_is_cheaper(tmp_path: Path, plugins: Plugins) -> None:
    """Another unit could run the dense layer, but starting it costs more."""

    def tiny(graph: Graph) -> str:
        return graph.node("MatMul", "x", graph.weights(2, 2))

    planned = _planned(quantised(tiny, (1, 2)), tmp_path, plugins, quantized_io=True)
    ran = {task.assignment.candidate.unit for task in planned.program.tasks}
    assert ran == {"host"}
    assert {offered.candidate.unit for offered in planned.offered} > {"host"}
    assert fallbacks(planned) == ()


@pytest.mark.parametrize("name", ["ConvInteger, dynamic", "legacy LayerNorm, GELU", "batch 4", "SiLU"])
def test_nodes_have_the_names_of_the_file(name: str, tmp_path: Path, plugins: Plugins) -> None:
    model = MADE[name]()
    known = {node.name for node in model.graph.node}
    planned = _planned(model, tmp_path, plugins)
    assert {node for fallback in fallbacks(planned) for node in fallback.nodes} <= known


@pytest.mark.parametrize("name", ["float", "grouped", "ConvInteger, dynamic", "batch 1"])
def test_the_text_at_80_columns(
    name: str, tmp_path: Path, plugins: Plugins, capsys: pytest.CaptureFixture[str], golden: Golden
) -> None:
    model = quantised(_grouped, (1, 8, 16, 16)) if name == "grouped" else MADE[name]()
    planned = _planned(model, tmp_path, plugins)
    document = {**fallbacks_json(planned), "predicted_cycles": planned.program.predicted_cycles}
    with Terminal() as terminal:
        show_fallbacks(terminal, document, Path("net.onnx"))
    out, err = capsys.readouterr()
    assert max(map(len, (out + err).splitlines()), default=0) <= 80
    golden(f"{name.replace(', ', '_').replace(' ', '_')}.txt", out + err)


@pytest.mark.parametrize(("unit", "name"), [("host", "the host"), ("cortex_m4", "cortex_m4")])
def test_a_core_with_kernels_of_its_own_is_named(unit: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    entry = {"onnx_names": ["conv"], "cause": "rule", "rule": "8 bits", "value": "16 bits", "unit": "other", "help": []}
    rows = [{"unit": "other", "onnx_names": ["pool"]}, {"unit": unit, "onnx_names": ["conv", "relu"]}]
    document = {"fallbacks": [{**entry, "cycles": 9, "share": 0.9}], "nodes": rows, "predicted_cycles": 10}
    with Terminal() as terminal:
        show_fallbacks(terminal, {**document, "all_on_host": True}, Path("net.onnx"))
    out, err = capsys.readouterr()
    assert f"on {name} and not on another unit" in out
    assert err.startswith(f"warning: the whole network runs on {name}, 10 cycles")


@pytest.mark.parametrize("verb", ["check", "compile", "verify"])
def test_every_verb_says_it(verb: str, tmp_path: Path, match_command: Match) -> None:
    onnx.save(float_network(lambda graph: graph.conv("x", 4, 4, (3, 3)), (1, 4, 8, 8)), str(tmp_path / "net.onnx"))
    output = ("-o", tmp_path / "out") if verb == "compile" else ()
    quantize = f"match quantize {tmp_path / 'net.onnx'} --data X.npz --output net_int8.onnx"
    told = match_command(verb, tmp_path / "net.onnx", "-t", "gap9", "--quiet", *output)
    asked = match_command(verb, tmp_path / "net.onnx", "-t", "gap9", "--quiet", "--json", *output)
    for done in (told, asked):
        assert done.returncode == 0, done.stderr
        assert done.stderr.startswith("warning: the whole network runs on the host")
        assert f"help: {quantize}" in done.stderr
    document = opened(asked.stdout)
    assert document["all_on_host"] is True
    (fallback,) = document["fallbacks"]
    assert fallback["onnx_names"] == ["conv_0", "relu_1"]
    assert fallback["cause"] == "float" and fallback["help"]
    assert f"help: {quantize}" in told.stdout
    if verb == "check":
        assert 0 < document["quantised_cycles"] < document["predicted_cycles"]
        assert "quantise to 8 bits: " in told.stdout
    if verb == "compile":
        report = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))
        assert (report["fallbacks"], report["all_on_host"]) == (document["fallbacks"], True)


def test_commands_have_the_sizes_that_the_user_fixed(tmp_path: Path, plugins: Plugins) -> None:
    planned = _planned(exported_network(), tmp_path, plugins, dims=(("batch", 1),))
    (fallback,) = fallbacks(planned)
    assert fallback.help == ("match quantize net.onnx --data X.npz --output net_int8.onnx --dim batch=1",)


def test_quantized_io_is_advised_where_it_removes_conversions(tmp_path: Path, plugins: Plugins) -> None:
    advice = {}
    for given in (False, True):  # conversions between samples of a batch remain
        found = fallbacks(_planned(MADE["batch 2"](), tmp_path, plugins, "ita", quantized_io=given))
        advice[given] = [fallback.nodes for fallback in found if fallback.help == ("add --quantized-io",)]
    assert advice == {False: [("x_QuantizeLinear", "gemm_7_DequantizeLinear")], True: []}
