"""Formulas against the cycles that whole calls take in compiled code, on the core with the largest share."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from match_core import Workload
from match_ita.counts.build import COMPILER, EMULATOR, Program
from match_ita.counts.products import build_products, product_figures
from match_ita.snitch_products import CONSTANTS, kernel_cycles

from .products_library import TIMING

pytestmark = [
    pytest.mark.skipif(shutil.which(COMPILER) is None, reason=f"{COMPILER} is absent"),
    pytest.mark.skipif(shutil.which(EMULATOR) is None, reason=f"{EMULATOR} is absent"),
]

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
    modelled = int(kernel_cycles(TIMING, "", Workload(kind, (), (), 0, geometry), tile)[0])
    counted = program.cycles(kind, numbers)
    assert 0.95 <= modelled / counted <= 1.05, (modelled, counted)


def test_figures_are_counted(program: Program) -> None:
    figures = dict(product_figures(program))
    table = {constant.name.removesuffix("_cycles"): constant.value for constant in CONSTANTS}
    assert figures.keys() == table.keys()
    assert {name for name, value in figures.items() if abs(value - table[name]) > 1} == set()


def test_dense_layers_are_faster_than_published_for_the_cores() -> None:
    """The paper's cores alone do 0.88 products a cycle (IEEE Design & Test 42:5, 2025: 741 GOP/s, 986 times that)."""
    tile = {"N": np.array([64]), "K": np.array([64]), "C": np.array([384])}
    workload = Workload("snitch_linear", (), (), 0, (("wide", 1),))
    cycles = int(kernel_cycles(TIMING, "linear", workload, tile)[0])
    assert 64 * 64 * 384 / cycles > 3 * 0.88
