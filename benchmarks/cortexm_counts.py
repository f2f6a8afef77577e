"""Instructions of layers on emulated Cortex-M cores, beside the counts and the costs of the model."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from match_core.contract.runner import Place
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_core.run.compiled_program import run_program
from match_cortexm.forms import counts_of, figures_keys
from numpy.typing import NDArray

from benchmarks.cortexm_boards import CORES, made_board
from benchmarks.cortexm_made import made_networks


@dataclass(frozen=True, slots=True)
class Layer:
    """One task: its title, the keys of its figures (``cost.figures_keys``), the counts that they multiply, instructions
    counted and modelled."""

    title: str
    keys: tuple[str, ...]
    counts: Mapping[str, int]
    counted: int
    modelled: int


def layers_of(model: Path, inputs: Mapping[str, NDArray[np.generic]], core: str, plugins: Plugins) -> list[Layer]:
    """The layers of a network on a core."""
    machine = CORES[core][1]
    runner = next(runner for runner in plugins.runners() if runner.name == "qemu")
    with tempfile.TemporaryDirectory(prefix="match-cortexm-") as work:
        directory = Path(work) / "net"
        board = Path(work) / "board.toml"
        board.write_text(made_board(core), encoding="utf-8")
        request = CompileRequest(model=model, target=str(board), output=directory, name="net", cache=False)
        tasks = [task.assignment for task in compile_model(request, plugins).compilation.program.tasks]
        result = run_program(directory, inputs, plugins, place=Place(runner, machine))
    found = []
    for node in result.nodes:
        workload, cost = tasks[node.index].candidate.workload, tasks[node.index].schedule.cost
        if node.cycles:
            found.append(
                Layer(node.title, figures_keys(workload), counts_of(workload), node.cycles, int(cost.total_cycles))
            )
    return found


def made_layers(core: str, seed: int, rounds: int, plugins: Plugins) -> list[Layer]:
    """The layers of made networks."""
    found: list[Layer] = []
    for quantised in (True, False):
        for net in made_networks(seed, rounds, quantised):
            with tempfile.TemporaryDirectory(prefix="match-cortexm-") as work:
                path = Path(work) / "made.onnx"
                onnx.save(net.model(), path)
                sys.stderr.write(f"{core}: {len(found)} layers\n")
                found += layers_of(path, net.arrays(), core, plugins)
    return found
