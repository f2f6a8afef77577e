"""Structure-aware mutations of TFLite files: every field that a table, vector or scalar of the format holds."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from random import Random

import numpy as np
from match_tflite.convert import tflite_to_onnx
from match_tflite.plugin import is_tflite

from tests.fuzz.mutate import flipped
from tests.tflite.test_int16 import network
from tests.tflite.test_states import lstm, streaming, svdf_int8
from tests.tflite_files.builder import TfliteBuilder, quantised_network, quantised_operators
from tests.tflite_files.cases import CASES

#: Fields of the format's tables by number: a scalar ("b" byte, "i" 32 bits, "f" float, "l" 64 bits), a vector of them
#: ("[i", ...), a table, a vector of tables ("[Tensor"), a text ("s"), or a table of unknown fields ("?").
_SCHEMA: dict[str, dict[int, str]] = {
    "Model": {0: "i", 1: "[OperatorCode", 2: "[SubGraph", 3: "s", 4: "[Buffer"},
    "OperatorCode": {0: "b", 1: "s", 2: "i", 3: "i"},
    "SubGraph": {0: "[Tensor", 1: "[i", 2: "[i", 3: "[Operator", 4: "s"},
    "Tensor": {0: "[i", 1: "b", 2: "i", 3: "s", 4: "Quantisation", 5: "b", 6: "?", 7: "[i"},
    "Quantisation": {0: "[f", 1: "[f", 2: "[f", 3: "[l", 4: "b", 6: "i"},
    "Operator": {0: "i", 1: "[i", 2: "[i", 3: "b", 4: "?"},
    "Buffer": {0: "[b", 1: "l", 2: "l"},
}
_BYTES = {"b": 1, "i": 4, "f": 4, "l": 8}
_INTS = (-(1 << 31), -100, -2, -1, 0, 1, 2, 3, 4, 5, 7, 8, 16, 64, 255, 65_537, (1 << 31) - 1)
_FLOATS = (float("nan"), float("inf"), -1.0, 0.0, 1e-45, 1e-10, 0.5, 1.0, 1e38)
#: So many items of a vector are places; a damaged file may state any number.
_MOST_ITEMS = 40
_MOST_SITES = 4000


@dataclass(frozen=True, slots=True)
class Site:
    """A place in the file. ``kind``: a scalar's letter, "offset" of a field, "length" of a vector, "entry" of a vector
    of tables, "slot" of a table's list of fields; ``path``: the names that lead there."""

    kind: str
    place: int
    path: str


def sites(content: bytes) -> Iterator[Site]:
    """All places of a valid file; tables that are named twice are visited twice."""
    yield from _table(content, _word(content, 0), "Model", "Model")


def _word(content: bytes, place: int) -> int:
    return int(struct.unpack_from("<I", content, place)[0])


