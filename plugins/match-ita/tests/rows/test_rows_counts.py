"""Formulas against the cycles that whole calls take in compiled code, and against those of them that use the shared
unit, on the core with the largest share."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from match_core import Workload
from match_ita.snitch_rows.constants import CONSTANTS
from match_ita.snitch_rows.formulas import parts
from match_ita.snitch_shared import uses_of

from benchmarks.ita_counts.build import COMPILER, EMULATOR, Program
from benchmarks.ita_counts.rows import build_rows, row_figures

from .rows_library import TIMING

pytestmark = [
    pytest.mark.skipif(shutil.which(COMPILER) is None, reason=f"{COMPILER} is absent"),
    pytest.mark.skipif(shutil.which(EMULATOR) is None, reason=f"{EMULATOR} is absent"),
]

#: Figures of the shared unit under the names of cycles, for the shares of one core.
USES = {**uses_of(TIMING), "cores": TIMING["cores"]}
_CLIP = {"low": -128, "high": 127}
#: Tiles as networks have them.
TILES: tuple[tuple[str, dict[str, int]], ...] = (
    ("snitch_add", {"r": 64, "c": 128, "wide": 0, "flip_b": 128, **_CLIP}),
    ("snitch_add", {"r": 31, "c": 96, "wide": 1, "flip_a": 128, "flip_b": 128, **_CLIP}),
    ("snitch_requant", {"r": 64, "c": 128, "wide": 0, "flip": 128, **_CLIP}),
    ("snitch_requant", {"r": 64, "c": 37, "wide": 1, "flip": 128, **_CLIP}),
    ("snitch_requant_twice", {"r": 64, "c": 128, **_CLIP}),
    ("snitch_add_requant", {"r": 64, "c": 128}),
    ("snitch_add_requant_twice", {"r": 50, "c": 128, **_CLIP}),
    ("snitch_offset_each", {"r": 24, "c": 384, **_CLIP}),
    ("snitch_lut", {"r": 24, "c": 384}),
    ("snitch_sum", {"o": 1, "n": 6, "s": 24, "c": 384, **_CLIP}),
    ("snitch_sum", {"o": 1, "n": 64, "s": 1, "c": 128, **_CLIP}),
    ("snitch_sum_three", {"r": 24, "c": 384, **_CLIP}),
    ("snitch_sum_add", {"n": 4, "s": 24, "c": 128, **_CLIP}),
    ("snitch_layernorm", {"r": 37, "c": 384, "epsilon_low": 1000, "flip": 128, **_CLIP}),
    ("snitch_layernorm", {"r": 64, "c": 128, "epsilon_low": 1000, "flip": 128, **_CLIP}),
    ("snitch_integer_norm", {"r": 64, "c": 128, "centred": 1, "flip": 128, **_CLIP}),
    ("snitch_copy", {"o": 2, "p": 1, "a": 4, "b": 64, "c": 64}),
    ("snitch_transpose", {"p": 1, "a": 2, "r": 128, "c": 32}),
    ("snitch_gather", {"n": 64, "v": 1, "c": 128}),
    (
        "snitch_windows",
        {"t": 64, "k": 3, "c": 80, "input_v": 130, "stride": 2, "dilation": 1},
    ),
    ("snitch_pad", {"o": 64, "i": 1, "before": 0, "size": 64, "after": 64}),
    ("snitch_concat", {"o": 16, "i": 4, "size_a": 8, "size_b": 16}),
)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    folder: Path = tmp_path_factory.mktemp("counts")
    return build_rows(folder)


@pytest.mark.parametrize(("kind", "numbers"), TILES, ids=[f"{kind}-{i}" for i, (kind, _) in enumerate(TILES)])
def test_formulas_follow_the_code(program: Program, kind: str, numbers: dict[str, int]) -> None:
    interface = next(interface for interface in program.interfaces if interface.kind == kind)
    tile = {dim: np.array([numbers[dim.lower()]], np.int64) for dim in interface.dims}
    geometry = tuple((name, numbers.get(name, 0)) for name in interface.geometry)
    workload = Workload(kind, (), (), 0, geometry)
    for figures, counter in ((TIMING, program), (USES, program.on_the_unit)):
        modelled = figures["rows_call_cycles"] + sum(int(part[0]) for part in parts(figures, workload, tile))
        counted = counter.cycles(kind, numbers)
        assert modelled == pytest.approx(counted, rel=0.05, abs=25), counter


def test_figures_are_counted(program: Program) -> None:
    table = {constant.name: constant.value for constant in CONSTANTS}
    for suffix, counter in (("cycles", program), ("uses", program.on_the_unit)):
        figures = {f"rows_{name}_{suffix}": value for name, value in row_figures(counter)}
        assert figures.keys() == {name for name in table if name.endswith(suffix)}
        assert {name for name, value in figures.items() if abs(value - table[name]) > 1} == set()
