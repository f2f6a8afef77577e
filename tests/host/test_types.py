"""Element types: the host's rules against those of the ONNX standard, and kernels of types that C does not have."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import ml_dtypes
import numpy as np
import onnx
import onnx_graphsurgeon as gs
import pytest
from host_harness import Array, Case, make_model
from match_host.operator import Operator
from match_host.operators import OPERATORS
from onnx.reference import ReferenceEvaluator

RNG = np.random.default_rng(21)
#: What the standard allows and the host does not take, by operator: nothing may join silently.
LEFT: dict[str, set[str]] = {}
TYPE_RULES = frozenset(("types", "all_types", "result_type"))
#: Preferred for what is not being asked about.
USUAL = ("float32", "int64", "int32", "uint8", "bool")


def numpy_types(texts: Sequence[str]) -> Iterator[np.dtype[np.generic]]:
    """The element types of ONNX type texts, ``tensor(float)``: numbers of a type that numpy or ml_dtypes has."""
    for text in texts:
        if not text.startswith("tensor("):
            continue
        number = onnx.TensorProto.DataType.Value(text[7:-1].upper())
        try:
            dtype = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(number))
        except (KeyError, TypeError):
            continue
        if dtype.kind not in "OUSc":
            yield dtype


def nodes_of_all_types(name: str) -> Iterator[tuple[np.dtype[np.generic], gs.Node]]:
    """A node of the operator for every type of every type parameter."""
    schema = onnx.defs.get_schema(name)
    allowed = {c.type_param_str: list(numpy_types(c.allowed_type_strs)) for c in schema.type_constraints}

    def tensors(prefix: str, parameters: Sequence[object], chosen: Mapping[str, object]) -> list[gs.Variable]:
        made = []
        for index, parameter in enumerate(parameters):
            text = str(parameter.type_str)  # type: ignore[attr-defined]
            types = allowed[text] if text in allowed else list(numpy_types([text]))
            usual = [dtype for dtype in types if dtype.name in USUAL]
            preferred = min(usual, key=lambda dtype: USUAL.index(dtype.name)) if usual else types[0]
            made.append(gs.Variable(f"{prefix}{index}", chosen.get(text, preferred), (2, 2, 2, 2)))
        return made

    for parameter, types in allowed.items():
        for dtype in types:
            chosen = {parameter: dtype}
            inputs, outputs = tensors("in", schema.inputs, chosen), tensors("out", schema.outputs, chosen)
            yield dtype, gs.Node(name, inputs=inputs, outputs=outputs)


def missing_types(operator: Operator) -> set[str]:
    rules = [rule for rule in operator.rules if rule.name in TYPE_RULES]
    nodes = nodes_of_all_types(operator.name)
    return {dtype.name for dtype, node in nodes if any(rule.check(node) is not None for rule in rules)}


def test_rules_allow_what_the_standard_allows() -> None:
    standard = [operator for operator in OPERATORS if "::" not in operator.name and onnx.defs.has(operator.name)]
    found = {operator.name: missing for operator in standard if (missing := missing_types(operator))}
    assert found == LEFT


def bf16(*shape: int) -> Array:
    return RNG.normal(size=shape).astype(ml_dtypes.bfloat16)


def whole(*shape: int, dtype: type = np.int32) -> Array:
    return RNG.integers(-40, 40, shape).astype(dtype)


def node(op: str, inputs: Sequence[str], outputs: Sequence[str] = ("y",), **attributes: object) -> onnx.NodeProto:
    return onnx.helper.make_node(op, list(inputs), list(outputs), **attributes)


X = bf16(3, 4, 5)
AXES = np.array([1], np.int64)
TRUTHS = RNG.integers(0, 2, (3, 4)).astype(bool)
CASES: dict[str, tuple[onnx.NodeProto, Mapping[str, Array], int]] = {
    **{
        f"{op} of bfloat16": (node(op, "xa", keepdims=0), {"x": X, "a": AXES}, 18)
        for op in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2")
    },
    **{
        f"{op} of {np.dtype(dtype).name}": (node(op, "xa"), {"x": whole(3, 4, dtype=dtype), "a": AXES}, 18)
        for op in ("ReduceL1", "ReduceL2", "ReduceSumSquare")
        for dtype in (np.int32, np.int64, np.uint32)
        if not (op == "ReduceL2" and dtype is np.uint32)
    },
    **{f"{op} of truth values": (node(op, "xa"), {"x": TRUTHS, "a": AXES}, 20) for op in ("ReduceMax", "ReduceMin")},
    **{f"{op} of bfloat16": (node(op, "x", axis=1), {"x": X}, 13) for op in ("Softmax", "LogSoftmax")},
    **{f"{op} of bfloat16": (node(op, "x", axis=2), {"x": X}, 13) for op in ("ArgMax", "ArgMin")},
    "CumSum of bfloat16": (node("CumSum", "xa"), {"x": X, "a": np.array(2, np.int64)}, 14),
    "LayerNormalization of bfloat16": (node("LayerNormalization", "xs"), {"x": X, "s": bf16(5)}, 17),
    "InstanceNormalization of bfloat16": (
        node("InstanceNormalization", "xsb"),
        {"x": X, "s": bf16(4), "b": X[0, :, 0]},
        22,
    ),
    "RMSNormalization of bfloat16": (node("RMSNormalization", "xs"), {"x": X, "s": bf16(5)}, 23),
    "Gather of bfloat16": (node("Gather", "xa"), {"x": X, "a": AXES}, 13),
    "GatherElements of bfloat16": (
        node("GatherElements", "xi", axis=1),
        {"x": X, "i": RNG.integers(0, 4, (3, 2, 5))},
        13,
    ),
    "ScatterElements of bfloat16, added": (
        node("ScatterElements", "xiu", reduction="add"),
        {"x": X, "i": RNG.integers(0, 3, (2, 4, 5)), "u": X[:2]},
        18,
    ),
    "QuantizeLinear of bfloat16": (
        node("QuantizeLinear", "xsz"),
        {"x": X, "s": np.array(0.03125, ml_dtypes.bfloat16), "z": np.array(3, np.int8)},
        19,
    ),
    "MatMul of bfloat16": (node("MatMul", "xw"), {"x": X, "w": bf16(5, 6)}, 13),
    "Gemm of bfloat16": (
        node("Gemm", "xwb", alpha=0.5, beta=2.0, transB=1),
        {"x": bf16(3, 5), "w": bf16(6, 5), "b": bf16(6)},
        13,
    ),
    **{
        f"{op} of {np.dtype(dtype).name}": (
            node(op, "xw"),
            {"x": np.abs(whole(3, 5)).astype(dtype), "w": np.abs(whole(5, 4)).astype(dtype)},
            13,
        )
        for op in ("MatMul", "Gemm")
        for dtype in (np.int32, np.uint64)
    },
    "Conv of bfloat16": (
        node("Conv", "xwb", pads=[1, 0, 1, 1], strides=[2, 1], group=2),
        {"x": bf16(1, 4, 6, 7), "w": bf16(4, 2, 3, 3), "b": bf16(4)},
        22,
    ),
    "ConvTranspose of bfloat16": (
        node("ConvTranspose", "xw", strides=[2, 2]),
        {"x": bf16(1, 2, 3, 4), "w": bf16(2, 3, 2, 3)},
        22,
    ),
    **{
        f"{op} of bfloat16": (node(op, "x", kernel_shape=[2, 3]), {"x": bf16(1, 3, 5, 6)}, 22)
        for op in ("MaxPool", "AveragePool")
    },
    "PRelu of int32": (node("PRelu", "xs"), {"x": whole(3, 4), "s": whole(4)}, 16),
    "PRelu of uint32": (node("PRelu", "xs"), {"x": whole(3, 4, dtype=np.uint32), "s": whole(4, dtype=np.uint32)}, 16),
}


@pytest.fixture(scope="module")
def results(run_cases: Callable[..., list[list[dict[str, Array]]]]) -> dict[str, tuple[Case, Array]]:
    cases = {}
    for name, (item, values, opset) in CASES.items():
        cases[name] = Case(make_model([item], values, opset=opset), [values])
    got = run_cases(list(cases.values()))
    return {name: (case, samples[0]["y"]) for (name, case), samples in zip(cases.items(), got, strict=True)}


@pytest.mark.parametrize("name", CASES)
def test_kernels_of_these_types(name: str, results: dict[str, tuple[Case, Array]]) -> None:
    """Whole numbers exactly; bfloat16 within two units in the last place of the float32 result."""
    case, got = results[name]
    item, values, opset = CASES[name]
    if "bfloat16" not in name or item.op_type.startswith(("Arg", "Gather", "Quantize")):
        (wanted,) = ReferenceEvaluator(case.model).run(None, dict(values))
        np.testing.assert_array_equal(got, wanted)
        return
    wide = {key: a.astype(np.float32) if a.dtype == ml_dtypes.bfloat16 else a for key, a in values.items()}
    (wanted,) = ReferenceEvaluator(make_model([item], wide, opset=opset)).run(None, wide)
    assert got.dtype == ml_dtypes.bfloat16
    np.testing.assert_allclose(got.astype(np.float32), wanted, rtol=2.0**-7, atol=2.0**-7)
