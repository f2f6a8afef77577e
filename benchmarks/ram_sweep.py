"""RAM against instructions: MLPerf Tiny's networks, and some of floats, on a board with less and less memory.

``python -m benchmarks.ram_sweep [TARGET] [--update]`` compiles each network with ``--memory``, from what its fastest
program needs down to the first size that MATCH-M001 refuses, runs every program on the twin and compares it bit for
bit (floats: within the bound of ``match verify``). It prints the table, and with ``--update`` writes it to
docs/deploy-cortexm.md. Instructions are modelled; RAM includes the caller's inputs and outputs. The column ``no rows
kept`` is for programs whose stripes compute all rows at borders twice; they are not run.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from match_beyond.choice import Chooser
from match_beyond.search import fit
from match_core import hookimpl
from match_core.contract.errors import InfeasibleError
from match_core.contract.fitting import Fit, FitRequest
from match_core.contract.program import MemoryUse, Program
from match_core.lower.overlap import overwritten
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.discovery import Found
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, verify_model

from benchmarks.tables import ROOT, Cell, Column, Table

#: Name -> the stored model, and the part of the size before that each size is.
NETWORKS = {
    **{name: (f"mlperf_{name}_int8_qdq", 0.96) for name in ("resnet8", "dscnn", "mobilenetv1_025", "autoencoder")},
    **{f"{name}, float32": (f"mlperf_{name}_f32", 0.85) for name in ("resnet8", "mobilenetv1_025")},
    "encoder, float32": ("transformer_enc128_f32", 0.85),
}
COLUMNS = (
    Column("network"),
    Column("--memory ram="),
    Column("RAM", ","),
    Column("activations", ","),
    Column("M instructions", ".3f"),
    Column("more", ".1%"),
    Column("no rows kept", ".1%"),
    Column("tasks", "d"),
    Column("overwrite inputs", "d"),
    Column("twin"),
)


class Twice:
    """Answers ``match_fit`` with stripes that keep no rows."""

    match_contract = 1

    @hookimpl
    def match_fit(self, request: FitRequest) -> Fit | None:
        """The search of match-beyond without kept rows."""
        return fit(request, lambda network, link, _: Chooser(network, link, keep=False))


def _home(program: Program) -> MemoryUse:
    return next(use for use in program.memory if use.memory == program.soc.home)


def _recomputed(request: CompileRequest, plugins: Plugins) -> int | None:
    """Instructions without kept rows; None if no such program fits."""
    try:
        return compile_model(request, plugins).compilation.program.predicted_cycles
    except InfeasibleError:
        return None


def rows(network: str, target: str, plugins: Plugins, without: Plugins) -> Iterator[tuple[Cell, ...]]:
    """The programs of one network, with less memory from row to row."""
    name, step = NETWORKS[network]
    model = ROOT.parent / "shared" / "models" / name / "model.onnx"
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
        twice = _recomputed(CompileRequest(model, target, memory=memory, cache=False), without)
        sizes = (
            use.used_bytes,
            use.arena_bytes,
            cycles / 1e6,
            cycles / least - 1,
            twice and twice / least - 1,
            len(code),
            over,
        )
        verdict = "bit exact" if result.bit_exact else "within the bound" if result.computed else "WRONG"
        yield (network, f"{limit:,}" if limit else "all", *sizes, verdict)
        limit = int(min(use.used_bytes - 16, step * (limit or use.used_bytes)))


def main() -> None:
    """Print the table."""
    target = next((word for word in sys.argv[1:] if not word.startswith("-")), "stm32l4r5")
    plugins, without = Plugins.load(), Plugins.load((Found("twice", "twice", "0", Twice),))
    found = [row for network in NETWORKS for row in rows(network, target, plugins, without)]
    about = f"*{target}, modelled, `python -m benchmarks.ram_sweep`*"
    made = Table("ram_sweep", about, COLUMNS, tuple(found))
    sys.stdout.write(f"{made.markdown()}\n")
    if "--update" in sys.argv:
        made.put(ROOT / "docs" / "deploy-cortexm.md")


if __name__ == "__main__":
    main()
