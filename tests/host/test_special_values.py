"""NaN, infinities, zeros of both signs and numbers at the ends of a type's range, against ONNX Runtime.

All operators of a type are outputs of one program, which runs under sanitizers. ``EXACT`` operators agree bit for bit
(NaN with NaN); functions that either side approximates agree in NaN, infinities and signs of infinities, and are close
elsewhere. Left out, because ONNX Runtime's own result depends on the place of an element in a vector register, on the
order of sums, or on the host's processor: long lines with NaN, TopK of NaN (its comparison is no order), Cast of
numbers that the integer type does not have.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from match_core.plugin.facade import Plugins
from match_verify.finite import distances, largest
from match_verify.verify import VerifyRequest, verify_model
from onnx import TensorProto, helper, numpy_helper

from tests.conformance.batch import run_batch
from tests.conformance.programs import Program, compile_file
from tests.conformance.suite import Array, Sample

COMPARISONS = ("Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal")
EXACT_UNARY = ("Relu", "Sign", "Abs", "Neg", "Ceil", "Floor", "Round", "Sqrt", "Reciprocal", "IsNaN", "IsInf")
EXACT_BINARY = ("Add", "Sub", "Mul", "Div", "Min", "Max", "PRelu", *COMPARISONS)
CLOSE_UNARY = (
    *("Exp", "Log", "Tanh", "Sigmoid", "Erf", "Softplus", "Softsign", "Elu", "Selu", "Celu", "HardSigmoid"),
    *("HardSwish", "LeakyRelu", "Mish", "Gelu", "ThresholdedRelu", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan"),
    *("Sinh", "Cosh", "Asinh", "Acosh", "Atanh"),
)
BOOLEAN = ("IsNaN", "IsInf", *COMPARISONS)
EXTREMES = ("ReduceMax", "ReduceMin")
SUMS = ("ReduceSum", "ReduceMean", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp")
#: (operator, type) where ONNX Runtime contradicts its own other types: the sign of NaN is 0 in float16, and the lowest
#: number is lost beside -inf; kernels for float64 return other elements for NaN. MaxPool: tests/host/test_pool.py.
ODD = {
    ("Sign", "float16"),
    *(("MaxPool", dtype) for dtype in ("float16", "float32", "float64")),
    *(("ReduceLogSumExp_2", dtype) for dtype in ("float16", "float32", "float64")),
    *((name, "float64") for name in ("LogSoftmax_2", "LogSoftmax_3", "ReduceMax_3", "ReduceMin_3")),
}


@dataclass(frozen=True)
class _Case:
    """An operator of the program: its nodes, and how close the output is to be."""

    name: str
    nodes: tuple[onnx.NodeProto, ...]
    outputs: tuple[onnx.ValueInfoProto, ...]
    exact: bool


def _values(dtype: np.dtype) -> Array:
    info = np.finfo(dtype)
    small = info.smallest_subnormal
    listed = [np.nan, np.inf, -np.inf, 0.0, -0.0, small, -small, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, info.max, info.min]
    return np.array(listed, dtype)


def _feeds(dtype: np.dtype) -> dict[str, Array]:
    """All pairs of values, lines of two and of three of them."""
    values = _values(dtype)
    a, b = (part.reshape(-1) for part in np.meshgrid(values, values, indexing="ij"))
    c = np.random.default_rng(5).choice(values, a.size)
    return {"a": a, "b": b, "c": c, "pairs": np.stack([a, b], 1), "triples": np.stack([a, b, c], 1)}


def _constants(dtype: np.dtype) -> dict[str, Array]:
    ends = {"low": -1, "high": 1, "zero": 0, "six": 6, "nothing": np.nan}
    found: dict[str, Array] = {name: np.array(value, dtype) for name, value in ends.items()}
    return found | {"first": np.array([0]), "second": np.array([1]), "two": np.array([2])}


def _cases(dtype: np.dtype) -> list[_Case]:
    kind, count = helper.np_dtype_to_tensor_dtype(dtype), _values(dtype).size ** 2
    made: list[_Case] = []

    def add(
        name: str,
        op: str,
        inputs: list[str],
        shape: tuple[int, ...],
        exact: bool = True,
        out: int = kind,
        **more: object,
    ) -> None:
        node = helper.make_node(op, inputs, [f"y_{name}"], name, **more)
        made.append(_Case(name, (node,), (helper.make_tensor_value_info(f"y_{name}", out, shape),), exact))

    for op in (*EXACT_UNARY, *CLOSE_UNARY):
        add(op, op, ["a"], (count,), op in EXACT_UNARY, TensorProto.BOOL if op in BOOLEAN else kind)
    half = dtype == np.float16  # whose kernels choose between zeros of both signs otherwise
    for op in EXACT_BINARY:
        exact = not (half and op in ("Min", "Max"))
        add(op, op, ["a", "b"], (count,), exact, TensorProto.BOOL if op in BOOLEAN else kind)
    add("Pow", "Pow", ["a", "b"], (count,), exact=False)
    for op in ("Max", "Min"):
        add(f"{op} of three", op, ["a", "b", "c"], (count,), not half)
    for name, ends in {
        "both": ("low", "high"),
        "six": ("zero", "six"),
        "below": ("low", ""),
        "above": ("", "high"),
        "no limit below": ("nothing", "high"),
        "no limit above": ("low", "nothing"),
    }.items():
        add(f"Clip {name}", "Clip", ["a", *ends], (count,))
    for source, size in (("pairs", 2), ("triples", 3)):
        for op in EXTREMES:
            add(f"{op}_{size}", op, [source, "second"], (count,), keepdims=0)
        for op in SUMS:
            add(f"{op}_{size}", op, [source, "second"], (count,), exact=False, keepdims=0)
        for op in ("ArgMax", "ArgMin"):
            add(f"{op}_{size}", op, [source], (count,), out=TensorProto.INT64, axis=1, keepdims=0)
        for op in ("Softmax", "LogSoftmax"):
            add(f"{op}_{size}", op, [source], (count, size), exact=False, axis=1)
        add(f"Hardmax_{size}", "Hardmax", [source], (count, size), axis=1)
    for target in (TensorProto.BOOL, TensorProto.FLOAT16, TensorProto.FLOAT, TensorProto.DOUBLE):
        add(f"Cast to {target}", "Cast", ["a"], (count,), out=target, to=target)
    channels = helper.make_node("Unsqueeze", ["triples", "first"], ["channels"], "channels")
    pooled = [helper.make_tensor_value_info(f"{name}_pool", kind, (1, count, 1)) for name in ("y", "v")]
    places = helper.make_tensor_value_info("i_pool", TensorProto.INT64, (1, count, 1))
    pool = helper.make_node("MaxPool", ["channels"], ["y_pool"], "pool", kernel_shape=[3])
    both = helper.make_node("MaxPool", ["channels"], ["v_pool", "i_pool"], "indexed", kernel_shape=[3])
    made += [
        _Case("MaxPool", (channels, pool), (pooled[0],), True),
        _Case("MaxPool with places", (channels, both), (pooled[1], places), True),
    ]
    return made


def _model(cases: list[_Case], feeds: dict[str, Array], constants: dict[str, Array]) -> onnx.ModelProto:
    nodes = {node.name: node for case in cases for node in case.nodes}
    used = {name for node in nodes.values() for name in node.input}
    inputs = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in feeds.items()
        if name in used
    ]
    stored = [numpy_helper.from_array(array, name) for name, array in constants.items() if name in used]
    outputs = [output for case in cases for output in case.outputs]
    graph = helper.make_graph(list(nodes.values()), "special", inputs, outputs, stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)


def _theirs(case: _Case, feeds: dict[str, Array], constants: dict[str, Array]) -> list[Array] | None:
    """What ONNX Runtime returns; None if it has no kernel for the type."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    content = _model([case], feeds, constants).SerializeToString()
    try:
        session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # of many types, without a common base
        assert "NOT_IMPLEMENTED" in str(error) or "INVALID_GRAPH" in str(error), error
        return None
    found: list[Array] = session.run(None, {value.name: feeds[value.name] for value in session.get_inputs()})
    return found


