"""Shares of layers, executed on the fake unit: views of the whole tensors, slices of the constants."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from match_concurrent.share import divisible, restricted
from match_core.contract.candidate import Share
from match_core.contract.workload import Axis, Dim, Operand, Workload
from match_core.lower.bundle import bundle_bytes
from match_core.lower.slices import sliced
from match_core.patterns.bundle import NAME, bundled
from numpy.typing import NDArray

from core.tests.emit import layer_program as lp
from core.tests.emit.hand_schedules import UNIT, random_case
from core.tests.emit.workloads import MAKERS, Problem, conv2d

BUNDLING = replace(UNIT, bundles=True)


def random_share(random: np.random.Generator, workload: Workload) -> tuple[Share, int] | None:
    """A part of a dimension of more than one index, and the axis of the tensor at home that it cuts."""
    kinds = divisible(workload)
    if not kinds:
        return None
    kind = kinds[int(random.integers(len(kinds)))]
    groups = -(-kind.size // kind.granularity)
    first = int(random.integers(0, groups))
    end = int(random.integers(first + 1, groups + 1))
    size = min(end * kind.granularity, kind.size) - first * kind.granularity
    output = next(operand for operand in workload.operands if operand.role == "output")
    return Share(kind.dim, first * kind.granularity, size, workload), home_axis(output, kind.axis)


def home_axis(operand: Operand, axis: int) -> int:
    """The place at home of an axis of the operand: from the widest stride to the narrowest."""
    if not operand.strided:
        return axis
    order = sorted(range(len(operand.axes)), key=lambda n: (-operand.axes[n].stride, -operand.axes[n].size))
    return order.index(axis)


def only(share: Share, axis: int, values: NDArray[np.generic]) -> NDArray[np.generic]:
    """The values with zeros outside of the share."""
    kept = np.zeros_like(values)
    part = tuple(slice(share.first, share.first + share.size) if n == axis else slice(None) for n in range(values.ndim))
    kept[part] = values[part]
    return kept


def share_case(random: np.random.Generator, problem: Problem) -> tuple[lp.Case, Share] | None:
    """A legal schedule by chance of a share by chance."""
    found = random_share(random, problem.workload)
    if found is None:
        return None
    share, axis = found
    constants = {operand: values for operand, values in problem.operands.items() if not operand.startswith("input")}
    operands = {**problem.operands, **sliced(constants, share)}
    part = restricted(share.whole, share.dim, share.first, share.size)
    names = {operand.name: np.zeros(0) for operand in part.operands if operand.parts}
    case = random_case(random, Problem(part, {**operands, **names}, only(share, axis, problem.expected)))
    if case is None:
        return None
    for operand in (o for o in part.operands if o.parts):
        fields = {field: operands.pop(field) for field in operand.fields}
        operands[operand.name] = bundle_bytes(operand, fields, case.schedule.loops)
    return replace(case, problem=replace(case.problem, operands=operands)), share


@pytest.mark.parametrize("kind", sorted(MAKERS))
def test_any_share_computes_its_part(kind: str, tmp_path: Path) -> None:
    random = np.random.default_rng(70 + sorted(MAKERS).index(kind))
    found = [share_case(random, MAKERS[kind](random)) for _ in range(60)]
    pairs = [pair for pair in found if pair is not None]
    assert len(pairs) >= 30
    assert sum(share.first > 0 for _, share in pairs) >= 10
    lp.check(tmp_path, [case for case, _ in pairs])


def test_any_share_with_bundled_constants_computes_its_part(tmp_path: Path) -> None:
    random, pairs = np.random.default_rng(80), []
    for _ in range(60):
        problem = conv2d(random)
        found = share_case(random, replace(problem, workload=bundled(problem.workload, BUNDLING)))
        pairs += [found] if found is not None else []
    assert sum(NAME in case.problem.operands and share.dim == "K" for case, share in pairs) >= 8
    lp.check(tmp_path, [case for case, _ in pairs])


def test_inner_axes_and_few_bits() -> None:
    """4 bits per element: a share of an inner axis takes whole bytes out of every row."""
    axes = (Axis("c", 3, (("C", 1),)), Axis("k", 8, (("K", 1),)))
    weight = Operand("weight", "constant", axes, 4)
    workload = Workload("packed", (Dim("C", 3), Dim("K", 8)), (weight,), 0)
    rows = np.arange(12, dtype=np.uint8)
    assert sliced({"weight": rows}, Share("K", 2, 4, workload))["weight"].tolist() == [1, 2, 5, 6, 9, 10]
    assert sliced({"weight": rows}, Share("C", 1, 2, workload))["weight"].tolist() == list(range(4, 12))
    with pytest.raises(ValueError, match="not a whole number of bytes"):
        sliced({"weight": rows}, Share("K", 1, 4, workload))
