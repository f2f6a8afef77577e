"""Programs with units side by side in every way of running them (docs/twin.md): one table for all tests and scripts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from match_core.contract.runner import RunResult
from match_core.contract.unit_api import UnitApi
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_core.run.build import build
from match_core.run.compiled_program import read_manifest, units_of_program
from match_core.run.compiler import BuildOptions
from match_core.run.execute import run_twin
from match_core.run.modes import is_threads, queues_of
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

#: Of ../shared/models, in the order of the time they take.
MODELS = (
    "matcha_autoencoder_f16",
    "matcha_transformer_block_f16",
    "matcha_dscnn_f16",
    "matcha_resnet8_f16",
)
SHAPE = (1, 8, 12, 12)
SEEDS = (1, 2)


def two_branches(path: Path, side: int = SHAPE[2]) -> None:
    """A convolution, then two branches and their sum, in float16, on a square image."""
    random = np.random.default_rng(0)
    weights = []
    for name, shape in (("w0", (16, 8, 3, 3)), ("w1", (16, 16, 3, 3)), ("w2", (16, 16, 1, 1))):
        values = random.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))
        weights.append(numpy_helper.from_array(values.astype(np.float16), name))
    nodes = [
        helper.make_node("Conv", ["x", "w0"], ["a"], pads=[1] * 4),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Conv", ["b", "w1"], ["c"], pads=[1] * 4),
        helper.make_node("Conv", ["b", "w2"], ["d"]),
        helper.make_node("Add", ["c", "d"], ["e"]),
        helper.make_node("Relu", ["e"], ["y"]),
    ]
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT16, shape)
        for name, shape in (("x", (*SHAPE[:2], side, side)), ("y", (1, 16, side, side)))
    ]
    graph = helper.make_graph(nodes, "two_branches", ends[:1], ends[1:], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


@dataclass(frozen=True)
class Beside:
    """A compiled program, its manifest, the APIs of its units, and inputs (first axis the sample)."""

    program: Path
    document: Mapping[str, Any]
    host: str
    apis: Mapping[str, UnitApi]
    inputs: Mapping[str, NDArray[np.generic]]

    @property
    def modes(self) -> tuple[str, ...]:
        """Every mode, threads with two seeds."""
        held = (f"lazy:{queue}" for queue in queues_of(self.document))
        return ("eager", "lazy", *held, *(f"threads:{seed}" for seed in SEEDS))

    def runs(self, work: Path, sanitize: bool) -> Iterator[tuple[str, RunResult]]:
        """The program's result in each mode; the timeline with address and undefined-behaviour sanitizers if asked."""
        built: dict[bool, Path] = {}
        for mode in self.modes:
            threads = is_threads(mode)
            if threads not in built:
                choices = BuildOptions(sanitize=sanitize and not threads, threads=threads)
                built[threads] = build(self.program, work / str(threads), self.apis, self.host, choices)
            yield mode, run_twin(built[threads], self.document, self.inputs, built[threads].parent, mode)


def compiled(
    model: Path,
    folder: Path,
    plugins: Plugins,
    target: str = "carfield",
    memory: tuple[tuple[str, int], ...] = (),
    samples: int = 1,
) -> Beside:
    """The model as a program with units side by side, and seeded inputs for it."""
    request = CompileRequest(model, target, folder / "program", execution="concurrent", memory=memory)
    compile_model(request, plugins)
    document = read_manifest(folder / "program")
    random = np.random.default_rng(1)
    inputs = {
        tensor["name"]: random.standard_normal((samples, *tensor["shape"])).astype(tensor["dtype"])
        for tensor in document["inputs"]
    }
    return Beside(folder / "program", document, *units_of_program(document, plugins), inputs)


def differences(runs: Iterator[tuple[str, RunResult]]) -> Iterator[tuple[str, RunResult, str]]:
    """Mode, result, and how it differs from that of the first mode: other bytes, or in lazy other cycles."""
    first: RunResult | None = None
    for mode, result in runs:
        first = first or result
        same = all(result.outputs[name].tobytes() == first.outputs[name].tobytes() for name in first.outputs)
        shifted = mode == "lazy" and result.cycles_total != first.cycles_total
        yield mode, result, "" if same and not shifted else "other cycles" if same else "other bytes"
