"""Regions of elementwise operators: what joins them, that they are correct, and that models need no 64-bit tensors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnx_graphsurgeon as gs
import pytest
from host_harness import Array, Case, cover, expected, import_graph, make_model
from hypothesis import given, settings
from hypothesis import strategies as st
from match_core.ir.topology import Topology
from match_host.kernels.movement.movement import build_movement
from match_host.region import find_regions, find_regions_between

from tests.examples import examples
from tests.tiers import in_ci

node = onnx.helper.make_node
MODELS = Path(__file__).resolve().parents[2].parent / "shared" / "models"


def graph_of(nodes: list[onnx.NodeProto], x: Array, outputs: tuple[str, ...] = ("y",), **constants: Array) -> gs.Graph:
    graph = import_graph(make_model(nodes, {"x": x}, constants, outputs))
    for item, source in zip(graph.nodes, nodes, strict=True):
        item.name = source.output[0]
    return graph


def regions(graph: gs.Graph) -> list[list[str]]:
    return [[item.name for item in match.nodes] for match in find_regions(graph)]


X = np.linspace(-4, 4, 24, dtype=np.float32).reshape(2, 3, 4)


def test_a_diamond_is_one_region() -> None:
    nodes = [
        node("Abs", ["x"], ["a"]),
        node("Neg", ["a"], ["b"]),
        node("Exp", ["a"], ["c"]),
        node("Add", ["b", "c"], ["y"]),
    ]
    assert regions(graph_of(nodes, X)) == [["a", "b", "c", "y"]]


def test_what_is_expanded_is_read_where_it_is_used() -> None:
    """No tensor holds the repetitions, although a lone Expand copies rows."""
    expand, size = node("Expand", ["x", "size"], ["e"]), np.array([5, 3, 4])
    assert regions(graph_of([expand, node("Neg", ["e"], ["y"])], X[:1], size=size)) == [["e", "y"]]
    alone = graph_of([expand], X[:1], ("e",), size=size)
    assert "memcpy" in build_movement(tuple(alone.nodes), "kernel").code.definition


def test_a_value_that_others_read_ends_a_region() -> None:
    nodes = [
        node("Abs", ["x"], ["a"]),
        node("Neg", ["a"], ["b"]),
        node("Softmax", ["b"], ["s"]),
        node("Exp", ["b"], ["e"]),
        node("Mul", ["e", "s"], ["y"]),
    ]
    # b is read by Softmax too, so it is a result of its own; y could not absorb it without going round through s.
    assert regions(graph_of(nodes, X)) == [["a", "b"], ["e", "y"]]


def test_a_graph_output_ends_a_region() -> None:
    nodes = [node("Abs", ["x"], ["a"]), node("Neg", ["a"], ["b"]), node("Exp", ["b"], ["y"])]
    assert regions(graph_of(nodes, X, ("y", "a"))) == [["b", "y"]]


def test_another_shape_ends_a_region() -> None:
    nodes = [
        node("Neg", ["x"], ["n"]),
        node("ReduceMax", ["n"], ["m"], keepdims=0),
        node("Abs", ["m"], ["s"]),
        node("Mul", ["s", "half"], ["h"]),
        node("Sub", ["x", "h"], ["d"]),
        node("Exp", ["d"], ["y"]),
    ]
    assert regions(graph_of(nodes, X, half=np.float32(0.5))) == [["s", "h"], ["d", "y"]]


def test_an_unsupported_type_stays_outside() -> None:
    nodes = [
        node("Neg", ["x"], ["n"]),
        node("Cast", ["n"], ["h"], to=onnx.TensorProto.BFLOAT16),
        node("Abs", ["h"], ["y"]),
    ]
    graph = graph_of(nodes, X)
    assert len(regions(graph)) == 1
    for name in "hy":
        graph.tensors()[name].dtype = np.dtype(np.complex64)
    assert regions(graph) == []


def test_regions_that_leave_requantisation_to_others() -> None:
    x = np.arange(12, dtype=np.int32)
    constants = {name: np.array(value) for name, value in (("M", 3), ("B", 1), ("D", 2), ("lo", 0), ("hi", 255))}
    constants["s"], constants["t"] = np.array(0.5, np.float32), np.array(2, np.float32)
    nodes = [
        node("RequantU8", ["x", *"MBD", "lo", "hi"], ["q"], domain="match.arith"),
        node("DequantizeLinear", ["q", "s"], ["f"]),
        node("Mul", ["f", "t"], ["y"]),
    ]
    graph = graph_of(nodes, x, **constants)
    assert regions(graph) == [["q", "f", "y"]]
    assert [[item.name for item in match.nodes] for match in find_regions_between(graph)] == [["f", "y"]]


UNARY = ("Neg", "Abs", "Relu", "Sign")
BINARY = ("Add", "Sub", "Mul", "Max")


@st.composite
def dags(draw: st.DrawFn) -> tuple[list[onnx.NodeProto], tuple[str, ...]]:
    """Random graphs of elementwise operators with some reductions in between; every unread tensor is an output."""
    names, shapes, nodes, read = ["x"], {"x": (2, 3)}, [], set()
    for index in range(draw(st.integers(2, 12))):
        made = f"t{index}"
        a, b = draw(st.sampled_from(names)), draw(st.sampled_from(names))
        kind = draw(st.integers(0, 9))
        if kind == 0:
            nodes.append(node("ReduceMax", [a, "axis"], [made], keepdims=1))
            shapes[made], used = (2, 1), {a}
        elif kind < 4:
            nodes.append(node(draw(st.sampled_from(UNARY)), [a], [made]))
            shapes[made], used = shapes[a], {a}
        else:
            nodes.append(node(draw(st.sampled_from(BINARY)), [a, b], [made]))
            shapes[made], used = max(shapes[a], shapes[b]), {a, b}
        names.append(made)
        read |= used
    return nodes, tuple(name for name in names[1:] if name not in read)


@settings(max_examples=examples(60), deadline=None)
@given(dags())
def test_regions_are_convex_with_one_result(made: tuple[list[onnx.NodeProto], tuple[str, ...]]) -> None:
    """Checked against the definition, by reachability: nothing outside lies between two members."""
    nodes, outputs = made
    graph = graph_of(nodes, np.ones((2, 3), np.float32), outputs, axis=np.array([1]))
    topology = Topology.of(graph)
    after: dict[str, set[str]] = {}
    for item in reversed(topology.nodes):
        readers = {reader.name for reader in topology.consumers(item.outputs[0])}
        after[item.name] = readers.union(*(after[name] for name in readers)) if readers else readers
    seen: set[str] = set()
    for match in find_regions(graph):
        members = {item.name for item in match.nodes}
        result = match.nodes[-1]
        assert not members & seen
        seen |= members
        for item in match.nodes:
            assert list(item.outputs[0].shape) == list(result.outputs[0].shape)
            if item is not result:
                assert {reader.name for reader in topology.consumers(item.outputs[0])} <= members
                assert not topology.is_output(item.outputs[0])
            outside = after[item.name] - members
            assert not any(after[name] & members for name in outside)


def test_random_regions_compute_what_onnx_runtime_does(run_cases: Callable[..., list[list[dict[str, Array]]]]) -> None:
    rng = np.random.default_rng(3)
    cases = []
    for seed in range(12):
        names, nodes = ["x"], []
        for index in range(10):
            op = rng.choice([*UNARY, *BINARY])
            inputs = list(rng.choice(names[-4:], 2 if op in BINARY else 1))
            nodes.append(node(str(op), [str(name) for name in inputs], [f"t{index}"]))
            names.append(f"t{index}")
        read = {name for item in nodes for name in item.input}
        outputs = tuple(name for name in names[1:] if name not in read)
        x = rng.integers(-9, 9, (2, 3), dtype=np.int32 if seed % 2 else np.int64)
        cases.append(Case(make_model(nodes, {"x": x}, outputs=outputs), [{"x": x}]))
    for case, samples in zip(cases, run_cases(cases), strict=True):
        for name, want in expected(case.model, case.samples[0]).items():
            np.testing.assert_array_equal(samples[0][name], want)


INTEGER_MODELS = (
    "mlperf_autoencoder_int8_int",
    "mlperf_resnet8_int8_int",
    "mlperf_dscnn_int8_int",
    "mlperf_streaming_wakeword_int8_int",
    "mlperf_mobilenetv1_025_int8_int",
    "micro_conv_dw_16x16_c16_pc_int",
    "micro_conv_std_8x8_c64_int",
    "micro_conv_std_16x16_c16_relu_u8_int",
)
FLOAT_MODELS = ("mlperf_resnet8_f32", "mlperf_dscnn_w8f32", "mlperf_autoencoder_f32")


def stored(name: str, samples: int) -> tuple[Case, dict[str, Array]]:
    folder = MODELS / name
    if not (folder / "model.onnx").is_file():
        pytest.skip(f"the model set is not here: {folder}")
    model = onnx.load(folder / "model.onnx")
    with np.load(folder / "inputs.npz") as inputs, np.load(folder / "outputs.npz") as outputs:
        count = min(samples, len(inputs[model.graph.input[0].name]))
        feeds = [{i.name: inputs[i.name][n] for i in model.graph.input} for n in range(count)]
        return Case(model, feeds), {o.name: outputs[o.name][:count] for o in model.graph.output}


@pytest.mark.parametrize("name", in_ci(INTEGER_MODELS, lambda name: "mobilenet" not in name))
def test_integer_models_equal_their_stored_outputs(
    name: str, run_cases: Callable[..., list[list[dict[str, Array]]]]
) -> None:
    case, want = stored(name, 2)
    (samples,) = run_cases([case])
    for key, values in want.items():
        np.testing.assert_array_equal(np.stack([sample[key] for sample in samples]), values)


@pytest.mark.parametrize("name", FLOAT_MODELS)
def test_float_models_are_close_to_their_stored_outputs(
    name: str, run_cases: Callable[..., list[list[dict[str, Array]]]]
) -> None:
    case, want = stored(name, 2)
    (samples,) = run_cases([case])
    for key, values in want.items():
        got = np.stack([sample[key] for sample in samples])
        np.testing.assert_allclose(got, values, rtol=1e-5, atol=1e-5 * float(np.abs(values).max()))


@pytest.mark.parametrize("name", INTEGER_MODELS[:5])
def test_chains_of_64_bit_integers_stay_in_registers(name: str) -> None:
    """Between regions no 64-bit tensor is larger than the sums of a global average pool."""
    case, _ = stored(name, 1)
    chosen = cover(import_graph(case.model), None)
    wide = [c.match.output for c in chosen if np.dtype(c.match.output.dtype).itemsize == 8]
    assert max((int(np.prod(tensor.shape)) for tensor in wide), default=0) <= 256
