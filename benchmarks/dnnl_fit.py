"""Times single operators on oneDNN and on the host, and fits the figures of the cost models to them.

``OMP_NUM_THREADS=1 python -m benchmarks.dnnl_fit`` compiles each case for both targets, builds it with
``gcc -O3 -march=native``, takes the fastest of many runs, and prints times, modelled times and fitted figures. Other
programs on the machine disturb it; the fastest run suffers least.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from match_dnnl.cost_host import HOST_FIGURE_NAMES, host_work
from numpy.typing import NDArray

from benchmarks.dnnl_cases import CASES, Case

if TYPE_CHECKING:
    from collections.abc import Mapping

    from match_core.contract.compilation import Compilation

_FLAGS = ("-O3", "-march=native", "-mprefer-vector-width=512", "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-I.")
_RUNS, _ROUNDS, _PAUSE_S = 100, 10, 0.1
_MAIN = """#include "net.h"
#include <stdalign.h>
#include <stdio.h>
#include <time.h>
#ifdef NET_RAM_BYTES
static alignas(NET_RAM_ALIGN) uint8_t ram[NET_RAM_BYTES];
#define RAM .ram = ram,
#else
#define RAM
#endif
static net_state_t state;
{arrays}
int main(void)
{{
    const net_t ctx = {{RAM .state = &state}};
    const net_inputs_t in = {{{inputs}}};
    const net_outputs_t out = {{.y = y}};
    double best = 1e30;
    if (net_init(&ctx) != 0) return 1;
    for (int i = 0; i < {runs}; i++) {{
        struct timespec begin, end;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        if (net_run(&ctx, &in, &out) != 0) return 1;
        clock_gettime(CLOCK_MONOTONIC, &end);
        const double ns = (end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec);
        if (ns < best) best = ns;
    }}
    net_stop(&ctx);
    printf("%.0f\\n", best);
    return 0;
}}
"""


@dataclass(frozen=True, slots=True)
class Timed:
    """Nanoseconds of one case; ``host_counts``: how often each figure of the host counts in it."""

    case: Case
    dnnl_ns: float
    host_ns: float
    host_counts: Mapping[str, float]


def _compiled(case: Case, directory: Path, target: str, **choices: Any) -> Compilation:
    import onnx
    from match_core.pipeline import CompileRequest, compile_model
    from match_core.plugin.facade import Plugins

    onnx.save(case.model(), directory / "net.onnx")
    request = CompileRequest(
        model=directory / "net.onnx", target=target, output=directory / target, name="net", **choices
    )
    return compile_model(request, Plugins.load()).compilation


def _host_counts(compilation: Compilation) -> Mapping[str, float]:
    kernels = [host_work(assignment.candidate.workload) for assignment in compilation.mapping.assignments]
    return {name: sum(kernel[name] for kernel in kernels) for name in HOST_FIGURE_NAMES}


def _built(case: Case, directory: Path, libraries: Sequence[str]) -> Path:
    arrays = [f"static float {name}[{prod(sizes)}];" for name, sizes in (*case.inputs, ("y", case.output))]
    fields = ", ".join(f".{name} = {name}" for name, _ in case.inputs)
    (directory / "main.c").write_text(_MAIN.format(arrays="\n".join(arrays), inputs=fields, runs=_RUNS), "utf-8")
    sources = [path.name for path in sorted(directory.glob("*.c"))]
    subprocess.run(["gcc", *_FLAGS, *sources, "-o", "net", *libraries, "-lm"], cwd=directory, check=True)
    return directory / "net"


def _fastest(program: Path) -> float:
    """Of several starts with pauses between them, so that some find the machine quiet."""
    times = []
    for _ in range(_ROUNDS):
        run = subprocess.run([str(program)], capture_output=True, text=True, check=True)
        times.append(float(run.stdout))
        time.sleep(_PAUSE_S)
    return min(times)


def timed(case: Case) -> Timed:
    """Both ways to run the case."""
    with tempfile.TemporaryDirectory(prefix="match-dnnl-") as temporary:
        directory = Path(temporary)
        _compiled(case, directory, "dnnl", without_units=("host",))
        compilation = _compiled(case, directory, "host", preset="avx512")
        dnnl = _built(case, directory / "dnnl", ("-ldnnl", "-lcjson"))
        host = _built(case, directory / "host", ())
        return Timed(case, _fastest(dnnl), _fastest(host), _host_counts(compilation))


def fitted(rows: NDArray[np.float64], times: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Figures that are not negative and make the weighted squares of relative errors least: coordinate descent."""
    target = np.sqrt(weights)
    scaled = rows / times[:, None] * target[:, None]
    figures = np.zeros(rows.shape[1])
    for _ in range(20000):
        for column in range(rows.shape[1]):
            values = scaled[:, column]
            if not values.any():
                continue
            rest = target - scaled @ figures + values * figures[column]
            figures[column] = max(0.0, float(values @ rest / (values @ values)))
    return figures


def main() -> int:
    """Prints a table and the fitted figures."""
    names = sorted({name for case in CASES for name in case.counts()})
    results = [timed(case) for case in CASES]
    rows = np.array([[case.counts().get(name, 0.0) for name in names] for case in CASES])
    weights = np.array([float(case.layers) for case in CASES])
    figures = fitted(rows, np.array([result.dnnl_ns for result in results]), weights)
    host_rows = np.array([[result.host_counts[name] for name in HOST_FIGURE_NAMES] for result in results])
    host_figures = fitted(host_rows, np.array([result.host_ns for result in results]), weights)
    lines = [f"{'case':20} {'dnnl ns':>10} {'modelled':>10} {'host ns':>10} {'modelled':>10}"]
    for result, row, host_row in zip(results, rows, host_rows, strict=True):
        lines.append(
            f"{result.case.name:20} {result.dnnl_ns:10.0f} {row @ figures:10.0f} {result.host_ns:10.0f} "
            f"{host_row @ host_figures:10.0f}"
        )
    every = (*zip(names, figures, strict=True), *zip(HOST_FIGURE_NAMES, host_figures, strict=True))
    sys.stdout.write("\n".join([*lines, *(f"{name} {figure:.4g}" for name, figure in every), ""]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
