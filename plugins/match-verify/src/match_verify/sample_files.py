"""Samples in files: arrays, images, and folders of either, for ``verify --inputs`` and ``quantize --data``."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np
from match_core.contract.errors import UsageError
from match_core.io.arrays import TensorSpec, as_samples
from match_report import npz
from match_report.npz import UNREADABLE, read_arrays, stored_array
from numpy.typing import NDArray

from match_verify.images import PLAIN, SUFFIXES, Normalisation, read_images

Array = NDArray[np.generic]
Note = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class SampleFiles:
    """``path``: an ``.npz`` file with an array for each input; or, for the only input of a network, an ``.npy`` file,
    an image, or a folder with either kind, in the order of their names. ``normalisation``: of images."""

    path: Path
    normalisation: Normalisation = PLAIN

    def is_archive(self) -> bool:
        """Whether ``read_sample_files`` reads it as an ``.npz`` file. UsageError MATCH-U046 if it was asked to
        normalise it, or if it is a folder without samples."""
        if _by_kind(self.path):
            return False
        _without_images(self)
        return True


def read_sample_files(files: SampleFiles, specs: Sequence[TensorSpec], note: Note = str) -> dict[str, Array]:
    """Arrays by input. Those of an ``.npz`` file are as the file has them, except that a missing batch axis of size 1
    is added; all others have the shape [samples, ...] and the type that ``specs`` state.

    UsageError MATCH-U040 (a file cannot be read), U042 (shape), U043 (element type), U046 (the folder, or several
    inputs), U047 (an image cannot be read), U048 (the input takes no images); ToolError MATCH-R006 (no pillow).
    """
    path = files.path
    kinds = _by_kind(path)
    if files.is_archive():
        return with_batch_axis(read_arrays(path, specs), specs)
    if len(specs) != 1:
        names = ", ".join(repr(spec.name) for spec in specs)
        _refused(path, f"it has samples of one input, the network has {len(specs)}: {names}", _NPZ)
    if len(kinds) > 1:
        found = ", ".join(f"{kind} ({len(found)})" for kind, found in kinds.items())
        _refused(path, f"it has both {found}", "keep arrays and images in folders of their own")
    ((kind, paths),) = kinds.items()
    if kind == "images":
        return {specs[0].name: read_images(paths, specs[0], files.normalisation, note)}
    _without_images(files)
    return {specs[0].name: _stacked(paths, specs[0], note)}


def with_batch_axis(arrays: Mapping[str, Array], specs: Sequence[TensorSpec]) -> dict[str, Array]:
    """Arrays [samples, ...] of inputs [1, ...] become [samples, 1, ...]; all others are unchanged."""
    found = dict(arrays)
    for spec in specs:
        array = found.get(spec.name)
        if array is not None and spec.shape[:1] == (1,) and array.shape != spec.shape:
            if array.shape[1:] == spec.shape[1:]:
                found[spec.name] = array[:, np.newaxis]
            elif array.shape == spec.shape[1:]:
                found[spec.name] = array[np.newaxis]
    return found


def read_array(path: Path) -> Array:
    """The array of an ``.npy`` file. UsageError MATCH-U040 if it cannot be read or is too large; pickled objects are
    refused, never loaded."""
    try:
        if not path.is_file():
            raise ValueError("it is not a file" if path.exists() else "there is no such file")
        size = path.stat().st_size
        if size > npz.MOST_BYTES:
            raise ValueError(f"it has {size} bytes, more than {npz.MOST_BYTES}")
        with path.open("rb") as file:
            if file.read(6) != b"\x93NUMPY":
                raise ValueError("it is not an .npy file (write one with numpy.save)")
            file.seek(0)
            return stored_array(file, size, path.name)
    except UNREADABLE as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UsageError(
            code="MATCH-U040",
            what="the array cannot be read",
            where=str(path),
            why=reason[:300] or type(error).__name__,
            help=("give an .npy file of numbers, written with numpy.save",),
        ) from error


_NPZ = "write an .npz file with one array per input, named like the input: numpy.savez('samples.npz', NAME=array, ...)"


def _by_kind(path: Path) -> dict[str, list[Path]]:
    """Files of samples by kind; none for an ``.npz`` file, and for what ``read_arrays`` refuses."""
    if not path.is_dir():
        kind = _kind(path)
        return {kind: [path]} if kind else {}
    inside = [Path(folder, name) for folder, _, names in os.walk(path) for name in names if not name.startswith(".")]
    kinds: dict[str, list[Path]] = {}
    for file in sorted(file for file in inside if file.is_file() and _kind(file)):
        kinds.setdefault(_kind(file), []).append(file)
    if not kinds:
        others = sorted({file.suffix or "none" for file in inside})
        types = ", ".join(others[:5])
        found = f"none of its {len(inside)} files has samples, they have the types {types}" if inside else "it is empty"
        _refused(path, found, f"give a folder with .npy files, or images ({' '.join(SUFFIXES)})")
    return kinds


def _kind(path: Path) -> str:
    suffix = path.suffix.lower()
    return "arrays" if suffix == ".npy" else "images" if suffix in SUFFIXES else ""


def _stacked(paths: Sequence[Path], spec: TensorSpec, note: Note) -> Array:
    total = sum(path.stat().st_size for path in paths if path.is_file())
    if total > npz.MOST_BYTES:
        why = f"its {len(paths)} arrays have {total} bytes, more than {npz.MOST_BYTES}"
        _refused(paths[0].parent, why, "give a folder with fewer arrays: some hundred samples are enough")
    found: list[Array] = []
    for path in paths:
        arrays = with_batch_axis({spec.name: read_array(path)}, [spec])
        found.append(as_samples(arrays, [spec], str(path), note=str if found else note).arrays[spec.name])
    return np.concatenate(found)


def _without_images(files: SampleFiles) -> None:
    if files.normalisation != PLAIN:
        _refused(
            files.path,
            "--mean and --std are for images; arrays hold what the network reads",
            "omit --mean and --std, and normalise the arrays",
        )


def _refused(path: Path, why: str, *help_: str) -> NoReturn:
    raise UsageError("MATCH-U046", "the samples cannot be read", str(path), why, help_)
