"""What the host tells of its kernels beside counts: forms and figures that depend on it."""

from __future__ import annotations

import numpy as np
import onnx_graphsurgeon as gs
import pytest
from match_core.contract.workload import Workload
from match_cortexm.counts import counts_of
from match_cortexm.forms import figures_keys
from match_host.kernels.elementwise.loop import build_elementwise
from match_host.kernels.movement.movement import build_movement
from match_host.kernels.reduction.softmax import build_softmax
from match_host.workload import host_workload


def _real(name: str, *shape: int) -> gs.Variable:
    return gs.Variable(name, np.float32, shape)


def _region(*ops: str) -> Workload:
    """Operators one after another on 5 x 20 numbers; those of two operands read another input."""
    nodes, x = [], _real("x0", 5, 20)
    for place, op in enumerate(ops):
        sources = [x, _real(f"x{place + 1}", 5, 20)] if op in ("Add", "Sub", "Mul", "Div") else [x]
        x = _real(f"t{place}", 5, 20)
        nodes.append(gs.Node(op, f"n{place}", {}, sources, [x]))
    return host_workload("host_region", build_elementwise(tuple(nodes), "kernel"), nodes[-1].outputs)


def test_functions_are_told_apart():
    work = _region("Add", "Tanh")
    assert {"calls_tanh": 100, "sums": 100}.items() <= counts_of(work).items() and "special" not in counts_of(work)
    assert figures_keys(work)[0] == "host_region float, 3 memory 1 floating 1 steps 1 calls_tanh"
    assert figures_keys(_region("Add", "Sigmoid"))[0] != figures_keys(work)[0]
    assert counts_of(_region("Softplus", "Tanh"))["calls_softplus"] == 100


def test_sums_do_not_change_the_form():
    assert figures_keys(_region("Add", "Mul")) == figures_keys(_region("Mul", "Mul"))
    assert counts_of(_region("Add", "Sub"))["sums"] == 200 and "sums" not in counts_of(_region("Mul", "Mul"))
    assert "host_region float, plain" in figures_keys(_region("Add", "Mul"))


def test_roots_are_no_divisions():
    counts = counts_of(_region("Sqrt", "Div"))
    assert counts["calls_sqrt"] == 100 and counts["floating_divide"] == 100


@pytest.mark.parametrize(
    ("shape", "axis", "name"),
    [
        ((1, 6, 20), -1, "host_softmax float"),
        ((1, 6, 20), 1, "host_softmax float of columns"),
        ((1, 6, 3), 1, "host_softmax float of few columns"),
    ],
)
def test_softmaxes_across_lines_are_told_apart(shape, axis, name):
    node = gs.Node("Softmax", "soft", {"axis": axis}, [_real("x", *shape)], [_real("y", *shape)])
    work = host_workload("host_softmax", build_softmax((node,), "kernel"), node.outputs)
    assert figures_keys(work)[-1] == name
    lines = np.prod(shape) // shape[axis]
    assert counts_of(work)["rows"] == lines and counts_of(work)["others"] == np.prod(shape) - lines


@pytest.mark.parametrize(
    ("mode", "columns", "form"),
    [("edge", 20, "borders, runs"), ("reflect", 5, "mirrored, elements"), ("wrap", 80, "borders, long runs")],
)
def test_borders_count_their_rows_and_ends(mode, columns, form):
    pads = gs.Constant("pads", np.array([0, 1, 2, 0, 1, 3], np.int64))
    x = gs.Variable("x", np.int8, (1, 6, columns))
    node = gs.Node("Pad", "pad", {"mode": mode}, [x, pads], [gs.Variable("y", np.int8, (1, 8, columns + 5))])
    work = host_workload("host_pad", build_movement((node,), "kernel"), node.outputs)
    assert figures_keys(work)[0] == f"host_pad 8, {form}" and "host_pad 8, borders" in figures_keys(work)
    assert {"borders": 8, "ends": 40, "kept": 8 * columns}.items() <= counts_of(work).items()


@pytest.mark.parametrize(
    ("shift", "low", "unclipped"),
    [(24, -128, True), (23, -128, False), (24, 0, False), (26, -32, True)],
)
def test_limits_that_no_sum_reaches_are_told(shift, low, unclipped):
    values = [np.array(value, np.int64) for value in (1 << 14, 5, 1 << shift, low, 127)]
    node = gs.Node("RequantI8", "scale", {}, domain="match.arith")
    constants = [gs.Constant(f"c{place}", value) for place, value in enumerate(values)]
    node.inputs, node.outputs = [gs.Variable("x", np.int8, (100,)), *constants], [gs.Variable("y", np.int8, (100,))]
    work = host_workload("host_requant_i8", build_elementwise((node,), "kernel"), node.outputs)
    assert ("unclipped" in work.parameters) == unclipped
    assert figures_keys(work)[0].endswith("1 unclipped") == unclipped


@pytest.mark.parametrize(("factor", "told"), [(0.5, True), (-4.0, True), (0.3, False)])
def test_products_with_powers_of_two_are_told(factor, told):
    """They change exponents only, which takes fewer instructions without an FPU, in loops of the same form."""
    x, y = _real("x", 5, 20), _real("y", 5, 20)
    node = gs.Node("Mul", "scale", {}, [x, gs.Constant("c", np.array(factor, np.float32))], [y])
    work = host_workload("host_mul", build_elementwise((node,), "kernel"), node.outputs)
    assert counts_of(work, 0.25)["fractions"] == 75 * (not told) and "fractions" not in counts_of(work)
    assert figures_keys(work)[0] == "host_mul float, 2 memory 1 floating 1 steps"
    assert counts_of(work, 0.25)["nonzero"] == 75


@pytest.mark.parametrize(
    ("factor", "digits"),
    [(1 << 14, 0), (3 << 10, 1), ((1 << 14) - 257, 2), (0x5501, 0), (0x5500, 3), (0x814100 >> 7, 3)],
)
def test_factors_of_few_digits_are_told(factor, digits):
    """Digits behind the first one; a factor of five is a product."""
    work = _requantised(np.int8, factor, 1 << 14)
    assert counts_of(work, shifts=True).get("digits", 0) == digits * 100 and "digits" not in figures_keys(work)[0]
    assert "digits" not in counts_of(work)


@pytest.mark.parametrize(
    ("factor", "digits"), [(1 << 30, 1), (3 << 29, 2), (0x4C000001, 4), (0x4C000101, 0), (0x55555555, 0)]
)
def test_long_factors_of_few_digits_are_told(factor, digits):
    """All of up to four; such products are no calls on cores that have no instruction for them."""
    work = _requantised(np.int32, factor, 1 << 37)
    counts = counts_of(work, shifts=True)
    assert counts.get("digits_wide", 0) == digits * 100 and counts["wide"] == 100 * (not digits)
    assert (
        counts_of(work)["wide"] == 100
        and figures_keys(work)[0] == "host_requant_i8 8, 2 memory 8 integer 1 wide 1 steps"
    )


def _requantised(dtype: type, factor: int, divisor: int) -> Workload:
    values = [np.array(value, np.int64) for value in (factor, 5, divisor, -128, 127)]
    node = gs.Node("RequantI8", "scale", {}, domain="match.arith")
    constants = [gs.Constant(f"c{place}", value) for place, value in enumerate(values)]
    node.inputs, node.outputs = [gs.Variable("x", dtype, (100,)), *constants], [gs.Variable("y", np.int8, (100,))]
    return host_workload("host_requant_i8", build_elementwise((node,), "kernel"), node.outputs)
