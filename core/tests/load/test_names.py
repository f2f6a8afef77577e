"""Source names survive; every node gets a unique one; local functions are inlined under the names of their calls."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from match_core.contract.errors import ModelError
from match_core.load.load import load_model
from match_verify.reference import ReferenceRunner

HEAD = '<ir_version: 8, opset_import: ["" : 17]>'


def test_names_and_places_of_nameless_nodes(saved):
    text = f"{HEAD} g (float[2] x) => (float[2] y) {{ [first] a = Relu(x) b = Neg(a) y = Abs(b) }}"
    model = load_model(saved(text))
    assert model.provenance == {"first": ("first",), "Neg_1": ("Neg_1",), "Abs_2": ("Abs_2",)}
    assert [node.name for node in model.graph.nodes] == ["first", "Neg_1", "Abs_2"]


def test_duplicate_names_stay_apart_and_keep_their_source(saved):
    text = f"{HEAD} g (float[2] x) => (float[2] y) {{ [n] a = Relu(x) [n] b = Neg(a) [n_2] c = Abs(b) [n] y = Neg(c) }}"
    model = load_model(saved(text))
    names = [node.name for node in model.graph.nodes]
    assert names == ["n", "n_3", "n_2", "n_4"]
    assert [model.provenance[name] for name in names] == [("n",), ("n",), ("n_2",), ("n",)]


def test_a_nameless_node_does_not_take_a_given_name(saved):
    text = f"{HEAD} g (float[2] x) => (float[2] y) {{ a = Relu(x) [Relu_0] y = Relu(a) }}"
    names = [node.name for node in load_model(saved(text)).graph.nodes]
    assert len(set(names)) == 2
    assert names[1] == "Relu_0"


def test_the_models_name_is_an_identifier(saved):
    text = f"{HEAD} g (float[2] x) => (float[2] y) {{ y = Relu(x) }}"
    assert load_model(saved(text, "3 nets; int.onnx")).name == "n3_nets__int"
    assert load_model(saved(text, "while.onnx")).name == "while_"


def test_local_functions(saved):
    text = """<ir_version: 10, opset_import: ["" : 17, "own" : 1]>
    g (float[1,4] x) => (float[1,4] y) { [call_a] a = own.f <alpha = 2.0> (x)  [call_b] y = own.f <alpha = 3.0> (a) }
    <domain: "own", opset_import: ["" : 17, "own" : 1]>
    f <alpha> (x) => (y) { [inner] t = Elu <alpha: float = @alpha> (x)  y = own.h (t) }
    <domain: "own", opset_import: ["" : 17]>
    h (x) => (y) { [deep] y = Neg (x) }"""
    path = saved(text)
    model = load_model(path)
    assert model.graph.functions == []
    sources = [model.provenance[node.name] for node in model.graph.nodes]
    assert sources == [("call_a/inner",), ("call_a/h_1/deep",), ("call_b/inner",), ("call_b/h_1/deep",)]
    x = np.array([[-1.0, 2.0, -3.0, 0.5]], np.float32)
    expected = ReferenceRunner(onnx.load(path)).run({"x": x})["y"]
    assert np.allclose(ReferenceRunner(model).run({"x": x})["y"], expected)


def test_loading_twice_gives_the_same(saved):
    path = saved(f"{HEAD} g (float[2] x) => (float[2] y) {{ a = Relu(x) y = Neg(a) }}")
    first, second = load_model(path), load_model(path)
    assert first.to_onnx().SerializeToString() == second.to_onnx().SerializeToString()
    assert first.source_sha256 == second.source_sha256
    assert first.source == "net.onnx"


def test_functions_that_call_themselves_or_explode_are_refused(saved):
    head = '<ir_version: 10, opset_import: ["" : 17, "own" : 1]> g (float[4] x) => (float[4] y) { y = own.f0 (x) }'
    imports = 'domain: "own", opset_import: ["" : 17, "own" : 1]'
    loop = f"{head} <{imports}> f0 (x) => (y) {{ y = own.f1 (x) }} <{imports}> f1 (x) => (y) {{ y = own.f0 (x) }}"
    bomb = head + "".join(
        f"<{imports}> f{i} (x) => (y) {{ a = own.f{i + 1} (x) y = own.f{i + 1} (a) }}" for i in range(40)
    )
    bomb += f"<{imports}> f40 (x) => (y) {{ y = Neg (x) }}"
    for text in (loop, bomb):
        with pytest.raises(ModelError) as caught:
            load_model(saved(text))
        assert caught.value.code in ("MATCH-F016", "MATCH-F003")
