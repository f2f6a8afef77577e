"""Matrix products in tiles: rows, columns and depths of all kinds, exact for integers, for both machines."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from host_harness import Array, Case, make_model
from match_host.machine import MACHINES

RNG = np.random.default_rng(29)
node = onnx.helper.make_node
#: shapes of both operands
SHAPES = {
    "one row": ((1, 70), (70, 67)),
    "rows that are no whole tile": ((29, 33), (33, 19)),
    "one column": ((9, 40), (40, 1)),
    "few of all": ((2, 3), (3, 5)),
    "batch by one matrix": ((2, 7, 36), (36, 40)),
    "batch by batch": ((3, 9, 20), (3, 20, 18)),
    "broadcast batches": ((2, 1, 5, 18), (3, 18, 33)),
    "one row of each batch": ((4, 1, 17), (4, 17, 30)),
    "vector by matrix": ((21,), (21, 34)),
    "matrix by vector": ((13, 22), (22,)),
}
TYPES = ("float64", "int32", "int64", "uint32")
PAIRS = (("int8", "int8"), ("uint8", "int8"), ("uint8", "uint8"), ("int8", "uint8"), ("int8", "int8"))


def values(dtype: str, *shape: int) -> Array:
    if dtype.startswith("float"):
        return RNG.normal(0, 1, shape).astype(dtype)
    info = np.iinfo(dtype)
    return RNG.integers(info.min, int(info.max), shape, dtype=dtype, endpoint=True)


def product(a: Array, b: Array) -> Array:
    result: Array = np.matmul(a, b)
    return result


Made = tuple[Case, Array]


def plain(machine: str, shape: str, dtype: str, constant: bool) -> Made:
    a, b = (values(dtype, *sizes) for sizes in SHAPES[shape])
    given, constants = ({"a": a}, {"b": b}) if constant else ({"a": a, "b": b}, {})
    model = make_model([node("MatMul", ["a", "b"], ["y"])], given, constants, run=lambda *_: {"y": product(a, b)})
    return Case(model, [given], machine=machine), product(a, b)


def whole(machine: str, shape: str, types: tuple[str, str], constant: bool, zeros: bool) -> Made:
    """MatMulInteger; with zero points per row and per column."""
    a, b = (values(dtype, *sizes) for dtype, sizes in zip(types, SHAPES[shape], strict=True))
    given, constants = ({"a": a}, {"b": b}) if constant else ({"a": a, "b": b}, {})
    names, wide = ["a", "b"], (a.astype(np.int32), b.astype(np.int32))
    if zeros:
        rows = a.shape[-2] if a.ndim == 2 else 1
        constants |= {"za": values(types[0], rows), "zb": values(types[1], b.shape[-1] if b.ndim > 1 else 1)}
        names += ["za", "zb"]
        za = constants["za"].astype(np.int32)
        wide = (wide[0] - (za[:, None] if rows > 1 else za[0]), wide[1] - constants["zb"].astype(np.int32))
    want = product(*wide)
    model = make_model([node("MatMulInteger", names, ["y"])], given, constants, run=lambda *_: {"y": want})
    return Case(model, [given], machine=machine), want


def gemm(machine: str, turned: tuple[int, int], constant: bool) -> Made:
    a, b, c = values("float32", 14, 25), values("float32", 25, 20), values("float32", 20)
    want = 0.5 * product(a, b) + 2.0 * c
    a, b = (np.ascontiguousarray(x.T) if flag else x for x, flag in zip((a, b), turned, strict=True))
    given, constants = ({"a": a}, {"b": b, "c": c}) if constant else ({"a": a, "b": b}, {"c": c})
    nodes = [node("Gemm", ["a", "b", "c"], ["y"], alpha=0.5, beta=2.0, transA=turned[0], transB=turned[1])]
    return Case(make_model(nodes, given, constants), [given], machine=machine), want


def made() -> dict[str, Made]:
    """Three products of each shape, by constants and by given values, for each machine; element types in turns."""
    found: dict[str, Made] = {}
    for turn, (machine, constant) in enumerate((m, c) for m in MACHINES for c in (True, False)):
        of = f"{machine}, {'constant' if constant else 'given'}"
        for number, shape in enumerate(SHAPES, turn):
            for dtype in ("float32", TYPES[number % len(TYPES)]):
                found[f"{of}, {dtype}, {shape}"] = plain(machine, shape, dtype, constant)
            types = PAIRS[number % len(PAIRS)]
            zeros = number % 3 == 0 and len(SHAPES[shape][1]) == 2
            found[f"{of}, {' by '.join(types)}, {shape}"] = whole(machine, shape, types, constant, zeros)
        for turned in ((0, 0), (0, 1), (1, 0), (1, 1)):
            found[f"{of}, gemm {turned}"] = gemm(machine, turned, constant)
    return found


@pytest.fixture(scope="module")
def results(run_cases: Callable[..., list[list[dict[str, Array]]]]) -> list[tuple[str, Array, Array]]:
    cases = made()
    found = run_cases([case for case, _ in cases.values()])
    return [(key, want, samples[0]["y"]) for (key, (_, want)), samples in zip(cases.items(), found, strict=True)]


def test_products(results: list[tuple[str, Array, Array]]) -> None:
    """Whole numbers wrap around as numpy's do; floating-point sums are close to numpy's."""
    for key, want, got in results:
        assert got.shape == want.shape, key
        if want.dtype.kind == "f":
            scale = float(np.abs(want).max())
            bound = scale * (1e-5 if want.dtype == np.float32 else 1e-13)
            np.testing.assert_allclose(got, want, rtol=0, atol=bound, err_msg=key)
        else:
            np.testing.assert_array_equal(got, want, err_msg=key)
