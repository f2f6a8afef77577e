"""The programs that host_speed.py compares: C that this compiler and emx-onnx-cgen write for a model, each with a
driver that gives both the same functions."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import onnx
from match_core.emit.manifest import NAME as MANIFEST

from tests.benchmarks.tables import ROOT

#: The environment that `make bench-host` makes.
EMX_VERSION = "1.4.0"
EMX = ROOT / "build" / "emx" / "bin" / "emx-onnx-cgen"
#: Constants in the C file and no heap, as in our programs.
EMX_OPTIONS = ("--model-name", "emx", "--large-weight-threshold", "0", "--large-temp-threshold", "0")
#: Programs of other tools are kept here; they change only with the model and the version.
KEPT = ROOT / "build" / "host" / "emx"

Tool = Literal["match", "emx"]

#: What every driver has. ``bench_time`` runs the network so often and gives the seconds of each run.
_DRIVER = """\
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
{include}
#define EXPORT __attribute__((visibility("default")))
static const unsigned input_bytes[] = {{{input_bytes}}};
static const unsigned output_bytes[] = {{{output_bytes}}};
static uint64_t now(void)
{{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}}
{body}
EXPORT int bench_time(unsigned runs, double *seconds, const void *const *in, void *const *out)
{{
    for (unsigned run = 0u; run < runs; run++) {{
        const uint64_t start = now();
        if (bench_run(in, out) != 0) {{
            return 1;
        }}
        seconds[run] = 1e-9 * (double)(now() - start);
    }}
    return 0;
}}
#ifdef BENCH_MAIN
/* One run: inputs from files, outputs to files. */
int main(int argc, char **argv)
{{
    enum {{ INPUTS = sizeof input_bytes / sizeof *input_bytes, OUTPUTS = sizeof output_bytes / sizeof *output_bytes }};
    const void *in[INPUTS];
    void *out[OUTPUTS];
    int ok = argc == 1 + INPUTS + OUTPUTS;
    for (int n = 0; ok && n < INPUTS; n++) {{
        void *const place = aligned_alloc(64, (input_bytes[n] + 63u) / 64u * 64u);
        FILE *const file = fopen(argv[1 + n], "rb");
        ok = file != NULL && fread(place, 1, input_bytes[n], file) == input_bytes[n];
        in[n] = place;
    }}
    for (int n = 0; n < OUTPUTS; n++) {{
        out[n] = aligned_alloc(64, (output_bytes[n] + 63u) / 64u * 64u);
    }}
    ok = ok && bench_run(in, out) == 0;
    for (int n = 0; ok && n < OUTPUTS; n++) {{
        FILE *const file = fopen(argv[1 + INPUTS + n], "wb");
        ok = file != NULL && fwrite(out[n], 1, output_bytes[n], file) == output_bytes[n] && fclose(file) == 0;
    }}
    return ok ? 0 : 1;
}}
#endif
"""

_MATCH_BODY = """\
{arenas}
static {name}_state_t state;
#ifdef MATCH_PROFILE
static uint64_t node_begin[{nodes}], node_nanoseconds[{nodes}];
void match_profile_begin(unsigned node) {{ node_begin[node] = now(); }}
void match_profile_end(unsigned node) {{ node_nanoseconds[node] += now() - node_begin[node]; }}
EXPORT uint64_t bench_node(unsigned node) {{ return node_nanoseconds[node]; }}
#endif
EXPORT int bench_run(const void *const *in, void *const *out)
{{
    const {name}_t ctx = {{{fields}.state = &state}};
    const {name}_inputs_t inputs = {{{inputs}}};
    const {name}_outputs_t outputs = {{{outputs}}};
    return {name}_init(&ctx) != {guard}_OK || {name}_run(&ctx, &inputs, &outputs) != {guard}_OK;
}}
"""

_EMX_BODY = """\
void emx({parameters});
EXPORT int bench_run(const void *const *in, void *const *out)
{{
    emx({arguments});
    return 0;
}}
"""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A graph input or output of a model."""

    name: str
    shape: tuple[int, ...]
    dtype: str

    @property
    def size_bytes(self) -> int:
        """Bytes of one sample."""
        return int(np.prod(self.shape, dtype=np.int64)) * np.dtype(self.dtype).itemsize


