"""Regions as JSON: what the document says, what it refuses, and that names never appear."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys

import numpy as np
import onnx_graphsurgeon as gs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from match_core.contract.region import Region
from match_regions.graph import ATTRIBUTE_ELEMENTS_MAX, json_graph


def _variable(name: str, *shape: int, dtype: str = "float32") -> gs.Variable:
    return gs.Variable(name, np.dtype(dtype), list(shape))


def _block() -> Region:
    """A convolution without a bias whose result leaves and is read inside, an activation, and a product with a constant
    that is read twice."""
    image, first, second, third = (_variable(name, 1, 4, 6, 6) for name in ("secret", "a", "b", "c"))
    weight = gs.Constant("w", np.ones((4, 4, 1, 1), np.float32))
    factor = gs.Constant("f", np.full((1,), 2, np.float32))
    conv = gs.Node("Conv", "n1", {"strides": [1, 1], "group": 1}, [image, weight, gs.Variable.empty()], [first])
    conv.domain = "match.nhwc"
    relu = gs.Node("LeakyRelu", "n2", {"alpha": 0.25}, [first], [second])
    mul = gs.Node("Mul", "n3", {}, [second, factor], [third])
    return Region.of((conv, relu, mul), (third, first))


def test_a_block() -> None:
    """Every field of a small document, its order, and its lines."""
    text = json_graph(_block()).decode("ascii")
    assert text.splitlines() == [
        '{"format":"match.region","version":1,',
        '"tensors":[',
        '{"kind":"input","index":0,"type":1,"shape":[1,4,6,6]},',
        '{"kind":"constant","index":0,"type":1,"shape":[4,4,1,1]},',
        '{"kind":"constant","index":1,"type":1,"shape":[1]},',
        '{"kind":"output","index":1,"type":1,"shape":[1,4,6,6]},',
        '{"kind":"inner","index":0,"type":1,"shape":[1,4,6,6]},',
        '{"kind":"output","index":0,"type":1,"shape":[1,4,6,6]}],',
        '"nodes":[',
        '{"op":"match.nhwc::Conv","inputs":[0,1,-1],"outputs":[3],"attributes":{"group":1,"strides":[1,1]}},',
        '{"op":"LeakyRelu","inputs":[3],"outputs":[4],"attributes":{"alpha":0.25}},',
        '{"op":"Mul","inputs":[4,2],"outputs":[5],"attributes":{}}]}',
    ]
    assert "secret" not in text


def test_the_table_of_constants_may_be_ordered_otherwise() -> None:
    """Indices of constants are those of the given table, which may hold more than the region reads."""
    region = _block()
    other = gs.Constant("other", np.zeros((7,), np.int64))
    document = json.loads(json_graph(region, (other, *reversed(region.constants))))
    constants = [tensor for tensor in document["tensors"] if tensor["kind"] == "constant"]
    assert [(tensor["index"], tensor["shape"]) for tensor in constants] == [(0, [7]), (1, [1]), (2, [4, 4, 1, 1])]
    assert constants[0]["type"] == 7
    assert document["nodes"][0]["inputs"] == [0, 3, -1]


def test_a_constant_that_the_table_lacks_is_refused() -> None:
    """Else a node would read a tensor that nobody hands over."""
    region = _block()
    with pytest.raises(ValueError, match=r"constants \[1\]"):
        json_graph(region, region.constants[:1])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, 3),
        (np.int64(-3), -3),
        (True, 1),
        (0.1, 0.1),
        (np.float32(0.5), 0.5),
        ("SAME\u00e9\n", "SAME\u00e9\n"),
        (b"mode", "mode"),
        ([1, 2], [1, 2]),
        ([], []),
        ((0.5, math.inf), [0.5, {"float": "inf"}]),
        (-math.inf, {"float": "-inf"}),
        (math.nan, {"float": "nan"}),
        (["a", "b"], ["a", "b"]),
        (np.array([[1, 2]], np.int8), {"type": 3, "shape": [1, 2], "values": [1, 2]}),
        (gs.Constant("t", np.array(0.5, np.float32)), {"type": 1, "shape": [], "values": [0.5]}),
    ],
)
def test_attributes(value: object, expected: object) -> None:
    """Each kind of attribute, as a strict reader gets it back."""
    node = gs.Node("Any", "n", {"value": value}, [_variable("x", 1)], [_variable("y", 1)])

    def refuse(text: str) -> None:
        raise AssertionError(f"{text} is no JSON")

    document = json.loads(json_graph(Region.of((node,), node.outputs)), parse_constant=refuse)
    assert document["nodes"][0]["attributes"] == {"value": expected}
    assert type(document["nodes"][0]["attributes"]["value"]) is type(expected)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (gs.Graph(), "attribute value of Any is of type Graph"),
        (np.zeros(ATTRIBUTE_ELEMENTS_MAX + 1, np.int8), f"has {ATTRIBUTE_ELEMENTS_MAX + 1} elements"),
        ({"a": 1}, "of type dict"),
    ],
)
def test_attributes_that_are_refused(value: object, message: str) -> None:
    """Graphs, large tensors, and what no ONNX attribute is."""
    node = gs.Node("Any", "n", {"value": value}, [_variable("x", 1)], [_variable("y", 1)])
    with pytest.raises(ValueError, match=message):
        json_graph(Region.of((node,), node.outputs))


def test_a_shape_that_is_not_static_is_refused() -> None:
    """The engine builds its program before it sees a tensor."""
    node = gs.Node("Relu", "n", {}, [gs.Variable("x", np.dtype("float32"), ["batch", 2])], [_variable("y", 1)])
    with pytest.raises(ValueError, match="no static shape"):
        json_graph(Region.of((node,), node.outputs))


@given(st.floats(width=32))
def test_floats_come_back_as_they_were(value: float) -> None:
    """Every float32 attribute is read back with the same bits, apart from those of a NaN."""
    node = gs.Node("Elu", "n", {"alpha": value}, [_variable("x", 1)], [_variable("y", 1)])
    read = json.loads(json_graph(Region.of((node,), node.outputs)))["nodes"][0]["attributes"]["alpha"]
    number = float(read["float"]) if isinstance(read, dict) else float(read)
    assert (math.isnan(number) and math.isnan(value)) or np.float32(number).tobytes() == np.float32(value).tobytes()


def test_the_same_bytes_under_every_hash_seed() -> None:
    """Attributes are sorted, and nothing depends on the addresses of tensors."""
    program = (
        "import numpy as np, onnx_graphsurgeon as gs, sys;"
        "from match_regions.graph import json_graph; from match_core.contract.region import Region;"
        "x, y = (gs.Variable(n, np.dtype('float32'), [2]) for n in 'xy');"
        "node = gs.Node('Any', 'n', dict.fromkeys({'pads', 'strides', 'group', 'alpha', 'mode'}, 1), [x], [y]);"
        "sys.stdout.buffer.write(json_graph(Region.of((node,), (y,))))"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(runs) == 1
