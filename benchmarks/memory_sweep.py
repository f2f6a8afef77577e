"""Less and less home memory: every program on the twin, down to the least that any program requires.

``python -m benchmarks.memory_sweep [--targets ...] [--update]`` compiles each network with 12 sizes of the home memory,
from what its program uses with all of it down to the lower bound that MATCH-M001 proves, runs each program on the twin,
and compares it bit for bit (floats: within the tolerance of ``match verify``). It prints a table for each target, and
with ``--update`` writes it to docs/beyond.md. The exit code is 1 if an output is wrong, or if more memory makes a
program slower. Cycles are modelled unless a column says twin; seconds are those of one process without a cache and
without the compiler of C.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import process_time

from match_beyond.network import Network
from match_beyond.search import least_bytes
from match_core import hookimpl
from match_core.contract.errors import InfeasibleError
from match_core.contract.fitting import Fit, FitRequest
from match_core.contract.observe import NullObserver
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.discovery import Found
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, verify_model

from benchmarks.large_networks import mobilenet_v2, resnet50, unet
from benchmarks.tables import ROOT, Cell, Column, Table

MODELS = ROOT.parent / "shared" / "models"
STEPS = 12
#: Bytes in which nothing fits.
NOTHING = 1024
MADE: dict[str, Callable[[Path], Path]] = {
    "unet_48": lambda path: unet(path, size=48, width=8, levels=2),
    "mobilenet_v2_48": lambda path: mobilenet_v2(path, size=48, classes=10, stages=4),
    "resnet50_64": lambda path: resnet50(path, size=64, classes=10, width=8),
}
_MLPERF = tuple(f"mlperf_{name}_int8_qdq" for name in ("resnet8", "dscnn", "mobilenetv1_025", "autoencoder"))
_MATCHA = ("resnet_block", "resnext_block", "transformer_block", "resnet8", "autoencoder", "dscnn", "mobilenet")
#: Networks by target; those that are not in ``MADE`` are stored in ../shared/models.
NETWORKS = {
    "gap9": (*_MLPERF, *MADE),
    "diana": _MLPERF,
    "carfield": tuple(f"matcha_{name}_f16" for name in _MATCHA),
    "ita": ("ita_mobilebert_l1_int8_qdq", "ita_dinov2_l1_int8_qdq", "ita_whisper_l1_int8_qdq"),
}
COLUMNS = (
    Column("network"),
    Column("bytes", ","),
    Column("used", ","),
    Column("cycles", ","),
    Column("cycles on the twin", ","),
    Column("of the first", ".2f"),
    Column("units"),
    Column("result"),
    Column("s", ".0f"),
)


@dataclass
class Capture:
    """A plugin that keeps the requests for models that fit, and leaves them to others."""

    match_contract = 1
    requests: list[FitRequest] = field(default_factory=list)

    @hookimpl(tryfirst=True)
    def match_fit(self, request: FitRequest) -> Fit | None:
        """Keep the request."""
        self.requests.append(request)
        return None


def asked(model: Path, target: str, home: str) -> FitRequest:
    """The request for a model that fits so little memory that nothing does."""
    capture = Capture()
    plugins = Plugins.load([Found("capture", "benchmarks", "0", lambda: capture)])
    with suppress(InfeasibleError):
        compile_model(CompileRequest(model, target, memory=((home, NOTHING),)), plugins, NullObserver())
    return capture.requests[0]


def sizes(model: Path, target: str, plugins: Plugins) -> tuple[str, list[int]]:
    """The home memory, and the sizes to try: from what the default program uses with all of it down to the least that
    any program needs."""
    program = compile_model(CompileRequest(model, target), plugins, NullObserver()).compilation.program
    used = next(use.used_bytes for use in program.memory if use.memory == program.soc.home)
    request = asked(model, target, program.soc.home)
    least = max(NOTHING, least_bytes(request, Network.of(request.model, request.mapping, request.overlaps))[0])
    below = [(used - (used - least) * step // (STEPS - 1)) // 16 * 16 for step in range(1, STEPS)]
    return program.soc.home, [-(-used // 16) * 16, *below]


def rows(network: str, target: str, model: Path, plugins: Plugins) -> Iterator[tuple[Cell, ...]]:
    """A program for each size."""
    first = before = 0
    home, tried = sizes(model, target, plugins)
    for size in tried:
        begin = process_time()
        request = VerifyRequest(model, target, memory=((home, size),), cache=False)
        try:
            result = verify_model(request, plugins)
        except InfeasibleError as error:
            yield (network, size, *([None] * 5), error.code, process_time() - begin)
            continue
        program = result.compilation.program
        used = next(use.used_bytes for use in program.memory if use.memory == home)
        cycles, first = program.predicted_cycles, first or program.predicted_cycles
        verdict = "bit exact" if result.bit_exact else "as the graph" if result.computed else "WRONG"
        verdict += ", FASTER THAN WITH MORE" if cycles < before else ""
        before = cycles
        kind = "side by side" if program.soc.mode == "concurrent" else "one after another"
        twin = result.run.cycles_total
        yield (network, size, used, cycles, twin, cycles / first, kind, verdict, process_time() - begin)


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--targets", nargs="+", choices=sorted(NETWORKS), default=sorted(NETWORKS))
    parser.add_argument("--networks", nargs="+", help="only these")
    parser.add_argument("--update", action="store_true", help="write the tables to docs/beyond.md")
    chosen = parser.parse_args()
    plugins, faults = Plugins.load(), 0
    for target in chosen.targets:
        found: list[tuple[Cell, ...]] = []
        with tempfile.TemporaryDirectory() as folder:
            for name in NETWORKS[target]:
                if chosen.networks and name not in chosen.networks:
                    continue
                made = MADE.get(name)
                model = made(Path(folder) / f"{name}.onnx") if made else MODELS / name / "model.onnx"
                for row in rows(name, target, model, plugins):
                    found.append(row)
                    sys.stderr.write(f"{target} {row}\n")
        only = f" --networks {' '.join(chosen.networks)}" if chosen.networks else ""
        about = f"*target {target}, `python -m benchmarks.memory_sweep --targets {target}{only}`*"
        table = Table(f"memory-{target}", about, COLUMNS, tuple(found))
        sys.stdout.write(f"{table.markdown()}\n")
        if chosen.update:
            table.put(ROOT / "docs" / "beyond.md")
        faults += sum(any(word in str(row[-2]) for word in ("WRONG", "FASTER")) for row in found)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