@dataclass(frozen=True, slots=True)
class Ends:
    """Inputs and outputs of a model, in its order."""

    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]


@dataclass(frozen=True, slots=True)
class CProgram:
    """C of one tool for one model. ``sources``: without the driver; ``entry``: the function of one inference;
    ``compile_seconds``: of the tool's process; ``document``: our manifest, else empty; ``arena_bytes``: None where
    activations are on the stack."""

    tool: Tool
    sources: tuple[Path, ...]
    driver: Path
    entry: str
    compile_seconds: float
    document: Mapping[str, Any]
    arena_bytes: int | None = None


def ends(model: Path) -> Ends:
    """What a model takes and gives."""
    graph = onnx.load(model).graph
    constants = {initializer.name for initializer in graph.initializer}
    return Ends(
        tuple(_tensor(value) for value in graph.input if value.name not in constants),
        tuple(_tensor(value) for value in graph.output),
    )


def _tensor(value: onnx.ValueInfoProto) -> Tensor:
    kind = value.type.tensor_type
    dtype = onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)
    return Tensor(value.name, tuple(dim.dim_value for dim in kind.shape.dim), str(dtype))


def match_program(model: Path, folder: Path) -> CProgram:
    """Our C for the host, as ``match compile`` writes it."""
    started = time.perf_counter()
    _call(sys.executable, "-m", "match_core.cli.main", "compile", model, "-t", "host", "-o", folder, "-q", "--no-cache")
    seconds = time.perf_counter() - started
    document = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    name = document["name"]
    arenas = [
        f"static _Alignas({max(64, arena['alignment_bytes'])}) uint8_t {arena['field']}[{arena['size_bytes']}];"
        for arena in document["arenas"]
    ]
    body = _MATCH_BODY.format(
        name=name,
        guard=name.upper(),
        arenas="\n".join(arenas),
        nodes=1 + max(node["index"] for node in document["nodes"]),
        fields="".join(f".{arena['field']} = {arena['field']}, " for arena in document["arenas"]),
        inputs=", ".join(f".{io['field']} = in[{n}]" for n, io in enumerate(document["inputs"])),
        outputs=", ".join(f".{io['field']} = out[{n}]" for n, io in enumerate(document["outputs"])),
    )
    driver = _write_driver(folder / "bench_driver.c", ends(model), body, f'#include "{name}.h"')
    sources = sorted(path for path in folder.glob("*.c") if path.name not in ("example_main.c", driver.name))
    arena_bytes = sum(arena["size_bytes"] for arena in document["arenas"])
    return CProgram("match", tuple(sources), driver, f"{name}_run", seconds, document, arena_bytes)


def emx_program(model: Path) -> CProgram:
    """C of emx-onnx-cgen, written once for every model. RuntimeError with what it says where it refuses the model."""
    digest = hashlib.sha256(" ".join((EMX_VERSION, *EMX_OPTIONS)).encode() + model.read_bytes()).hexdigest()[:16]
    folder = KEPT / f"{model.parent.name}-{digest}"
    if not (folder / "seconds").is_file():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        started = time.perf_counter()
        _call(EMX, "compile", model, folder / "emx.c", *EMX_OPTIONS)
        (folder / "seconds").write_text(str(time.perf_counter() - started), encoding="utf-8")
    about = ends(model)
    inputs, outputs = (len(about.inputs), len(about.outputs))
    body = _EMX_BODY.format(
        parameters=", ".join(["const void *"] * inputs + ["void *"] * outputs),
        arguments=", ".join([f"in[{n}]" for n in range(inputs)] + [f"out[{n}]" for n in range(outputs)]),
    )
    driver = _write_driver(folder / "bench_driver.c", about, body, "")
    return CProgram("emx", (folder / "emx.c",), driver, "emx", float((folder / "seconds").read_text()), {})


def _write_driver(path: Path, about: Ends, body: str, include: str) -> Path:
    text = _DRIVER.format(
        include=include,
        body=body,
        input_bytes=", ".join(f"{tensor.size_bytes}u" for tensor in about.inputs),
        output_bytes=", ".join(f"{tensor.size_bytes}u" for tensor in about.outputs),
    )
    path.write_text(text, encoding="utf-8")
    return path


def _call(*command: str | Path) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed:\n{(done.stderr or done.stdout)[-2000:]}")
    return done.stdout
