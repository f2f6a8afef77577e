"""The networks that ``benchmarks.cortexm_layers`` counts."""

from __future__ import annotations

from collections import Counter

import numpy as np
import onnxruntime as ort
import pytest

from benchmarks import fresh_models, late_models, sixth_models, small_models
from benchmarks.cortexm_sets import SETS

FLOAT = {**small_models.FLOAT, **fresh_models.FLOAT, **late_models.FLOAT, **sixth_models.FLOAT}


def test_no_network_is_in_two_sets():
    """Else a set that is held out would be in view."""
    assert [
        name for name, count in Counter(name for names in SETS.values() for name in names).items() if count > 1
    ] == []


@pytest.mark.parametrize("name", FLOAT)
def test_networks_run(name):
    session = ort.InferenceSession(FLOAT[name]().SerializeToString())
    (given,) = session.get_inputs()
    sample = np.random.default_rng(0).normal(size=given.shape).astype(np.float32)
    (result,) = session.run(None, {given.name: sample})
    assert np.isfinite(result).all() and np.ptp(result) > 0