def _slots(content: bytes, place: int) -> Iterator[tuple[int, int, int]]:
    """(number of the field, place of its entry in the list of fields, place of the field or 0)."""
    listed = place - int(struct.unpack_from("<i", content, place)[0])
    size = int(struct.unpack_from("<H", content, listed)[0])
    for number in range((size - 4) // 2):
        slot = listed + 4 + 2 * number
        offset = int(struct.unpack_from("<H", content, slot)[0])
        yield number, slot, place + offset if offset else 0


def _table(content: bytes, place: int, name: str, path: str) -> Iterator[Site]:
    fields = _SCHEMA.get(name, {})
    for number, slot, field in _slots(content, place):
        if not field:
            continue
        kind, inner = fields.get(number, "i" if name == "?" else ""), f"{path}.{number}"
        if not kind:
            continue
        yield Site("slot", slot, inner)
        if kind in _BYTES:
            yield Site("b" if name == "?" and field + 4 > len(content) else kind, field, inner)
            continue
        yield Site("offset", field, inner)
        target = field + _word(content, field)
        if kind[0] == "[":
            yield from _vector(content, target, kind[1:], inner)
        elif kind != "s":
            yield from _table(content, target, kind, inner)


def _vector(content: bytes, place: int, kind: str, path: str) -> Iterator[Site]:
    yield Site("length", place, path)
    width = _BYTES.get(kind, 4)
    for index in range(min(_word(content, place), (len(content) - place - 4) // width, _MOST_ITEMS)):
        if kind in _BYTES:
            yield Site(kind, place + 4 + width * index, f"{path}[]")
        else:
            entry = place + 4 + 4 * index
            yield Site("entry", entry, f"{path}[]")
            yield from _table(content, entry + _word(content, entry), kind, f"{path}[]")


def mutated_tflite(content: bytes, random: Random) -> tuple[bytes, str]:
    """One to three changes, each in a kind of place that is chosen first, and what they were."""
    data, told = bytearray(content), []
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        found: dict[tuple[str, str], list[Site]] = {}
        try:
            for site in islice(sites(bytes(data)), _MOST_SITES):
                if 0 <= site.place <= len(data) - 8:  # a damaged file names places beyond its end
                    found.setdefault((site.kind, site.path), []).append(site)
        except (struct.error, IndexError, RecursionError):
            break
        if not found:
            break
        kind, path = random.choice(list(found))
        chosen = found[kind, path]
        _change(data, random.choice(chosen), chosen, random)
        told.append(f"{kind} {path}")
    return bytes(data), ", ".join(told)


def _change(data: bytearray, site: Site, alike: list[Site], random: Random) -> None:
    """Another value: a neighbour's, a special one, or one more or less."""
    place = site.place
    if site.kind == "slot":
        data[place : place + 2] = (
            bytes(2) if random.random() < 0.7 else struct.pack("<H", random.choice((4, 5, 8, 12, 65535)))
        )
    elif site.kind in ("offset", "entry"):
        other = random.choice(alike)
        target = other.place + _word(bytes(data), other.place) if random.random() < 0.7 else random.randrange(len(data))
        struct.pack_into("<I", data, place, (target - place) % 2**32)
    elif site.kind == "f":
        struct.pack_into("<f", data, place, random.choice(_FLOATS))
    elif site.kind == "b":
        data[place] = random.choice((0, 1, 2, 3, 4, 7, 9, 17, 127, 128, 255, random.randrange(256)))
    else:
        form = "<q" if site.kind == "l" else "<i"
        (old,) = struct.unpack_from(form, data, place)
        other = struct.unpack_from(form, data, random.choice(alike).place)[0]
        value = random.choice((old + 1, old - 1, old * 2, other, *random.sample(_INTS, 3)))
        size = 64 if site.kind == "l" else 32
        struct.pack_into(form, data, place, (value + (1 << (size - 1))) % (1 << size) - (1 << (size - 1)))


@lru_cache(maxsize=1)
def tflite_seeds() -> tuple[tuple[str, bytes], ...]:
    """Small files of several operators, and one for each operator on floats."""
    made: dict[str, Callable[[], bytes]] = {
        "network": quantised_network,
        "operators": quantised_operators,
        "int16": network,
        "svdf": lambda: svdf_int8()[0],
        "lstm": lambda: lstm("int8", True, time=1)[0],
        "lstm_float": lambda: lstm("float32", False, time=2)[0],
        "variable": lambda: streaming(initial=np.full((1, 3, 4), 5, np.int8)),
    }
    several = [(f"tflite {name}", make()) for name, make in made.items()]
    return (*several, *((f"tflite {name}", _single(name)) for name in CASES))


def _single(name: str) -> bytes:
    """The operator of a case alone."""
    case, b = CASES[name], TfliteBuilder()
    results = case.expected(*case.inputs)
    fed, inputs = [], []
    for position, array in enumerate(case.inputs):
        held = position in case.constants
        inputs.append(
            b.constant(f"c{position}", array) if held else b.tensor(f"x{position}", array.shape, array.dtype.name)
        )
        fed += [] if held else [inputs[-1]]
    wide = results if isinstance(results, tuple) else (results,)
    types = ["float32" if array.dtype == np.float64 else array.dtype.name for array in wide]
    outputs = [b.tensor(f"y{i}", array.shape, kind) for i, (array, kind) in enumerate(zip(wide, types, strict=True))]
    b.operator(case.kind, inputs + [-1] * len(case.left_out), outputs, case.options)
    return b.content(fed, outputs)


def as_onnx(path: Path) -> Path:
    """A model that references read: that to which a TFLite file is converted, or the file itself."""
    content = path.read_bytes()
    if not is_tflite(content):
        return path
    converted = path.with_suffix(".converted.onnx")
    converted.write_bytes(tflite_to_onnx(content, path.name).SerializeToString())
    return converted


def tflite_case(random: Random) -> tuple[str, str, bytes]:
    """(name of the seed, what was done to it, the file)."""
    seeds = tflite_seeds()
    several = [seed for seed in seeds if seed[0].removeprefix("tflite ") not in CASES]
    name, content = random.choice(several if random.random() < 0.5 else seeds)
    if random.random() < 0.1:
        return name, "bytes", flipped(content, random)
    changed, told = mutated_tflite(content, random)
    return name, told, changed
