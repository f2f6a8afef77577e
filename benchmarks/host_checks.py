"""What became of one model for ``-t host``: its outputs beside those that are stored with it, times, and memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx_graphsurgeon as gs
from match_verify.float_bounds import float_bounds
from match_verify.verify import VerifyResult
from numpy.typing import NDArray

from benchmarks.live_tensors import largest_live_set

Array = NDArray[np.generic]

#: Stages of the twin and of the comparison; all others lead to C.
AFTER_C = ("build", "run", "compare")
#: Smaller elements, as part of the largest, tell nothing about relative differences: they are sums that cancel.
LEAST_ELEMENT = 0.01


@dataclass(frozen=True, slots=True)
class Seconds:
    """Elapsed: ``stages`` that lead to C, and what the C compiler took."""

    stages: Mapping[str, float]
    build: float

    @staticmethod
    def of(seconds: Mapping[str, float]) -> Seconds:
        """From the times of all stages."""
        return Seconds({k: v for k, v in seconds.items() if k not in AFTER_C}, seconds.get("build", 0.0))

    @property
    def to_c(self) -> float:
        """From ONNX to C."""
        return sum(self.stages.values())

    @property
    def slowest(self) -> tuple[str, float]:
        """The stage that took longest."""
        return max(self.stages.items(), key=lambda pair: pair[1], default=("", 0.0))


@dataclass(frozen=True, slots=True)
class HostRun:
    """``failure``: why it is not as it should be, empty if it is. ``graph``, ``stored``: how far the outputs lie from
    those of the integer graph, and from the stored ones; ``of_largest``, ``of_element``: floats only."""

    name: str
    failure: str
    seconds: Seconds
    graph: str = "-"
    stored: str = "-"
    of_largest: float | None = None
    of_element: float | None = None
    peak_bytes: int = 0
    bound_bytes: int = 0

    @property
    def at_bound(self) -> bool:
        """Whether no arena could be smaller."""
        return not self.failure and self.peak_bytes <= self.bound_bytes

    @property
    def ratio(self) -> float:
        """Of the arena to the bound."""
        return self.peak_bytes / self.bound_bytes if self.bound_bytes else 1.0 + self.peak_bytes

    @property
    def kind(self) -> str:
        """How the model computes, as its name ends."""
        if self.name.endswith(("_f32", "_w8f32")):
            return "float32"
        if self.name.endswith("_f16"):
            return "float16"
        return "integers" if self.name.endswith("_int") else "quantised"


@dataclass(frozen=True, slots=True)
class _Distance:
    """Of an output to its stored values; ``of_largest`` and ``of_element`` are relative, of floats."""

    values: int
    different: int
    largest: float
    of_largest: float
    of_element: float


def judged(name: str, folder: Path, result: VerifyResult, seconds: Seconds) -> HostRun:
    """The run of a model that went through all stages."""
    compiled = result.compilation
    graph, program = compiled.model.graph, compiled.program
    bounds = float_bounds(graph, program)
    failures = [f"{check.name}: not within {check.bound}" for check in result.outputs if not check.within_bound]
    told, largest, element = [], [], []
    with np.load(folder / "outputs.npz") as archive:
        stored = {check.name: archive[check.name] for check in result.outputs}
    for output in graph.outputs:
        got = result.run.outputs[output.name]
        distance = _distance(got, stored[output.name])
        floats = got.dtype.kind == "f"
        text = "bit exact" if distance.different == 0 else f"{distance.of_largest:.1e}"
        close = distance.different == 0 or (floats and distance.of_largest <= bounds[output.name].relative)
        if floats and close:
            largest.append(distance.of_largest)
            element.append(distance.of_element)
        if not close:
            step = _step(output)
            unit = f"{distance.largest / step:.0f} step{'s' if distance.largest > step else ''}" if step else text
            text = f"{distance.different} of {distance.values} by {unit} at most"
            if compiled.model.integer_source or not _quantises(compiled.source.graph):
                failures.append(f"{output.name}: {text}")
            elif distance.largest > (allowed := max(1.001 * step, _of_runtime(folder, output.name))):
                failures.append(f"{output.name}: {text}; ONNX Runtime and 1 step allow {allowed:.3g}")
        told.append(text)
    use = next(use for use in program.memory if use.memory == program.soc.home)
    return HostRun(
        name=name,
        failure="; ".join(failures),
        seconds=seconds,
        graph=", ".join(
            "bit exact" if c.bit_exact else f"{c.worst_difference / _largest(stored[c.name]):.1e}"
            for c in result.outputs
        ),
        stored=", ".join(told),
        of_largest=max(largest, default=None),
        of_element=max(element, default=None),
        peak_bytes=use.arena_bytes,
        bound_bytes=largest_live_set(graph, program).bytes,
    )


def _largest(values: Array) -> float:
    return max(float(np.abs(values.astype(np.float64)).max()), float(np.finfo(np.float32).tiny))


def _distance(got: Array, stored: Array) -> _Distance:
    """Over all samples (first axis); relative to the largest of each sample."""
    if got.shape != stored.shape or got.dtype != stored.dtype:
        return _Distance(stored.size, stored.size, float("inf"), float("inf"), float("inf"))
    ours, theirs = (array.astype(np.float64).reshape(len(array), -1) for array in (got, stored))
    away, size = np.abs(ours - theirs), np.abs(theirs)
    most = np.maximum(size.max(axis=1, keepdims=True), np.finfo(np.float32).tiny)
    elements = np.where(size >= LEAST_ELEMENT * most, away / np.where(size > 0, size, 1.0), 0.0)
    return _Distance(
        values=got.size,
        different=int(np.count_nonzero(got != stored)),
        largest=float(away.max()),
        of_largest=float((away / most).max()),
        of_element=float(elements.max()),
    )


def _step(output: gs.Variable) -> float:
    """Between neighbouring values of an output: 1 of integers, the scale of dequantised ones, else 0 (unknown)."""
    if np.dtype(output.dtype).kind != "f":
        return 1.0
    (maker,) = output.inputs
    scale = maker.inputs[1] if maker.op == "DequantizeLinear" else None
    return float(np.max(scale.values)) if isinstance(scale, gs.Constant) else 0.0


def _quantises(source: gs.Graph) -> bool:
    """Whether the model rounds floats to integers somewhere (QOperators do it inside)."""
    return any(node.op == "QuantizeLinear" or node.op.startswith(("QLinear", "QGemm")) for node in source.nodes)


def _of_runtime(folder: Path, output: str) -> float:
    """How far ONNX Runtime with all its graph optimisations is from the stored outputs."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])
    with np.load(folder / "inputs.npz") as archive:
        given = {name: archive[name] for name in archive.files}
    with np.load(folder / "outputs.npz") as archive:
        stored = archive[output].astype(np.float64)
    worst = 0.0
    for sample, wanted in enumerate(stored):
        (got,) = session.run([output], {name: array[sample] for name, array in given.items()})
        worst = max(worst, float(np.abs(got.astype(np.float64) - wanted).max()))
    return worst
