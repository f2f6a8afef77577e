"""Running a built twin: samples in, outputs and virtual cycles out."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from match_core.contract.errors import ToolError
from match_core.contract.runner import NodeCycles, RunResult
from match_core.io.arrays import carrier_type, element_type


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
    samples = write_inputs(document, inputs, work / "inputs.bin")
    stores = [str(work / store["file"]) for store in document["stores"]]
    paths = [str(work / name) for name in ("inputs.bin", "outputs.bin", "summary.jsonl")]
    command = [str(executable), *paths, str(samples), mode, *stores]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=timeout_seconds)
    except subprocess.TimeoutExpired:
        raise _failure(document, f"it did not end within {timeout_seconds} s") from None
    except OSError as error:
        raise _failure(document, f"it cannot be started: {error.strerror}") from error
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip(" =")]
        raise _failure(document, "; ".join(lines[:3]) or f"exit status {done.returncode}")
    try:
        records = [json.loads(line) for line in (work / "summary.jsonl").read_text(encoding="utf-8").splitlines()]
        outputs = read_outputs(document, work / "outputs.bin", samples)
    except (OSError, ValueError) as error:
        raise _failure(document, f"it ended with status 0, but its results cannot be read: {error}") from error
    return _result(document, records, outputs)


def _failure(document: Mapping[str, Any], why: str) -> ToolError:
    where = f"{document['name']} for {document['target']}"
    help_ = ("this is a fault of match or of the target package: please report it with the model",)
    return ToolError("MATCH-T003", "the program failed on the twin", where, why, help_)


def write_inputs(document: Mapping[str, Any], inputs: Mapping[str, NDArray[np.generic]], path: Path) -> int:
    """Write the bytes of every input, sample after sample, and return the number of samples."""
    names = [tensor["name"] for tensor in document["inputs"]]
    samples = len(inputs[names[0]]) if names else 1
    arrays = [_bytes_of(inputs[t["name"]], t["dtype"]).reshape(samples, -1) for t in document["inputs"]]
    path.write_bytes(b"".join(array[sample].tobytes() for sample in range(samples) for array in arrays))
    return samples


def _bytes_of(values: NDArray[np.generic], kind: str) -> NDArray[np.generic]:
    """An input with the element type that the program reads."""
    dtype = element_type(kind)
    return np.ascontiguousarray(np.ascontiguousarray(values, dtype), carrier_type(dtype))


def read_outputs(document: Mapping[str, Any], path: Path, samples: int) -> dict[str, NDArray[np.generic]]:
    """The outputs of all samples from a file with the bytes of every output, sample after sample."""
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
    nodes = nodes_of(document, {r["node"]: r["cycles"] for r in records if "calls" in r})
    return RunResult(
        outputs=outputs,
        cycles_total=max((int(r["now"]) for r in clocks.values()), default=0),
        cycles_by_unit=by_unit(nodes),
        cycles_by_clock={name: int(clocks[name]["busy"]) for name in sorted(clocks)},
        nodes=nodes,
        events=tuple(r for r in records if "start" in r),
    )


def nodes_of(document: Mapping[str, Any], measured: Mapping[int, int]) -> tuple[NodeCycles, ...]:
    """The emitted nodes with what was counted, by the node's number."""
    return tuple(
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


def by_unit(nodes: Iterable[NodeCycles]) -> dict[str, int]:
    """The sum for each unit, sorted by its name."""
    sums: dict[str, int] = {}
    for node in nodes:
        sums[node.unit] = sums.get(node.unit, 0) + node.cycles
    return dict(sorted(sums.items()))
