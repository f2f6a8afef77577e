"""Layers whose figures were not counted for their form state so."""

from __future__ import annotations

from dataclasses import replace

import pytest
from match_cortexm.cost import cost_on
from match_cortexm.figures import figures_of
from match_cortexm.forms import figures_keys
from match_cortexm.rivals import RIVALLED

from .made_workloads import counted, product_of

FEW = "too few layers of this form were counted"
ADD = counted("host_add", ("elements", 90), ("memory", 270), ("floating", 90), ("steps", 90))
OWN = counted("cortexm_add", ("elements", 90), ("integer", 90))


def test_counted_forms_are_no_estimates():
    (form, *_), model = figures_keys(ADD), cost_on("cortex_m4")
    assert form in figures_of("cortex_m4")
    assert [model.estimate(layer) for layer in (ADD, OWN, counted("host_view", ("elements", 9)))] == ["", "", ""]


def test_wider_forms_are_estimates():
    *forms, pattern = figures_keys(ADD)
    model = cost_on("cortex_m4")
    wide = replace(model, figures={key: value for key, value in model.figures.items() if key not in forms})
    assert wide.estimate(ADD) == f"figures of a wider form ({pattern}): {FEW}"
    unknown = counted("host_unheard", ("elements", 90), ("memory", 90))
    assert model.estimate(unknown) == f"figures of a wider form (general): {FEW}"


@pytest.mark.parametrize("core", ["cortex_m7", "cortex_m33"])
def test_cores_that_were_not_counted_have_estimates_only(core):
    for layer in (ADD, OWN):
        assert cost_on(core).estimate(layer) == "figures of cortex_m4, which executes the same instructions"


def test_factors_that_are_guessed_are_named():
    """The share of zeros on cores without an FPU; what varies between layers of a form on those without DSP."""
    product = product_of("host_nhwc_conv", (1, 9, 9, 16), (3, 3, 3, 16, 4), (1, 9, 9, 12))
    zeros = "share of products with an operand 0"
    told = {core: zeros in cost_on(core).estimate(product) for core in ("cortex_m0plus", "cortex_m3", "cortex_m4")}
    assert told == {"cortex_m0plus": True, "cortex_m3": True, "cortex_m4": False}
    softmax = counted("host_softmax_i8", ("elements", 90), ("memory", 120), (RIVALLED, 1))
    told = {core: "varied" in cost_on(core).estimate(softmax) for core in ("cortex_m0plus", "cortex_m3", "cortex_m4")}
    assert told == {"cortex_m0plus": True, "cortex_m3": True, "cortex_m4": False}
