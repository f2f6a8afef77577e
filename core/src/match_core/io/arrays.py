"""Input and output files: ``.npz`` archives whose keys are the graph's input or output names.

Each array has a leading sample axis; a single sample may omit it, and then its outputs have none either. Arrays
that are only numbered (``arr_0``, ``input_1``, ...) belong to the inputs in that order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from match_core.contract.errors import UsageError
from match_core.contract.model import State
from match_core.contract.quantisation import Quantisation

Arrays = Mapping[str, NDArray[np.generic]]


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """The required form of one sample of a graph input: ``shape`` without the sample axis, ``dtype`` as numpy names it.
    ``quantisation``: floats are accepted as well, and quantised with these parameters."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    quantisation: Quantisation | None = None

    def __str__(self) -> str:
        return f"{self.name!r} {self.dtype}{list(self.shape)}"


@dataclass(frozen=True)
class Samples:
    """Checked inputs. ``arrays`` all have a leading axis of ``count``; ``single``: the caller omitted the axis."""

    arrays: Arrays
    count: int
    single: bool

    def restore(self, outputs: Arrays) -> dict[str, NDArray[np.generic]]:
        """Outputs (with a sample axis) in the form of the inputs."""
        return {name: array[0] if self.single else array for name, array in outputs.items()}


def as_samples(
    arrays: Arrays, specs: Sequence[TensorSpec], where: str, kind: str = "input", note: Callable[[str], object] = str
) -> Samples:
    """Check arrays against the graph's inputs (or outputs, ``kind``) and add missing sample axes; arrays of other names
    are ignored.

    Integers and floats of another type are converted, with a ``note``, if no value changes; floats never become
    integers, which may be codes of a quantised model. Quantised tensors may be floats.
    UsageError MATCH-U041 (an input is missing), U042 (shape), U043 (element type), U044 (numbers of samples).
    """
    checked, single = {}, {}
    arrays = _numbered(arrays, specs) or arrays
    for spec in specs:
        if spec.name not in arrays:
            raise UsageError(
                code="MATCH-U041",
                what=f"graph {kind} {spec.name!r} is missing",
                where=where,
                why=f"arrays given: {len(arrays)} ({', '.join(map(repr, sorted(arrays))) or 'none'})",
                help=(f"add an array named {spec.name!r} of {spec.dtype}, shape [samples, {_dims(spec.shape)}]",),
            )
        array = np.asarray(arrays[spec.name])
        dtype = element_type(spec.dtype)
        if array.dtype.kind == "V" and dtype.kind == "V" and array.dtype.itemsize == dtype.itemsize:
            array = array.view(dtype)  # files state the width of such values, not their type
        if spec.quantisation is not None and array.dtype.kind == "f":
            array = spec.quantisation.stored(array, dtype)
        if array.dtype.newbyteorder("=") != dtype:
            if (fault := _change(array, dtype)) is not None:
                raise UsageError(
                    code="MATCH-U043",
                    what=f"graph {kind} {spec.name!r} has the wrong element type",
                    where=where,
                    why=f"the model expects {spec.dtype}, the array has {array.dtype}{fault}",
                    help=(
                        f"convert it with .astype({'ml_dtypes' if dtype.kind == 'V' else 'numpy'}.{dtype.name}),"
                        " with the model's scale if it is quantised",
                    ),
                )
            note(f"{where}: {kind} {spec.name!r} is converted from {array.dtype} to {spec.dtype}; no value changes")
        if array.shape != spec.shape and array.shape[1:] != spec.shape:
            raise UsageError(
                code="MATCH-U042",
                what=f"graph {kind} {spec.name!r} has the wrong shape",
                where=where,
                why=f"the model expects [{_dims(spec.shape)}] with or without a leading sample axis,"
                f" the array is [{_dims(array.shape)}]",
                help=(f"reshape the array to [samples, {_dims(spec.shape)}]",),
            )
        single[spec.name] = array.shape == spec.shape
        stacked = array[np.newaxis] if single[spec.name] else array
        checked[spec.name] = np.ascontiguousarray(stacked, dtype=dtype)
    counts = {name: len(array) for name, array in checked.items()}
    if len(set(counts.values())) > 1 or len(set(single.values())) > 1 or 0 in counts.values():
        raise UsageError(
            code="MATCH-U044",
            what=f"the graph {kind}s have different numbers of samples",
            where=where,
            why=", ".join(f"{name!r}: {'one, without the axis' if single[name] else counts[name]}" for name in counts),
            help=("give every input the same number of samples, at least one",),
        )
    return Samples(checked, next(iter(counts.values()), 1), next(iter(single.values()), False))


