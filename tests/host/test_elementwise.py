"""Every scalar operator in every element type it accepts, with broadcasting, against ONNX Runtime."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import onnx_graphsurgeon as gs
import pytest
from host_harness import Array, Case, expected, import_graph, make_model
from match_host.kernels.elementwise.elementwise import _node_work
from match_host.kernels.elementwise.loop import build_elementwise
from match_host.kernels.elementwise.scalar_table import SCALAR_OPS
from match_host.kernels.scalar import ALL_TYPES
from match_host.operators import OPERATOR_TABLE

SHAPE = (2, 3, 17)
OTHER = (3, 1)
TWO = {
    "Add", "Sub", "Mul", "Div", "Mod", "Min", "Max", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Less", "LessOrEqual",
    "Greater", "GreaterOrEqual", "Equal", "And", "Or", "Xor", "PRelu", "Pow", "BitShift", "Sum", "Mean",
}  # fmt: skip
#: Operators with tests of their own.
ELSEWHERE = {"Cast", "Expand", "BatchNormalization", "QuantizeLinear", "DequantizeLinear"} | {
    name for name in SCALAR_OPS if name.startswith("match.")
}
#: float16: one unit of the last place, where float32 values lie next to the middle of two.
TOLERANCE = {"float16": {"rtol": 2.0**-10, "atol": 1e-7}, "float32": {"rtol": 1e-5, "atol": 2e-6}}
#: The domain of functions that have one.
RANGES = {"Log": (0.01, 9), "Sqrt": (0, 9), "Asin": (-1, 1), "Acos": (-1, 1), "Acosh": (1, 9), "Atanh": (-0.95, 0.95)}


def sample(dtype: str, shape: tuple[int, ...], seed: int, low: float = -6, high: float = 6) -> Array:
    """Values of the type; integers include both ends of the range."""
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.startswith("float"):
        return rng.uniform(low, high, shape).astype(dtype)
    info = np.iinfo(dtype)
    values = rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    values.flat[0], values.flat[-1] = info.min, info.max
    return values


def small(dtype: str, shape: tuple[int, ...], seed: int) -> Array:
    """Divisors: neither 0 nor -1, of both signs where there are signs."""
    rng = np.random.default_rng(seed)
    values = rng.integers(2, 9, shape).astype(dtype)
    if np.issubdtype(np.dtype(dtype), np.signedinteger):
        values.flat[0] *= -1
    return values


def inputs_of(op: str, dtype: str) -> dict[str, Array]:
    low, high = RANGES.get(op, (-6, 6))
    a = sample(dtype, SHAPE, 1, low, high)
    if op == "Where":
        return {"c": sample("bool", (3, 1), 3), "a": a, "b": sample(dtype, (17,), 2)}
    if op == "IsNaN":
        a[0, 0, :5] = np.nan
    if op == "IsInf":
        a[0, 0, :2] = np.inf, -np.inf
    if op == "Equal":
        return {"a": a, "b": a[0, :, 3:4].copy()}
    if op not in TWO:
        return {"a": a}
    if op in ("Div", "Mod") and not dtype.startswith("float"):
        return {"a": a, "b": small(dtype, OTHER, 2)}
    if op == "BitShift":
        return {"a": a, "b": (small(dtype, OTHER, 2) % 8).astype(dtype)}
    if op == "Pow":
        base = np.abs(a) if dtype.startswith("float") else (a % 7).astype(dtype)
        return {"a": base, "b": small("float32" if dtype.startswith("float") else dtype, OTHER, 2) % 4}
    return {"a": a, "b": sample(dtype, OTHER, 2)}


def model_of(op: str, dtype: str) -> tuple[onnx.ModelProto, dict[str, Array]]:
    values = inputs_of(op, dtype)
    attributes: dict[str, object] = {}
    if op == "BitShift":
        attributes["direction"] = "RIGHT" if dtype == "uint16" else "LEFT"
    if op == "Mod" and dtype.startswith("float"):
        attributes["fmod"] = 1
    if op == "Clip":
        limits = {"lo": np.sort(values["a"], None)[20], "hi": np.sort(values["a"], None)[80]}
        return make_model([onnx.helper.make_node(op, ["a", "lo", "hi"], ["y"])], values, limits), values
    opset = 24 if op == "Swish" else 21
    return make_model([onnx.helper.make_node(op, list(values), ["y"], **attributes)], values, opset=opset), values


#: Narrow types have tests of their own; ONNX Runtime shifts unsigned integers only.
CASES = [
    (op.name, dtype)
    for op in SCALAR_OPS.values()
    if op.name not in ELSEWHERE
    for dtype in op.types
    if dtype in ALL_TYPES and (op.name != "BitShift" or dtype.startswith("u"))
]


@pytest.fixture(scope="module")
def results(run_cases: Callable[..., list[list[dict[str, Array]]]]) -> dict[tuple[str, str], tuple[Case, Array]]:
    cases = {}
    for name, dtype in CASES:
        model, values = model_of(name, dtype)
        cases[name, dtype] = Case(model, [values], (OPERATOR_TABLE[name].pattern,))
    ran = run_cases(list(cases.values()))
    return {key: (case, samples[0]["y"]) for (key, case), samples in zip(cases.items(), ran, strict=True)}


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_equals_onnx_runtime(name: str, dtype: str, results: dict[tuple[str, str], tuple[Case, Array]]) -> None:
    case, got = results[name, dtype]
    want = expected(case.model, case.samples[0])["y"]
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    if want.dtype.kind == "f":
        np.testing.assert_allclose(got, want, **TOLERANCE.get(dtype, {"rtol": 1e-5, "atol": 1e-7}))
    else:
        np.testing.assert_array_equal(got, want)
    assert len(np.unique(want)) > 1, "the case tells nothing"


SIGNED_SHIFTS = [(dtype, way) for dtype in ("int8", "int16", "int32", "int64") for way in ("LEFT", "RIGHT")]


def test_signed_shifts_are_those_of_the_standard(run_cases: Callable[..., list[list[dict[str, Array]]]]) -> None:
    """From opset 28 on, also by negative and by too many places."""
    cases = []
    for dtype, way in SIGNED_SHIFTS:
        bits = np.iinfo(dtype).bits
        places = np.array([[-3], [-1], [0], [1], [bits - 1], [bits], [bits + 5]], dtype)
        inputs = {"a": sample(dtype, (1, 17), 5), "b": places}
        node = onnx.helper.make_node("BitShift", ["a", "b"], ["y"], direction=way)
        cases.append(Case(make_model([node], inputs, opset=28), [inputs], ("host_bit_shift",)))
    for case, (got,) in zip(cases, run_cases(cases), strict=True):
        want = expected(case.model, case.samples[0])["y"]
        assert got["y"].dtype == want.dtype
        np.testing.assert_array_equal(got["y"], want)


def unary(op: str, values: Array, **attributes: object) -> tuple[onnx.ModelProto, dict[str, Array]]:
    return make_model([onnx.helper.make_node(op, ["a"], ["y"], **attributes)], {"a": values}), {"a": values}


CAST_TYPES = ("bool", "float16", "int8", "uint8", "int16", "int32", "int64", "uint32", "float32", "float64")
CASTS = [(a, b) for a in CAST_TYPES for b in CAST_TYPES]


@pytest.fixture(scope="module")
def casts(run_cases: Callable[..., list[list[dict[str, Array]]]]) -> dict[tuple[str, str], tuple[Case, Array]]:
    cases = {}
    for source, target in CASTS:
        low = 0.0 if target.startswith("u") else -100.0
        values = sample(source, (40,), 4, low, 100.0)
        model, inputs = unary("Cast", values, to=onnx.helper.np_dtype_to_tensor_dtype(np.dtype(target)))
        cases[source, target] = Case(model, [inputs], ("host_cast",))
    ran = run_cases(list(cases.values()))
    return {key: (case, samples[0]["y"]) for (key, case), samples in zip(cases.items(), ran, strict=True)}


@pytest.mark.parametrize(("source", "target"), CASTS)
def test_cast(source: str, target: str, casts: dict[tuple[str, str], tuple[Case, Array]]) -> None:
    case, got = casts[source, target]
    np.testing.assert_array_equal(got, case.samples[0]["a"].astype(target))
    np.testing.assert_array_equal(got, expected(case.model, case.samples[0])["y"])


def node(op: str, inputs: list[str], **attributes: object) -> onnx.NodeProto:
    return onnx.helper.make_node(op, inputs, ["y"], **attributes)


def of(call: onnx.NodeProto, values: dict[str, Array], **constants: Array) -> tuple[onnx.ModelProto, dict[str, Array]]:
    return make_model([call], values, constants), values


F = sample("float32", (2, 5, 4, 3), 8)
THREE = {name: sample("float32", (4, 3), seed) for seed, name in enumerate("abc")}
BIG = np.array([1, 2**31])
ONE_MORE = {
    "expand": lambda: of(node("Expand", ["a", "s"]), {"a": sample("int16", (3, 1), 1)}, s=np.array([2, 3, 4])),
    "clip without bounds": lambda: of(node("Clip", ["a"]), {"a": F}),
    "clip with a lower bound": lambda: of(node("Clip", ["a", "l"]), {"a": F}, l=np.float32(0.5)),
    "clip with an upper bound": lambda: of(node("Clip", ["a", "", "h"]), {"a": F}, h=np.float32(0.5)),
    "three operands": lambda: of(node("Max", ["a", "b", "c"]), THREE),
    "one operand": lambda: of(node("Sum", ["a"]), {"a": F}),
    "the same operand twice": lambda: of(node("Mul", ["a", "a"]), {"a": F}),
    "per-channel constant": lambda: of(node("Mul", ["a", "m"]), {"a": F}, m=sample("float32", (5, 1, 1), 9)),
    "64-bit constant stored in 32": lambda: of(
        node("Add", ["a", "m"]), {"a": sample("int64", (4, 3), 3)}, m=np.array([1, -(2**31), 2**31 - 1])
    ),
    "64-bit constant kept": lambda: of(node("Add", ["a", "m"]), {"a": sample("int64", (4, 2), 3)}, m=BIG),
    "power of 2": lambda: of(node("Pow", ["a", "p"]), {"a": F}, p=np.float32(2)),
    "power of 3": lambda: of(node("Pow", ["a", "p"]), {"a": F}, p=np.int64(3)),
    "power of one half": lambda: of(node("Pow", ["a", "p"]), {"a": np.abs(F)}, p=np.float32(0.5)),
    "C remainder": lambda: of(
        node("Mod", ["a", "b"], fmod=1), {"a": sample("int32", (3, 5), 1), "b": small("int32", (5,), 2)}
    ),
    "gelu with tanh": lambda: of(node("Gelu", ["a"], approximate="tanh"), {"a": F}),
    "leaky relu": lambda: of(node("LeakyRelu", ["a"], alpha=0.3), {"a": F}),
    "hard sigmoid": lambda: of(node("HardSigmoid", ["a"], alpha=0.3, beta=0.4), {"a": F}),
    "elu": lambda: of(node("Elu", ["a"], alpha=0.3), {"a": F}),
    "batch normalisation": lambda: of(
        node("BatchNormalization", ["a", "s", "b", "m", "v"], epsilon=1e-3),
        {"a": F},
        **{name: np.abs(sample("float32", (5,), i)) for i, name in enumerate("sbmv")},
    ),
    "scalar": lambda: of(node("Neg", ["a"]), {"a": np.float32(4.5)}),
    "NaN and infinity": lambda: of(
        node("Max", ["a", "b"]),
        {"a": np.array([np.nan, 1, np.inf], np.float32), "b": np.array([2, np.nan, -np.inf], np.float32)},
    ),
    "sum with infinity": lambda: of(node("Add", ["a", "b"]), {"a": F}, b=np.float32(np.inf)),
    "infinite constant": lambda: of(node("Min", ["a", "b"]), {"a": F}, b=np.float32(-np.inf)),
}  # fmt: skip


@pytest.fixture(scope="module")
def more(run_cases: Callable[..., list[list[dict[str, Array]]]]) -> dict[str, tuple[Case, Array]]:
    cases = {name: Case(model, [values]) for name, (model, values) in ((n, make()) for n, make in ONE_MORE.items())}
    ran = run_cases(list(cases.values()))
    return {key: (case, samples[0]["y"]) for (key, case), samples in zip(cases.items(), ran, strict=True)}


@pytest.mark.parametrize("name", ONE_MORE)
def test_attributes_and_operands(name: str, more: dict[str, tuple[Case, Array]]) -> None:
    case, got = more[name]
    want = expected(case.model, case.samples[0])["y"]
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=2e-6)


def test_undefined_divisions_are_defined(run_cases: Callable[..., list[list[dict[str, Array]]]]) -> None:
    """Zero divisors give 0, and the most negative value divided by -1 is itself (it wraps), without a trap."""
    a = np.array([7, -7, -(2**31), -(2**31)], np.int32)
    b = np.array([0, 0, -1, 1], np.int32)
    safe = {"a": a, "b": np.ones_like(b)}
    models = [make_model([node(op, ["a", "b"])], safe) for op in ("Div", "Mod")]
    divided, rest = run_cases([Case(model, [{"a": a, "b": b}]) for model in models])
    assert divided[0]["y"].tolist() == [0, 0, -(2**31), -(2**31)]
    assert rest[0]["y"].tolist() == [0, 0, 0, 0]


def test_divisions_that_compilers_call_a_function_for() -> None:
    """Of 64 bits by a constant, on machines of 32 bits: the numbers are those of gcc 12 for Cortex-M4."""

    def costs(divisor: int) -> str:
        node = gs.Node("Div", inputs=[gs.Variable("x", np.int64, (3,)), gs.Constant("d", np.full(3, divisor))])
        work = _node_work(node, SCALAR_OPS["Div"])
        return "call" if work.wide_divide else "products" if work.wide_multiply else "shift"

    found = {divisor: costs(divisor) for divisor in range(2, 126)}
    assert [d for d, kind in found.items() if kind == "call"] == [
        37, 53, 59, 61, 67, 71, 74, 79, 81, 83, 95, 97, 101, 103, 106, 107, 109, 111, 115, 118, 121, 122, 125,
    ]  # fmt: skip
    assert [d for d, kind in found.items() if kind == "shift"] == [2, 4, 8, 16, 32, 64]


@pytest.mark.parametrize(("power", "floating", "special"), [(2.0, 1, 0), (3.0, 2, 0), (2.5, 0, 1)])
def test_small_powers_cost_what_their_products_do(power, floating, special):
    node = gs.Node("Pow", inputs=[gs.Variable("x", np.float32, (3,)), gs.Constant("p", np.full(3, power, np.float32))])
    work = _node_work(node, SCALAR_OPS["Pow"])
    assert (work.floating, work.special) == (floating, special)


@pytest.mark.parametrize(("shape", "lines", "alone"), [((6, 9), 2, True), ((6, 9), 1, False), ((9,), 2, False)])
def test_loops_over_several_lines_of_constants_are_no_part_of_their_caller(shape, lines, alone):
    """Compilers would know the addresses of the lines, which then take the registers of the loop."""
    rng, names = np.random.default_rng(3), ["x", *"ty"[2 - lines :]]
    constants = {f"c{line}": rng.normal(size=9).astype(np.float32) for line in range(lines)}
    operators = zip(("Mul", "Add"), names[:-1], constants, names[1:], strict=False)
    nodes = [onnx.helper.make_node(op, [x, constant], [y]) for op, x, constant, y in operators]
    model = make_model(nodes, {"x": rng.normal(size=shape).astype(np.float32)}, constants)
    built = build_elementwise(tuple(import_graph(model).toposort().nodes), "kernel")
    assert ("HOST_APART" in built.code.definition) == alone
