"""Shares of an operator: views of its tensors, slices of its constants, and together the whole."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from match_concurrent.boxes import TensorBox, overlap, view_box
from match_concurrent.share import divisible, restricted
from match_core.contract.geometry import far_strides
from match_core.contract.workload import Axis, Dim, Operand, Workload

from core.tests.schedule.literal_steps import Values, direct, far_shape, random_data
from core.tests.schedule.random_layers import workloads
from tests.examples import examples

MANY = settings(max_examples=examples(200), deadline=None, suppress_health_check=list(HealthCheck))


def sliced(workload: Workload, part: Workload, data: dict[str, Values], dim: str, first: int) -> dict[str, Values]:
    """What the share's operands show of the whole tensors: by base and strides for views, by index for constants."""
    shown = {}
    for operand, whole in zip(part.operands, workload.operands, strict=True):
        if operand.role == "output":
            continue
        values = data[operand.name]
        if operand.role == "constant":
            cut = [n for n, axis in enumerate(whole.axes) if any(name == dim for name, _ in axis.terms)]
            for n in cut:
                stored = far_shape(operand)[n]
                values = np.take(values, range(first, min(first + stored, values.shape[n])), axis=n)
                pad = [(0, stored - values.shape[m] if m == n else 0) for m in range(values.ndim)]
                values = np.pad(values, pad)
        else:
            strides = [stride * values.itemsize for stride in far_strides(operand)]
            flat = values.reshape(-1)[operand.base :]
            values = np.lib.stride_tricks.as_strided(flat, [axis.size for axis in operand.axes], strides)
        shown[operand.name] = values
    return shown


@MANY
@given(workloads(), st.data())
def test_the_shares_of_an_operator_make_the_whole(workload: Workload, data: st.DataObject) -> None:
    kinds = divisible(workload)
    assume(kinds and not any(axis.pitch for operand in workload.operands for axis in operand.axes))
    kind = data.draw(st.sampled_from(kinds))
    starts = range(0, kind.size, kind.granularity)
    cuts = sorted({0, *data.draw(st.lists(st.sampled_from(starts), max_size=3))})
    values = random_data(workload, 7)
    expected = direct(workload, values)
    (output,) = (o for o in workload.operands if o.role == "output")
    made = np.zeros_like(expected)
    macs = 0
    for first, end in zip(cuts, [*cuts[1:], kind.size], strict=True):
        part = restricted(workload, kind.dim, first, end - first)
        macs += part.macs
        result = direct(part, sliced(workload, part, values, kind.dim, first))
        (view,) = (o for o in part.operands if o.role == "output")
        region = view_box(view)
        assert region.sizes == tuple(axis.size for axis in output.axes)
        made[tuple(slice(a, b) for a, b in zip(region.first, region.end, strict=True))] += result
    assert np.array_equal(made, expected)
    assert macs <= workload.macs


def test_what_cannot_be_a_share_is_refused() -> None:
    row = Operand("x", "input", (Axis("n", 8, (("N", 1),)), Axis("c", 4, (("C", 1),))))
    out = Operand("y", "output", (Axis("n", 8, (("N", 1),)),))
    workload = Workload("p", (Dim("N", 8, granularity=2), Dim("C", 4)), (row, out), 32)
    assert [kind.dim for kind in divisible(workload)] == ["N"]
    for dim, first, size in (("N", 1, 2), ("N", 0, 0), ("N", 6, 4), ("N", -2, 2), ("C", 0, 2)):
        with pytest.raises(ValueError):
            restricted(workload, dim, first, size)
    fixed = replace(workload, dims=(Dim("N", 8, tileable=False), Dim("C", 4)))
    assert divisible(fixed) == ()


@st.composite
def boxes(draw: st.DrawFn, total: int = 48) -> TensorBox:
    sizes = draw(st.sampled_from([(48,), (4, 12), (12, 4), (2, 4, 6), (6, 2, 4), (3, 16)]))
    spans = [sorted(draw(st.tuples(st.integers(0, size - 1), st.integers(1, size)))) for size in sizes]
    first = tuple(low for low, _ in spans)
    end = tuple(max(high, low + 1) for low, high in spans)
    assert prod(sizes) == total
    return TensorBox(sizes, first, end, draw(st.sampled_from([8, 8, 16])))


def touched(region: TensorBox) -> set[int]:
    grid = np.arange(prod(region.sizes)).reshape(region.sizes)
    part = grid[tuple(slice(a, b) for a, b in zip(region.first, region.end, strict=True))].reshape(-1)
    width = region.element_bits // 8
    return {int(i) * width + byte for i in part for byte in range(width)}


@given(boxes(), boxes())
def test_regions_overlap_where_they_have_a_byte_in_common(one: TensorBox, other: TensorBox) -> None:
    assert overlap(one, other) == bool(touched(one) & touched(other))
    assert {byte for low, high in one.ranges for byte in range(low, high)} == touched(one)
    assert one.hull == (min(touched(one)), max(touched(one)) + 1)
