"""Forms of products of one row, by what follows their sums."""

from __future__ import annotations

from dataclasses import replace

import pytest
from match_core.contract.workload import Workload
from match_cortexm.forms import figures_keys

from .made_workloads import moved, product_of


def _row(kind: str, outputs: int = 8, **per_element: int) -> Workload:
    """A row of 14 integers times 14 columns in tiles of ``outputs``, and operations on each sum."""
    made = product_of(kind, (1, 14), (-(-14 // outputs), 14, outputs), (1, 14), 1)
    kept = {name.removeprefix("floating_"): count for name, count in made.parameters.items()}
    return replace(made, geometry=(*kept.items(), *((name, 14 * count) for name, count in per_element.items())))


def test_sums_that_nothing_follows_have_figures_of_their_own():
    plain, scaled = figures_keys(_row("host_mat_mul_integer")), figures_keys(_row("host_dense", integer=8, wide=1))
    assert plain[1:3] == ("products, integer one row, short of 8, plain", "products, integer one row, short, plain")
    assert scaled[1:] == plain[3:] and not any("plain" in key for key in scaled)


@pytest.mark.parametrize(("requantisations", "chain"), [(1, False), (2, True), (9, True)])
def test_rows_that_are_requantised_several_times_are_chains(requantisations, chain):
    keys = figures_keys(_row("host_product_region", integer=8 * requantisations, wide=requantisations))
    first = ("regions, integer one row, short, chain", "regions, integer one row, chain")
    assert keys[:2] == (first if chain else ("regions, integer one row, short of 8", keys[1]))
    assert keys[-1] == "products, integer"


@pytest.mark.parametrize(("outputs", "place"), [(2, 2), (3, 2), (4, 0)])
def test_products_decide_chains_of_few_outputs(outputs, place):
    keys = figures_keys(_row("host_product_region", outputs, integer=16, wide=2))
    assert keys[place] == "regions, integer one row, short, chain" and keys[-1] == "products, integer"
    assert f"products, integer one row, short of {outputs}" in keys


@pytest.mark.parametrize(
    ("shape", "form"),
    [
        ((1, 4, 16), ("woven columns of 4, whole", "woven columns of 4")),
        ((1, 4, 18), ("woven columns of 4",)),
        ((1, 17, 4), ("whole, a vector", "whole")),
        ((1, 18, 4), ("woven rows of 4",)),
        ((1, 16, 4), ("whole",)),
    ],
)
def test_few_bytes_are_transposed_without_loops(shape, form):
    keys = figures_keys(moved((0, 2, 1), shape))
    assert keys[: 2 * len(form) : 2] == tuple(f"host_transpose 8, elements, {name}" for name in form)
