"""Bounds of float outputs: which roundings are counted, and that sums in float16 keep within them."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_graphsurgeon as gs
import pytest
from match_core.contract.candidate import Candidate
from match_core.contract.hardware import Memory, Soc
from match_core.contract.loops import LoopSchedule
from match_core.contract.mapping import Assignment, SolverStatus
from match_core.contract.pattern import Pattern
from match_core.contract.program import Program, Task
from match_core.contract.structure import Match
from match_core.contract.workload import Dim, Workload
from match_verify.float_bounds import WIDE_BOUND, FloatBound, float_bounds
from numpy.typing import NDArray

TEXT = """<ir_version: 10, opset_import: ["" : 21]>
g ({kind}[1,40] x, {kind}[40,8] w) => ({kind}[1,8] y, {kind}[1,40] z) {{
    m = MatMul (x, w)  r = Relu (m)  y = Reshape (r, shape)  z = Neg (x) }}"""
SOC = Soc("soc", "for tests", "host", ("host", "acc"), (Memory("ram", 2, 1 << 20),), (), "ram")


def task(index: int, graph: gs.Graph, unit: str, ops: tuple[str, ...]) -> Task:
    """A task of these operators with what bounds look at; "view" as unit for views of the host."""
    nodes = tuple(node for node in graph.nodes if node.op in ops)
    workload = Workload("k", (Dim("N", 8),), (), macs=320 if "MatMul" in ops else 0)
    pattern = Pattern("p", "", None, (), lambda match: workload, view=unit == "view")
    owner = "host" if unit == "view" else unit
    candidate = Candidate(index, owner, pattern, Match(nodes, {"op": nodes[-1]}), workload)
    return Task(index, Assignment(candidate, LoopSchedule.__new__(LoopSchedule)), (), (), (), 0)


def bounds(kind: str, *tasks: tuple[str, tuple[str, ...]]) -> dict[str, FloatBound]:
    proto = onnx.parser.parse_model(TEXT.format(kind=kind))
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.array([1, 8]), "shape"))
    graph = gs.import_onnx(onnx.shape_inference.infer_shapes(proto))
    for node in graph.nodes:
        node.name = node.op
    made = tuple(task(index, graph, unit, ops) for index, (unit, ops) in enumerate(tasks))
    program = Program(SOC, made, (), (), SolverStatus("none", "optimal", 0, 0), 0)
    return dict(float_bounds(graph, program))


HOST = (("host", ("MatMul",)), ("host", ("Relu",)), ("view", ("Reshape",)), ("host", ("Neg",)))
ACC = (("acc", ("MatMul", "Relu")), ("view", ("Reshape",)), ("host", ("Neg",)))


def test_the_host_rounds_once_for_each_operator() -> None:
    found = bounds("float16", *HOST)
    assert (found["y"].roundings, found["z"].roundings) == (2, 1)
    assert found["y"].relative == pytest.approx(2 * 2**-11 * 2**0.5)
    assert "n = 2 " in str(found["y"])


def test_other_units_round_after_every_product() -> None:
    found = bounds("float16", *ACC)
    assert (found["y"].roundings, found["z"].roundings) == (40 + 2, 1)


def test_wider_floats_have_one_bound() -> None:
    assert {(bound.relative, bound.roundings) for bound in bounds("float", *ACC).values()} == {(WIDE_BOUND, 0)}


def rounded_product(a: NDArray[np.float16], b: NDArray[np.float16]) -> NDArray[np.float16]:
    """Fused multiply-adds one after another, each rounded to float16."""
    total = np.zeros((len(a), b.shape[1]), np.float16)
    for k in range(a.shape[1]):
        wide = a[:, k, None].astype(np.float64) * b[k].astype(np.float64) + total.astype(np.float64)
        total = wide.astype(np.float16)
    return total


@pytest.mark.parametrize("depth", [16, 64, 640])
@pytest.mark.parametrize("layers", [1, 3, 8])
def test_chains_of_float16_sums_keep_within(depth: int, layers: int) -> None:
    """Against float64 from the same float16 numbers; the bound is not 20 times too wide either."""
    random = np.random.default_rng(depth + layers)
    narrow = random.normal(0, 1, (64, depth)).astype(np.float16)
    wide = narrow.astype(np.float64)
    for _ in range(layers):
        weight = random.normal(0, (2 / depth) ** 0.5, (depth, depth)).astype(np.float16)
        narrow = np.maximum(rounded_product(narrow, weight), np.float16(0))
        wide = np.maximum(wide @ weight.astype(np.float64), 0)
    distance = float(np.abs(narrow - wide).max() / wide.max())
    bound = 2 * 2**-11 * (layers * (depth + 2)) ** 0.5
    assert bound / 20 < distance < bound
