"""Input and output files: names, shapes, types, samples, and all or nothing when writing."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from match_core.contract.errors import UsageError
from match_core.io.arrays import Arrays, TensorSpec, as_samples, element_type
from match_report.npz import read_arrays, write_arrays
from numpy.typing import NDArray

from tests.examples import examples

IMAGE = TensorSpec("image", (1, 3, 4), "int8")
SCALE = TensorSpec("scale", (), "float32")


def _refused(arrays: Arrays, *specs: TensorSpec) -> UsageError:
    with pytest.raises(UsageError) as caught:
        as_samples(arrays, specs or (IMAGE,), "x.npz")
    assert caught.value.where == "x.npz"
    assert caught.value.help
    return caught.value


def test_samples_with_and_without_the_axis() -> None:
    stacked = np.arange(24, dtype=np.int8).reshape(2, 1, 3, 4)
    many = as_samples({"image": stacked}, (IMAGE,), "x")
    assert (many.count, many.single) == (2, False)
    assert many.arrays["image"].tobytes() == stacked.tobytes()
    one = as_samples({"image": stacked[0]}, (IMAGE,), "x")
    assert (one.count, one.single) == (1, True)
    assert one.arrays["image"].shape == (1, 1, 3, 4)


def test_outputs_come_back_in_the_same_form() -> None:
    outputs = {"y": np.zeros((1, 5))}
    data = np.zeros((1, 3, 4), np.int8)
    assert as_samples({"image": data}, (IMAGE,), "x").restore(outputs)["y"].shape == (5,)
    assert as_samples({"image": data[np.newaxis]}, (IMAGE,), "x").restore(outputs)["y"].shape == (1, 5)


def test_scalars_are_single_samples_and_vectors_are_many() -> None:
    assert as_samples({"scale": np.array(2, np.float32)}, (SCALE,), "x").single
    assert as_samples({"scale": np.ones(3, np.float32)}, (SCALE,), "x").count == 3


def test_other_byte_order_and_layout_are_accepted() -> None:
    spec = TensorSpec("v", (2, 3), "int16")
    values = np.asfortranarray(np.arange(6, dtype=">i2").reshape(2, 3))
    given_ = as_samples({"v": values}, (spec,), "x").arrays["v"]
    assert given_.dtype == np.dtype("int16")
    assert given_.flags["C_CONTIGUOUS"]
    assert given_[0].tolist() == [[0, 1, 2], [3, 4, 5]]


def test_other_arrays_are_ignored() -> None:
    arrays: Arrays = {"image": np.zeros((2, 1, 3, 4), np.int8), "labels": np.zeros(7)}
    assert list(as_samples(arrays, (IMAGE,), "x").arrays) == ["image"]


def test_a_missing_input_names_what_is_there() -> None:
    error = _refused({"picture": np.zeros((1, 3, 4), np.int8)})
    assert error.code == "MATCH-U041"
    assert "'image'" in error.what
    assert error.why == "arrays given: 1 ('picture')"


def test_another_shape() -> None:
    error = _refused({"image": np.zeros((2, 3, 4), np.int8)})
    assert error.code == "MATCH-U042"
    assert "[1, 3, 4]" in error.why
    assert "[2, 3, 4]" in error.why


@pytest.mark.parametrize("dtype", ["float64", "float32", "bool", "complex64"])
def test_another_type(dtype: str) -> None:
    error = _refused({"image": np.zeros((1, 3, 4), dtype)})
    assert error.code == "MATCH-U043"
    assert error.why == f"the model expects int8, the array has {dtype}"


@pytest.mark.parametrize(
    ("values", "model_type"),
    [
        (np.array([[-128, 127]], np.int64), "int8"),
        (np.array([[0, 255]], np.int64), "float32"),
        (np.array([[-3, 9]], np.int8), "int32"),
        (np.array([[3, 9]], np.uint8), "int16"),
        (np.array([[3, 127]], np.uint64), "int8"),
        (np.array([[-128, 127]], np.int8), "float32"),
        (np.array([[-(2**63), 2**53]], np.int64), "float64"),
        (np.array([[0.5, np.nan]], np.float64), "float32"),
        (np.array([[-0.0, np.inf]], np.float32), "float16"),
        (np.array([[65504, 1]], np.int32), "float16"),
        (np.array([[2**63, 0]], np.uint64), "float32"),
    ],
)
def test_arrays_whose_values_stay_are_converted(values: NDArray[np.generic], model_type: str) -> None:
    notes: list[str] = []
    spec = TensorSpec("x", (2,), model_type)
    got = as_samples({"x": values}, (spec,), "x.npz", note=notes.append).arrays["x"]
    assert got.dtype == np.dtype(model_type)
    assert np.array_equal(got, values, equal_nan=True)
    assert notes == [f"x.npz: input 'x' is converted from {values.dtype} to {model_type}; no value changes"]


@pytest.mark.parametrize(
    ("values", "model_type"),
    [
        (np.array([[128, 0]], np.int64), "int8"),
        (np.array([[-1, 0]], np.int64), "uint8"),
        (np.array([[2**24 + 1, 0]], np.int64), "float32"),
        (np.array([[2**63 - 1, 0]], np.int64), "float32"),
        (np.array([[2**63 - 1, 0]], np.int64), "float64"),
        (np.array([[2**63, 0]], np.uint64), "int64"),
        (np.array([[0.1, 0]], np.float64), "float32"),
        (np.array([[1e300, 0]], np.float64), "float32"),
        (np.array([[65520, 0]], np.int64), "float16"),
    ],
)
def test_conversions_that_change_values_are_refused_with_numbers(values: NDArray[np.generic], model_type: str) -> None:
    with pytest.raises(UsageError) as caught:
        as_samples({"x": values}, (TensorSpec("x", (2,), model_type),), "x.npz")
    assert caught.value.code == "MATCH-U043"
    assert caught.value.why.endswith(f"; 1 of 2 values would change, first {values[0][0]}")


@pytest.mark.parametrize(
    ("values", "model_type"),
    [(np.array([[1.0, 0.0]], np.float64), "int8"), (np.array([[True, False]]), "int8"), (np.array([[1, 0]]), "bool")],
)
def test_other_conversions_are_the_users(values: NDArray[np.generic], model_type: str) -> None:
    with pytest.raises(UsageError) as caught:
        as_samples({"x": values}, (TensorSpec("x", (2,), model_type),), "x.npz")
    assert caught.value.code == "MATCH-U043"


def _two(*names: str) -> Arrays:
    return {name: np.full((1, 3, 4), i, np.int8) for i, name in enumerate(names)}


PAIR = (TensorSpec("left", (1, 3, 4), "int8"), TensorSpec("right", (1, 3, 4), "int8"))


@pytest.mark.parametrize("names", [("arr_0", "arr_1"), ("input_1", "input_0"), ("x_00", "x_01")])
def test_numbered_arrays_pair_by_their_numbers(names: tuple[str, str]) -> None:
    arrays = _two(*names)
    got = as_samples(arrays, PAIR, "x.npz").arrays
    assert [got[name].tobytes() for name in ("left", "right")] == [arrays[n].tobytes() for n in sorted(names)]


@pytest.mark.parametrize("names", [("arr_1", "arr_2"), ("a_0", "b_1"), ("arr_0", "left"), ("arr_0", "arr_1", "arr_2")])
def test_other_names_do_not_pair(names: tuple[str, ...]) -> None:
    assert _refused(_two(*names), *PAIR).code == "MATCH-U041"


def test_names_come_before_numbers() -> None:
    specs = (TensorSpec("arr_1", (1, 3, 4), "int8"), TensorSpec("arr_0", (1, 3, 4), "int8"))
    arrays = _two("arr_0", "arr_1")
    got = as_samples(arrays, specs, "x.npz").arrays
    assert {name: int(array.max()) for name, array in got.items()} == {"arr_1": 1, "arr_0": 0}


@pytest.mark.parametrize(
    ("image", "scale"),
    [((2, 1, 3, 4), (3,)), ((1, 3, 4), (1,)), ((0, 1, 3, 4), (0,))],
    ids=["counts differ", "one has no axis", "no samples"],
)
def test_inputs_that_do_not_agree(image: tuple[int, ...], scale: tuple[int, ...]) -> None:
    arrays: Arrays = {"image": np.zeros(image, np.int8), "scale": np.zeros(scale, np.float32)}
    assert _refused(arrays, IMAGE, SCALE).code == "MATCH-U044"


class _Evil:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (print, ("pickles must not be run",))


def _write(path: Path, kind: str) -> None:
    if kind == "text":
        path.write_text("not an archive")
    elif kind == "npy":
        with path.open("wb") as file:
            np.save(file, np.zeros(3))
    elif kind == "truncated":
        np.savez(path, x=np.zeros(1000))
        path.write_bytes(path.read_bytes()[:500])
    elif kind == "pickle":
        path.write_bytes(pickle.dumps(_Evil()))
    elif kind == "object array":
        np.savez(path, x=np.array([_Evil()], dtype=object))
    elif kind == "directory":
        path.mkdir()


@pytest.mark.parametrize("kind", ["absent", "text", "npy", "truncated", "pickle", "object array", "directory", "empty"])
def test_files_that_are_no_archive(tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.npz"
    if kind == "empty":
        path.touch()
    _write(path, kind)
    with pytest.raises(UsageError) as caught:
        read_arrays(path)
    assert caught.value.code == "MATCH-U040"
    assert caught.value.where == str(path)
    assert caught.value.why
    assert capsys.readouterr().out == ""


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=12),
    shape=st.lists(st.integers(1, 4), max_size=3),
    dtype=st.sampled_from(["int8", "uint8", "int32", "int64", "float16", "float32", "bool"]),
    seed=st.integers(0, 1000),
)
def test_round_trip(tmp_path: Path, name: str, shape: list[int], dtype: str, seed: int) -> None:
    values = np.random.default_rng(seed).integers(0, 2, [2, *shape]).astype(dtype)
    path = tmp_path / "y.npz"
    write_arrays(path, {name: values})
    found = as_samples(read_arrays(path), (TensorSpec(name, tuple(shape), dtype),), "x")
    assert found.count == 2
    assert found.arrays[name].tobytes() == values.tobytes()


@pytest.mark.parametrize("name", ["file", "arr_0", "allow_pickle", "a/b", "../up", "x.npy", "input:0"])
def test_awkward_names(tmp_path: Path, name: str) -> None:
    write_arrays(tmp_path / "y.npz", {name: np.arange(3)})
    assert read_arrays(tmp_path / "y.npz")[name].tolist() == [0, 1, 2]


def test_equal_arrays_give_equal_bytes(tmp_path: Path) -> None:
    for name in ("a.npz", "b.npz"):
        write_arrays(tmp_path / name, {"y": np.arange(5), "z": np.ones((2, 2), np.int8)})
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_numpy_reads_what_we_write(tmp_path: Path) -> None:
    write_arrays(tmp_path / "y.npz", {"y": np.arange(5)})
    with np.load(tmp_path / "y.npz") as archive:
        assert archive["y"].tolist() == [0, 1, 2, 3, 4]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "y.npz"
    write_arrays(path, {"y": np.arange(5)})
    before = path.read_bytes()
    with pytest.raises(ValueError, match="allow_pickle"):
        write_arrays(path, {"y": np.arange(9), "z": np.array([object()])})
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["y.npz"]


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        write_arrays(tmp_path / "no" / "y.npz", {"y": np.arange(5)})
    assert caught.value.code == "MATCH-U045"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "int4"])
def test_narrow_types_survive_files(dtype: str, tmp_path: Path) -> None:
    """An .npz file says only how wide such values are."""
    values = np.arange(-3, 3).astype(element_type(dtype))
    write_arrays(tmp_path / "x.npz", {"v": values})
    read = as_samples(read_arrays(tmp_path / "x.npz"), (TensorSpec("v", (6,), dtype),), "x").arrays["v"]
    assert read.dtype == values.dtype
    assert read[0].astype(int).tolist() == [-3, -2, -1, 0, 1, 2]


def test_floats_are_no_narrow_values() -> None:
    error = _refused({"v": np.zeros(6, np.float32)}, TensorSpec("v", (6,), "bfloat16"))
    assert error.code == "MATCH-U043"
    assert "ml_dtypes.bfloat16" in error.help[0]
