"""Float16 in files and in memory: kept bit for bit, never made from wider floats."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from match_core.contract.errors import UsageError
from match_core.io.arrays import TensorSpec, as_samples
from match_report.npz import read_arrays, write_arrays

SPECS = [TensorSpec("x", (3,), "float16")]


def test_every_bit_pattern_survives_a_file(tmp_path: Path) -> None:
    bits = np.arange(1 << 16, dtype=np.uint32).astype(np.uint16)
    values = np.append(bits, np.zeros(2, np.uint16)).view(np.float16).reshape(-1, 3)
    write_arrays(tmp_path / "x.npz", {"x": values})
    samples = as_samples(read_arrays(tmp_path / "x.npz"), SPECS, "x")
    assert samples.arrays["x"].dtype == np.float16
    assert samples.arrays["x"].tobytes() == values.tobytes()


def test_wider_floats_that_would_be_rounded_are_refused() -> None:
    """Who rounds decides what is computed, so it must be the user."""
    with pytest.raises(UsageError) as caught:
        as_samples({"x": np.full((1, 3), 0.1, np.float32)}, SPECS, "here")
    assert caught.value.code == "MATCH-U043" and ".astype(numpy.float16)" in caught.value.help[0]


def test_integers_are_taken_where_they_stay_the_same() -> None:
    samples = as_samples({"x": np.array([[-2048, 0, 2048]])}, SPECS, "here")
    assert samples.arrays["x"].tolist() == [[-2048.0, 0.0, 2048.0]]
    for value in (2049, 70000):
        with pytest.raises(UsageError):
            as_samples({"x": np.array([[0, 0, value]])}, SPECS, "here")
