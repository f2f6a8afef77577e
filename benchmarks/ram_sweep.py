"""RAM against instructions: MLPerf Tiny's networks on a board with less and less memory.

``python -m benchmarks.ram_sweep [TARGET] [--update]`` compiles each network with ``--memory``, from what its fastest
program needs down to the first size that MATCH-M001 refuses, runs every program on the twin and compares it bit for
bit. It prints the table, and with ``--update`` writes it to docs/deploy-cortexm.md. Instructions are modelled; RAM
includes the caller's inputs and outputs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from match_core.contract.errors import InfeasibleError
from match_core.contract.program import MemoryUse, Program
from match_core.lower.overlap import overwritten
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, verify_model

from benchmarks.tables import ROOT, Cell, Column, Table

NETWORKS = ("resnet8", "dscnn", "mobilenetv1_025", "autoencoder")
#: Each size is this part of the one before.
STEP = 0.96
COLUMNS = (
    Column("network"),
    Column("--memory ram="),
    Column("RAM", ","),
    Column("activations", ","),
    Column("M instructions", ".3f"),
    Column("more", ".1%"),
    Column("tasks", "d"),
    Column("overwrite inputs", "d"),
    Column("twin"),
)


def _home(program: Program) -> MemoryUse:
    return next(use for use in program.memory if use.memory == program.soc.home)


def rows(network: str, target: str, plugins: Plugins) -> Iterator[tuple[Cell, ...]]:
    """The programs of one network, with less memory from row to row."""
    model = ROOT.parent / "shared" / "models" / f"mlperf_{network}_int8_qdq" / "model.onnx"
    limit, least = 0, 0
    while True:
        memory = (("ram", limit),) if limit else ()
        try:
            result = verify_model(VerifyRequest(model, target, memory=memory, cache=False), plugins)
        except InfeasibleError as error:
            yield (network, f"{limit:,}", *([None] * (len(COLUMNS) - 3)), error.code)
            return
        program = result.compilation.program
        use, cycles = _home(program), program.predicted_cycles
        least = least or cycles
        code = [task for task in program.tasks if not task.assignment.candidate.pattern.view]
        over = len(overwritten(program))
        sizes = (use.used_bytes, use.arena_bytes, cycles / 1e6, cycles / least - 1, len(code), over)
        yield (network, f"{limit:,}" if limit else "all", *sizes, "bit exact" if result.bit_exact else "WRONG")
        limit = int(min(use.used_bytes - 16, STEP * (limit or use.used_bytes)))


def main() -> None:
    """Print the table."""
    target = next((word for word in sys.argv[1:] if not word.startswith("-")), "stm32l4r5")
    plugins = Plugins.load()
    found = [row for network in NETWORKS for row in rows(network, target, plugins)]
    about = f"*{target}, modelled, `python -m benchmarks.ram_sweep`*"
    made = Table("ram_sweep", about, COLUMNS, tuple(found))
    sys.stdout.write(f"{made.markdown()}\n")
    if "--update" in sys.argv:
        made.put(ROOT / "docs" / "deploy-cortexm.md")


if __name__ == "__main__":
    main()
