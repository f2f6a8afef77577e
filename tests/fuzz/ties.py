"""Quantised results that differ because a value lies between two steps: integer arithmetic rounds the exact value, and
references round a sum of rounded floats."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from tests.conformance.batch import Failed, run_batch
from tests.conformance.programs import Program, compile_file
from tests.conformance.suite import Sample
from tests.fuzz.references import references

#: A quotient this close to the middle of two integers, relative to the quotient or to 1, is a tie: some units in the
#: last place of the float32 sums before it.
NEAR = 2.0**-16


def only_ties(path: Path, samples: Sequence[Sample], folder: Path) -> bool:
    """Whether the first tensor of the graph that QuantizeLinear gives and that differs from ONNX Runtime does so by one
    step, and only where the reference's quotient is a tie. Later tensors depend on it."""
    model = onnx.shape_inference.infer_shapes(onnx.load(path))
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    stated = {value.name: value for value in model.graph.value_info}
    nodes = [
        node
        for node in model.graph.node
        if node.op_type == "QuantizeLinear" and node.output[0] in stated and node.input[1] in constants
    ]
    quotients, quantised = _with_outputs(model, [n.input[0] for n in nodes]), [n.output[0] for n in nodes]
    shown = _with_outputs(model, quantised)
    onnx.save(shown, folder / "shown.onnx")
    onnx.save(quotients, folder / "quotients.onnx")
    program = compile_file(folder / "shown.onnx", "shown")
    if not nodes or not isinstance(program, Program):
        return False
    (folder / "objects").mkdir(exist_ok=True)
    (ours,) = run_batch([(program, samples)], folder, folder / "objects", "-O0")
    (theirs, *_), _ = references(folder / "shown.onnx", program, samples)
    (given, *_), _ = references(folder / "quotients.onnx", program, samples)
    if isinstance(ours, Failed) or theirs is None or given is None:
        return False
    places = {value.name: place for place, value in enumerate(quotients.graph.output)}
    order = {tensor.name: place for place, tensor in enumerate(program.outputs)}
    for mine, wanted, values in zip(ours, theirs, given, strict=True):
        for node in nodes:
            place = order[node.output[0]]
            steps = np.abs(mine[place].astype(np.float64) - wanted[place].astype(np.float64))
            if steps.any():
                x, scale = values[places[node.input[0]]].astype(np.float64), constants[node.input[1]].astype(np.float64)
                if scale.size != 1 or steps.max() > 1 or not tie(x[steps > 0] / scale.reshape(-1)[0]):
                    return False
                break
    return True


def tie(quotients: np.ndarray) -> bool:
    """Whether all quotients lie in the middle of two integers."""
    apart = np.abs(np.abs(quotients - np.floor(quotients)) - 0.5)
    return bool((apart <= NEAR * np.maximum(1, np.abs(quotients))).all())


def _with_outputs(model: onnx.ModelProto, names: Sequence[str]) -> onnx.ModelProto:
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    known = {value.name for value in copy.graph.output}
    stated = {value.name: value for value in copy.graph.value_info}
    copy.graph.output.extend(stated[name] for name in dict.fromkeys(names) if name in stated and name not in known)
    return copy
