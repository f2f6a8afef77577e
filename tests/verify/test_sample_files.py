"""Files of samples: archives, arrays, folders; the batch axis; and what is refused."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from match_core.contract.errors import MatchError
from match_core.io.arrays import TensorSpec
from match_report import npz
from match_verify.images import Normalisation
from match_verify.sample_files import SampleFiles, read_array, read_sample_files
from numpy.typing import NDArray

X = TensorSpec("x", (1, 3, 2), "float32")
DATA = np.arange(30, dtype=np.float32).reshape(5, 1, 3, 2)


def _read(path: Path, *specs: TensorSpec) -> NDArray[np.generic]:
    (found,) = read_sample_files(SampleFiles(path), specs or (X,)).values()
    return found


def _refused(path: Path, *specs: TensorSpec, numbers: Normalisation | None = None) -> MatchError:
    with pytest.raises(MatchError) as caught:
        read_sample_files(SampleFiles(path, numbers or Normalisation()), specs or (X,))
    assert caught.value.why and caught.value.help
    return caught.value


@pytest.mark.parametrize("axis", [True, False])
@pytest.mark.parametrize("kind", ["npz", "npy"])
def test_with_and_without_the_batch_axis(kind: str, axis: bool, tmp_path: Path) -> None:
    path, data = tmp_path / f"x.{kind}", DATA if axis else DATA[:, 0]
    if kind == "npz":
        np.savez(path, x=data)
    else:
        np.save(path, data)
    assert _read(path).tolist() == DATA.tolist()


def test_an_axis_of_samples_that_equals_the_batch(tmp_path: Path) -> None:
    """One sample, as the network reads it, and one without its batch axis."""
    for data in (DATA[0], DATA[0, 0]):
        np.save(tmp_path / "x.npy", data)
        assert _read(tmp_path / "x.npy").reshape(3, 2).tolist() == DATA[0, 0].tolist()


def test_a_folder_in_the_order_of_its_names(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    np.save(tmp_path / "c.npy", DATA[:2])
    np.save(tmp_path / "a.npy", DATA[2, 0])
    np.save(tmp_path / "b.NPY.npy", DATA[3])
    np.save(tmp_path / "d" / "a.npy", DATA[4:, 0].astype(np.float64))
    (tmp_path / "readme.txt").write_text("text")
    (tmp_path / ".hidden.npy").write_text("no array")
    assert _read(tmp_path).tolist() == DATA[[2, 3, 0, 1, 4]].tolist()


def test_a_folder_of_shapes_that_differ(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", DATA)
    np.save(tmp_path / "b.npy", DATA[:, :, :2])
    error = _refused(tmp_path)
    assert (error.code, error.where) == ("MATCH-U042", str(tmp_path / "b.npy"))


def test_a_folder_of_types_that_differ(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", DATA + 0.1)
    np.save(tmp_path / "b.npy", DATA.astype(np.float64) + 0.1)
    error = _refused(tmp_path)
    assert (error.code, error.where) == ("MATCH-U043", str(tmp_path / "b.npy"))


def test_several_inputs_need_an_archive(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", DATA)
    error = _refused(tmp_path / "x.npy", X, TensorSpec("z", (2,), "float32"))
    assert error.code == "MATCH-U046" and "'x', 'z'" in error.why


def test_folders_that_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    assert "empty" in _refused(tmp_path).why
    (tmp_path / "a" / "x.csv").write_text("1,2")
    assert ".csv" in _refused(tmp_path).why
    np.save(tmp_path / "x.npy", DATA)
    (tmp_path / "x.png").write_bytes(b"")
    assert "arrays (1), images (1)" in _refused(tmp_path).why


def test_a_folder_with_a_circle(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", DATA)
    (tmp_path / "again").symlink_to(tmp_path, target_is_directory=True)
    os.mkfifo(tmp_path / "pipe.npy")
    assert _read(tmp_path).tolist() == DATA.tolist()


@pytest.mark.parametrize("kind", ["npz", "npy"])
def test_means_are_for_images(kind: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", x=DATA)
    np.save(tmp_path / "x.npy", DATA)
    assert _refused(tmp_path / f"x.{kind}", numbers=Normalisation((0.5,))).code == "MATCH-U046"


def test_more_than_there_is_room_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "abc":
        np.save(tmp_path / f"{name}.npy", DATA)
    monkeypatch.setattr(npz, "MOST_BYTES", 500)
    error = _refused(tmp_path)
    assert error.code == "MATCH-U046" and "3 arrays" in error.why
    monkeypatch.setattr(npz, "MOST_BYTES", 200)
    assert _refused(tmp_path / "a.npy").code == "MATCH-U046"
    with pytest.raises(MatchError) as caught:
        read_array(tmp_path / "a.npy")
    assert caught.value.code == "MATCH-U040"


def test_arrays_from_strangers(tmp_path: Path) -> None:
    """No file, an archive under another name, a pickle, a header that states more than there is, a cut-off file."""
    np.save(tmp_path / "whole.npy", DATA)
    np.save(tmp_path / "objects.npy", np.array([{}], object))
    whole = (tmp_path / "whole.npy").read_bytes()
    (tmp_path / "cut.npy").write_bytes(whole[:-8])
    (tmp_path / "more.npy").write_bytes(whole.replace(b"(5, 1, 3, 2)", b"(9, 9, 9, 9)"))
    (tmp_path / "text.npy").write_text("no array")
    for name in ("none", "objects", "cut", "more", "text"):
        assert _refused(tmp_path / f"{name}.npy").code == "MATCH-U040", name
