"""Outputs against the labels of the samples (``verify --labels``): of the original model, and of the program.

Labels say what they are by type and shape. Whole numbers for each sample are classes of an output of scores, or what an
output of whole numbers (such as ArgMax) must be; numbers of the output's shape are values that a network predicts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np
from match_core.contract.errors import UsageError
from numpy.typing import NDArray

from match_verify.meaning import Meaning
from match_verify.sample_files import read_array

Array = NDArray[np.generic]
#: Classes among which a label counts as found, besides the first.
_TOP = 5


@dataclass(frozen=True, slots=True)
class Score:
    """How well outputs fit labels, over all samples. ``top1``, ``top5``: shares of labels with the largest, or one of
    the five largest, scores (None where there are no scores, or no more than five classes); of equal scores, the first
    counts. ``mean_abs``, ``rms``: mean and root mean square of the differences to values."""

    top1: float | None = None
    top5: float | None = None
    mean_abs: float | None = None
    rms: float | None = None


@dataclass(frozen=True, slots=True)
class LabelCheck:
    """An output against its labels. ``kind``: ``classes`` (one for each sample), ``positions`` (one for each position
    of a sample, as in segmentation), ``labels`` (the output is the label), or ``values``. ``count`` of labels;
    ``same``: the share of them for which the program chooses what the original chooses, None for values."""

    name: str
    kind: str
    count: int
    original: Score
    program: Score
    same: float | None

    def as_json(self) -> dict[str, object]:
        """The entry of ``match verify --json``."""
        return {
            "kind": self.kind,
            "count": self.count,
            "original": asdict(self.original),
            "program": asdict(self.program),
            "same": self.same,
        }


def read_labels(texts: Sequence[str], outputs: Sequence[str], *, samples: bool) -> dict[str, Array]:
    """Labels by output, of ``Y.npy`` or ``NAME=Y.npy``. ``samples``: the user gives some. UsageError MATCH-U040 (a file
    cannot be read), U053 (no samples, no such output, several outputs, or no numbers)."""
    if texts and not samples:
        _refused(texts[0], "labels belong to samples, and random ones are run", "give the samples: --inputs PATH")
    found: dict[str, Array] = {}
    for text in texts:
        name, _, path = text.rpartition("=")
        if not name or Path(text).exists():
            name, path = "", text
        if not name and len(outputs) > 1:
            names = " or ".join(f"--labels {output}={path}" for output in outputs)
            _refused(path, f"the network has {len(outputs)} outputs: {', '.join(map(repr, outputs))}", names)
        if name and name not in outputs:
            known = ", ".join(map(repr, outputs))
            _refused(path, f"no output has the name {name!r}; there are {known}", f"--labels {outputs[0]}={path}")
        array = read_array(Path(path))
        if array.dtype.kind not in "biuf":
            _refused(path, f"its elements are {array.dtype}, not numbers", "write whole numbers or floats")
        found[name or outputs[0]] = array
    return found


def check_labels(
    labels: Mapping[str, Array],
    original: Mapping[str, Array],
    got: Mapping[str, Array],
    means: Mapping[str, Meaning],
) -> tuple[LabelCheck, ...]:
    """Of outputs [samples, ...], by name. UsageError MATCH-U053 if labels do not fit an output."""
    return tuple(
        _checked(name, wanted, means[name].real(original[name]), means[name].real(got[name]))
        for name, wanted in labels.items()
    )


def _checked(name: str, labels: Array, original: Array, got: Array) -> LabelCheck:
    before, after = (_by_label(name, labels, array) for array in (original, got))
    shape, whole, equal = before.shape[1:], labels.dtype.kind in "biu", labels.size == before.size
    axis = _class_axis(labels.shape[1:], shape) if whole else None
    if equal and whole and before.dtype.kind in "biu":
        first, second = (Score(top1=_share(array, labels.reshape(array.shape))) for array in (before, after))
        return LabelCheck(name, "labels", labels.size, first, second, _share(before, after))
    if equal:
        wanted = labels.reshape(before.shape).astype(np.float64)
        return LabelCheck(name, "values", labels.size, _values(before, wanted), _values(after, wanted), None)
    if axis is None or shape[axis] < 2:
        _refused(
            f"output {name!r}",
            f"the labels are {labels.dtype} of shape {list(labels.shape)}, a sample of the output has the shape "
            f"{list(shape)}",
            "for an output of scores, give one whole number for each sample",
            f"for an output of values, give floats of shape {[len(before), *shape]}",
        )
    return _classes(name, labels, np.moveaxis(before, axis + 1, -1), np.moveaxis(after, axis + 1, -1))


def _by_label(name: str, labels: Array, output: Array) -> Array:
    """[labels, ...] of an output [samples, batch, ...] or [samples, ...]."""
    samples, count = len(output), len(labels) if labels.ndim else 0
    batch = output.shape[1] if output.ndim > 2 or output.shape[1:] == (1,) else 1
    if count == samples * batch and output.shape[1:2] == (batch,):
        return output.reshape(count, *output.shape[2:])
    if count == samples:
        return output
    why = f"labels: {count}, samples of the output: {samples * batch}"
    _refused(f"output {name!r}", why, f"give one label for each sample ({samples * batch} in all), in their order")


def _class_axis(labels: tuple[int, ...], shape: tuple[int, ...]) -> int | None:
    """The axis of a sample along which the classes are: what is left are the axes of the labels, or sizes of 1."""
    for axis in (0, len(shape) - 1) if shape else ():
        rest = shape[:axis] + shape[axis + 1 :]
        if rest == labels or (set(rest) <= {1} and set(labels) <= {1}):
            return axis
    return None


def _classes(name: str, labels: Array, before: Array, after: Array) -> LabelCheck:
    classes, flat = before.shape[-1], labels.reshape(-1).astype(np.int64)
    wrong = flat[(flat < 0) | (flat >= classes)]
    if wrong.size:
        why = f"{wrong.size} of {flat.size} labels are not in 0 to {classes - 1}, first {wrong[0]}"
        _refused(f"output {name!r}", why, f"number the {classes} classes of the output from 0")
    kind = "classes" if flat.size == len(labels) else "positions"
    first, second = (array.reshape(-1, classes) for array in (before, after))
    same = float(np.mean(first.argmax(1) == second.argmax(1)))
    return LabelCheck(name, kind, flat.size, _ranks(first, flat), _ranks(second, flat), same)


def _ranks(scores: Array, labels: NDArray[np.int64]) -> Score:
    reals = scores.astype(np.float64)
    own = np.take_along_axis(reals, labels[:, None], axis=1)
    earlier = np.arange(scores.shape[1]) < labels[:, None]
    rank = ((reals > own) | ((reals == own) & earlier)).sum(axis=1)
    top5 = float(np.mean(rank < _TOP)) if scores.shape[1] > _TOP else None
    return Score(top1=float(np.mean(rank == 0)), top5=top5)


def _share(first: Array, second: Array) -> float:
    return float(np.mean(first == second))


def _values(got: Array, wanted: NDArray[np.float64]) -> Score:
    difference = got.astype(np.float64) - wanted
    return Score(mean_abs=float(np.abs(difference).mean()), rms=float(np.sqrt(np.square(difference).mean())))


def _refused(where: str, why: str, *help_: str) -> NoReturn:
    raise UsageError("MATCH-U053", "the labels do not fit the network", f"{where}, option --labels", why, help_)
