"""Cases by number: each is a mutated seed that depends on the seed of the run and the number only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import onnx

from tests.fuzz.files import FileCase, file_case
from tests.fuzz.mutate import flipped, mutated
from tests.fuzz.tflite_cases import tflite_case

#: So many cases of ten are made from the seeds of several operators that are made here.
_OF_OURS = 4


@dataclass(frozen=True, slots=True)
class Case:
    """The content of a model file; ``change``: what was done to the seed of that name."""

    number: int
    seed: str
    change: str
    content: bytes
    suffix: str = ".onnx"


def _tflite(number: int, random: Random) -> Case:
    return Case(number, *tflite_case(random), suffix=".tflite")


#: What is not a mutated ONNX model: percent of all cases, and the function that makes one.
MAKERS: tuple[tuple[int, Callable[[int, Random], Case | FileCase]], ...] = ((8, file_case), (10, _tflite))


def make_case(seeds: Sequence[tuple[str, bytes]], own: int, seed: str, number: int) -> Case | FileCase:
    """The case of this number; the first ``own`` seeds are made here."""
    random = Random(f"{seed}/{number}")
    kind = Random(f"{seed}/{number}/kind").randrange(100)
    for percent, maker in MAKERS:
        if kind < percent:
            return maker(number, random)
        kind -= percent
    ours = random.randrange(10) < _OF_OURS or len(seeds) == own
    name, content = random.choice(seeds[:own] if ours else seeds[own:])
    if random.random() < 0.1:
        return Case(number, name, "bytes", flipped(content, random))
    model, change = mutated(onnx.ModelProto.FromString(content), random)
    return Case(number, name, change, model.SerializeToString(deterministic=True))


def write_case(case: Case, folder: Path) -> Path:
    """The model file, beside files that models may refer to: weights, and a link out of the folder."""
    inner = folder / "model"
    inner.mkdir(parents=True)
    (inner / "w.bin").write_bytes(bytes(range(256)) * 64)
    (folder / "w.bin").write_bytes(b"secret" * 1000)
    (inner / "link.bin").symlink_to(folder / "w.bin")
    path = inner / f"case_{case.number}{case.suffix}"
    path.write_bytes(case.content)
    return path
