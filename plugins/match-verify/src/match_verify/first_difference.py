"""The first task whose result differs from the integer graph: the program once more on the twin, with an observer that
writes the result of every task when the task ends."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from match_core.run.build import compile_program
from match_core.run.compiled_program import units_of_program
from match_core.run.compiler import BuildOptions
from match_core.run.execute import run_twin
from numpy.typing import NDArray

from match_verify.reference import ReferenceRunner

if TYPE_CHECKING:
    from match_core.contract.compilation import Compilation
    from match_core.contract.program import Task
    from match_core.plugin.facade import Plugins

Array = NDArray[np.generic]
#: Float results count as different beyond this share of the largest value of the tensor (an estimate: float32 sums of
#: ten thousand terms in another order differ by less).
_FLOAT_SHARE = 1e-3


@dataclass(frozen=True, slots=True)
class FirstDifference:
    """``task``: its index; ``title`` and ``nodes`` name it; ``tensor``: its result. ``position``: the indices of the
    first value that differs, ``got`` and ``expected`` that value; ``different`` of ``values`` differ in ``sample``."""

    task: int
    title: str
    unit: str
    pattern: str
    nodes: tuple[str, ...]
    tensor: str
    sample: int
    position: tuple[int, ...]
    got: str
    expected: str
    different: int
    values: int

    def __str__(self) -> str:
        where = ", ".join(map(str, self.position))
        return (
            f"task {self.task} ({self.title}), pattern {self.pattern} of unit {self.unit}, is the first that differs: "
            f"value [{where}] of {self.tensor} is {self.got}, the integer graph has {self.expected}; "
            f"{self.different} of {self.values} values differ"
        )

    def as_json(self) -> dict[str, object]:
        """The entry of ``match verify --json``."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {**fields, "nodes": list(self.nodes), "position": list(self.position)}


