"""A region as the layers of the engine: addresses, cycles, what it holds, and its binary code."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from match_core import Match, Region, RegionCode, RegionRequest
from match_core.patterns.windows import window_of
from match_quant.powers.rules import made_shift
from match_regions import atoms_in
from numpy.typing import NDArray

from match_moss.hardware import SHIFT_MAX, VALUES

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

CONV, ADD = 1, 2
#: Words of a layer (moss.h): operator, two sources, target, rows, columns and channels of the source, channels of the
#: target, kernel, padding, pooling, first pixel and step of what is kept, shift, lower bound, weights, biases.
WORDS = struct.Struct("<18i")


@dataclass(frozen=True, slots=True)
class Layer:
    """One start of the engine. ``weight``: [outputs, taps, inputs]; ``bias``: [outputs], with what rounds."""

    words: tuple[int, ...]
    weight: NDArray[np.int8]
    bias: NDArray[np.int32]
    cycles: int


@dataclass(frozen=True, slots=True)
class Plan:
    """A region's layers; ``places``: bytes from the start of the data memory by tensor; ``ends``: words that the host
    writes and reads."""

    layers: tuple[Layer, ...]
    places: Mapping[str, int]
    bytes: int
    ends: int

    @property
    def cycles(self) -> int:
        """Host cycles of a run."""
        return self.ends * VALUES["word_cycles"] + sum(layer.cycles for layer in self.layers)


def _geometry(tensor: gs.Tensor) -> tuple[int, int, int]:
    """Rows, columns and channels of an image in NHWC, or of a vector."""
    _, *sizes, channels = (int(size) for size in tensor.shape)
    rows, columns = sizes or (1, 1)
    return rows, columns, channels


def _words(tensor: gs.Tensor) -> int:
    """Groups of four channels."""
    rows, columns, channels = _geometry(tensor)
    return rows * columns * -(-channels // 4)


def plan(region: Region) -> Plan:
    """Every tensor has its own place: data memory is larger than the networks that fit the weights."""
    from match_moss.claims import CLAIMS

    places: dict[str, int] = {}
    top = weights = biases = 0
    layers = []
    for tensor in (*region.inputs, *(t for _, match in atoms_in(region, CLAIMS) for t in match.outputs)):
        places[tensor.name] = top
        top += 4 * _words(tensor)
    for name, match in atoms_in(region, CLAIMS):
        spare = top  # behind all tensors: the result of a layer whose pixels are dropped
        layer = _layer(name, match, places, (weights, biases, spare))
        layers.append(layer)
        weights, biases = weights + layer.weight.size, biases + layer.bias.size
    size = top + max((4 * _full_words(layer) for layer in layers if _drops(layer)), default=0)
    ends = sum(_words(tensor) for tensor in (*region.inputs, *region.outputs))
    return Plan(tuple(layers), places, size, ends)


def _drops(layer: Layer) -> bool:
    return layer.words[0] == CONV and layer.words[2] != layer.words[3]


def _full_words(layer: Layer) -> int:
    rows, columns = _window(layer.words)
    return rows * columns * -(-layer.words[7] // 4)


def _window(words: tuple[int, ...]) -> tuple[int, int]:
    """Rows and columns that the engine computes, before pixels are dropped."""
    grow = 2 * words[9] - words[8] + 1
    return words[4] // words[10] + grow, words[5] // words[10] + grow


def engine_window(match: Match) -> tuple[int, int]:
    """Rows and columns that the engine computes for a convolution, with stride 1 and equal padding."""
    window, pool = window_of(match), 2 if match.has("pool") else 1
    rows, columns, _ = _geometry(match.tensor("input"))
    grow = 2 * max(window.pads) - window.kernel[0] + 1
    return rows // pool + grow, columns // pool + grow


def _layer(name: str, match: Match, places: Mapping[str, int], at: tuple[int, int, int]) -> Layer:
    weights, biases, spare = at
    found, target = made_shift(match, SHIFT_MAX), places[match.output.name]
    half = 1 << found.shift >> 1  # the engine adds it itself
    tail = (found.shift, 0 if found.relu else -128, weights, biases)
    if name == "add":
        rows, columns, inputs = _geometry(match.tensor("input_a"))
        source, other = (places[match.tensor(end).name] for end in ("input_a", "input_b"))
        bias = (found.biases(1) - half).astype(np.int32)
        words = (ADD, source, other, target, rows, columns, inputs, inputs, 1, 0, 1, 0, 0, 1, *tail)
        return _timed(words, np.zeros((0, 1, 1), np.int8), bias)
    rows, columns, inputs = _geometry(match.tensor("input"))
    weight = match.const("weight")
    kernel, pad, pool, step, first, dropped = 1, 0, 1, 1, (0, 0), False
    if name == "conv":
        window = window_of(match)
        kernel, step, pool = window.kernel[0], window.strides[0], 2 if match.has("pool") else 1
        pad = max(window.pads)
        first = (pad - window.pads[0], pad - window.pads[1])
        dropped = engine_window(match) != _geometry(match.output)[:2]
        taps = weight.reshape(*weight.shape[:2], -1).transpose(0, 2, 1)
    else:
        taps = weight.T[:, None, :]
    outputs = len(taps)
    bias = (found.biases(outputs) - half).astype(np.int32)
    words = (CONV, places[match.tensor("input").name], target, spare if dropped else target, rows, columns, inputs)
    words = (*words, outputs, kernel, pad, pool, *first, step, *tail)
    return _timed(words, np.ascontiguousarray(taps), bias, _words(match.output) if dropped else 0)


def _timed(words: tuple[int, ...], weight: NDArray[np.int8], bias: NDArray[np.int32], moved: int = 0) -> Layer:
    """``moved``: words that the host reads and writes again because it drops others."""
    passes = -(-words[6] // VALUES["processors"])
    engine = VALUES["clock_ratio"] * (prod(_window(words)) * passes * words[7] + VALUES["setup_cycles"])
    host = VALUES["word_cycles"] * (2 * moved + len(words)) + VALUES["wake_cycles"]
    return Layer(words, weight, bias, engine + host)


def counts(region: Region) -> Mapping[str, int]:
    """Host cycles of a run."""
    return {"cycles": plan(region).cycles}


def holds(region: Region) -> Mapping[str, int]:
    """Bytes in the memories of weights and of biases."""
    layers = plan(region).layers
    return {
        "moss_weights": sum(layer.weight.nbytes for layer in layers),
        "moss_biases": sum(layer.bias.nbytes for layer in layers),
    }


def data_bytes(region: Region) -> int:
    """Bytes of data memory."""
    return plan(region).bytes


def compile_region(request: RegionRequest) -> RegionCode:
    """The layers, then the places of inputs and outputs with their pixels and channels."""
    made = plan(request.region)
    code = struct.pack("<i", len(made.layers)) + b"".join(WORDS.pack(*layer.words) for layer in made.layers)
    for tensor in (*request.region.inputs, *request.region.outputs):
        rows, columns, channels = _geometry(tensor)
        code += struct.pack("<3i", made.places[tensor.name], rows * columns, channels)
    weights = np.concatenate([layer.weight.reshape(-1) for layer in made.layers])
    biases = np.concatenate([layer.bias for layer in made.layers])
    return RegionCode("binary", code, "moss_load", "moss_run", "moss_unload", (weights, biases))
