"""Operators of QuantLib networks are taken from every domain that exporters use, or refused with a reason."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from match_core.contract.errors import ModelError
from match_core.contract.model import Model, qualified_op
from match_core.load.integer_rules import exponentials
from match_core.load.load import load_model
from match_verify.reference import ReferenceRunner
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

Save = Callable[..., Path]
REQUANT = {"div": 16.0, "n_levels_out": 256.0, "signed": 1.0}


def tensor(value: float) -> onnx.TensorProto:
    return numpy_helper.from_array(np.array([value], np.float32))


@pytest.fixture
def network(tmp_path: Path) -> Save:
    """Saves a model of one operator on a float tensor ``x`` and float constants."""

    def save(
        op: str,
        attributes: dict[str, object],
        *constants: object,
        shape: tuple[int, ...] = (1, 4),
        domain: str = "",
        result: tuple[int, ...] | None = None,
        opset: int = 10,
    ) -> Path:
        names = [f"c{i}" for i in range(len(constants))]
        whole = {k: tensor(v) if isinstance(v, float) else v for k, v in attributes.items()}
        node = helper.make_node(op, ["x", *names], ["y"], name="n", domain=domain, **whole)
        graph = helper.make_graph(
            [node],
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, result or shape)],
            [numpy_helper.from_array(np.asarray(c, np.float32), n) for c, n in zip(constants, names, strict=True)],
        )
        imports = [helper.make_opsetid("", opset), *([helper.make_opsetid(domain, 1)] if domain else [])]
        path = tmp_path / "net.onnx"
        onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=5), path)
        return path

    return save


def outputs(model: Model, x: object) -> list[float]:
    result = ReferenceRunner(model).run({"x": np.asarray(x, np.float32)})["y"]
    assert result.dtype == np.float32
    return [float(value) for value in result.reshape(-1)]


def ops(model: Model) -> list[str]:
    return [qualified_op(node) for node in model.graph.nodes]


@pytest.mark.parametrize("domain", ["", "PACTOps", "ai.onnx.contrib", "com.microsoft"])
def test_requantisation_rounds_half_up(network: Save, domain: str) -> None:
    model = load_model(network("RequantShift", REQUANT, 3.0, [1.0], domain=domain))
    assert ops(model) == ["match.arith::AsInteger", "match.arith::RequantI8", "Cast"]
    assert outputs(model, [[2, -4, 700, -700]]) == [0.0, -1.0, 127.0, -128.0]  # (3 x + 1 + 8) // 16
    assert set(model.provenance.values()) == {("n",)}
    assert "n" in model.provenance


def test_unsigned_and_short_ranges(network: Save) -> None:
    model = load_model(network("RequantShift", {"div": 1, "n_levels": 16, "signed": 0}, 1.0, 0.0))
    assert outputs(model, [[-5, 3, 15, 99]]) == [0.0, 3.0, 15.0, 15.0]


@pytest.mark.parametrize(
    ("shape", "parameters", "axis"),
    [
        ((1, 3, 2, 2), (3,), 1),
        ((1, 3, 2, 2), (3, 1, 1), 1),
        ((1, 3, 2, 2), (1, 3, 1, 1), 1),
        ((2, 3), (3,), 1),
        ((1, 2, 3), (3,), 2),
        ((3, 2), (3, 1), 0),
    ],
)
def test_parameters_lie_along_the_channels(
    network: Save, shape: tuple[int, ...], parameters: tuple[int, ...], axis: int
) -> None:
    factors = np.array([1.0, 2.0, 5.0])
    attributes = {"div": 1, "n_levels": 256, "signed": 1}
    model = load_model(network("RequantShift", attributes, factors.reshape(parameters), 0.0, shape=shape))
    x = np.arange(np.prod(shape)).reshape(shape)
    along = factors.reshape([-1 if i == axis else 1 for i in range(len(shape))])
    assert outputs(model, x) == (x * along).clip(-128, 127).reshape(-1).tolist()


@pytest.mark.parametrize(
    ("op", "attributes", "constants", "given", "expected"),
    [
        ("iGELU", {"b": -40, "one": 1743}, [], [-60, -1, 0, 50], [0, -760, 0, 87150]),
        ("RequantizediGELU", {"b": -40, "one": 1743}, [2.0, 0.0, 11.0], [-60, -1, 0, 50], [0, -1, 0, 85]),
        ("iHardswish", {"one_over_six": 2.0, "three": 6.0, "six": 12.0}, [], [-9, -2, 1, 9], [0, -16, 14, 216]),
        ("ITAMax", {"n_levels": 256.0}, [], [100, 100, 0, -128], [119, 119, 14, 0]),
        ("ITAPartialMax", {"n_levels": 256.0, "group_width": 2}, [], [100, 100, 0, -128], [59, 59, 7, 0]),
        ("iRMSNorm", {"D": 4.0, "n_levels": 256.0}, [[8, 8, 8, 8]], [3, -3, 5, 5], [1, -2, 2, 2]),
        ("iLayerNorm", {"D": 1.0, "n_levels": 256.0}, [[8, 8, 8, 8], [1, 0, 0, 0]], [3, -3, 5, 5], [3, -13, 8, 8]),
        ("iNoNorm", {"mul": 3.0, "D": 8.0}, [[1, 2, 1, 1], [0, 0, -3, 9]], [3, -3, 5, 90], [1, -3, 0, 37]),
        ("IntegerMean", {"axes": [1], "keepdims": 1}, [], [1, 2, 3, 4], [3]),
    ],
)
def test_operators(
    network: Save, op: str, attributes: dict[str, object], constants: list[object], given: object, expected: list[int]
) -> None:
    path = network(op, attributes, *constants, result=(1, len(expected)))
    assert outputs(load_model(path), [given]) == expected


def test_softmax_of_integer_exponentials(network: Save) -> None:
    attributes = {"coeffA": 1.0, "coeffB": 173.0, "coeffC": 15599.0, "log2": 127.0, "n_levels": 256.0}
    values = [100, 90, -128, 100]
    table = exponentials(1, 173, 15599, 127)
    weights = [int(table[100 - value]) for value in values]
    got = outputs(load_model(network("iSoftmax", attributes)), [values])
    assert got == [255 * weight // sum(weights) for weight in weights]


def test_exponentials_as_a_scalar_formula() -> None:
    table = exponentials(1, 345, 62395, 255)
    for distance in (0, 1, 254, 255, 256, 510):
        halvings = distance // 255
        rest = -distance + halvings * 255
        assert table[distance] == ((rest + 345) ** 2 + 62395) >> halvings


@pytest.mark.parametrize("opset", [13, 18])
def test_a_mean_beside_integer_operators_is_rounded(tmp_path: Path, opset: int) -> None:
    axes = {"axes": [2]} if opset == 13 else {}
    extra = [] if opset == 13 else ["axes"]
    graph = helper.make_graph(
        [
            helper.make_node("ReduceMean", ["x", *extra], ["m"], name="mean", keepdims=0, **axes),
            helper.make_node("RequantShift", ["m", "one", "zero"], ["y"], name="rq", **REQUANT_ONE),
        ],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 2, 4))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, 2))],
        [numpy_helper.from_array(np.float32(1), "one"), numpy_helper.from_array(np.float32(0), "zero")]
        + [numpy_helper.from_array(np.array([2], np.int64), name) for name in extra],
    )
    path = tmp_path / "net.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), path)
    assert outputs(load_model(path), [[[1, 2, 3, 4], [-1, -2, -3, -4]]]) == [3.0, -2.0]


REQUANT_ONE = {"div": 1, "n_levels": 256, "signed": 1}


def test_a_body_in_the_file_is_left_alone(saved: Save) -> None:
    path = saved(
        """<ir_version: 10, opset_import: ["" : 21, "PACTOps" : 1]> g (float[1,4] x) => (float[1,4] y)
        { y = PACTOps.RequantShift (x) }
        <domain: "PACTOps", opset_import: ["" : 21]> RequantShift (x) => (y) { y = Neg (x) }"""
    )
    assert ops(load_model(path)) == ["Neg"]


GELU = {"b": -40, "one": 1743}
WRONG: list[tuple[str, dict[str, object], list[object], str]] = [
    ("RequantShift", {"n_levels": 256, "signed": 1}, [1.0, 0.0], "it has no attribute div"),
    ("RequantShift", {**REQUANT_ONE, "div": 0}, [1.0, 0.0], "it divides by 0"),
    ("RequantShift", {**REQUANT_ONE, "div": 2.5}, [1.0, 0.0], "holds values that are not integers"),
    ("RequantShift", {**REQUANT_ONE, "n_levels": 65536}, [1.0, 0.0], "65536 levels"),
    ("RequantShift", REQUANT_ONE, [0.5, 0.0], "multiplier holds values that are not integers"),
    ("RequantShift", REQUANT_ONE, [1.0], "its addend (input 2) is not constant"),
    ("RequantShift", REQUANT_ONE, [[1.0, 2.0, 3.0], 0.0], "its multiplier has shape [3]"),
    ("ITAPartialMax", {"n_levels": 256, "group_width": 3}, [], "4 columns are not a multiple of 3"),
    ("iLayerNorm", {"D": 4, "n_levels": 256}, [[1.0, 2.0], [0.0]], "its weight has shape [2]"),
    ("iSoftmax", {"coeffA": 1, "coeffB": 2, "coeffC": 3, "log2": 0, "n_levels": 256}, [], "log2 is 0"),
    ("RequantizediGELU", GELU, [1.0, 0.0, 70.0], "it shifts by 70"),
]


@pytest.mark.parametrize(("op", "attributes", "constants", "why"), WRONG)
def test_what_cannot_be_taken(
    network: Save, op: str, attributes: dict[str, object], constants: list[NDArray[np.generic]], why: str
) -> None:
    with pytest.raises(ModelError) as caught:
        load_model(network(op, attributes, *constants))
    assert caught.value.code == "MATCH-F017"
    assert why in caught.value.why
    assert "'n'" in caught.value.where


def test_other_unknown_operators_stay_unknown(network: Save) -> None:
    with pytest.raises(ModelError) as caught:
        load_model(network("RequantWarp", {}))
    assert caught.value.code == "MATCH-F009"
