"""Instructions of layers on emulated Cortex-M cores, beside the counts and the costs of the model."""

from __future__ import annotations

import sys
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from match_core.contract.runner import Place
from match_core.contract.workload import Workload
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_core.run.compiled_program import run_program
from match_cortexm import cost
from match_cortexm.cores import CORE_NAMED
from match_cortexm.forms import counts_of, figures_keys
from match_host.cost import HostCostModel
from numpy.typing import NDArray

from benchmarks.cortexm_boards import CORES, made_board
from benchmarks.cortexm_made import made_networks

#: The share of layers that own kernels leave to the host's, and what these then cost.
_LEFT, _MOST = 0.25, 10**9


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
    halves = ((False, True),) if CORE_NAMED[core].fpu else ()
    for quantised, wide in ((True, False), (False, False), (True, True), *halves):
        for net in made_networks(seed, rounds, quantised, wide):
            with tempfile.TemporaryDirectory(prefix="match-cortexm-") as work:
                path = Path(work) / "made.onnx"
                onnx.save(net.model(), path)
                sys.stderr.write(f"{core}: {len(found)} layers\n")
                found += layers_of(path, net.arrays(), core, plugins)
    return found


@dataclass(frozen=True, slots=True)
class _Explorer(cost.FittedCost):
    """Costs with which all kernels that compete for a layer are chosen in some: they depend on no figures. ``spread``:
    by which power of e the host's costs vary."""

    spread: float = 0.0

    def kernel_cycles(self, workload: Workload, tile: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        """The host's costs, varied; own kernels cost nothing, or too much."""
        rng = np.random.default_rng(zlib.crc32(repr(workload).encode()))
        plain = HostCostModel().kernel_cycles(workload, tile)
        if workload.kind == "host_view":
            return np.zeros_like(plain)
        if workload.kind.startswith("cortexm_"):
            return np.full_like(plain, _MOST if rng.uniform() < _LEFT else 1)
        varied: NDArray[np.int64] = np.ceil(plain * np.exp(rng.uniform(-self.spread, self.spread))).astype(np.int64)
        return varied


@contextmanager
def explored(spread: float) -> Iterator[None]:
    """Kernels are chosen by ``_Explorer``, so that what is counted does not depend on the figures of today."""
    kept = cost.cost_on
    cost.cost_on = lambda core: _Explorer(spread=spread)
    try:
        yield
    finally:
        cost.cost_on = kept
