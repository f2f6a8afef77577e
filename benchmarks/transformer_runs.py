"""Encoders in three programs on the twin: units side by side, one task after another, the cores alone."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from match_core.deploy.compile_options import CompileOptions
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, VerifyResult, verify_model
from numpy.typing import NDArray

from benchmarks.beside_runs import same_outputs
from benchmarks.runs import told

Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Ran:
    """One program of a network: ``seconds`` to compile it and to run and check it."""

    result: VerifyResult
    seconds: float

    @property
    def cycles(self) -> int:
        """Of one inference, on the twin."""
        return self.result.run.cycles_total

    @property
    def picojoules(self) -> float:
        """Modelled energy of all kernels of one inference."""
        return sum(task.assignment.schedule.cost.energy_pj or 0.0 for task in self.result.compilation.program.tasks)

    def macs(self, unit: str | None = None) -> int:
        """Multiply-accumulates of all tasks, or of those of a unit."""
        tasks = self.result.compilation.program.tasks
        return sum(
            task.assignment.candidate.workload.macs
            for task in tasks
            if unit is None or task.assignment.candidate.unit == unit
        )


@dataclass(frozen=True, slots=True)
class Network:
    """A network with the programs that were made of it; ``cores``: without ITA."""

    name: str
    beside: Ran
    before: Ran
    cores: Ran

    @property
    def fault(self) -> str | None:
        """What is wrong with the programs' results."""
        made = (self.beside, self.before, self.cores)
        if not all(ran.result.bit_exact for ran in made):
            return f"FAILURE: {self.name}: a program does not compute the integer graph"
        if not all(same_outputs(self.beside.result.run, ran.result.run) for ran in made):
            return f"FAILURE: {self.name}: outputs differ between programs"
        return None


def run(folder: Path, options: CompileOptions, plugins: Plugins) -> Ran:
    """Compile, run the first stored sample and check it."""
    with np.load(folder / "inputs.npz") as archive:
        arrays = {key: archive[key][:1] for key in archive.files}
    begun = time.perf_counter()
    request = VerifyRequest(model=folder / "model.onnx", target="ita", arrays=arrays, **options.choices())
    return Ran(verify_model(request, plugins), time.perf_counter() - begun)


def measure(folder: Path, plugins: Plugins, preset: str | None) -> Network:
    """All programs of a network."""
    ways: dict[str, CompileOptions] = {
        "side by side": CompileOptions(quantized_io=True, preset=preset, execution="concurrent"),
        "one after another": CompileOptions(quantized_io=True, preset=preset, execution="sequential"),
        "cores alone": CompileOptions(quantized_io=True, preset=preset, execution="sequential", without_units=("ita",)),
    }
    made = []
    for way, options in ways.items():
        made.append(run(folder, options, plugins))
        told(f"{folder.name}: {way} {made[-1].cycles:,} cycles, {made[-1].seconds:.0f} s")
    return Network(folder.name, *made)


def stored_results(folder: Path) -> tuple[Reals, Reals]:
    """The first sample's output of the quantised model, and of the float model: stored beside it, or in a folder of its
    own for the same inputs."""
    with np.load(folder / "outputs.npz") as archive:
        quantised, real = archive["output"], archive.get("torch_f32__output")
    if real is None:
        with np.load(folder.with_name(folder.name.replace("_int8_qdq", "_f32")) / "outputs.npz") as archive:
            real = archive["output"]
    return quantised[0].astype(np.float64), real[0].astype(np.float64)
