"""Instructions of layers on emulated Cortex-M cores, beside the counts and the costs of the model."""

from __future__ import annotations

import sys
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

import numpy as np
import onnx
import onnx_graphsurgeon as gs
from match_core.contract.errors import MatchError
from match_core.contract.model import Model
from match_core.contract.runner import Place
from match_core.contract.workload import Workload
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_cortexm import cost
from match_cortexm.cores import CORE_NAMED
from match_cortexm.counts import counts_of
from match_cortexm.forms import figures_keys
from match_cortexm.zeros import apart
from match_host.cost import HostCostModel
from match_verify.reference import ReferenceRunner
from numpy.typing import NDArray

from benchmarks.cortexm_boards import CORES, made_board
from benchmarks.cortexm_cache import Network, counted, kept
from benchmarks.cortexm_made import made_networks
from benchmarks.cortexm_net import Net

#: The share of layers that own kernels leave to the host's, and what these then cost.
_LEFT, _MOST = 0.25, 10**9
#: How names begin that decide no choices (``_untold``): in all workloads, and in those of products and reductions.
_SINCE: tuple[str, ...] = ("kernel_", "stride_", "dilation_", "before_", "zeros", "filled", "block", "turns", "held_")
_SINCE += ("compared", "doubled", "rectified", "limited", "lines", "rest", "runs", "rivalled", "digits_")
_SINCE_PRODUCTS, _PRODUCTS = ("calls_", "sums", "unclipped"), ("conv", "gemm", "mat_mul", "product", "reduce")
#: Made networks of a seed, of so many rounds; whether they are quantised, and to 16 bits.
Networks = Callable[[int, int, bool, bool], Iterator[Net]]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Layer:
    """One task: its title, the keys of its figures (``cost.figures_keys``), the counts that they multiply, instructions
    counted and modelled. ``zeros``: the share of products with an operand 0; ``informed``: modelled with it."""

    title: str
    keys: tuple[str, ...]
    counts: Mapping[str, int]
    counted: int
    modelled: int
    zeros: float = 0.0
    informed: int = 0


@cache
def _plugins() -> Plugins:
    return Plugins.load()


@dataclass(frozen=True, slots=True)
class Task:
    """A task of a program: its workload, instructions counted and modelled, and the share of products with an operand
    0, if that decides them."""

    title: str
    workload: Workload
    counted: int
    modelled: int
    zeros: float | None


def layers_of(
    model: Path, inputs: Mapping[str, NDArray[np.generic]], core: str, target: str | None = None
) -> list[Layer]:
    """The layers of a network on a core; ``target``: with this core, None: one with the core's own kernels."""
    return [layer_of(task, core) for task in tasks_of(model, inputs, core, target)]


def layer_of(task: Task, core: str) -> Layer:
    """The model's view of a task."""
    workload, zeros = task.workload, task.zeros
    tile, informed = {dim.name: np.array(dim.size) for dim in workload.dims}, task.modelled
    if zeros is not None:
        informed = int(replace(cost.cost_on(core), zeros=zeros).kernel_cycles(workload, tile))
    counts = counts_of(workload, zeros, CORE_NAMED[core].shifts)
    layer = figures_keys(workload), counts, task.counted, task.modelled, zeros or 0.0, informed
    return Layer(task.title, *layer)


def tasks_of(
    model: Path, inputs: Mapping[str, NDArray[np.generic]], core: str, target: str | None = None
) -> list[Task]:
    """The tasks that take instructions."""
    machine, plugins = CORES[core][1], _plugins()
    runner = next(runner for runner in plugins.runners() if runner.name == "qemu")
    with tempfile.TemporaryDirectory(prefix="match-cortexm-") as work:
        directory = Path(work) / "net"
        board = Path(work) / "board.toml"
        board.write_text(made_board(core), encoding="utf-8")
        request = CompileRequest(model=model, target=target or str(board), output=directory, name="net", cache=False)
        compilation = compile_model(request, plugins).compilation
        counts = counted(directory, inputs, plugins, Place(runner, machine))
    tasks = [task.assignment for task in compilation.program.tasks]
    firsts = [task.candidate.match.nodes[0] for task in tasks]
    shares = [None] * len(tasks) if CORE_NAMED[core].fpu else _zeros(compilation.model, firsts, inputs)
    return [
        Task(
            title, apart(task.candidate.workload)[0], instructions, int(task.schedule.cost.total_cycles), shares[index]
        )
        for index, title, instructions in counts
        for task in (tasks[index],)
    ]