@dataclass(frozen=True, slots=True)
class _Result:
    """A tensor that a task makes. ``address``: C text, of the harness's variables."""

    task: Task
    tensor: str
    address: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def size_bytes(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize


def first_difference(
    compilation: Compilation,
    program: Path,
    inputs: Mapping[str, Array],
    plugins: Plugins,
    work: Path,
    mode: str = "eager",
) -> FirstDifference | None:
    """The first one in the order of tasks; None if all results in the home memory are right. ``program``: the emitted
    program's folder; ``work``: an empty folder; ``mode``: one with virtual time."""
    document = json.loads((program / "match.lock.json").read_text("utf-8"))
    results = tuple(_results(compilation, document))
    if not results:
        return None
    host, apis = units_of_program(document, plugins)
    objects = compile_program(program, work, apis, host, BuildOptions())
    (work / "observer.h").write_text(_observer(results, work / "results.bin"), encoding="utf-8")
    source = work / "observed.c"
    source.write_text('#define MATCH_TWIN_OBSERVER "observer.h"\n#include "harness.c"\n', encoding="utf-8")
    observed = objects.compile(source, work / "observed.o")
    executable = objects.link(work / "observed", {work / "harness.c": observed})
    run_twin(executable, document, inputs, work, mode)
    samples = len(next(iter(inputs.values()))) if inputs else 1
    return _compare(compilation, document, results, _read(work / "results.bin", results, samples), inputs)


def _results(compilation: Compilation, document: Mapping[str, Any]) -> Iterator[_Result]:
    """Those that the home memory holds as the graph defines them when their task ends."""
    arenas = {arena["memory"]: arena["field"] for arena in document["arenas"]}
    outputs = {tensor["name"]: tensor["field"] for tensor in document["outputs"]}
    buffers = {buffer.name: buffer for buffer in compilation.program.buffers}
    for task in compilation.program.tasks:
        candidate = task.assignment.candidate
        formed = any(operand.form for operand in candidate.workload.operands if operand.role == "output")
        for tensor in () if candidate.pattern.view or formed else candidate.match.outputs:
            held = next((b for name in task.buffers_out if tensor.name in (b := buffers[name]).tensors), None)
            if held is None or tensor.dtype is None:
                continue
            start = held.offset_bytes + dict(held.starts).get(tensor.name, 0)
            address = f"arena_{arenas.get(held.memory)} + {start}u"
            if held.kind == "output":
                address = f"(uint8_t *)io_{outputs.get(held.name) or outputs.get(tensor.name)}"
            elif held.memory not in arenas:
                continue
            shape = tuple(int(size) for size in tensor.shape)
            result = _Result(task, tensor.name, address, shape, np.dtype(tensor.dtype))
            if 0 < result.size_bytes <= held.size_bytes and "None" not in address:
                yield result


def _observer(results: tuple[_Result, ...], path: Path) -> str:
    """C that writes the number and the bytes of each result of a task."""
    cases = ""
    for task, group in groupby(enumerate(results), lambda item: item[1].task.index):
        writes = "".join(
            f"        result({number}u, {result.address}, {result.size_bytes}u);\n" for number, result in group
        )
        cases += f"    case {task}u:\n{writes}        break;\n"
    return (
        "static FILE *results;\n"
        "static void result(uint32_t number, const void *bytes, size_t size)\n{\n"
        f'    results = results != NULL ? results : fopen({json.dumps(str(path))}, "wb");\n'
        "    if (results == NULL || fwrite(&number, sizeof number, 1, results) != 1 ||\n"
        "        fwrite(bytes, size, 1, results) != 1 || fflush(results) != 0) {\n"
        '        match_twin_fault("the results of tasks cannot be written");\n    }\n}\n'
        f"static void observe(unsigned task)\n{{\n    switch (task) {{\n{cases}"
        "    default:\n        break;\n    }\n}\n"
    )


def _read(path: Path, results: tuple[_Result, ...], samples: int) -> list[dict[int, Array]]:
    """By sample, the results by their number; of a task that is divided, the last state."""
    found: list[dict[int, Array]] = []
    content, start = path.read_bytes(), 0
    while start < len(content):
        number = int.from_bytes(content[start : start + 4], "little")
        result = results[number]
        if not found or number in found[-1]:
            found.append({})
        raw = content[start + 4 : start + 4 + result.size_bytes]
        found[-1][number] = np.frombuffer(raw, result.dtype).reshape(result.shape)
        start += 4 + result.size_bytes
    return found[:samples]


def _compare(
    compilation: Compilation,
    document: Mapping[str, Any],
    results: tuple[_Result, ...],
    found: list[dict[int, Array]],
    inputs: Mapping[str, Array],
) -> FirstDifference | None:
    runner = ReferenceRunner(compilation.model, [result.tensor for result in results])
    wanted = [runner.run({name: array[i] for name, array in inputs.items()}) for i in range(len(found))]
    last = {result.tensor: number for number, result in enumerate(results)}  # a tensor in shares is whole at its last
    for number in sorted(last.values()):
        result = results[number]
        for sample, arrays in enumerate(found):
            got, expected = arrays.get(number), wanted[sample][result.tensor]
            if got is not None and (places := _different(got, expected)).size:
                names = compilation.model.origin(result.task.assignment.candidate.match.nodes)
                title = str(document["nodes"][result.task.index]["title"])
                return _told(result, (title, *names), sample, places, got, expected)
    return None


def _different(got: Array, expected: Array) -> NDArray[np.int64]:
    """The positions, flat, of values that differ."""
    flat, other = got.reshape(-1), expected.reshape(-1)
    if flat.size != other.size:
        return np.zeros(0, np.int64)
    if expected.dtype.kind in "biu":
        return np.nonzero(flat != other)[0]
    a, b = flat.astype(np.float64), other.astype(np.float64)
    largest = np.max(np.abs(b), where=np.isfinite(b), initial=0.0)
    return np.nonzero(~((np.abs(a - b) <= _FLOAT_SHARE * largest) | (a == b) | (np.isnan(a) & np.isnan(b))))[0]


def _told(
    result: _Result, names: tuple[str, ...], sample: int, places: NDArray[np.int64], got: Array, expected: Array
) -> FirstDifference:
    candidate, at = result.task.assignment.candidate, int(places[0])
    return FirstDifference(
        task=result.task.index,
        title=names[0],
        unit=candidate.unit,
        pattern=candidate.pattern.name,
        nodes=names[1:],
        tensor=result.tensor,
        sample=sample,
        position=tuple(int(index) for index in np.unravel_index(at, result.shape)),
        got=str(got.reshape(-1)[at]),
        expected=str(expected.reshape(-1)[at]),
        different=int(places.size),
        values=int(got.size),
    )
