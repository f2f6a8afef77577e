"""The offload of a compiled program: what each unit runs, what crosses its border, times of build, start-up and runs,
and the size of the compiled parts."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from match_core.run.build import compile_program
from match_core.run.compiled_program import read_manifest, units_of_program
from match_core.run.compiler import BuildOptions
from match_core.run.execute import run_twin

from match_report.samples import SEED, random_array

if TYPE_CHECKING:
    from match_core.contract.unit_api import UnitApi
    from match_core.plugin.facade import Plugins
    from match_core.run.compiler import Objects

#: Runs of which times are the median, after one that does not count.
RUNS = 5


@dataclass(frozen=True, slots=True)
class Part:
    """A region on a unit, or all layers of a unit together: operators and multiply-accumulates, bytes that it reads and
    writes in one inference, bytes of its constants, modelled cycles and those that the twin counts, and ``ms``: time on
    the development machine (of the twin if the unit has one), None in a concurrent program."""

    title: str
    unit: str
    operators: int
    macs: int
    input_bytes: int
    output_bytes: int
    constant_bytes: int
    predicted_cycles: int
    cycles: int
    ms: float | None


@dataclass(frozen=True, slots=True)
class Offload:
    """``regions``: on units that take whole regions; ``units``: all units. ``build_s``: compiling and linking the
    program and its twin here; ``start_ms``: the program's ``init``, in which engines load code and weights; ``run_ms``:
    one inference. ``sizes``: bytes of code and data of the objects of each unit's part, empty without the program
    ``size``."""

    regions: tuple[Part, ...]
    units: tuple[Part, ...]
    build_s: float
    start_ms: float
    run_ms: float
    sizes: Mapping[str, int]

    def as_json(self) -> dict[str, Any]:
        """The document of ``match offload``."""
        rows = {name: [asdict(part) for part in getattr(self, name)] for name in ("regions", "units")}
        times = {name: getattr(self, name) for name in ("build_s", "start_ms", "run_ms")}
        return {**rows, **times, "sizes": dict(self.sizes)}


def measure_offload(report: Mapping[str, Any], folder: Path, work: Path, plugins: Plugins) -> Offload:
    """Build the program in ``folder``, whose ``report.json`` is ``report``, in an empty folder ``work``, and run it
    with seeded random inputs. ToolError as ``match run``."""
    document = read_manifest(folder)
    host, apis = units_of_program(document, plugins)
    before = time.perf_counter()
    objects = compile_program(folder, work, apis, host, BuildOptions())
    executable = _timed(objects, document, work)
    build_s = time.perf_counter() - before
    generator = np.random.default_rng(SEED)
    inputs = {
        tensor["name"]: random_array(generator, np.dtype(tensor["dtype"]), (RUNS + 1, *tensor["shape"]))
        for tensor in document["inputs"]
    }
    run = run_twin(executable, document, inputs, work)
    times = _times((work / "times.txt").read_text("utf-8"))
    counted = {node.index: node.cycles for node in run.nodes}
    tasks = {} if document["queues"] else times
    parts = {layer["index"]: _part(layer, counted, tasks) for layer in report["layers"] if not layer["view"]}
    regions = tuple(parts[region["node"]] for region in document["regions"] if region["node"] in parts)
    names = sorted({part.unit for part in parts.values()})
    units = tuple(_sum(name, [part for part in parts.values() if part.unit == name]) for name in names)
    sizes = _sizes(objects, document, apis)
    return Offload(regions, units, build_s, times["init"], times["run"], sizes)


def _part(layer: Mapping[str, Any], counted: Mapping[int, int], times: Mapping[str, float]) -> Part:
    return Part(
        title=layer["title"],
        unit=layer["unit"],
        operators=len(layer["operators"]),
        macs=layer["macs"],
        input_bytes=layer["input_bytes"],
        output_bytes=layer["output_bytes"],
        constant_bytes=layer["constant_bytes"],
        predicted_cycles=layer["predicted_cycles"],
        cycles=counted.get(layer["index"], 0),
        ms=times.get(f"task {layer['index']}"),
    )


def _sum(unit: str, parts: Sequence[Part]) -> Part:
    times = [part.ms for part in parts if part.ms is not None]
    return Part(
        title=f"{len(parts)} layers",
        unit=unit,
        operators=sum(part.operators for part in parts),
        macs=sum(part.macs for part in parts),
        input_bytes=sum(part.input_bytes for part in parts),
        output_bytes=sum(part.output_bytes for part in parts),
        constant_bytes=sum(part.constant_bytes for part in parts),
        predicted_cycles=sum(part.predicted_cycles for part in parts),
        cycles=sum(part.cycles for part in parts),
        ms=sum(times) if times else None,
    )


def _timed(objects: Objects, document: Mapping[str, Any], work: Path) -> Path:
    """The executable with an observer that writes the time of ``init``, of each run, and of each task."""
    text = _OBSERVER.replace("NAME", document["name"]).replace("PATH", json.dumps(str(work / "times.txt")))
    (work / "offload.h").write_text(text, encoding="utf-8")
    source = work / "offload.c"
    source.write_text('#define MATCH_TWIN_OBSERVER "offload.h"\n#include "harness.c"\n', encoding="utf-8")
    observed = objects.compile(source, work / "offload.o")
    return objects.link(work / "offload", {work / "harness.c": observed})


def _times(text: str) -> dict[str, float]:
    """The median of the times, in ms, by what took them; the first run, which fills caches, does not count."""
    found: dict[str, list[float]] = {}
    for line in text.splitlines():
        what, _, ms = line.rpartition(" ")
        found.setdefault(what, []).append(float(ms))
    return {what: median(each[1:] or each) for what, each in found.items()}


def _sizes(objects: Objects, document: Mapping[str, Any], apis: Mapping[str, UnitApi]) -> dict[str, int]:
    """Code and data by unit; ``program``: its frame, tables of regions, constants."""
    tool = shutil.which("size")
    if tool is None:
        return {}
    owners = {f"{document['name']}_{unit}.c": unit for unit in apis}
    owners |= {name: unit for unit, api in apis.items() for name in api.shipped}
    owners |= {f"{region['name']}.c": region["unit"] for region in document["regions"]}
    emitted = {source.name: path for source, path in objects.objects.items() if source.name in document["files"]}
    done = subprocess.run([tool, *map(str, emitted.values())], capture_output=True, text=True, check=False)
    rows = [line.split() for line in done.stdout.splitlines()[1:]]
    sizes: dict[str, int] = {}
    for name, row in zip(emitted, rows, strict=False):
        owner = owners.get(name, "program")
        sizes[owner] = sizes.get(owner, 0) + int(row[0]) + int(row[1])
    return dict(sorted(sizes.items()))


_OBSERVER = """#include <time.h>

static FILE *times;
static double last;

static double now(void)
{
    struct timespec t;
    (void)timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void observe(unsigned task)
{
    (void)fprintf(times, "task %u %.6f\\n", task, now() - last);
    last = now();
}

static int timed_init(const NAME_t *ctx)
{
    times = fopen(PATH, "w");
    if (times == NULL) {
        match_twin_fault("the times cannot be written");
    }
    const double start = now();
    const int status = NAME_init(ctx);
    (void)fprintf(times, "init %.6f\\n", now() - start);
    return status;
}

static int timed_run(const NAME_t *ctx, const NAME_inputs_t *inputs, const NAME_outputs_t *outputs)
{
    const double start = now();
    last = start;
    const int status = NAME_run(ctx, inputs, outputs);
    (void)fprintf(times, "run %.6f\\n", now() - start);
    (void)fflush(times);
    return status;
}

#define NAME_init timed_init
#define NAME_run timed_run
"""
