"""Layer normalisation and GELU from before the standard had them: units take them as they take the operators."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from match_core.contract.model import qualified_op
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, VerifyResult, verify_model
from onnx import TensorProto, helper, numpy_helper

from tests.end_to_end.qdq_encoders import Encoder, inputs, save


def verify(path: Path, target: str, plugins: Plugins, **options: object) -> VerifyResult:
    result = verify_model(VerifyRequest(path, target, **options), plugins)  # type: ignore[arg-type]
    assert result.ok
    return result


def units(result: VerifyResult) -> list[tuple[str, ...]]:
    """What runs where: unit and operators of every task."""
    return [
        (assignment.candidate.unit, *(qualified_op(node) for node in assignment.candidate.match.nodes))
        for assignment in result.compilation.mapping.assignments
    ]


@pytest.mark.parametrize("form", ["elementary", "early"])
def test_an_encoder_of_opset_13_runs_as_one_of_opset_17(form: str, plugins: Plugins, tmp_path: Path) -> None:
    """On ITA: the same tasks on the same units, and the same results."""
    found = []
    for norm in ("operator", form):
        encoder = Encoder(rows=16, width=64, inner=64, norm=norm)
        np.savez(tmp_path / "inputs.npz", x=inputs(encoder))
        path = save(encoder, tmp_path / f"{norm}.onnx")
        found.append(verify(path, "ita", plugins, inputs=tmp_path / "inputs.npz", quantized_io=True))
    assert units(found[0]) == units(found[1])
    assert any("LayerNorm" in op for _, *ops in units(found[1]) for op in ops)
    assert {unit for unit, *_ in units(found[1])} <= {"ita", "snitch"}
    for name, values in found[0].run.outputs.items():
        np.testing.assert_array_equal(values, found[1].run.outputs[name])


def half_network(path: Path) -> Path:
    """float16: layer normalisation with the reciprocal of the root, and GELU with the half on the gate."""
    rng = np.random.default_rng(3)
    numbers = {"two": 2.0, "eps": 1e-3, "root": np.sqrt(0.5), "one": 1.0, "half": 0.5}
    constants = {name: np.array(value, np.float16) for name, value in numbers.items()}
    constants |= {name: rng.normal(1, 0.3, 64).astype(np.float16) for name in ("scale", "bias")}
    text = """m = ReduceMean <axes = [-1]> (x) d = Sub (x, m) s = Pow (d, two) v = ReduceMean <axes = [-1]> (s)
        w = Add (v, eps) r = Sqrt (w) i = Reciprocal (r) q = Mul (d, i) t = Mul (q, scale) n = Add (t, bias)
        u = Mul (n, root) e = Erf (u) a = Add (e, one) g = Mul (a, half) y = Mul (n, g)"""
    model = onnx.parser.parse_model(
        f'<ir_version: 8, opset_import: ["" : 13]> net (float16[1,16,64] x) => (float16[1,16,64] y) {{ {text} }}'
    )
    model.graph.initializer.extend(numpy_helper.from_array(values, name) for name, values in constants.items())
    onnx.save(model, path)
    return path


def test_float16_on_carfield(plugins: Plugins, tmp_path: Path) -> None:
    result = verify(half_network(tmp_path / "net.onnx"), "carfield", plugins)
    on = {op: unit for unit, *ops in units(result) for op in ops}
    assert set(on) == {"LayerNormalization", "Gelu"}
    assert set(on.values()) <= {"pulp", "spatz"}


#: Operators in files of opset 13 and below, some as ONNX Runtime's optimiser writes them.
EARLY = {
    "Gelu": ([], {}, "Gelu"),
    "LayerNormalization": ([64, 64], {"axis": -1}, "LayerNormalization"),
    "RMSNormalization": ([64], {"axis": -1}, "match.norm::RMSNormalization"),
    "SimplifiedLayerNormalization": ([64], {"axis": -1, "epsilon": 1e-5}, "match.norm::RMSNormalization"),
    "HardSwish": ([], {}, "HardSwish"),
}


@pytest.mark.parametrize("target", ["host", "gap9"])
def test_operators_that_the_opset_lacks(target: str, plugins: Plugins, tmp_path: Path) -> None:
    """One after another in one network."""
    rng, nodes, constants, x = np.random.default_rng(5), [], [], "x"
    for number, (op, (sizes, attributes, _)) in enumerate(EARLY.items()):
        names = [f"c{number}_{place}" for place in range(len(sizes))]
        constants += [
            numpy_helper.from_array(rng.normal(1, 0.2, size).astype(np.float32), name)
            for name, size in zip(names, sizes, strict=True)
        ]
        result = f"t{number}" if number + 1 < len(EARLY) else "y"
        nodes.append(helper.make_node(op, [x, *names], [result], op, **attributes))
        x = result
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 8, 64]) for name in "xy"]
    graph = helper.make_graph(nodes, "early", ends[:1], ends[1:], constants)
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7), tmp_path / "net.onnx"
    )
    result = verify(tmp_path / "net.onnx", target, plugins, sanitize=target == "host")
    ops = [op for _, *found in units(result) for op in found]
    assert ops == [wanted for _, _, wanted in EARLY.values()]
