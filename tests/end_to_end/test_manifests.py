"""Programs are what they were before the core was taken apart (issue 19): same files, same bytes but for comments.

CI compiles the small programs of every target; ``make test-manifests`` compiles all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from match_core.plugin.facade import Plugins

from tests.end_to_end import manifests
from tests.tiers import in_ci

#: For each target the smallest network that its units run; the others are slow.
SMALLEST = {
    ("mlperf_autoencoder_f32", "dnnl"),
    ("mlperf_autoencoder_f32", "host"),
    ("mlperf_autoencoder_int8_qdq", "diana"),
    ("mlperf_autoencoder_int8_qdq", "gap9"),
    ("mlperf_autoencoder_int8_qdq", "host"),
    ("mlperf_dscnn_int8_qdq", "carfield"),
    ("mlperf_dscnn_int8_qdq", "ita"),
}
#: These networks take 15 to 30 s each; programs of SMALLEST and golden ones have the same kinds of layers.
LARGE = {"demo carfield", "demo gap9", "demo ita"}


@pytest.mark.parametrize("name", in_ci(manifests.MADE, lambda name: name not in LARGE))
def test_made_networks_give_the_same_programs(name: str, tmp_path: Path, plugins: Plugins) -> None:
    assert manifests.manifest(manifests.MADE[name](tmp_path), plugins) == manifests.stored()[name]


@pytest.mark.parametrize(("model", "target"), in_ci(manifests.SHARED, SMALLEST.__contains__))
def test_shared_networks_give_the_same_programs(
    model: str, target: str, plugins: Plugins, shared_model: Callable[[str], Path]
) -> None:
    shared_model(model)
    found = manifests.manifest(manifests.shared_request(model, target), plugins)
    assert found == manifests.stored()[f"{model} {target}"]
