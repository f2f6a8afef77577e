"""Poolings against ONNX Runtime and numpy: places of maxima, norms, overhanging windows, channels last."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product

import numpy as np
import onnx
import pytest
from host_harness import Array, Case, expected, make_model
from match_core.load.load import model_from_proto
from match_verify.reference import ReferenceRunner

RNG = np.random.default_rng(23)
PLANES = RNG.standard_normal((1, 3, 9, 8)).astype(np.float32)
VOLUME = RNG.standard_normal((1, 2, 4, 5, 6)).astype(np.float32)
LINE = RNG.standard_normal((1, 2, 11)).astype(np.float32)


def node(
    op: str, outputs: tuple[str, ...] = ("y",), inputs: tuple[str, ...] = ("x",), **attributes: object
) -> onnx.NodeProto:
    return onnx.helper.make_node(op, list(inputs), list(outputs), **attributes)


def found() -> dict[str, Case]:
    cases: dict[str, Case] = {}

    def add(name: str, item: onnx.NodeProto, inputs: Mapping[str, Array], opset: int = 21) -> None:
        cases[name] = Case(make_model([item], inputs, outputs=list(item.output), opset=opset), [dict(inputs)])

    both = ("y", "i")
    for order in (0, 1):
        own = {"storage_order": order}
        add(
            f"places {order}",
            node("MaxPool", both, kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1], **own),
            {"x": PLANES},
        )
        add(f"places apart {order}", node("MaxPool", both, kernel_shape=[2, 3], dilations=[3, 2], **own), {"x": PLANES})
        add(
            f"places in a volume {order}",
            node("MaxPool", both, kernel_shape=[2, 2, 2], strides=[2, 2, 3], **own),
            {"x": VOLUME},
        )
    add("places on a line", node("MaxPool", both, kernel_shape=[4], strides=[3], ceil_mode=1, pads=[1, 2]), {"x": LINE})
    add("places of bytes", node("MaxPool", both, kernel_shape=[3, 3]), {"x": (PLANES * 9).astype(np.int8)})
    add("places of halves", node("MaxPool", both, kernel_shape=[3, 3]), {"x": PLANES.astype(np.float16)})
    for ceil in (0, 1):
        add(
            f"maximum {ceil}",
            node("MaxPool", kernel_shape=[3, 3], strides=[2, 3], dilations=[2, 1], pads=[1, 1, 2, 1], ceil_mode=ceil),
            {"x": PLANES},
        )
    for mode in ("SAME_UPPER", "SAME_LOWER", "VALID"):
        add(f"norm {mode}", node("LpPool", kernel_shape=[3, 2], strides=[2, 2], auto_pad=mode, p=3), {"x": PLANES})
    for p in (1, 2, 4, 5):
        add(f"norm {p}", node("LpPool", kernel_shape=[3, 3], strides=[2, 1], pads=[1, 1, 0, 1], p=p), {"x": PLANES})
    add("norm of doubles", node("LpPool", kernel_shape=[2, 2]), {"x": PLANES.astype(np.float64)}, opset=11)
    add("norm of a volume", node("LpPool", kernel_shape=[2, 2, 2], strides=[2, 1, 2]), {"x": VOLUME})
    for p in (1, 2, 3):
        add(f"whole norm {p}", node("GlobalLpPool", p=p), {"x": PLANES})
    return cases


CASES = found()


@pytest.fixture(scope="module")
def results(run_cases: Callable[..., list[list[dict[str, Array]]]]) -> dict[str, dict[str, Array]]:
    got = run_cases(list(CASES.values()))
    return {name: samples[0] for name, samples in zip(CASES, got, strict=True)}


@pytest.mark.parametrize("name", CASES)
def test_equals_onnx_runtime(name: str, results: dict[str, dict[str, Array]]) -> None:
    case = CASES[name]
    for output, wanted in expected(case.model, case.samples[0]).items():
        assert results[name][output].dtype == wanted.dtype
        np.testing.assert_allclose(results[name][output], wanted, rtol=1e-5, atol=1e-5)


def test_maxima_of_the_lowest_value_have_places(run_cases: Callable[..., list[list[dict[str, Array]]]]) -> None:
    x = np.full((1, 1, 4, 4), -np.inf, np.float32)
    case = Case(
        make_model([node("MaxPool", ("y", "i"), kernel_shape=[2, 2], strides=[2, 2])], {"x": x}, outputs=["y", "i"]),
        [{"x": x}],
    )
    ((got,),) = run_cases([case])
    np.testing.assert_array_equal(got["i"].reshape(-1), [0, 2, 8, 10])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("last", [False, True])
def test_windows_with_nan(last: bool, dtype: str, run_cases: Callable[..., list[list[dict[str, Array]]]]) -> None:
    """The largest number; NaN only of nothing but NaN, -inf only of nothing larger, padding counts for nothing."""
    values = np.array([np.nan, -np.inf, np.inf, -3, 2, np.finfo(dtype).min], dtype)
    triples = np.array(list(product(values, repeat=3)), dtype)
    wanted = np.fmax.reduce(triples, axis=1)
    rows = triples[:, None, None, :]  # one image for each
    cases = [
        ("MaxPool", rows, {"kernel_shape": [1, 3]}),
        ("MaxPool", rows, {"kernel_shape": [3, 5], "pads": [1, 1, 1, 1]}),
        ("MaxPool", rows.swapaxes(2, 3), {"kernel_shape": [3, 1]}),
        ("MaxPool", triples.T[None, None], {"kernel_shape": [3, 1]}),
        *([] if last else [("GlobalMaxPool", rows, {})]),
    ]
    domain = "match.nhwc" if last else ""
    feeds = [np.ascontiguousarray(np.moveaxis(x, 1, -1) if last else x) for _, x, _ in cases]
    made = [
        Case(make_model([node(op, domain=domain, **own)], {"x": x}), [{"x": x}])
        for (op, _, own), x in zip(cases, feeds, strict=True)
    ]
    for (got,) in run_cases(made):
        np.testing.assert_array_equal(got["y"].reshape(-1), wanted)


def test_windows_of_nothing_but_nan_are_those_of_onnx_runtime(
    run_cases: Callable[..., list[list[dict[str, Array]]]],
) -> None:
    """In both of its kernels where a window holds numbers only, or nothing but NaN."""
    x = RNG.standard_normal((1, 4, 12, 12)).astype(np.float32)
    x[0, 1], x[0, 2, :, :6], x[0, 3] = np.nan, -np.inf, -np.inf
    own = {"kernel_shape": [2, 2], "strides": [2, 2]}
    case = Case(make_model([node("MaxPool", **own)], {"x": x}), [{"x": x}])
    ((got,),) = run_cases([case])
    np.testing.assert_array_equal(got["y"], expected(case.model, {"x": x})["y"])


def test_places_count_on_through_all_samples() -> None:
    """What the loading of a model makes of several samples has the same places."""
    x = RNG.standard_normal((3, 2, 4, 6)).astype(np.float32)
    proto = make_model([node("MaxPool", ("y", "i"), kernel_shape=[2, 2], strides=[2, 2])], {"x": x}, outputs=["y", "i"])
    wanted = expected(proto, {"x": x})
    got = ReferenceRunner(model_from_proto(proto, "pool", "pool.onnx")).run({"x": x})
    np.testing.assert_array_equal(got["i"], wanted["i"])
    np.testing.assert_array_equal(got["y"], wanted["y"])


@pytest.mark.parametrize("channels", [1, 5, 64, 80, 131])
def test_channels_last(channels: int, run_cases: Callable[..., list[list[dict[str, Array]]]]) -> None:
    x = RNG.standard_normal((1, 7, 5, channels)).astype(np.float32)
    own = {"kernel_shape": [3, 2], "strides": [2, 2], "pads": [1, 0, 1, 1]}
    cases = [
        Case(make_model([node(op, domain="match.nhwc", **own, **more)], {"x": x}), [{"x": x}])
        for op, more in (("MaxPool", {}), ("AveragePool", {}), ("AveragePool", {"count_include_pad": 1}))
    ]
    for case, (got,) in zip(cases, run_cases(cases), strict=True):
        np.testing.assert_allclose(got["y"], expected(case.model, {"x": x})["y"], rtol=1e-5, atol=1e-6)


def unpooled(x: Array, places: Array, shape: tuple[int, ...], out: tuple[int, ...]) -> Array:
    whole = np.zeros(shape, x.dtype)
    whole.reshape(-1)[places.reshape(-1)] = x.reshape(-1)
    result = np.zeros(out, x.dtype)
    common = tuple(slice(0, min(a, b)) for a, b in zip(shape, out, strict=True))
    result[common] = whole[common]
    return result


def test_unpooling(run_cases: Callable[..., list[list[dict[str, Array]]]]) -> None:
    x = RNG.standard_normal((1, 2, 3, 2)).astype(np.float32)
    shape = (1, 2, 6, 6)
    places = RNG.permutation(72)[:12].reshape(x.shape)
    samples = [{"x": x, "i": places}, {"x": x, "i": np.full(x.shape, 2**40)}, {"x": x, "i": np.full(x.shape, -1)}]
    cases, wanted = [], []
    for out in (shape, (1, 2, 8, 7), (1, 2, 5, 7)):
        item = node("MaxUnpool", inputs=("x", "i", "s"), kernel_shape=[2, 3], strides=[2, 3])
        result = unpooled(x, places, shape, out)
        constants = {"s": np.array(out, np.int64)}
        cases.append(
            Case(make_model([item], samples[0], constants, run=lambda model, inputs, y=result: {"y": y}), samples)
        )
        wanted.append(result)
    for result, (good, *bad) in zip(wanted, run_cases(cases), strict=True):
        np.testing.assert_array_equal(good["y"], result)
        assert not any(item["y"].any() for item in bad)


def test_norms_need_a_positive_exponent() -> None:
    from host_harness import import_graph
    from match_host.operators import OPERATOR_TABLE
    from match_host.rules import first_broken

    for op, p in product(("LpPool", "GlobalLpPool"), (0, -1)):
        model = make_model(
            [node(op, p=p, **({"kernel_shape": [2, 2]} if op == "LpPool" else {}))],
            {"x": PLANES},
            run=lambda *_: {"y": PLANES},
        )
        (found,) = import_graph(model).nodes
        assert first_broken(found, OPERATOR_TABLE[op].rules) == f"p is {p}"
