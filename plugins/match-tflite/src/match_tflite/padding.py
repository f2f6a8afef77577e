"""Padding as a separate operator."""

from __future__ import annotations

import numpy as np

from match_tflite.call import Call
from match_tflite.faults import damaged
from match_tflite.graph import TO_PLANES


def pad(call: Call) -> None:
    """PAD and PADV2: zeros or a constant around the tensor."""
    planes = call.is_planes(0)
    amounts = _amounts(call)
    filling = "" if call.input_count < 3 else _filling(call)
    ordered = [amounts[axis] for axis in (TO_PLANES if planes else range(len(amounts)))]
    ends = np.array([*(begin for begin, _ in ordered), *(end for _, end in ordered)], np.int64)
    inputs = [call.real(0, planes), call.constant("pads", ends), *([filling] if filling else [])]
    result = call.node("Pad", inputs)
    call.give_real(result, planes)
    around = len(amounts) == 4 and amounts[0] == amounts[3] == (0, 0)
    if planes and around and not filling and call.output().quantisation is not None and call.same_values():
        call.graph.padded[call.output().index] = result


def mirror_pad(call: Call) -> None:
    """MIRROR_PAD without repeating the edge (REFLECT). ONNX has no other mode."""
    if call.option("Mode") != 0:
        raise call.refuse("its mode SYMMETRIC repeats the edge, for which ONNX has no operator", "use mode REFLECT")
    amounts = _amounts(call)
    ends = np.array([*(begin for begin, _ in amounts), *(end for _, end in amounts)], np.int64)
    call.give_real(call.node("Pad", [call.real(0), call.constant("pads", ends)], mode="reflect"))


def _amounts(call: Call) -> list[tuple[int, int]]:
    """The amounts before and after each axis."""
    values = call.integers(1, "amounts")
    if len(values) != 2 * call.input(0).rank or min(values, default=0) < 0:
        raise damaged(call.where, f"it has amounts {values[:8]} for {call.input(0).rank} axes")
    return list(zip(values[::2], values[1::2], strict=True))


def _filling(call: Call) -> str:
    """PADV2's constant as a real scalar."""
    name, tensor = call.real(2), call.input(2)
    if tensor.size != 1:
        raise damaged(call.where, f"it pads with {tensor.size} values")
    return call.graph.reshape(name, []) if tensor.rank else name
