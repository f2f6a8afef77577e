"""Stored outputs: how many values differ, by how much, and what counts as equal."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from match_core.contract.errors import UsageError
from match_verify.stored import check_stored
from numpy.typing import NDArray

BOUND = {"y": 1e-3}


def _saved(folder: Path, **arrays: NDArray[np.generic]) -> Path:
    np.savez(folder / "y.npz", **arrays)  # type: ignore[arg-type]
    return folder / "y.npz"


def test_equal_integers_in_a_wider_type(tmp_path: Path) -> None:
    got = np.array([[1, -5, 7]], np.int8)
    (check,) = check_stored(_saved(tmp_path, output_0=got[0].astype(np.int64)), {"y": got}, BOUND)
    assert (check.values, check.different, check.max_abs, check.ok) == (3, 0, 0.0, True)


def test_integers_that_differ(tmp_path: Path) -> None:
    got = np.array([[1, -5, 7]], np.int8)
    (check,) = check_stored(_saved(tmp_path, y=np.array([[1, 5, 6]], np.int8)), {"y": got}, BOUND)
    assert (check.different, check.max_abs, check.ok) == (2, 10.0, False)
    assert check.as_json() == {"values": 3, "different": 2, "max_abs": 10.0, "ok": False}


@pytest.mark.parametrize(("distance", "ok"), [(0.01, True), (0.2, False)])
def test_floats_may_be_off_within_the_bound(tmp_path: Path, distance: float, ok: bool) -> None:
    stored = np.array([[100.0, -3.0]], np.float32)
    (check,) = check_stored(_saved(tmp_path, y=stored), {"y": stored + np.float32(distance)}, BOUND)
    assert (check.different, check.ok) == (2, ok)


def test_other_numbers_of_samples(tmp_path: Path) -> None:
    path = _saved(tmp_path, y=np.zeros((3, 2), np.int8))
    (check,) = check_stored(path, {"y": np.zeros((2, 2), np.int8)}, BOUND)
    assert not check.ok


def test_a_missing_output(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        check_stored(_saved(tmp_path, z=np.zeros((1, 2), np.int8)), {"y": np.zeros((1, 2), np.int8)}, BOUND)
    assert caught.value.code == "MATCH-U041"
    assert caught.value.what == "graph output 'y' is missing"