def _numbered(arrays: Arrays, specs: Sequence[TensorSpec]) -> Arrays | None:
    """The arrays under the inputs' names, if their names are one word with the numbers 0, 1, ... and not an input's."""
    if any(spec.name in arrays for spec in specs):
        return None
    found = [re.fullmatch(r"(.*_)([0-9]+)", name) for name in arrays]
    names = {match[0]: (match[1], int(match[2])) for match in found if match is not None}
    ordered = sorted(names, key=lambda name: names[name])
    words = {names[name][0] for name in ordered}
    if len(arrays) != len(specs) or len(words) != 1 or [names[n][1] for n in ordered] != list(range(len(specs))):
        return None
    return {spec.name: arrays[name] for spec, name in zip(specs, ordered, strict=True)}


def _change(array: NDArray[np.generic], dtype: np.dtype[np.generic]) -> str | None:
    """What a conversion would change, as the end of a sentence; empty if these are no values of that kind, None if it
    keeps all values."""
    if array.dtype.kind not in "iuf" or dtype.kind not in "iuf" or (array.dtype.kind == "f" and dtype.kind != "f"):
        return ""
    with np.errstate(all="ignore"):  # beyond the range: not equal; long double holds every 64-bit integer
        before, after = array.astype(np.longdouble), array.astype(dtype).astype(np.longdouble)
        changed = (before != after) & ~(np.isnan(before) & np.isnan(after))
    count = int(np.count_nonzero(changed))
    return f"; {count} of {array.size} values would change, first {array[changed][0]}" if count else None


def as_sequence(
    arrays: Arrays,
    specs: Sequence[TensorSpec],
    where: str,
    states: Sequence[State],
    note: Callable[[str], object] = str,
) -> Samples:
    """:func:`as_samples` for consecutive samples. Of a state, the first sample counts; absent ones are initial."""
    initial = {state.input: state.initial for state in states}
    samples = as_samples(arrays, [spec for spec in specs if spec.name not in initial], where, note=note)
    held: dict[str, NDArray[np.generic]] = {}
    for spec in (spec for spec in specs if spec.name in initial):
        start = np.full((1, *spec.shape), initial[spec.name], element_type(spec.dtype))
        given = as_samples(arrays, [spec], where, note=note).arrays[spec.name][:1] if spec.name in arrays else start
        held[spec.name] = np.repeat(given, samples.count, axis=0)
    return replace(samples, arrays={**samples.arrays, **held})


def element_type(name: str) -> np.dtype[np.generic]:
    """The element type of that name, including those of ml_dtypes (bfloat16, the kinds of float8, int4, ...)."""
    import ml_dtypes

    return np.dtype(getattr(ml_dtypes, name, name))


def carrier_type(dtype: np.dtype[np.generic]) -> np.dtype[np.generic]:
    """The type whose bytes programs read and write: integers of 4 and 2 bits take a byte each."""
    if dtype.name in ("int4", "int2"):
        return np.dtype(np.int8)
    return np.dtype(np.uint8) if dtype.name in ("uint4", "uint2") else dtype


def _dims(shape: tuple[int, ...]) -> str:
    return ", ".join(str(size) for size in shape)
