"""Networks beyond GAP9's L2: MobileNetV2 and ResNet-50 at 224 x 224, a U-Net at 256 x 256 (``large_networks.py``).

``python -m benchmarks.large`` compiles each for GAP9, runs the program on the twin, compares it bit for bit, and prints
the tables of docs/beyond.md:

- the three networks, with their cycles against the sum of each layer's bound: the larger one of the cycles of its
  kernels, of its bytes between L2 and L1, and of its bytes between L3 and L2 in the program;
- ``--means``: MobileNetV2 with 256 KiB, 512 KiB and all of L2, and with single means allowed.

``memory_sweep.py`` has networks with less and less L2.

Cycles are modelled unless a column says twin. L3's bandwidth and latency are estimates (the chip's page says so).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import process_time

from match_beyond.choice import Chooser, Run
from match_beyond.fetching import IMAGE
from match_beyond.network import Network
from match_beyond.search import fit
from match_core import hookimpl
from match_core.contract.errors import InfeasibleError
from match_core.contract.fitting import Fit, FitRequest
from match_core.contract.observe import NullObserver
from match_core.contract.workload import Operand
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.discovery import Found
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, verify_model

from benchmarks.large_networks import NETWORKS, mobilenet_v2

#: Which runs each mean allows: by the run, and whether a tensor that it touches is in the store.
MEANS: dict[str, Callable[[Run, bool], bool]] = {
    "all": lambda run, away: True,
    "stripes": lambda run, away: not away,
    "store": lambda run, away: run.end == run.first + 1 and (run.count > 1 or not away),
    "swaps": lambda run, away: run.count == 1,
}
MEANS_MEMORIES = (1 << 19, 0, 1 << 18)


class LimitedChooser(Chooser):
    """Chooses among runs of one mean."""

    mean = "all"

    def _ways(self, run: Run, state: frozenset[str], capacity: int) -> Iterator[tuple[frozenset[str], int]]:
        touched = frozenset(self._shapes[run].most)
        for away, cycles in super()._ways(run, state, capacity):
            if MEANS[self.mean](run, bool(touched & (state | away))):
                yield away, cycles


class Spy:
    """Answers ``match_fit`` with one mean, and keeps the last request."""

    match_contract = 1

    def __init__(self, mean: str = "all") -> None:
        self.chooser = type("Limited", (LimitedChooser,), {"mean": mean})
        self.request: FitRequest | None = None

    @hookimpl
    def match_fit(self, request: FitRequest) -> Fit | None:
        """The search of match-beyond with a limited chooser."""
        self.request = request
        return fit(request, self.chooser)


@dataclass(frozen=True, slots=True)
class Row:
    """One program; ``bound``: the sum of the layers' bounds; bytes between L3 and L2."""

    cycles: int
    twin: int | None
    exact: bool | None
    bound: int
    activations: int
    constants: int
    tasks: int
    copies: int
    seconds: float

    def text(self) -> str:
        """The row's cells."""
        twin = "" if self.twin is None else f"{self.twin:,} ({'bit exact' if self.exact else 'WRONG'})"
        ratio = f"{(self.twin or self.cycles) / self.bound:.2f}" if self.bound else ""
        cells = (f"{self.cycles:,}", twin, f"{self.bound:,}" if self.bound else "", ratio)
        more = (f"{self.activations:,}", f"{self.constants:,}", str(self.tasks), str(self.copies))
        return " | ".join((*cells, *more, f"{self.seconds:.0f} s"))


HEAD = (
    "| network | L2 | means | cycles | cycles on the twin | bound | ratio | bytes of activations, L3 | "
    "bytes of constants, L3 | tasks | copies | processor time |\n|" + "---|" * 12
)


def measured(model: Path, memory_bytes: int, mean: str = "all", *, run: bool = True) -> Row:
    """One network. InfeasibleError if it does not fit."""
    spy = Spy(mean)
    plugins = Plugins.load((Found("spy", "spy", "0", lambda: spy),))
    memory = (("l2", memory_bytes),) if memory_bytes else ()
    begin, twin, exact = process_time(), None, None
    if run:
        result = verify_model(VerifyRequest(model, "gap9", memory=memory, execution="sequential"), plugins)
        compilation, twin, exact = result.compilation, result.run.cycles_total, result.bit_exact
    else:
        request = CompileRequest(model, "gap9", memory=memory, execution="sequential")
        compilation = compile_model(request, plugins, NullObserver()).compilation
    program = compilation.program
    stored = {task.index: task.assignment.schedule.streamed("l2") for task in program.tasks}
    fetched = sum(swap.size_bytes for swap in program.swaps if swap.source == IMAGE)
    constants = fetched + sum(
        placement_bytes
        for task in program.tasks
        for placement_bytes in _streamed(task.assignment.candidate.workload.operands, stored[task.index])
    )
    moved = sum(swap.size_bytes for swap in program.swaps) - fetched
    bound = 0 if spy.request is None else bound_cycles(spy.request, compilation.model.away, constants > 0)
    code = [task for task in program.tasks if not task.assignment.candidate.pattern.view]
    return Row(
        program.predicted_cycles,
        twin,
        exact,
        bound,
        moved,
        constants,
        len(code),
        len(program.swaps),
        process_time() - begin,
    )


def _streamed(operands: tuple[Operand, ...], names: tuple[str, ...]) -> Iterator[int]:
    from match_core.contract.geometry import far_bytes

    for operand in operands:
        if operand.name in names:
            yield far_bytes(operand)


def bound_cycles(request: FitRequest, away: frozenset[str], streamed: bool) -> int:
    """The sum over the layers of the cycles of kernels or of transfers, whichever take longer; ``away``: tensors that
    the program has in L3; ``streamed``: so are constants."""
    network, soc = Network.of(request.model, request.mapping), request.soc
    near, far = soc.link_between("l1", "l2"), soc.link_between("l2", "l3")
    assert near is not None and far is not None
    total = 0
    for layer, assignment in zip(network.layers, request.mapping.assignments, strict=True):
        tensors = [*layer.reads, *layer.makes]
        local = sum(network.sizes[name] for name in tensors) + layer.constant_bytes
        remote = sum(network.sizes[name] for name in tensors if name in away)
        remote += layer.constant_bytes if streamed else 0
        compute = assignment.schedule.cost.compute_cycles
        total += (
            0
            if assignment.candidate.pattern.view
            else int(max(compute, local / near.bytes_per_cycle, remote / far.bytes_per_cycle))
        )
    return total


def networks(folder: Path) -> Iterator[str]:
    """The three networks with all of L2."""
    yield HEAD
    for name, write in NETWORKS.items():
        yield f"| {name} | all | all | {measured(write(folder / f'{name}.onnx'), 0).text()} |"


def means(folder: Path) -> Iterator[str]:
    """MobileNetV2 with less memory and with single means."""
    yield HEAD
    model = mobilenet_v2(folder / "mobilenet_v2.onnx")
    for size in MEANS_MEMORIES:
        for mean in MEANS:
            label = f"| mobilenet_v2 | {f'{size // 1024} KiB' if size else 'all'} | {mean} | "
            try:
                yield f"{label}{measured(model, size, mean, run=mean == 'all').text()} |"
            except InfeasibleError as error:
                yield f"{label}{error.code} |" + " |" * 8


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--means", action="store_true")
    arguments = parser.parse_args()
    table = means if arguments.means else networks
    with tempfile.TemporaryDirectory() as folder:
        for line in table(Path(folder)):
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
