"""Formulas against the cycles that whole calls take in compiled code, and against those of them that use the shared
unit, on the core with the largest share."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from match_core import Workload
from match_ita.snitch_products.constants import CONSTANTS
from match_ita.snitch_products.formulas import kernel_cycles, parts
from match_ita.snitch_shared import uses_of

from benchmarks.ita_counts.build import COMPILER, EMULATOR, Program
from benchmarks.ita_counts.products import build_products, product_figures

from .products_library import TIMING

pytestmark = [
    pytest.mark.skipif(shutil.which(COMPILER) is None, reason=f"{COMPILER} is absent"),
    pytest.mark.skipif(shutil.which(EMULATOR) is None, reason=f"{EMULATOR} is absent"),
]

#: Figures of the shared unit under the names of cycles, for the shares of one core; the pairs' loops multiply once for
#: two products.
USES = {**uses_of(TIMING), "cores": TIMING["cores"]}
USES |= {name: USES[name] // 2 for name in ("pairs_step_cycles", "pairs_tap_cycles")}
_CLIP = {"low": -128, "high": 127}
_IMAGE = {"stride_y": 1, "stride_x": 1, "dilation_y": 1, "dilation_x": 1}
_ATTENTION = {"p": 64, "group": 16, "softmax_shift": 5, "numerator": 65280, "qk_multiplier": 1, "av_multiplier": 1}
#: Tiles as networks have them.
TILES: tuple[tuple[str, dict[str, int]], ...] = (
    ("snitch_linear", {"n": 32, "k": 64, "c": 384, "wide": 1, **_CLIP}),
    ("snitch_linear", {"n": 64, "k": 128, "c": 128, **_CLIP}),
    ("snitch_linear", {"n": 1, "k": 10, "c": 130, **_CLIP}),
    ("snitch_linear_turned", {"n1": 1, "n0": 64, "input_n": 64, "k": 64, "c": 384, "wide": 1, **_CLIP}),
    ("snitch_matmul", {"h": 1, "m": 64, "n": 241, "c": 64, "b_rows": 1, **_CLIP}),
    ("snitch_matmul", {"h": 2, "m": 64, "n": 64, "c": 128, "wide": 1, "a_unsigned": 1, **_CLIP}),
    ("snitch_attention", {"h": 1, "s": 32, "t": 128, "tp": 128, **_ATTENTION}),
    ("snitch_attention", {"h": 2, "s": 33, "t": 241, "tp": 256, **_ATTENTION}),
    ("snitch_softmax", {"r": 16, "c": 241, "numerator": 255, "rounded": 1, **_CLIP}),
    ("snitch_shift_softmax", {"r": 16, "c": 256, "group": 16, "softmax_shift": 5, "numerator": 65280}),
    (
        "snitch_conv2d",
        {"oy": 4, "ox": 16, "k": 64, "c": 9, "fy": 3, "fx": 3, "input_y": 6, "input_x": 18, **_IMAGE, **_CLIP},
    ),
    ("snitch_maxpool2d", {"c": 16, "oy": 4, "ox": 8, "fy": 3, "fx": 3, "input_y": 6, "input_x": 10, **_IMAGE}),
)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return build_products(tmp_path_factory.mktemp("counts"))


@pytest.mark.parametrize(("kind", "numbers"), TILES, ids=[f"{kind}-{i}" for i, (kind, _) in enumerate(TILES)])
def test_formulas_follow_the_code(program: Program, kind: str, numbers: dict[str, int]) -> None:
    interface = next(interface for interface in program.interfaces if interface.kind == kind)
    tile = {dim: np.array([numbers[dim.lower()]], np.int64) for dim in interface.dims}
    geometry = tuple((name, numbers.get(name, 0)) for name in interface.geometry)
    workload = Workload(kind, (), (), 0, geometry)
    for figures, counter in ((TIMING, program), (USES, program.on_the_unit)):
        modelled = figures["products_call_cycles"] + sum(int(part[0]) for part in parts(figures, workload, tile))
        counted = counter.cycles(kind, numbers)
        assert modelled == pytest.approx(counted, rel=0.05, abs=10), counter


def test_figures_are_counted(program: Program) -> None:
    table = {constant.name: constant.value for constant in CONSTANTS}
    for suffix, counter in (("cycles", program), ("uses", program.on_the_unit)):
        figures = {f"{name}_{suffix}": value for name, value in product_figures(counter)}
        assert figures.keys() == {name for name in table if name.endswith(suffix)}
        # A product is a use, also where one multiplication makes two.
        twice = {name: 2 if name in ("pairs_step_uses", "pairs_tap_uses") else 1 for name in table}
        assert {n for n, value in figures.items() if abs(twice[n] * value - table[n]) > 1} == set()


def test_dense_layers_have_the_published_rate() -> None:
    """The paper's cores alone do 0.88 products a cycle (IEEE Design & Test 42:5, 2025: 741 GOP/s, 986 times that); one
    shared multiplier does one a cycle at most."""
    tile = {"N": np.array([64]), "K": np.array([64]), "C": np.array([384])}
    for wide in (0, 1):
        workload = Workload("snitch_linear", (), (), 0, (("wide", wide),))
        cycles = int(kernel_cycles(TIMING, workload, tile)[0])
        assert 64 * 64 * 384 / cycles == pytest.approx(0.884, rel=0.05)
