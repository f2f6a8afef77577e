"""The fit of Cortex-M's figures and the table of layers, without an emulator."""

from __future__ import annotations

import numpy as np
from match_cortexm.figures import OWN

from benchmarks.cortexm_added import added_counts
from benchmarks.cortexm_apart import newest_networks
from benchmarks.cortexm_counts import Layer
from benchmarks.cortexm_layers import merged, summary, whole
from benchmarks.cortexm_made import made_networks
from benchmarks.cortexm_sets import SETS, STORED

PAGE = """<!-- cortexm-model -->
| cortex_m0plus | int8 | 210 | 0.4 | 17.3 | 0 | 0 | 0 |
| cortex_m4 | int8 | 2,206 | 0.5 | 13.9 | 0 | 0 | 0 |
| cortex_m4 | float32 | 82 | 0.9 | 15.3 | 0 | 0 | 0 |
<!-- end -->
"""


def _layer(counted: int, **counts: int) -> Layer:
    return Layer("conv", (OWN,), counts, counted, counted, informed=counted)


def test_counts_without_figures_get_what_the_others_leave():
    """Each of 10 steps takes 7 instructions, and each copied tap 30."""
    layers = [_layer(70 + 30 * taps, elements=4, dsp2_steps=10, dsp2_taps=taps) for taps in (0, 1, 5, 20)]
    assert added_counts(layers, {"dsp2_steps": 7.0}) == {"dsp2_taps": 30.0}
    assert added_counts(layers[:1], {"dsp2_steps": 7.0, "dsp2_taps": 1.0}) == {}


def test_rows_that_were_not_counted_stay(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE, encoding="utf-8")
    found = summary([("cortex_m4", "mlperf_dscnn_f32", _layer(100, dsp2_steps=10))])
    rows = merged(found, page).rows
    is_there = "mlperf_dscnn_f32" in STORED["float32, stored"]
    assert [row[:3] for row in rows] == [
        ("cortex_m0plus", "int8", 210),
        ("cortex_m4", "int8", 2206),
        ("cortex_m4", "float32", 1),
        *([("cortex_m4", "float32, stored", 1)] if is_there else []),
    ]


def test_a_page_gets_rows_of_sets_that_were_counted_whole():
    names = SETS["float32"]
    found = summary([("cortex_m4", name, _layer(100, dsp2_steps=10)) for name in names])
    assert [row[1] for row in whole(found, names).rows] == ["float32"]
    assert whole(found, names[1:]).rows == ()


def test_the_newest_networks_are_some_of_all():
    newest = [net.model().SerializeToString() for net in newest_networks(1, 1, True)]
    assert newest and set(newest) <= {net.model().SerializeToString() for net in made_networks(1, 1, True)}
    assert not list(newest_networks(1, 1, False, True))
    assert all(np.size(array) for net in newest_networks(1, 1, True, True) for array in net.arrays().values())