def _zeros(model: Model, nodes: Sequence[gs.Node], inputs: Mapping[str, NDArray[np.generic]]) -> list[float | None]:
    """The share of products with an operand 0 in the sample, of each node; None where no operand is float32."""
    read = [
        [tensor.name for tensor in node.inputs if isinstance(tensor, gs.Variable) and tensor.dtype == np.float32]
        for node in nodes
    ]
    found = {name: array[0] for name, array in inputs.items()}
    fetched = sorted({name for names in read for name in names} - set(found))
    found |= ReferenceRunner(model, fetched).run(found) if fetched else {}
    others = {name: float(np.mean(array != 0)) for name, array in found.items()}
    return [1 - float(np.prod([others[name] for name in names])) if names else None for names in read]


def made_layers(core: str, seed: int, rounds: int) -> list[Layer]:
    """The layers of made networks, with the kernels of today's figures."""
    return _made(core, seed, rounds, partial(layers_of_model, core))


def explored_layers(
    core: str, seed: int, rounds: int, spread: float, networks: Networks = made_networks
) -> list[Layer]:
    """The layers of made networks, with kernels that depend on no figures (``_Explorer``)."""
    with explored(spread):
        return _made(core, seed, rounds, partial(_explored, core, spread), networks)


def _made(
    core: str, seed: int, rounds: int, work: Callable[[Network], list[Layer]], networks: Networks = made_networks
) -> list[Layer]:
    halves = ((False, True),) if CORE_NAMED[core].fpu else ()
    kinds = ((True, False), (False, False), (True, True), *halves)
    nets = (net for kind in kinds for net in networks(seed, rounds, *kind))
    found: list[Layer] = []
    for layers in in_processes(work, ((net.model(), net.arrays()) for net in nets)):
        found += layers
        sys.stderr.write(f"{core}: {len(found)} layers\n")
    return found


def _explored(core: str, spread: float, network: Network) -> list[Layer]:
    tasks = kept(network, f"{core} {spread}", partial(_tasks_of_model, core, network))
    return [layer_of(task, core) for task in tasks]


def in_processes(work: Callable[[T], list[Layer]], items: Iterable[T]) -> Iterator[list[Layer]]:
    """The layers of each item, in order, which as many processes as there are cores find."""
    with ProcessPoolExecutor(mp_context=get_context("fork")) as pool:
        yield from pool.map(partial(_in_process, work), items)


def _in_process(work: Callable[[T], list[Layer]], item: T) -> list[Layer]:
    """The layers; errors of match, which processes cannot hand over, as text."""
    try:
        return work(item)
    except MatchError as error:
        raise RuntimeError(str(error)) from None


def layers_of_model(core: str, network: Network) -> list[Layer]:
    """The layers of a network that is no file yet."""
    return [layer_of(task, core) for task in _tasks_of_model(core, network)]


def _tasks_of_model(core: str, network: Network) -> list[Task]:
    model, inputs = network
    with tempfile.TemporaryDirectory(prefix="match-cortexm-") as work:
        path = Path(work) / "net.onnx"
        onnx.save(model, path)
        return tasks_of(path, inputs, core)


@dataclass(frozen=True, slots=True)
class _Explorer(cost.FittedCost):
    """Costs with which all kernels that compete for a layer are chosen in some: they depend on no figures. ``spread``:
    by which power of e the host's costs vary."""

    spread: float = 0.0

    def kernel_cycles(self, workload: Workload, tile: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        """The host's costs, varied; own kernels cost nothing, or too much."""
        rng = np.random.default_rng(zlib.crc32(repr(_untold(workload)).encode()))
        plain = HostCostModel().kernel_cycles(workload, tile)
        if workload.kind == "host_view":
            return np.zeros_like(plain)
        if workload.kind.startswith("cortexm_"):
            return np.full_like(plain, _MOST if rng.uniform() < _LEFT else 1)
        varied: NDArray[np.int64] = np.ceil(plain * np.exp(rng.uniform(-self.spread, self.spread))).astype(np.int64)
        return varied


def _untold(workload: Workload) -> Workload:
    """The workload without what the host tells of it since layers were first counted: which kernels are chosen, and so
    what is counted, stays the same when it tells more."""
    if workload.kind.startswith("cortexm_"):
        return workload
    since = (*_SINCE, *(_SINCE_PRODUCTS if any(name in workload.kind for name in _PRODUCTS) else ()))
    kept = tuple((name, count) for name, count in workload.geometry if not name.startswith(since))
    return replace(workload, geometry=kept)


@contextmanager
def explored(spread: float) -> Iterator[None]:
    """Kernels are chosen by ``_Explorer``, so that what is counted does not depend on the figures of today."""
    kept = cost.cost_on
    cost.cost_on = lambda core: _Explorer(spread=spread)
    try:
        yield
    finally:
        cost.cost_on = kept
