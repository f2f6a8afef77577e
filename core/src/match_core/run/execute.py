"""Running a built twin: samples in, outputs and virtual cycles out."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from match_core.contract.errors import ToolError
from match_core.io.arrays import carrier_type, element_type


@dataclass(frozen=True, slots=True)
class NodeCycles:
    """Cycles of one emitted node: on the twin and predicted; ``title`` names it in tables."""

    index: int
    title: str
    onnx_names: tuple[str, ...]
    unit: str
    cycles: int
    predicted_cycles: int


@dataclass(frozen=True)
class RunResult:
    """Outputs by graph output name, first axis the sample; cycles of one inference (the first sample) on the twin: the
    latest clock, busy cycles per clock, per unit and per node; ``events`` is the timeline (clock, kind, start, end,
    node, context). All cycles are 0 in threads mode, which has no timeline."""

    outputs: Mapping[str, NDArray[np.generic]]
    cycles_total: int
    cycles_by_unit: Mapping[str, int]
    cycles_by_clock: Mapping[str, int]
    nodes: tuple[NodeCycles, ...]
    events: tuple[Mapping[str, Any], ...]


def run_twin(
    executable: Path,
    document: Mapping[str, Any],
    inputs: Mapping[str, NDArray[np.generic]],
    work: Path,
    mode: str = "eager",
    timeout_seconds: int = 3600,
) -> RunResult:
    """Run all samples (first axis of every input). ``document`` is the program's manifest; ``mode``: "eager", "lazy",
    "lazy:QUEUE", or, in a program built for threads, "threads" and "threads:SEED" (docs/twin.md). Raises ToolError
    MATCH-T003 with the twin's message if the program breaks a rule of the hardware, a sanitizer reports an error, or
    the timeout expires."""
    names = [tensor["name"] for tensor in document["inputs"]]
    samples = len(inputs[names[0]]) if names else 1
    arrays = [_bytes_of(inputs[t["name"]], t["dtype"]).reshape(samples, -1) for t in document["inputs"]]
    with (work / "inputs.bin").open("wb") as file:
        for sample in range(samples):
            for array in arrays:
                file.write(array[sample].tobytes())
    stores = [str(work / store["file"]) for store in document["stores"]]
    paths = [str(work / name) for name in ("inputs.bin", "outputs.bin", "summary.jsonl")]
    command = [str(executable), *paths, str(samples), mode, *stores]
    try:
        completed = subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False, timeout=timeout_seconds
        )
    except subprocess.TimeoutExpired:
        raise _failure(document, f"it did not end within {timeout_seconds} s") from None
    except OSError as error:
        raise _failure(document, f"it cannot be started: {error.strerror}") from error
    if completed.returncode != 0:
        lines = [line for line in completed.stderr.splitlines() if line.strip(" =")]
        raise _failure(document, "; ".join(lines[:3]) or f"exit status {completed.returncode}")
    try:
        records = [json.loads(line) for line in (work / "summary.jsonl").read_text(encoding="utf-8").splitlines()]
        outputs = _read_outputs(document, work / "outputs.bin", samples)
    except (OSError, ValueError) as error:
        raise _failure(document, f"it ended with status 0, but its results cannot be read: {error}") from error
    return _result(document, records, outputs)


def _failure(document: Mapping[str, Any], why: str) -> ToolError:
    return ToolError(
        code="MATCH-T003",
        what="the program failed on the twin",
        where=f"{document['name']} for {document['target']}",
        why=why,
        help=("this is a fault of match or of the target package: please report it with the model",),
    )


def _bytes_of(values: NDArray[np.generic], kind: str) -> NDArray[np.generic]:
    """An input with the element type that the program reads."""
    dtype = element_type(kind)
    return np.ascontiguousarray(np.ascontiguousarray(values, dtype), carrier_type(dtype))


def _read_outputs(document: Mapping[str, Any], path: Path, samples: int) -> dict[str, NDArray[np.generic]]:
    raw = np.frombuffer(path.read_bytes(), dtype=np.uint8).reshape(samples, -1)
    outputs, start = {}, 0
    for tensor in document["outputs"]:
        dtype = element_type(tensor["dtype"])
        size = dtype.itemsize * int(np.prod(tensor["shape"], dtype=np.int64))
        values = np.ascontiguousarray(raw[:, start : start + size]).view(carrier_type(dtype)).astype(dtype)
        outputs[tensor["name"]] = values.reshape(samples, *tensor["shape"])
        start += size
    return outputs


def _result(
    document: Mapping[str, Any], records: list[dict[str, Any]], outputs: dict[str, NDArray[np.generic]]
) -> RunResult:
    clocks = {r["name"]: r for r in records if "now" in r}
    measured = {r["node"]: r["cycles"] for r in records if "calls" in r}
    nodes = tuple(
        NodeCycles(
            n["index"],
            n["title"],
            tuple(n["onnx_names"]),
            n["unit"],
            measured.get(n["index"], 0),
            n["predicted_cycles"],
        )
        for n in document["nodes"]
        if n["emitted"]
    )
    by_unit: dict[str, int] = {}
    for node in nodes:
        by_unit[node.unit] = by_unit.get(node.unit, 0) + node.cycles
    return RunResult(
        outputs=outputs,
        cycles_total=max((int(r["now"]) for r in clocks.values()), default=0),
        cycles_by_unit=dict(sorted(by_unit.items())),
        cycles_by_clock={name: int(clocks[name]["busy"]) for name in sorted(clocks)},
        nodes=nodes,
        events=tuple(r for r in records if "start" in r),
    )
