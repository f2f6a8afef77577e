"""A region as the layers of the engine: addresses, cycles, what it holds, and its binary code."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import numpy as np
from match_core import Region, RegionCode, RegionRequest
from match_quant.powers.rules import made_shift
from match_regions import atoms_in
from match_regions.engine import EngineLayer, layer_of, shape_hwc
from numpy.typing import NDArray

from match_moss.hardware import KERNELS, SHIFT_MAX, VALUES

_OPERATORS = {"conv": 1, "dense": 1, "add": 2}
_WORDS = struct.Struct("<18i")  # moss.h names them


@dataclass(frozen=True, slots=True)
class Plan:
    """``places``: bytes from the start of the data memory, by tensor; ``spare``: behind all tensors, where layers of
    which pixels are dropped write; ``bytes`` of data memory in all."""

    layers: tuple[EngineLayer, ...]
    places: Mapping[str, int]
    spare: int
    bytes: int


def plan(region: Region) -> Plan:
    """Every tensor has its own place: data memory is larger than the networks whose weights fit."""
    from match_moss.claims import CLAIMS

    layers = tuple(layer_of(name, match, KERNELS) for name, match in atoms_in(region, CLAIMS))
    places, top = {}, 0
    for tensor in (*region.inputs, *(layer.match.output for layer in layers)):
        places[tensor.name] = top
        top += KERNELS.size(tensor)
    most = max((prod(layer.computed) * (layer.outputs + 3) for layer in layers if layer.drops), default=0)
    return Plan(layers, places, top, top + most)


def counts(region: Region) -> Mapping[str, int]:
    """Host cycles of a run: the ends of the region by words, and each layer."""
    words = sum(KERNELS.size(tensor) for tensor in (*region.inputs, *region.outputs)) // 4
    return {"cycles": words * VALUES["word_cycles"] + sum(_cycles(layer) for layer in plan(region).layers)}


def _cycles(layer: EngineLayer) -> int:
    """The engine, at its own clock; the host starts it, wakes up, and reads and writes the pixels that it keeps."""
    passes = -(-layer.inputs // VALUES["processors"])
    engine = prod(layer.computed) * passes * layer.outputs + VALUES["setup_cycles"]
    kept = KERNELS.size(layer.match.output) // 2 if layer.drops else 0
    return VALUES["clock_ratio"] * engine + VALUES["word_cycles"] * (kept + 18) + VALUES["wake_cycles"]


def _biases(layer: EngineLayer) -> int:
    return 1 if layer.kind == "add" else layer.outputs


def holds(region: Region) -> Mapping[str, int]:
    """Bytes in the memories of weights and of biases."""
    layers = plan(region).layers
    weights = sum(layer.weight.nbytes for layer in layers)
    return {"moss_weights": -(-weights // 4) * 4, "moss_biases": 4 * sum(map(_biases, layers))}


def compile_region(request: RegionRequest) -> RegionCode:
    """The layers, then the places of inputs and outputs with their pixels and channels."""
    made = plan(request.region)
    code = struct.pack("<i", len(made.layers))
    weights: list[NDArray[np.int8]] = []
    biases: list[NDArray[np.int32]] = []
    for layer in made.layers:
        shift, target = made_shift(layer.match, SHIFT_MAX), made.places[layer.match.output.name]
        own = made.spare if layer.drops else target
        source, other = (*(made.places[tensor.name] for tensor in layer.sources), target)[:2]
        sizes = (layer.rows, layer.columns, layer.inputs, layer.outputs, layer.kernel, layer.pad, layer.pool)
        ends = (shift.shift, 0 if shift.relu else -128, sum(w.size for w in weights), sum(b.size for b in biases))
        place = (_OPERATORS[layer.kind], source, other, own)
        code += _WORDS.pack(*place, *sizes, *layer.first, layer.keep, *ends)
        weights.append(layer.weight.reshape(-1))
        half = 1 << shift.shift >> 1  # the engine adds it itself
        biases.append((shift.biases(_biases(layer)) - half).astype(np.int32))
    for tensor in (*request.region.inputs, *request.region.outputs):
        rows, columns, channels = shape_hwc(tensor)
        code += struct.pack("<3i", made.places[tensor.name], rows * columns, channels)
    arrays = (np.concatenate(weights), np.concatenate(biases))
    return RegionCode("binary", code, "moss_load", "moss_run", "moss_unload", arrays)
