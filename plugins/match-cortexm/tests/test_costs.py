"""The model's instructions are those of the emulator, for layers that the figures do not come from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx
import pytest
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_cortexm import cost
from match_cortexm.cores import CORES
from match_cortexm.cost import cost_on
from match_cortexm.figures import GENERAL, OWN, figures_of
from match_cortexm.zeros import ZEROS

from benchmarks.cortexm_counts import Layer, explored, layers_of
from benchmarks.cortexm_fit import fewest, fit, fitted, total
from benchmarks.cortexm_made import KINDS
from benchmarks.cortexm_net import Net

from .made_workloads import copy_of, counted, product_of
from .test_kernels import TARGETS, needs_emulator

#: Kinds of made layers that CI counts.
SAMPLE = ("conv_3", "depthwise_3", "dense", "transpose", "pad", "softmax")


def _sample(core: str, seed: int, quantised: bool, tmp_path) -> list[Layer]:
    """A layer of each kind, counted."""
    net = Net(np.random.default_rng(seed), quantised)
    for kind in SAMPLE:
        KINDS[kind](net)
    path = tmp_path / "made.onnx"
    onnx.save(net.model(), path)
    found = layers_of(path, net.arrays(), core)
    assert len(found) >= len(SAMPLE)
    return found


def _errors(core: str, seed: int, quantised: bool, tmp_path) -> dict[str, tuple[int, int]]:
    """Counted and modelled instructions of layers that differ by more than a fifth (and 60 instructions)."""
    return {
        f"{layer.title} ({layer.keys[0]})": (layer.counted, layer.modelled)
        for layer in _sample(core, seed, quantised, tmp_path)
        if abs(layer.modelled - layer.counted) > max(60, layer.counted // 5)
    }


@needs_emulator
@pytest.mark.parametrize("core", ["cortex_m3", "cortex_m4", "cortex_m55"])
def test_sample_layers_cost_what_the_emulator_counts(core, tmp_path):
    assert _errors(core, 5, True, tmp_path) == {}


@needs_emulator
@pytest.mark.parametrize(
    ("core", "quantised"), [("cortex_m0plus", True), ("cortex_m0plus", False), ("cortex_m3", False)]
)
def test_cores_without_an_fpu_have_figures_of_their_own(core, quantised, tmp_path):
    """Operations on floats are calls there, which cost several times what M4 does, and less for zeros."""
    errors = [abs(layer.informed / layer.counted - 1) for layer in _sample(core, 5, quantised, tmp_path)]
    assert np.median(errors) < 0.1


def test_operators_on_single_numbers_without_figures_count_twice_without_dsp():
    """Regions, which replace them, have figures."""
    single, many = (counted("host_unheard", ("elements", n), ("memory", 2 * n), ("floating", n)) for n in (1, 100))
    plain = replace(cost_on("cortex_m3"), luck=1.0)
    for workload, factor in ((single, 2), (many, 1)):
        tile = {"N": np.array(workload.dims[0].size)}
        once = int(plain.kernel_cycles(workload, tile))
        assert abs(int(cost_on("cortex_m3").kernel_cycles(workload, tile)) - factor * once) <= 1


@pytest.mark.parametrize(("core", "less"), [("cortex_m0plus", True), ("cortex_m3", True), ("cortex_m4", False)])
def test_zeros_cost_less_without_an_fpu(core, less):
    model, tile = cost_on(core), {"N": np.array(972)}
    layer = product_of("host_nhwc_conv", (1, 9, 9, 16), (3, 3, 3, 16, 4), (1, 9, 9, 12), 3)
    all_, half, none = (int(replace(model, zeros=zeros).kernel_cycles(layer, tile)) for zeros in (1.0, 0.5, 0.0))
    assert all_ < 0.8 * half < half < none if less else all_ == half == none
    for share, known in ((0, none), (500, half), (1000, all_)):
        told = replace(layer, geometry=(*layer.geometry, (ZEROS, share)))
        assert int(model.kernel_cycles(told, tile)) == known


@pytest.mark.parametrize("core", [core.name for core in CORES])
def test_every_core_has_figures(core):
    figures = figures_of(core)
    assert {GENERAL, OWN} <= set(figures) and cost_on(core).figures == figures
    assert all(value > 0 for key, values in figures.items() for value in values.values() if key != OWN)
    assert all(value >= 0 for value in figures[OWN].values())


@pytest.mark.parametrize("target", TARGETS)
def test_own_kernels_cost_less_than_those_of_the_host(target, tmp_path):
    net = Net(np.random.default_rng(1), True)
    for kind in ("conv_3", "pointwise", "depthwise_3", "dense", "product_even"):
        KINDS[kind](net)
    path = tmp_path / "made.onnx"
    onnx.save(net.model(), path)
    request = CompileRequest(model=path, target=target, output=tmp_path / "out", cache=False)
    candidates = [
        task.assignment.candidate for task in compile_model(request, Plugins.load()).compilation.program.tasks
    ]
    products = {candidate.pattern.name for candidate in candidates if candidate.workload.macs}
    assert products and all(name.startswith("cortexm_") for name in products)


def test_the_fit_takes_the_parts_that_predict_layers_it_does_not_see():
    """Of counts that go together, one; those that tell nothing get no figure; products come first."""
    rng = np.random.default_rng(4)
    layers = []
    for _ in range(24):
        elements, taps = int(rng.integers(10, 900)), int(rng.integers(2, 40))
        counts = {"elements": elements, "memory": 2 * elements, "tile_macs": elements * taps, "steps": taps}
        layers.append(Layer("made", ("key",), counts, 20 + 7 * elements + 3 * elements * taps, 0))
    figures = fit(layers, ["call", "elements", "memory", "tile_macs", "steps"])
    assert (
        set(figures) <= {"call", "elements", "memory", "tile_macs"} and len(set(figures) & {"elements", "memory"}) == 1
    )
    assert figures["tile_macs"] == pytest.approx(3, rel=0.02)
    far = Layer("far", ("key",), {"elements": 9000, "memory": 18000, "tile_macs": 9 * 9000, "steps": 9}, 0, 0)
    assert total(far, figures) == pytest.approx(20 + 7 * 9000 + 27 * 9000, rel=0.02)


def test_calls_that_no_layer_has_cost_what_they_do_in_general():
    def layers(name, count, cost):
        sizes = [40 * (number + 1) for number in range(6)]
        return [Layer("made", (name,), {"elements": n, count: n}, 5 * n + cost * n, 0) for n in sizes]

    found = fitted([*layers("host_region float", "floating", 2), *layers("host_erf float", "special", 100)])
    assert found["host_region float"]["special"] == found[GENERAL]["special"] > 50
    assert "special" in found["host_erf float"] and found["host_erf float"]["special"] != found[GENERAL]["special"]


def test_products_of_one_pattern_need_many_layers():
    layers = [Layer("made", ("key",), {"elements": 1, "tile_macs": 4}, 9, 0)]
    pools = [Layer("made", ("key",), {"elements": 1, "visits": 4}, 9, 0)]
    assert fewest("host_conv 8, integer windows of 4", layers) == fewest("regions, integer products", layers) == 12
    assert fewest("products, integer windows of 4", layers) == 8 and fewest("host_conv 8", layers) == 3
    assert fewest("host_nhwc_max_pool 8, 9 taps", pools) == 5


@pytest.mark.parametrize("spread", [0.0, 0.7])
def test_what_the_fit_counts_depends_on_no_figures(spread, monkeypatch):
    own = copy_of("cortexm_transpose", (10, 32), (32, 10))
    hosts = [copy_of("host_slice", (10, 32), (10, size)) for size in range(1, 30)]
    tile = {"N": np.array(1)}

    def costs():
        with explored(spread):
            return [int(cost.cost_on("cortex_m4").kernel_cycles(workload, tile)[()]) for workload in (own, *hosts)]

    before, kept = costs(), cost.cost_on
    monkeypatch.setattr(cost, "figures_of", lambda core: {GENERAL: {"elements": 99.0}, OWN: {}})
    assert costs() == before and cost.cost_on is kept
    assert before[0] in (1, 10**9)


def test_layers_without_a_narrower_form_decide_the_figures_of_a_wider_one():
    sizes = range(20, 80, 5)
    more = range(20, 80, 2)
    short = [Layer("made", ("host_a 8, x of few", "host_a 8, x"), {"elements": n}, 5 * n, 0) for n in more]
    long = [Layer("made", ("host_a 8, x",), {"elements": n}, 9 * n, 0) for n in sizes]
    found = fitted([*short, *long])
    assert found["host_a 8, x of few"]["elements"] == pytest.approx(5, abs=0.1)
    assert found["host_a 8, x"]["elements"] == pytest.approx(9, abs=0.1)


def test_counts_of_own_kernels_that_cost_nothing_have_a_figure():
    """Else that of another core would complete them."""
    host = Layer("made", ("host_a 8",), {"elements": 9, "memory": 18}, 90, 0)
    own = [
        Layer("made", (OWN,), {"elements": n, "add_pairs": n, "add_second": n % 3}, 7 * n, 0) for n in range(20, 60, 2)
    ]
    assert fitted([host, *own])[OWN] == pytest.approx({"add_pairs": 7.0, "add_second": 0.0})


@pytest.mark.parametrize("grows", [True, False])
def test_products_whose_figures_none_of_them_has_are_left_to_a_wider_form(grows):
    """Sizes of few layers hide what a product costs: such figures tell nothing of larger layers."""
    key = "products, integer pointwise of 2, plain"
    layers = [
        Layer("made", (key, "host_x 8"), {"elements": n, "tile_macs": macs}, 7 * n + 3 * macs * grows, 0)
        for n, macs in ((20 + 3 * number, 40 + 7 * (number % 3)) for number in range(20))
    ]
    larger = [Layer("made", ("host_x 8",), {"elements": n, "tile_macs": 9 * n}, 34 * n, 0) for n in range(20, 60, 2)]
    found = fitted([*layers, *larger])
    assert (key in found) == grows and "tile_macs" in found["host_x 8"]


@pytest.mark.parametrize("copies", [True, False])
def test_plain_products_take_for_copied_lines_what_others_do(copies):
    """No plain layer may have them; those that requantise do."""
    key = "products, integer windows, short"
    sizes = [(20 + 3 * number, 40 + 7 * (number % 5), 10 + 11 * (number % 4)) for number in range(20)]
    others = [
        Layer("made", (key, "host_x 8"), {"elements": n, "inside": m, "copied": c}, 7 * n + 3 * m + 2 * c, 0)
        for n, m, c in sizes
    ]
    plain = [
        Layer(
            "made",
            (f"{key}, plain", "host_y 32"),
            {"elements": n, "inside": m, **({"copied": c} if copies else {})},
            4 * n + 3 * m,
            0,
        )
        for n, m, c in sizes
    ]
    found = fitted([*others, *plain])
    assert found[key]["copied"] == pytest.approx(2, abs=0.1)
    assert found[f"{key}, plain"].get("copied", 0) == (0 if copies else found[key]["copied"])


@pytest.mark.parametrize("none", [{}, {"floating": 0}])
def test_what_follows_products_costs_what_it_does_behind_others_where_no_layer_has_it(none):
    few, all_ = "products, integer pointwise, short of 1", "products, integer"
    sizes = [(20 + 3 * number, 40 + 7 * (number % 5)) for number in range(20)]
    narrow = [
        Layer("made", (few, all_, "host_x 8"), {"elements": n, "tile_macs": m, **none}, 5 * n + 3 * m, 0)
        for n, m in sizes
    ]
    wide = [
        Layer("made", (all_, "host_y 8"), {"elements": n, "tile_macs": m, "floating": f}, 5 * n + 3 * m + 9 * f, 0)
        for (n, m), f in zip(sizes, (0, 60, 90, 10) * 5, strict=True)
    ]
    found = fitted([*narrow, *wide])
    assert found[few]["floating"] == found[all_]["floating"] == pytest.approx(9, abs=0.3)


def test_digits_of_long_factors_cost_the_same_wherever_such_products_have_a_figure():
    """Where none of a form's layers has a factor of few digits."""
    form, all_ = "products, integer pointwise of 4", "products, integer"
    sizes = [(20 + 3 * number, 40 + 7 * (number % 5)) for number in range(20)]
    counts = [{"elements": n, "tile_macs": m, "wide": n // 2} for n, m in sizes]
    digits = (0, 80, 120, 160) * 5
    layers = [
        Layer("made", (form, all_, "host_x 8"), one, 3 * one["tile_macs"] + 60 * one["wide"], 0) for one in counts
    ] + [
        Layer("made", (all_, "host_y 8"), {**one, "digits_wide": d}, 3 * one["tile_macs"] + 60 * one["wide"] + 9 * d, 0)
        for one, d in zip(counts, digits, strict=True)
    ]
    found = fitted(layers)
    assert found[form]["digits_wide"] == found[all_]["digits_wide"] == pytest.approx(9, abs=0.5)
