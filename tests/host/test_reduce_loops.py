"""Reductions in all forms of their loops: one by one, side by side, in lanes; against numpy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from host_harness import Array, Case, make_model
from match_host.kernels.lanes import BLOCK, block_of

node = onnx.helper.make_node
RNG = np.random.default_rng(3)

EXACT: dict[str, Callable[[Array, tuple[int, ...]], Array]] = {
    "ReduceSum": lambda x, axes: x.sum(axes),
    "ReduceMean": lambda x, axes: x.mean(axes),
    "ReduceProd": lambda x, axes: x.prod(axes),
    "ReduceMax": lambda x, axes: x.max(axes),
    "ReduceMin": lambda x, axes: x.min(axes),
    "ReduceL1": lambda x, axes: np.abs(x).sum(axes),
    "ReduceL2": lambda x, axes: np.sqrt((x * x).sum(axes)),
    "ReduceSumSquare": lambda x, axes: (x * x).sum(axes),
}
#: Shape, axes, and the line of C that only this form of loops has.
FORMS: dict[str, tuple[tuple[int, ...], tuple[int, ...], str]] = {
    "one by one": ((5, 7), (1,), "float acc ="),
    "side by side": ((9, 12), (0,), "acc[c] ="),
    "side by side in blocks": ((3, 130), (0,), "b * 26 + c"),
    "around the middle": ((4, 6, 17), (0, 1), "acc[c] ="),
    "in lanes": ((3, 40), (1,), "lane[t] ="),
    "in lanes with a rest": ((3, 37), (1,), "lane[t] ="),
    "in lanes over all": ((6, 50), (0, 1), "lane[t] ="),
    "in lanes over the ends": ((4, 3, 21), (0, 2), "lane[t] ="),
}


def _case(op: str, shape: tuple[int, ...], axes: tuple[int, ...], squares: bool) -> tuple[Case, Array]:
    x = RNG.uniform(0.8, 1.25, shape).astype(np.float32) * RNG.choice([-1, 1], shape).astype(np.float32)
    nodes = [node("Mul", ["x", "s"], ["m"]), node(op, ["m", "axes"], ["y"], keepdims=0)]
    constants = {"axes": np.array(axes, np.int64), "s": RNG.uniform(0.9, 1.1, shape[-1]).astype(np.float32)}
    values = x * constants["s"]
    if not squares:
        nodes, values = [node(op, ["x", "axes"], ["y"], keepdims=0)], x
        del constants["s"]
    exact = EXACT[op](values.astype(np.float64), axes)
    return Case(make_model(nodes, {"x": x}, constants), [{"x": x}]), exact


def test_operators_and_forms(run_cases: Callable[..., list[list[dict[str, Array]]]]) -> None:
    """Every operator side by side and in lanes, two of them in all forms behind a region."""
    keys = [(op, form, False) for op in EXACT for form in ("side by side in blocks", "in lanes with a rest")]
    keys += [(op, form, True) for op in ("ReduceMean", "ReduceMin") for form in FORMS]
    cases, wanted = zip(*(_case(op, *FORMS[form][:2], region) for op, form, region in keys), strict=True)
    for key, (outputs,), exact in zip(keys, run_cases(cases), wanted, strict=True):
        np.testing.assert_allclose(outputs["y"], exact, rtol=2e-6, atol=2e-5, err_msg=str(key))


@pytest.mark.parametrize("form", FORMS)
def test_each_form_is_written(form: str) -> None:
    from host_harness import import_graph
    from match_host.kernels.reduction.reduce import build_reduce

    shape, axes, line = FORMS[form]
    graph = import_graph(_case("ReduceSum", shape, axes, False)[0].model)
    assert line in build_reduce(tuple(graph.nodes), "kernel").code.definition


def test_lanes_ignore_what_is_no_number_as_single_accumulators_do(
    run_cases: Callable[..., list[list[dict[str, Array]]]],
) -> None:
    x = np.arange(80, dtype=np.float32).reshape(2, 40)
    x[0, 3], x[1, :] = np.nan, -np.inf
    nodes = [node("ReduceMax", ["x", "axes"], ["y"], keepdims=0)]
    model = make_model(nodes, {"x": x}, {"axes": np.array([1], np.int64)})
    ((outputs,),) = run_cases([Case(model, [{"x": x}])])
    np.testing.assert_array_equal(outputs["y"], np.array([39, -np.inf], np.float32))


def test_blocks_divide_lines_evenly() -> None:
    for size in range(1, 400):
        block = block_of(size)
        assert size % block == 0
        assert block <= BLOCK or all(size % part or part < 16 for part in range(1, BLOCK + 1))
