"""Verification: the emitted program against the integer graph (bit for bit) and the original model."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from match_core.contract.compilation import Compilation
from match_core.contract.errors import ToolError, UsageError, no_room
from match_core.contract.observe import NullObserver, StageObserver
from match_core.deploy.compile_options import CompileOptions
from match_core.io.arrays import TensorSpec, as_sequence
from match_core.ir.functions import ARITH
from match_core.load.load import load_model
from match_core.load.read import source_proto
from match_core.load.states import with_states
from match_core.pipeline import CompileRequest, compile_model
from match_core.run.compiled_program import run_program
from match_core.run.modes import is_threads
from match_core.summary.fallbacks import fallbacks_json
from match_core.summary.program_json import energy_json, memory_json, side_by_side_json
from match_report.measured import measured_report
from match_report.npz import read_arrays, write_arrays
from match_report.samples import SEED, random_array
from numpy.typing import NDArray

from match_verify.accuracy import NOT_JUDGED, Accuracy, Asked, Samples, accuracy_of
from match_verify.counts import run_json
from match_verify.double import MACS_MAX, double_outputs, measured_in_double
from match_verify.finite import not_finite
from match_verify.first_difference import FirstDifference, first_difference
from match_verify.float_bounds import float_bounds
from match_verify.held import integer_inputs
from match_verify.images import PLAIN, Normalisation
from match_verify.labels import LabelCheck, check_labels, read_labels
from match_verify.meaning import meanings
from match_verify.outputs import OutputCheck, compare_output
from match_verify.reference import ReferenceRunner
from match_verify.room import with_room
from match_verify.sample_files import SampleFiles, read_sample_files, with_batch_axis
from match_verify.stored import StoredCheck, check_stored

if TYPE_CHECKING:
    from match_core.contract.front_end import FrontEnd
    from match_core.contract.model import Model
    from match_core.contract.passes import Precision
    from match_core.contract.runner import Place, RunResult
    from match_core.plugin.facade import Plugins

Arrays = Mapping[str, NDArray[np.generic]]

#: The number of random samples if the user gives none.
RANDOM_SAMPLES = 4


@dataclass(frozen=True)
class VerifyRequest(CompileOptions):
    """What to verify. ``inputs``: files of samples (``SampleFiles``), ``normalisation`` of images among them;
    ``arrays``: samples in memory (by graph input name, leading sample axis); neither: seeded random samples.
    ``expected``: an ``.npz`` file with the outputs that the program must compute. ``labels`` of the samples: ``Y.npy``
    or ``OUTPUT=Y.npy``. ``mode``: "eager", "lazy", "lazy:QUEUE", "threads" or "threads:SEED" (docs/twin.md).
    ``place``: where the program runs, None for the twin. ``accept_loss``: the distance to the original model may be
    any. ``layers``: measure the noise of each layer, even if nothing is lost."""

    model: Path
    target: str | None = None
    inputs: Path | None = None
    arrays: Arrays | None = None
    expected: Path | None = None
    sanitize: bool = False
    mode: str = "eager"
    accept_loss: bool = False
    layers: bool = False
    normalisation: Normalisation = PLAIN
    labels: tuple[str, ...] = ()
    place: Place | None = None

    def compile_request(self, output: Path) -> CompileRequest:
        """The request to compile the same model, target and options to a directory."""
        return CompileRequest(self.model, self.target, output, **{**self.choices(), "samples": self.inputs})


@dataclass(frozen=True)
class VerifyResult:
    """The results of ``match verify``. ``run`` holds the outputs and what was counted."""

    compilation: Compilation
    run: RunResult
    outputs: tuple[OutputCheck, ...]
    samples: int
    precision: Precision = "exact"
    stored: tuple[StoredCheck, ...] = ()
    accuracy: Accuracy = NOT_JUDGED
    warnings: tuple[str, ...] = ()
    labels: tuple[LabelCheck, ...] = ()
    first: FirstDifference | None = None

    @property
    def computed(self) -> bool:
        """Integer outputs are bit exact, float outputs within the bound; the same for stored outputs, if any."""
        return all(output.within_bound for output in self.outputs) and all(check.ok for check in self.stored)

    @property
    def ok(self) -> bool:
        """The program computes the integer graph, and is close enough to the original model."""
        return self.computed and self.accuracy.ok

    @property
    def bit_exact(self) -> bool:
        """Every output equals the integer graph's bit for bit."""
        return all(output.bit_exact for output in self.outputs)

    @property
    def report(self) -> dict[str, Any]:
        """The report document of the program, with what the twin counted."""
        return measured_report(self.compilation, self.run)

    def as_json(self) -> dict[str, object]:
        """The document that ``--json`` prints, without its first and its last line."""
        program = self.compilation.program
        return {
            "schema": "match.verify",
            "model": self.compilation.model.name,
            "target": self.compilation.soc.name,
            "preset": self.compilation.soc.preset,
            "objective": self.compilation.objective,
            "precision": self.precision,
            "samples": self.samples,
            "ok": self.ok,
            "bit_exact": self.bit_exact,
            "bound": {output.name: output.bound for output in self.outputs},
            "max_abs_lsb": {output.name: output.max_abs_lsb for output in self.outputs},
            "mean_abs_lsb": {output.name: output.mean_abs_lsb for output in self.outputs},
            "top1_agreement": {output.name: output.top1_agreement for output in self.outputs},
            **self.accuracy.as_json(),
            "max_loss": None if self.compilation.choice is None else dict(self.compilation.choice.document),
            "labels": {check.name: check.as_json() for check in self.labels},
            "expected": {check.name: check.as_json() for check in self.stored},
            **run_json(self.run),
            "predicted_cycles": program.predicted_cycles,
            **side_by_side_json(self.compilation),
            "energy": energy_json(program),
            "memory": memory_json(program),
            "notes": list(self.compilation.notes),
            "warnings": list(self.warnings),
            "first_difference": self.first and self.first.as_json(),
            **fallbacks_json(self.compilation),
        }


