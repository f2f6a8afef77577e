"""Convolutions, matrix products, pooling, reductions, normalisation and movement against ONNX Runtime."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import onnx
import pytest
from host_harness import Array, Case, expected, make_model

Made = tuple[onnx.ModelProto, dict[str, Array]]
RNG = np.random.default_rng(11)
I64 = np.int64


def f32(*shape: int) -> Array:
    return RNG.normal(0, 1, shape).astype(np.float32)


def u8(*shape: int) -> Array:
    return RNG.integers(0, 256, shape, dtype=np.uint8)


def i8(*shape: int) -> Array:
    return RNG.integers(-128, 128, shape, dtype=np.int8)


def ints(*values: int) -> Array:
    return np.array(values, I64)


def one(
    op: str,
    x: Array,
    *constants: Array | None,
    outputs: int = 1,
    domain: str = "",
    opset: int = 21,
    **attributes: object,
) -> Made:
    """One node; constants follow the input (None: left out)."""
    names = ["x", *(f"c{i}" if value is not None else "" for i, value in enumerate(constants))]
    values = {f"c{i}": value for i, value in enumerate(constants) if value is not None}
    made = [f"y{i}" for i in range(outputs)]
    node = onnx.helper.make_node(op, names, made, domain=domain, **attributes)
    return make_model([node], {"x": x}, values, made, opset), {"x": x}


def many(op: str, inputs: dict[str, Array], **attributes: object) -> Made:
    """One node whose inputs are all variable."""
    return make_model([onnx.helper.make_node(op, list(inputs), ["y"], **attributes)], inputs), inputs


def chain(x: Array, nodes: Sequence[onnx.NodeProto], **constants: Array) -> Made:
    return make_model(nodes, {"x": x}, constants), {"x": x}


node = onnx.helper.make_node
NHWC_CONV = {"pads": [1, 0, 1, 2], "strides": [2, 1], "dilations": [1, 1], "group": 2, "kernel_shape": [3, 3]}
NHWC_POOL = {"pads": [0] * 4, "strides": [1, 1], "dilations": [1, 1], "ceil_mode": 0}

CONVOLUTIONS = {
    "plain": lambda: one("Conv", f32(1, 3, 8, 9), f32(4, 3, 3, 3)),
    "bias, stride, pads": lambda: one(
        "Conv", f32(1, 3, 8, 9), f32(4, 3, 3, 2), f32(4), strides=[2, 1], pads=[1, 0, 2, 1]
    ),
    "groups": lambda: one("Conv", f32(2, 6, 5, 5), f32(9, 2, 3, 3), f32(9), group=3, pads=[1, 1, 1, 1]),
    "depthwise": lambda: one("Conv", f32(1, 6, 5, 7), f32(6, 1, 3, 3), group=6),
    "dilated": lambda: one("Conv", f32(1, 2, 9, 9), f32(3, 2, 3, 3), dilations=[2, 3], pads=[2, 3, 2, 3]),
    "same upper": lambda: one("Conv", f32(1, 2, 8, 7), f32(3, 2, 4, 3), auto_pad="SAME_UPPER", strides=[2, 2]),
    "same lower": lambda: one("Conv", f32(1, 2, 8, 7), f32(3, 2, 4, 3), auto_pad="SAME_LOWER", strides=[2, 2]),
    "valid": lambda: one("Conv", f32(1, 2, 8, 7), f32(3, 2, 4, 3), auto_pad="VALID"),
    "one dimension": lambda: one("Conv", f32(1, 4, 20), f32(5, 4, 3), f32(5), pads=[1, 1], strides=[2]),
    "three dimensions": lambda: one("Conv", f32(1, 2, 4, 5, 6), f32(3, 2, 2, 3, 2), pads=[0, 1, 1, 1, 1, 0]),
    "double": lambda: one("Conv", f32(1, 3, 6, 6).astype(np.float64), f32(4, 3, 3, 3).astype(np.float64)),
    "computed weights": lambda: many("Conv", {"x": f32(1, 4, 6, 6), "w": f32(4, 2, 3, 3), "b": f32(4)}, group=2),
    "relu": lambda: chain(
        f32(1, 3, 6, 6), [node("Conv", ["x", "w", "b"], ["c"]), node("Relu", ["c"], ["y"])], w=f32(4, 3, 3, 3), b=f32(4)
    ),
    "clip": lambda: chain(
        f32(1, 3, 6, 6),
        [node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]), node("Clip", ["c", "l", "h"], ["y"])],
        w=f32(4, 3, 3, 3),
        l=np.float32(0),
        h=np.float32(6),
    ),
    "integer": lambda: one("ConvInteger", u8(1, 3, 6, 7), i8(4, 3, 3, 3), pads=[1, 1, 1, 1]),
    "integer, zero points": lambda: one(
        "ConvInteger", i8(1, 3, 6, 7), i8(4, 3, 3, 3), np.int8(-5), np.int8(3), pads=[1, 0, 1, 0]
    ),
    "integer, zero point per channel": lambda: one(
        "ConvInteger", u8(1, 4, 6, 6), u8(4, 2, 3, 3), np.uint8(200), u8(4), group=2
    ),
    "integer, computed zero points": lambda: many(
        "ConvInteger", {"x": u8(1, 3, 6, 6), "w": u8(4, 3, 3, 3), "a": np.uint8(7), "b": np.uint8(9)}
    ),
    "NHWC, bias": lambda: one("Conv", f32(1, 6, 7, 4), f32(6, 2, 3, 3), f32(6), domain="match.nhwc", **NHWC_CONV),
    "NHWC, relu": lambda: chain(
        f32(1, 6, 7, 4),
        [
            node("Conv", ["x", "w"], ["c"], domain="match.nhwc", **NHWC_CONV),
            node("Relu", ["c"], ["y"]),
        ],
        w=f32(6, 2, 3, 3),
    ),
    "integer NHWC": lambda: one(
        "ConvInteger",
        u8(1, 6, 7, 4),
        i8(6, 2, 3, 3),
        domain="match.nhwc",
        **NHWC_CONV,
    ),
    "integer NHWC, computed weights": lambda: (
        lambda inputs: (
            make_model(
                [
                    node(
                        "ConvInteger",
                        ["x", "w"],
                        ["y"],
                        domain="match.nhwc",
                        pads=[0] * 4,
                        strides=[1, 1],
                        dilations=[1, 1],
                        group=1,
                        kernel_shape=[3, 3],
                    )
                ],
                inputs,
            ),
            inputs,
        )
    )({"x": u8(1, 6, 7, 4), "w": i8(6, 4, 3, 3)}),
}
PRODUCTS = {
    "matmul": lambda: one("MatMul", f32(5, 16), f32(16, 7)),
    "matmul, variables": lambda: many("MatMul", {"a": f32(5, 16), "b": f32(16, 7)}),
    "matmul, batch": lambda: many("MatMul", {"a": f32(2, 3, 5, 16), "b": f32(2, 3, 16, 7)}),
    "matmul, batch broadcast": lambda: many("MatMul", {"a": f32(2, 1, 5, 16), "b": f32(3, 16, 7)}),
    "matmul, constant batch": lambda: one("MatMul", f32(2, 5, 16), f32(2, 16, 7)),
    "matmul, vectors": lambda: many("MatMul", {"a": f32(16), "b": f32(16)}),
    "matmul, vector and matrix": lambda: many("MatMul", {"a": f32(16), "b": f32(2, 16, 3)}),
    "matmul, matrix and vector": lambda: many("MatMul", {"a": f32(2, 4, 16), "b": f32(16)}),
    "gemm": lambda: one("Gemm", f32(3, 16), f32(16, 5), f32(5)),
    "gemm, transposed": lambda: one("Gemm", f32(16, 3), f32(5, 16), f32(3, 1), transA=1, transB=1, alpha=0.5, beta=2.0),
    "gemm, without addend": lambda: one("Gemm", f32(3, 16), f32(16, 5), alpha=2.0),
    "gemm, variables": lambda: many("Gemm", {"a": f32(3, 16), "b": f32(5, 16), "c": f32(3, 5)}, transB=1),
    "gemm, relu": lambda: chain(
        f32(3, 16), [node("Gemm", ["x", "w", "b"], ["g"]), node("Relu", ["g"], ["y"])], w=f32(16, 5), b=f32(5)
    ),
    "integer": lambda: one("MatMulInteger", u8(3, 20), i8(20, 6)),
    "integer, zero points": lambda: one("MatMulInteger", i8(3, 20), i8(20, 6), np.int8(-128), np.int8(5)),
    "integer, zero point per column": lambda: one("MatMulInteger", u8(3, 20), u8(20, 6), np.uint8(5), u8(6)),
    "integer, zero point per row": lambda: one("MatMulInteger", u8(3, 20), u8(20, 6), u8(3, 1), np.uint8(5)),
    "integer, variables, batch": lambda: many("MatMulInteger", {"a": u8(2, 4, 20), "b": i8(2, 20, 6)}),
}
POOLS = {
    "max": lambda: one("MaxPool", f32(1, 3, 8, 9), kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1]),
    "max u8": lambda: one("MaxPool", u8(1, 3, 8, 9), kernel_shape=[2, 2], strides=[2, 2]),
    "max i8, ceil": lambda: one(
        "MaxPool", i8(1, 3, 8, 9), kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1, pads=[1, 1, 1, 1]
    ),
    "max, dilated": lambda: one("MaxPool", f32(1, 3, 9, 9), kernel_shape=[2, 2], dilations=[3, 2]),
    "max NHWC": lambda: one(
        "MaxPool", u8(1, 8, 9, 5), domain="match.nhwc", **{**NHWC_POOL, "kernel_shape": [3, 2], "pads": [1, 0, 1, 1]}
    ),
    "average NHWC": lambda: one(
        "AveragePool",
        f32(1, 8, 9, 5),
        domain="match.nhwc",
        **{**NHWC_POOL, "kernel_shape": [3, 2], "pads": [1, 0, 1, 1], "count_include_pad": 0},
    ),
    "max, one dimension": lambda: one("MaxPool", f32(2, 3, 20), kernel_shape=[4], strides=[3]),
    "global max": lambda: one("GlobalMaxPool", f32(2, 3, 5, 6)),
    "average": lambda: one("AveragePool", f32(1, 3, 8, 9), kernel_shape=[2, 3], strides=[2, 1]),
    "average, pads": lambda: one(
        "AveragePool", f32(1, 3, 8, 9), kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]
    ),
    "average, pads counted": lambda: one(
        "AveragePool", f32(1, 3, 8, 9), kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1
    ),
    "average, ceil": lambda: one("AveragePool", f32(1, 2, 8, 8), kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1),
    "average, ceil, pads counted": lambda: one(
        "AveragePool",
        f32(1, 2, 8, 8),
        kernel_shape=[3, 3],
        strides=[3, 3],
        pads=[1, 1, 0, 0],
        ceil_mode=1,
        count_include_pad=1,
    ),
    "average, same": lambda: one(
        "AveragePool", f32(1, 2, 7, 8), kernel_shape=[3, 3], strides=[2, 2], auto_pad="SAME_UPPER"
    ),
    "global average": lambda: one("GlobalAveragePool", f32(2, 3, 5, 6)),
}
REDUCTIONS = {
    "sum of all": lambda: one("ReduceSum", f32(2, 3, 4)),
    "sum over the middle": lambda: one("ReduceSum", f32(2, 3, 4), ints(1), keepdims=0),
    "sum over the ends": lambda: one("ReduceSum", f32(2, 3, 4, 5), ints(0, -1)),
    "sum over none": lambda: one("ReduceSum", f32(2, 3), noop_with_empty_axes=1),
    "sum int32": lambda: one("ReduceSum", RNG.integers(-(2**25), 2**25, (3, 50), dtype=np.int32), ints(1)),
    "sum int64": lambda: one("ReduceSum", RNG.integers(-(2**40), 2**40, (3, 50)), ints(1)),
    "sum of a conversion": lambda: chain(
        u8(2, 3, 40), [node("Cast", ["x"], ["r"], to=7), node("ReduceSum", ["r", "a"], ["y"], keepdims=1)], a=ints(2)
    ),
    "sum of a region with a broadcast operand": lambda: chain(
        f32(2, 3, 4, 5),
        [
            node("Mul", ["x", "m"], ["p"]),
            node("Abs", ["p"], ["q"]),
            node("ReduceSum", ["q", "a"], ["y"], keepdims=0),
        ],
        m=f32(3, 1, 5),
        a=ints(1, 2),
    ),
    "mean of a conversion": lambda: chain(
        i8(2, 3, 40), [node("Cast", ["x"], ["r"], to=1), node("ReduceMean", ["r", "a"], ["y"], keepdims=1)], a=ints(2)
    ),
    "mean": lambda: one("ReduceMean", f32(2, 3, 4, 5), ints(2, 3)),
    "mean int32": lambda: one("ReduceMean", RNG.integers(-1000, 1000, (3, 7), dtype=np.int32), ints(1)),
    "max": lambda: one("ReduceMax", f32(2, 3, 4), ints(2)),
    "max u8": lambda: one("ReduceMax", u8(2, 3, 4), ints(0, 2)),
    "min i8": lambda: one("ReduceMin", i8(2, 3, 4), ints(1), keepdims=0),
    "product": lambda: one("ReduceProd", f32(2, 6), ints(1)),
    "l1": lambda: one("ReduceL1", f32(2, 6), ints(1)),
    "l2": lambda: one("ReduceL2", f32(2, 6), ints(1)),
    "sum of squares": lambda: one("ReduceSumSquare", f32(2, 6), ints(0)),
    "argmax": lambda: one("ArgMax", f32(2, 7, 3), axis=1),
    "argmax, last of equals": lambda: one("ArgMax", u8(2, 70) // 32, axis=-1, keepdims=0, select_last_index=1),
    "argmax, first of equals": lambda: one("ArgMax", u8(2, 70) // 32, axis=-1),
    "argmin": lambda: one("ArgMin", f32(4, 3), axis=0),
    "softmax": lambda: one("Softmax", 5 * f32(2, 3, 10)),
    "softmax over the middle": lambda: one("Softmax", 5 * f32(2, 6, 10), axis=1),
    "softmax over the front": lambda: one("Softmax", 5 * f32(6, 10), axis=0),
    "softmax of large values": lambda: one("Softmax", 1000 * f32(2, 10)),
    "log softmax": lambda: one("LogSoftmax", 5 * f32(2, 6, 10), axis=1),
    "layer norm": lambda: one("LayerNormalization", 3 * f32(2, 5, 16) + 2, f32(16), f32(16), epsilon=1e-4),
    "layer norm over two axes": lambda: one("LayerNormalization", f32(2, 5, 16), f32(5, 16), axis=1),
    "rms norm": lambda: one("RMSNormalization", f32(2, 5, 16), f32(16), opset=23),
    "instance norm": lambda: one("InstanceNormalization", f32(2, 3, 5, 6), f32(3), f32(3)),
}
MOVES = {
    "transpose": lambda: one("Transpose", f32(2, 3, 4, 5), perm=[0, 2, 3, 1]),
    "transpose u8 back": lambda: one("Transpose", u8(1, 6, 7, 5), perm=[0, 3, 1, 2]),
    "transpose rows": lambda: one("Transpose", u8(4, 3, 16), perm=[1, 0, 2]),
    "transpose default": lambda: one("Transpose", f32(3, 4)),
    "concat": lambda: many("Concat", {"a": f32(2, 3, 4), "b": f32(2, 1, 4), "c": f32(2, 5, 4)}, axis=1),
    "concat last": lambda: many("Concat", {"a": u8(5, 3), "b": u8(5, 2)}, axis=-1),
    "slice": lambda: one("Slice", f32(6, 7, 8), ints(1, 2), ints(5, 100), ints(0, 2)),
    "slice backwards": lambda: one("Slice", u8(9, 5), ints(-1, 4), ints(-100, 0), ints(0, 1), ints(-2, -1)),
    "slice with steps": lambda: one("Slice", i8(9, 9), ints(0, 1), ints(9, 9), None, ints(3, 2)),
    "split": lambda: one("Split", f32(4, 9, 2), ints(2, 3, 4), outputs=3, axis=1),
    "split evenly": lambda: one("Split", u8(4, 9), outputs=3, axis=-1, num_outputs=3),
    "pad": lambda: one("Pad", f32(2, 3, 4), ints(0, 1, 2, 1, 0, 1), np.float32(-1.5)),
    "pad bytes": lambda: one("Pad", i8(1, 2, 3, 20), ints(0, 0, 1, 2, 0, 0, 1, 1), np.int8(-128)),
    "pad without a value": lambda: one("Pad", f32(3, 4), ints(1, 1, 0, 2)),
    "pad some axes": lambda: one("Pad", f32(3, 4, 5), ints(1, 2), np.float32(3), ints(-2)),
    "crop and pad": lambda: one("Pad", f32(5, 6), ints(-1, 2, 1, -3)),
    "tile": lambda: one("Tile", f32(2, 3), ints(3, 2)),
    "resize": lambda: one(
        "Resize",
        f32(1, 2, 3, 4),
        None,
        np.array([1, 1, 2, 3], np.float32),
        mode="nearest",
        coordinate_transformation_mode="asymmetric",
        nearest_mode="floor",
    ),
    "resize half pixel": lambda: one(
        "Resize", f32(1, 2, 3, 4), None, np.array([1, 1, 2, 3], np.float32), mode="nearest"
    ),
    "depth to space": lambda: one("DepthToSpace", f32(2, 12, 3, 4), blocksize=2),
    "depth to space, columns first": lambda: one("DepthToSpace", f32(2, 12, 3, 4), blocksize=2, mode="CRD"),
    "space to depth": lambda: one("SpaceToDepth", f32(2, 3, 4, 6), blocksize=2),
    "gather rows": lambda: one("Gather", f32(6, 5), ints(3, 0, -1, 3)),
    "gather columns": lambda: one("Gather", f32(2, 6, 3), np.array([[1, -6], [0, 5]], np.int32), axis=1),
    "gather elements": lambda: one("Gather", u8(2, 6), ints(5, 1), axis=1),
    "gather one": lambda: one("Gather", f32(4, 6), np.array(2, I64), axis=1),
    "gather by input": lambda: many("Gather", {"x": f32(4, 6), "i": ints(3, -4)}),
    "reshape": lambda: chain(
        f32(2, 3, 4), [node("Reshape", ["x", "s"], ["r"]), node("Relu", ["r"], ["y"])], s=ints(4, -1)
    ),
    "flatten, squeeze, unsqueeze": lambda: chain(
        f32(2, 1, 4),
        [
            node("Flatten", ["x"], ["a"]),
            node("Unsqueeze", ["a", "s"], ["b"]),
            node("Squeeze", ["b", "s"], ["c"]),
            node("Neg", ["c"], ["y"]),
        ],
        s=ints(1),
    ),
    "transpose of ones": lambda: chain(
        f32(2, 1, 4), [node("Transpose", ["x"], ["t"], perm=[1, 0, 2]), node("Neg", ["t"], ["y"])]
    ),
}
GROUPS: dict[str, dict[str, Callable[[], Made]]] = {
    "conv": CONVOLUTIONS,
    "product": PRODUCTS,
    "pool": POOLS,
    "reduce": REDUCTIONS,
    "move": MOVES,
}
NAMES = [(group, name) for group, cases in GROUPS.items() for name in cases]


@pytest.fixture(scope="module")
def results(
    run_cases: Callable[..., list[list[dict[str, Array]]]],
) -> dict[tuple[str, str], tuple[Case, dict[str, Array]]]:
    cases = {}
    for group, name in NAMES:
        model, sample = GROUPS[group][name]()
        cases[group, name] = Case(model, [sample])
    ran = run_cases(list(cases.values()))
    return {key: (case, samples[0]) for (key, case), samples in zip(cases.items(), ran, strict=True)}


@pytest.mark.parametrize(("group", "name"), NAMES)
def test_equals_onnx_runtime(
    group: str, name: str, results: dict[tuple[str, str], tuple[Case, dict[str, Array]]]
) -> None:
    case, got = results[group, name]
    for key, want in expected(case.model, case.samples[0]).items():
        assert (got[key].dtype, got[key].shape) == (want.dtype, want.shape)
        if want.dtype.kind == "f" and group != "move":
            np.testing.assert_allclose(got[key], want, rtol=1e-5, atol=1e-5 * float(np.abs(want).max()))
        else:
            np.testing.assert_array_equal(got[key], want)
        assert want.size == 1 or len(np.unique(want)) > 1, "the case tells nothing"


FUSED = {
    ("reduce", "sum of a region with a broadcast operand"): "host_region_reduce",
    ("reduce", "sum of a conversion"): "host_region_reduce",
    ("conv", "relu"): "host_conv_activation",
    ("conv", "clip"): "host_conv_activation",
    ("conv", "NHWC, relu"): "host_conv_activation",
    ("product", "gemm, relu"): "host_gemm_activation",
}


@pytest.mark.parametrize(("key", "pattern"), FUSED.items())
def test_activations_are_fused(
    key: tuple[str, str], pattern: str, results: dict[tuple[str, str], tuple[Case, dict[str, Array]]]
) -> None:
    assert results[key][0].used == [pattern]


COPIES = {"Identity": (), "Flatten": (), "Reshape": (ints(4, 6),), "Unsqueeze": (ints(0),), "Dropout": ()}


def test_views_can_be_copies(run_cases: Callable[..., list[list[dict[str, Array]]]]) -> None:
    """Where bytes cannot be shared (graph input to graph output) the same operators have kernels."""
    cases = []
    for op, constants in COPIES.items():
        model, sample = one(op, f32(2, 3, 4), *constants)
        cases.append(Case(model, [sample], (f"host_{op.lower()}",)))
    for case, samples in zip(cases, run_cases(cases), strict=True):
        np.testing.assert_array_equal(samples[0]["y0"], expected(case.model, case.samples[0])["y0"])


def test_indices_from_input_cannot_reach_outside(run_cases: Callable[..., list[list[dict[str, Array]]]]) -> None:
    """Gather clamps indices; the address sanitizer would stop the program otherwise."""
    x = f32(4, 3)
    model, _ = many("Gather", {"x": x, "i": ints(0, 1, 2)})
    hostile = {"x": x, "i": ints(10**12, -(10**12), -5)}
    assert run_cases([Case(model, [hostile])])[0][0]["y"].tolist() == x[[3, 0, 0]].tolist()


def test_integer_sums_wrap(run_cases: Callable[..., list[list[dict[str, Array]]]]) -> None:
    """Beyond the type's range sums wrap around, as in numpy (ONNX says nothing, ONNX Runtime saturates)."""
    x = RNG.integers(-(2**31), 2**31, (3, 50), dtype=np.int32)
    model, sample = one("ReduceSum", x, ints(1))
    want = x.astype(np.int64).sum(1, keepdims=True).astype(np.int32)
    assert (x.astype(np.int64).sum(1) != want[:, 0]).any()
    np.testing.assert_array_equal(run_cases([Case(model, [sample])])[0][0]["y0"], want)