def _agree(ours: Array, theirs: Array, exact: bool) -> Array:
    """Where they agree."""
    if ours.dtype.kind != "f":
        return np.asarray(ours == theirs)
    bits = {2: np.uint16, 4: np.uint32, 8: np.uint64}[ours.dtype.itemsize]
    same = (ours.view(bits) == theirs.view(bits)) | (np.isnan(ours) & np.isnan(theirs))
    if exact:
        return np.asarray(same)
    tiny, eps = float(np.finfo(ours.dtype).tiny), float(np.finfo(ours.dtype).eps)
    with np.errstate(all="ignore"):
        near = np.isclose(ours.astype(np.float64), theirs.astype(np.float64), rtol=64 * eps, atol=4 * tiny + eps * eps)
    return np.asarray(same | near)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_special_values_are_those_of_onnx_runtime(dtype: str, tmp_path: Path) -> None:
    element = np.dtype(dtype)
    feeds, constants = _feeds(element), _constants(element)
    judged = {case.name: found for case in _cases(element) if (found := _theirs(case, feeds, constants)) is not None}
    cases = [case for case in _cases(element) if case.name in judged and (case.name, dtype) not in ODD]
    assert len(cases) > (40 if dtype == "float64" else 75)
    path = tmp_path / "special.onnx"
    onnx.save(_model(cases, feeds, constants), path)
    program = compile_file(path, "special")
    assert isinstance(program, Program), program
    (tmp_path / "objects").mkdir()
    sample = Sample(tuple(feeds[tensor.name] for tensor in program.inputs), ())
    (result,) = run_batch([(program, [sample])], tmp_path, tmp_path / "objects")
    assert isinstance(result, list), result
    ours = iter(result[0])
    wrong = []
    for case in cases:
        for theirs in judged[case.name]:
            mine = next(ours)
            agree = _agree(mine, theirs, case.exact)
            wrong += [
                f"{case.name}: {np.sum(~agree)} differ, first {tuple(place)}: {mine[tuple(place)]}, "
                f"not {theirs[tuple(place)]}"
                for place in np.argwhere(~agree)[:1]
            ]
    assert not wrong, "\n".join(wrong)