def _compiled(request: CompileRequest, plugins: Plugins, observer: StageObserver) -> Compilation:
    """The program in a temporary directory. ToolError MATCH-T006 if that cannot be written."""
    try:
        return compile_model(request, plugins, observer).compilation
    except UsageError as error:
        if error.code != "MATCH-U011":
            raise
        raise no_room("temporary files", error.why) from error


def verify_model(request: VerifyRequest, plugins: Plugins, observer: StageObserver | None = None) -> VerifyResult:
    """Compile, build, run all samples, compare."""
    observer = observer or NullObserver()
    with tempfile.TemporaryDirectory(prefix="match-verify-") as temporary:
        directory = Path(temporary) / "program"
        labels = _labels(request, plugins.front_ends())
        request = _with_archive(request, Path(temporary), plugins.front_ends(), observer.note)
        compiled = _compiled(request.compile_request(directory), plugins, observer)
        inputs = inputs_of(compiled.model, request.inputs, request.arrays, observer.note)
        samples = len(next(iter(inputs.values()))) if inputs else 1
        run = run_program(directory, inputs, plugins, request.sanitize, request.mode, observer, request.place)
    observer.stage_started("compare")
    expected = reference_outputs(compiled.model, inputs, samples)
    original = _original_outputs(compiled, request.model, inputs, samples, plugins.front_ends())
    bounds = float_bounds(compiled.model.graph, compiled.program)
    checks = tuple(
        compare_output(name, run.outputs[name], expected[name], original[name], bound) for name, bound in bounds.items()
    )
    checks, excused = _in_double(compiled, inputs, samples, checks, run.outputs, expected)
    stored: tuple[StoredCheck, ...] = ()
    if request.expected is not None:
        relative = {name: bound.relative for name, bound in bounds.items()}
        ends = compiled.model.quantised_ends
        stored = check_stored(request.expected, run.outputs, relative, ends, observer.note)
    scores = check_labels(labels, original, run.outputs, meanings(compiled.source, compiled.model))
    layers = request.layers or bool(labels)
    asked = Asked(Samples(inputs, original, run.outputs), request.accept_loss, layers, excused)
    accuracy = accuracy_of(compiled, request, plugins, asked)
    observer.stage_finished("compare", {"outputs": len(checks)})
    first = None
    if not all(check.within_bound for check in checks) and request.place is None and not is_threads(request.mode):
        first = _first_difference(request, inputs, plugins)
    warnings = not_finite(inputs)
    return VerifyResult(compiled, run, checks, samples, request.precision, stored, accuracy, warnings, scores, first)


def _first_difference(request: VerifyRequest, inputs: Arrays, plugins: Plugins) -> FirstDifference | None:
    """The same program once more, with what every task makes."""
    with tempfile.TemporaryDirectory(prefix="match-verify-") as temporary:
        folder, work = Path(temporary) / "program", Path(temporary) / "work"
        compiled = _compiled(request.compile_request(folder), plugins, NullObserver())
        return first_difference(compiled, folder, inputs, plugins, work, request.mode)


def _labels(request: VerifyRequest, front_ends: Sequence[FrontEnd]) -> Arrays:
    """The labels, read before anything is compiled."""
    if not request.labels:
        return {}
    model = load_model(request.model, None, front_ends, request.dims)
    outputs = [str(tensor.name) for tensor in model.graph.outputs]
    return read_labels(request.labels, outputs, samples=bool(request.inputs or request.arrays))


def _with_archive(
    request: VerifyRequest, folder: Path, front_ends: Sequence[FrontEnd], note: Callable[[str], object]
) -> VerifyRequest:
    """The request with all samples in an ``.npz`` file, which all stages read."""
    if request.inputs is None or (files := SampleFiles(request.inputs, request.normalisation)).is_archive():
        return request
    model = with_states(load_model(request.model, None, front_ends, request.dims), request.states)
    states = {state.input for state in model.states}
    arrays = read_sample_files(files, [spec for spec in _specs(model) if spec.name not in states], note)
    write_arrays(folder / "inputs.npz", arrays)
    return replace(request, inputs=folder / "inputs.npz")


