"""Processor time of compilations, cold and warm: ``python -m benchmarks.compile_time [--beside CHECKOUT]``.

``--beside``: another checkout or work tree, for example of the commit before; both are measured in turns, because the
speed of a machine changes with its load. Cold: no cache; warm: with the schedules and mappings of an earlier
compilation, but without its program, as after a change that leaves layers as they are; again: ``match compile`` of what
it has compiled before. Goal: seconds of a cold compilation to reach on a machine without other load.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks.compile_cost import CompileCost, command_seconds, compile_cost
from benchmarks.runs import MODELS

TINY = ("resnet8", "dscnn", "mobilenetv1_025", "autoencoder")
#: Networks of each target.
NETWORKS = {
    **{target: tuple(f"mlperf_{name}_int8_qdq" for name in TINY) for target in ("gap9", "diana", "host", "carfield")},
    "ita": ("ita_dinov2_l1_int8_qdq", "ita_mobilebert_l1_int8_qdq", "ita_whisper_l1_int8_qdq"),
}

#: Seconds of a cold compilation to reach.
GOALS = {"gap9": 2.0, "diana": 2.0, "host": 2.0, "carfield": 4.0, "ita": 3.0}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--targets", nargs="+", choices=sorted(NETWORKS), default=list(NETWORKS))
    parser.add_argument("--networks", nargs="+", default=())
    parser.add_argument("--beside", type=Path, metavar="CHECKOUT")
    parser.add_argument("--jobs", type=int, default=1, help="processes; the time of more than one is not counted")
    chosen = parser.parse_args()
    roots = [None, *([chosen.beside] if chosen.beside is not None else [])]
    print(
        "network                        target    goal   "
        + "   ".join("cold s  warm s  again s      cycles" for _ in roots)
    )
    for target in chosen.targets:
        for root in roots:  # compiles the modules, as those of installed packages are
            compile_cost(MODELS / NETWORKS[target][0] / "model.onnx", target, root=root, jobs=chosen.jobs)
        for name in chosen.networks or NETWORKS[target]:
            figures = [_measured(MODELS / name / "model.onnx", target, root, chosen.jobs) for root in roots]
            head = f"{name:<30} {target:<9} {GOALS[target]:4.1f}   "
            print(head + "   ".join(_figures(*row) for row in figures), flush=True)


def _measured(model: Path, target: str, root: Path | None, jobs: int) -> tuple[CompileCost, CompileCost, float]:
    """The cost without a cache, with that of an earlier compilation, and of the command that it is the second time."""
    with tempfile.TemporaryDirectory() as folder:
        out, cache = Path(folder) / "out", Path(folder) / "cache"
        cold = compile_cost(model, target, root=root, output=out, jobs=jobs)
        compile_cost(model, target, root=root, output=out, cache=cache, jobs=jobs)
        warm = compile_cost(model, target, root=root, output=out, cache=cache, jobs=jobs)
        again = [command_seconds(model, target, out, cache, root=root) for _ in range(2)]
        return cold, warm, again[-1]


def _figures(cold: CompileCost, warm: CompileCost, again: float) -> str:
    return f"{cold.seconds:6.2f}  {warm.seconds:6.2f}  {again:7.2f}  {cold.cycles or cold.error[:10]:>10}"


if __name__ == "__main__":
    main()
