"""Instructions of the parts of Cortex-M's kernels, fitted to counts on the emulator.

``python -m benchmarks.cortexm_fit`` compiles the layers of cortexm_cases.py for Cortex-M4 and M55, runs them on QEMU
and prints the tables of ``match_cortexm/figures.py``. Least squares of relative errors; no part is negative.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
from match_core.contract.runner import Place
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_core.run.compiled_program import run_program
from match_host.constants import OPERATION_CYCLES

from benchmarks.cortexm_cases import CASES, model_of

TARGETS = ("stm32l4r5", "corstone300")
_HOST = tuple(constant.name for constant in OPERATION_CYCLES)

Counts = Mapping[str, int]


def counted(directory: Path, model: Path, target: str, plugins: Plugins) -> list[tuple[str, Counts, int, int]]:
    """Of each task: pattern, counts, instructions on the emulator, instructions modelled."""
    request = CompileRequest(model=model, target=target, output=directory, name="net", cache=False)
    compilation = compile_model(request, plugins).compilation
    rng = np.random.default_rng(0)
    graph = onnx.load(model).graph
    inputs = {
        value.name: rng.integers(-128, 128, [1, *(d.dim_value for d in value.type.tensor_type.shape.dim)], np.int8)
        for value in graph.input
    }
    runner = next(runner for runner in plugins.runners() if runner.name == "qemu")
    result = run_program(directory, inputs, plugins, place=Place(runner))
    tasks = [task.assignment for task in compilation.program.tasks]
    found = []
    for node in result.nodes:
        candidate, cost = tasks[node.index].candidate, tasks[node.index].schedule.cost
        found.append((candidate.pattern.name, candidate.workload.parameters, node.cycles, cost.total_cycles))
    return found


def nonnegative(rows: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Least squares without negative coefficients: the most negative one is left out until none is."""
    used = list(np.flatnonzero(np.abs(rows).sum(axis=0)))
    while used:
        values = np.linalg.lstsq(rows[:, used], wanted, rcond=None)[0]
        if values.min() >= 0:
            result = np.zeros(rows.shape[1])
            result[used] = values
            return result
        used.pop(int(values.argmin()))
    return np.zeros(rows.shape[1])


def fit(samples: Sequence[tuple[Counts, int]], names: Sequence[str]) -> dict[str, float]:
    """Instructions of each named count."""
    rows = np.array([[counts.get(name, 0) / number for name in names] for counts, number in samples])
    values = nonnegative(rows, np.ones(len(samples)))
    return {name: round(float(value), 2) for name, value in zip(names, values, strict=True)}


def main(arguments: Sequence[str]) -> int:
    """Print the figures and the errors of the fit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args(arguments)
    plugins, forms = Plugins.load(), defaultdict[str, list[tuple[Counts, int]]](list)
    for target in TARGETS:
        for seed, case in enumerate(CASES):
            with tempfile.TemporaryDirectory(prefix="match-cortexm-") as folder:
                path = Path(folder) / "net.onnx"
                onnx.save(model_of(case, seed), path)
                for pattern, counts, number, _ in counted(Path(folder) / "build", path, target, plugins):
                    own = [name for name in counts if name != "elements"]
                    form = own[0].rsplit("_", 1)[0] if pattern.startswith("cortexm_") else "host"
                    forms[form].append((counts, number))
    for form, samples in forms.items():
        names = _HOST if form == "host" else tuple(dict.fromkeys(n for c, _ in samples for n in c if n != "elements"))
        values = fit(samples, names)
        errors = [sum(values[n] * c.get(n, 0) for n in names) / number - 1 for c, number in samples]
        parts = {name.removeprefix(f"{form}_"): value for name, value in values.items() if value}
        sys.stdout.write(f'    "{form}": {parts},\n')
        worst = max(map(abs, errors))
        sys.stdout.write(f"    # {len(samples)} layers: median {np.median(np.abs(errors)):.1%}, worst {worst:.1%}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