def _in_double(
    compiled: Compilation,
    inputs: Arrays,
    samples: int,
    checks: tuple[OutputCheck, ...],
    got: Arrays,
    expected: Arrays,
) -> tuple[tuple[OutputCheck, ...], frozenset[str]]:
    """Float outputs beyond their bounds are measured against float64, where that can be run; the names of those that
    pass. Their distance to ONNX Runtime says nothing of the program."""
    far = {check.name for check in checks if not check.within_bound and "float" in check.dtype}
    macs = sum(task.assignment.candidate.workload.macs for task in compiled.program.tasks)
    real = double_outputs(compiled.source, inputs, samples) if far and macs <= MACS_MAX else None
    if real is None:
        return checks, frozenset()
    measured = tuple(
        measured_in_double(check, got[check.name], expected[check.name], real[check.name])
        if check.name in far
        else check
        for check in checks
    )
    return measured, frozenset(check.name for check in measured if check.name in far and check.within_bound)


def inputs_of(
    model: Model, path: Path | None, arrays: Arrays | None = None, note: Callable[[str], object] = str
) -> Arrays:
    """Samples for the inputs of a transformed model, from a file, from memory, or random ones."""
    specs = _specs(model)
    if path is not None:
        arrays = with_batch_axis(read_arrays(path, specs), specs)
        return as_sequence(arrays, specs, str(path), model.states, note).arrays
    if arrays is not None:
        return as_sequence(arrays, specs, "arrays", model.states, note).arrays
    return random_inputs(model)


def _specs(model: Model) -> list[TensorSpec]:
    return [
        TensorSpec(
            t.name, tuple(int(size) for size in t.shape), np.dtype(t.dtype).name, model.quantised_ends.get(t.name)
        )
        for t in model.graph.inputs
    ]


def random_inputs(model: Model) -> dict[str, NDArray[np.generic]]:
    """Seeded samples for every graph input: all values of 8-bit types (including those held in floats), normally
    distributed floats, small other integers."""
    generator, held = np.random.default_rng(SEED), integer_inputs(model)
    arrays: dict[str, NDArray[np.generic]] = {}
    for tensor in model.graph.inputs:
        shape = (RANDOM_SAMPLES, *(int(size) for size in tensor.shape))
        dtype = np.dtype(tensor.dtype)
        if tensor.name in model.quantised_ends:
            floats = generator.standard_normal(shape).astype(np.float32)
            arrays[tensor.name] = model.quantised_ends[tensor.name].stored(floats, dtype)
        elif tensor.name in held:
            arrays[tensor.name] = generator.integers(-128, 127, shape, endpoint=True).astype(dtype)
        else:
            arrays[tensor.name] = random_array(generator, dtype, shape)
    for state in model.states:
        arrays[state.input][...] = state.initial
    return arrays


def reference_outputs(model: Model, inputs: Arrays, samples: int) -> dict[str, NDArray[np.generic]]:
    """The outputs of a model in ONNX Runtime, stacked over samples."""
    runner = ReferenceRunner(model)
    return _stack(runner, model, inputs, samples)


def _stack(
    runner: ReferenceRunner, model: Model | None, inputs: Arrays, samples: int
) -> dict[str, NDArray[np.generic]]:
    """Results over consecutive samples, with the sizes that ``model`` states."""
    found: list[Arrays] = []
    for i in range(samples):
        carried = {state.input: found[-1][state.output] for state in (model.states if model and found else ())}
        found.append(runner.run({**{name: array[i] for name, array in inputs.items()}, **carried}))
    results = [arrays if model is None else with_room(arrays, model.graph) for arrays in found]
    return {name: np.stack([result[name] for result in results]) for name in results[0]}


def reference_of_file(
    path: Path, inputs: Arrays, samples: int, model: Model | None = None, front_ends: Sequence[FrontEnd] = ()
) -> dict[str, NDArray[np.generic]]:
    """Outputs of the user's file before any rewriting; a front end converts other formats to ONNX first. With the
    ``model`` that was loaded from it, results whose size depends on data get the model's size."""

    return _stack(ReferenceRunner(source_proto(path, front_ends)), model, inputs, samples)


def _original_outputs(
    compiled: Compilation, path: Path, inputs: Arrays, samples: int, front_ends: Sequence[FrontEnd]
) -> dict[str, NDArray[np.generic]]:
    """Outputs of the user's file; of the loaded model if the file has operators that ONNX Runtime does not know.
    Tensors that are integers in the program and floats in the file are converted: the file's own quantisers turn them
    into the same integers again."""
    source, ends, model = compiled.source, compiled.model.quantised_ends, compiled.model
    types = {tensor.name: np.dtype(tensor.dtype) for tensor in (*source.graph.inputs, *model.graph.outputs)}
    given = {
        name: ends[name].real(array).astype(types[name]) if name in ends else array for name, array in inputs.items()
    }
    try:
        known = not any(node.domain == ARITH for node in source.graph.nodes)
        outputs = reference_of_file(path, given, samples, source, front_ends) if known else {}
    except ToolError:  # such as an operator that the file's opset lacks
        outputs = {}
    outputs = outputs or reference_outputs(source, given, samples)
    return {name: ends[name].stored(array, types[name]) if name in ends else array for name, array in outputs.items()}
