"""One network on the host of this machine: our C, emx-onnx-cgen's and ONNX Runtime's, timed in turns in one process."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.host_builds import Build, Built, Library, Sizes, build
from benchmarks.host_programs import CProgram, Ends, Tool, emx_program, ends, match_program
from benchmarks.runs import MODELS
from tests.stack import StackDepth

if TYPE_CHECKING:
    import onnxruntime

#: Builds that are timed, and those whose instructions are counted.
TIMED: tuple[Build, ...] = ("native", "portable", "small")
COUNTED: tuple[Build, ...] = ("avx2", "portable", "small")
#: Each subject gets turns of about this long.
TURN_SECONDS = 0.02
TURNS_MIN = 5
#: Tasks are measured for about this long.
NODE_SECONDS = 0.2
#: What outputs may differ from the stored ones: floats by a part of the largest value; integers by steps in the mean,
#: as every tool rounds between layers in a way of its own, and one step there may be many behind a softmax.
FLOAT_BOUND = 1e-4
STEPS_BOUND = 1.0

Arrays = Mapping[str, NDArray[np.generic]]


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of one inference."""

    best: float
    median: float
    runs: int


@dataclass(frozen=True, slots=True)
class Node:
    """One task of our program: its part of the time of all."""

    title: str
    pattern: str
    seconds: float
    share: float


@dataclass(frozen=True, slots=True)
class Measured:
    """All of one network. Keys are (tool, build); ONNX Runtime's is ("onnxruntime", "native"). ``differences``:
    distance to the stored outputs by tool, of floats the largest over the largest value, of integers the mean in steps;
    ``notes``: what a
    tool refused; ``faults``: outputs that are wrong."""

    name: str
    programs: Mapping[Tool, CProgram]
    times: Mapping[tuple[str, str], Times]
    differences: Mapping[str, float]
    compile_seconds: Mapping[tuple[str, str], float]
    sizes: Mapping[tuple[str, str], Sizes]
    stacks: Mapping[tuple[str, str], StackDepth]
    instructions: Mapping[tuple[str, str], int]
    nodes: tuple[Node, ...]
    macs: int | None
    notes: tuple[str, ...] = ()
    faults: tuple[str, ...] = field(default=())


class Subject(Protocol):
    """What is compared. Inputs and outputs are in the order of the model."""

    def run(self, inputs: Sequence[NDArray[np.generic]], about: Ends) -> list[NDArray[np.generic]]:
        """One inference."""

    def time(self, runs: int, inputs: Sequence[NDArray[np.generic]], about: Ends) -> list[float]:
        """Seconds of so many runs."""