def test_top_k_puts_what_is_no_number_last(tmp_path: Path) -> None:
    """A permutation of each line, whatever it holds."""
    values = np.array([[np.nan, 1, np.nan, np.inf], [-np.inf, np.nan, 2, 2]], np.float32)
    lines = helper.make_tensor_value_info("x", TensorProto.FLOAT, values.shape)
    nodes, outputs = [], []
    for most in (1, 0):
        names = [f"v{most}", f"i{most}"]
        nodes.append(helper.make_node("TopK", ["x", "k"], names, names[0], axis=1, largest=most))
        outputs += [
            helper.make_tensor_value_info(name, kind, values.shape)
            for name, kind in zip(names, (TensorProto.FLOAT, TensorProto.INT64), strict=True)
        ]
    graph = helper.make_graph(nodes, "top", [lines], outputs, [numpy_helper.from_array(np.array([4]), "k")])
    path = tmp_path / "top.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=9), path)
    program = compile_file(path, "top")
    assert isinstance(program, Program), program
    (tmp_path / "objects").mkdir()
    (result,) = run_batch([(program, [Sample((values,), ())])], tmp_path, tmp_path / "objects")
    assert isinstance(result, list), result
    _, most, _, least = result[0]
    assert most.tolist() == [[3, 1, 0, 2], [2, 3, 0, 1]]
    assert least.tolist() == [[1, 3, 0, 2], [0, 2, 3, 1]]


def test_verify_warns_of_inputs_that_are_not_finite(tmp_path: Path, plugins: Plugins) -> None:
    values = np.array([[np.nan, np.inf, -1, 2], [1, 2, 3, -np.inf]], np.float32)
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, (4,)) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"], "relu")], "relu", ends[:1], ends[1:])
    path = tmp_path / "relu.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=9), path)
    np.savez(tmp_path / "y.npz", y=np.where(values < 0, 0, values))
    request = VerifyRequest(path, "host", arrays={"x": values}, expected=tmp_path / "y.npz")
    result = verify_model(request, plugins)
    assert result.ok and result.outputs[0].max_abs_lsb == 0
    assert result.stored[0].different == 0
    (warning,) = result.warnings
    assert "1 of 8 values are NaN and 2 infinite" in warning
    assert result.as_json()["warnings"] == [warning]


def test_distances_of_numbers_that_are_not_finite() -> None:
    got, wanted = np.array([np.nan, np.inf, 1, np.nan, 2]), np.array([np.nan, np.inf, np.nan, 1, 3])
    assert distances(got, wanted).tolist() == [0, 0, np.inf, np.inf, 1]
    assert largest(wanted) == 3