class Runtime:
    """ONNX Runtime with one thread and all of its optimisations; outputs go to arrays that are there already."""

    def __init__(self, model: Path) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])

    def run(self, inputs: Sequence[NDArray[np.generic]], about: Ends) -> list[NDArray[np.generic]]:
        """One inference."""
        feeds = {tensor.name: values for tensor, values in zip(about.inputs, inputs, strict=True)}
        found: list[NDArray[np.generic]] = self._session.run([tensor.name for tensor in about.outputs], feeds)
        return found

    def time(self, runs: int, inputs: Sequence[NDArray[np.generic]], about: Ends) -> list[float]:
        """Seconds of so many runs, with the call from Python."""
        binding: onnxruntime.IOBinding = self._session.io_binding()
        for tensor, values in zip(about.inputs, inputs, strict=True):
            binding.bind_cpu_input(tensor.name, values)
        for tensor in about.outputs:
            binding.bind_output(tensor.name)
        seconds = []
        for _ in range(runs):
            started = time.perf_counter()
            self._session.run_with_iobinding(binding)
            seconds.append(time.perf_counter() - started)
        return seconds


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to measure: builds that are timed, seconds for each subject, and whether sizes and instructions count;
    ``kept``: programs of emx-onnx-cgen from an earlier run will do."""

    builds: tuple[Build, ...] = TIMED
    seconds: float = 0.5
    sizes: bool = True
    instructions: bool = True
    emx: bool = True
    kept: bool = False


def measure(name: str, work: Path, wanted: Wanted) -> Measured:
    """One network of ../shared/models."""
    model = MODELS / name / "model.onnx"
    about, notes = ends(model), []
    programs: dict[Tool, CProgram] = {"match": match_program(model, work / name)}
    if wanted.emx:
        try:
            programs["emx"] = emx_program(model, kept=wanted.kept)
        except RuntimeError as error:
            notes.append(f"{name}: emx-onnx-cgen: {str(error).strip().splitlines()[-1]}")
    kinds = dict.fromkeys(
        (*wanted.builds, *(("small",) if wanted.sizes else ()), *(COUNTED if wanted.instructions else ()))
    )
    built = {(p.tool, kind): build(p, kind, work / name / "build") for p in programs.values() for kind in kinds}
    subjects: dict[tuple[str, str], Subject] = {
        key: one.library() for key, one in built.items() if key[1] in wanted.builds
    }
    subjects["onnxruntime", "native"] = Runtime(model)
    graph = work / name / f"{programs['match'].document['name']}.onnx"
    inputs, expected = _stored(model.parent, about)
    apart, faults = differences(name, subjects, inputs, expected, about, _of_graph(graph, inputs))
    first = inputs[-1]
    profiled = built["match", wanted.builds[0]].library("-DMATCH_PROFILE")
    return Measured(
        name=name,
        programs=programs,
        times=times_in_turns(subjects, first, about, wanted.seconds),
        differences=apart,
        compile_seconds={key: one.seconds for key, one in built.items()},
        sizes={key: one.sizes() for key, one in built.items()},
        stacks={key: one.stack() for key, one in built.items() if key[1] == "small"},
        instructions={key: one.instructions(first, about) for key, one in built.items() if key[1] in COUNTED}
        if wanted.instructions
        else {},
        nodes=_nodes(programs["match"], profiled, first, about),
        macs=macs_of(model.parent),
        notes=tuple(notes),
        faults=tuple(faults),
    )


def _stored(folder: Path, about: Ends) -> tuple[list[list[NDArray[np.generic]]], list[list[NDArray[np.generic]]]]:
    """Inputs and outputs by sample."""
    found = []
    for file, tensors in (("inputs.npz", about.inputs), ("outputs.npz", about.outputs)):
        with np.load(folder / file) as archive:
            arrays = [archive[tensor.name] for tensor in tensors]
        found.append([[np.ascontiguousarray(array[n]) for array in arrays] for n in range(len(arrays[0]))])
    return found[0], found[1]


def macs_of(folder: Path) -> int | None:
    """Multiply-accumulates of a stored network, where its facts tell them."""
    facts = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    macs = facts.get("macs")
    return macs if isinstance(macs, int) else None


def differences(
    name: str,
    subjects: Mapping[tuple[str, str], Subject],
    inputs: Sequence[Sequence[NDArray[np.generic]]],
    expected: Sequence[Sequence[NDArray[np.generic]]],
    about: Ends,
    exact: Sequence[Sequence[NDArray[np.generic]]] | None,
) -> tuple[dict[str, float], list[str]]:
    """The distance to the stored outputs, by tool, and what is wrong: a subject that is too far away, and outputs of
    ours that are not the ``exact`` ones, where there are any."""
    found: dict[str, float] = {}
    faults = []
    floats = any(np.issubdtype(tensor.dtype, np.floating) for tensor in about.outputs)
    for (tool, kind), subject in subjects.items():
        outputs = [subject.run(sample, about) for sample in inputs]
        distance = _distance(outputs, expected)
        found[tool] = max(found.get(tool, 0.0), distance)
        if not distance <= (FLOAT_BOUND if floats else STEPS_BOUND):
            faults.append(f"FAILURE: {name}, {tool}, {kind}: outputs are {distance:g} from the stored ones")
        if tool == "match" and exact is not None and _distance(outputs, exact) > 0:
            faults.append(f"FAILURE: {name}, {kind}: outputs are not those of the emitted graph")
    return found, faults


def _of_graph(graph: Path, inputs: Sequence[Sequence[NDArray[np.generic]]]) -> list[list[NDArray[np.generic]]] | None:
    """What the emitted graph gives in ONNX Runtime; None where it has floats at its end, which have no exact values."""
    about = ends(graph)
    if any(np.issubdtype(tensor.dtype, np.floating) for tensor in about.outputs):
        return None
    runtime = Runtime(graph)
    return [runtime.run(sample, about) for sample in inputs]


def _distance(
    outputs: Sequence[Sequence[NDArray[np.generic]]], expected: Sequence[Sequence[NDArray[np.generic]]]
) -> float:
    """Of all samples and outputs: the largest over the largest value of floats, the mean of integers."""
    a, b = (
        np.concatenate([o.ravel().astype(np.float64) for sample in some for o in sample])
        for some in (outputs, expected)
    )
    apart = np.abs(a - b)
    if not np.issubdtype(expected[0][0].dtype, np.floating):
        return float(apart.mean())
    return float(apart.max() / np.abs(b).max()) if np.isfinite(apart).all() else float("inf")


def times_in_turns(
    subjects: Mapping[tuple[str, str], Subject],
    inputs: Sequence[NDArray[np.generic]],
    about: Ends,
    seconds: float,
) -> dict[tuple[str, str], Times]:
    """In turns, so that what else the machine does meets all of them."""
    runs = {}
    for key, subject in subjects.items():
        warm = min(subject.time(2, inputs, about))
        runs[key] = max(1, round(min(TURN_SECONDS, seconds / TURNS_MIN) / warm))
    found: dict[tuple[str, str], list[float]] = {key: [] for key in subjects}
    for _ in range(max(TURNS_MIN, round(seconds / TURN_SECONDS))):
        for key, subject in subjects.items():
            if len(found[key]) < TURNS_MIN or sum(found[key]) < seconds:
                found[key] += subject.time(runs[key], inputs, about)
    return {key: Times(min(some), statistics.median(some), len(some)) for key, some in found.items()}


def _nodes(program: CProgram, library: Library, inputs: Sequence[NDArray[np.generic]], about: Ends) -> tuple[Node, ...]:
    """The least seconds of each task, largest first."""
    warm = min(library.time(2, inputs, about))
    library.time(max(TURNS_MIN, round(NODE_SECONDS / warm)), inputs, about)
    tasks = [node for node in program.document["nodes"] if node["emitted"]]
    spent = {node["index"]: library.node_seconds(node["index"]) for node in tasks}
    total = sum(spent.values()) or 1.0
    made = [Node(n["title"], n["pattern"], spent[n["index"]], spent[n["index"]] / total) for n in tasks]
    return tuple(sorted(made, key=lambda node: -node.seconds))


__all__ = ["COUNTED", "TIMED", "Built", "Measured", "Node", "Runtime", "Times", "Wanted", "measure"]
