"""Builds many programs into one executable, with the strictest warnings and sanitizers, and runs each of them.

A translation unit per program holds all of its files, so that the compiler starts once for each; objects are kept by
the digest of their text. A program that a sanitizer stops takes no other one with it.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from match_core.run.compiler import SANITIZE, STRICT

from tests.conformance.programs import Program, Tensor
from tests.conformance.suite import Array, Sample

FLAGS = (*STRICT, *SANITIZE, "-g0")
_TIMEOUT_SECONDS = 60

DRIVER = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int run_{name}(const char *inputs, const char *outputs, long samples);

/* Exactly as large as the program asked for, so that every access outside is seen. */
static void *block_{name}(size_t bytes)
{{
    void *const data = malloc(bytes);
    if (data == NULL) {{
        abort();
    }}
    memset(data, 0xA5, bytes);
    return data;
}}

int run_{name}(const char *inputs, const char *outputs, long samples)
{{
    FILE *const in = fopen(inputs, "rb");
    FILE *const out = fopen(outputs, "wb");
    if ((in == NULL) || (out == NULL)) {{
        return 3;
    }}
    static {name}_state_t state;
    const {name}_t ctx = {{{context}}};
    int status = {name}_init(&ctx);
    for (long sample = 0; (sample < samples) && (status == 0); sample++) {{
{blocks}
{reads}
        const {name}_inputs_t given = {{{given}}};
        const {name}_outputs_t wanted = {{{wanted}}};
        status = {name}_run(&ctx, &given, &wanted);
{writes}
{frees}
    }}
{arena_frees}
    return ((fclose(in) == 0) && (fclose(out) == 0)) ? status : 3;
}}
"""


@dataclass(frozen=True, slots=True)
class Failed:
    """The program could not be built or run; ``reason`` is the first line that tells why."""

    reason: str


def run_batch(
    programs: Sequence[tuple[Program, Sequence[Sample]]], folder: Path, objects: Path, *more: str
) -> list[list[tuple[Array, ...]] | Failed]:
    """The outputs of every program for each of its samples, in the order of the model's outputs. ``more``: flags of the
    C compiler."""
    failures: dict[str, Failed] = {}
    linked: dict[str, Path] = {}
    counts: dict[str, int] = {}
    for program, samples in programs:
        made = _inputs(program, samples, folder) or _object(program, folder, objects, (*FLAGS, *more))
        if isinstance(made, Failed):
            failures[program.name] = made
        else:
            linked[program.name] = made
            counts[program.name] = len(samples)
    if linked:
        failures.update(_run(_link(linked, folder), counts, folder))
    return [
        failures[program.name] if program.name in failures else _outputs(program, folder, len(samples))
        for program, samples in programs
    ]


def _inputs(program: Program, samples: Sequence[Sample], folder: Path) -> Failed | None:
    content = []
    for sample in samples:
        for tensor, array in zip(program.inputs, sample.inputs, strict=True):
            if array.size != tensor.elements or array.dtype != element_type(tensor.dtype):
                return Failed(f"input {tensor.name} is {tensor.dtype} {tensor.shape}, not {array.dtype} {array.shape}")
            content.append(np.ascontiguousarray(array, _carrier(array.dtype)).tobytes())
    (folder / f"{program.name}.in").write_bytes(b"".join(content))
    return None


def _object(program: Program, folder: Path, objects: Path, flags: Sequence[str]) -> Path | Failed:
    text = _unit(program)
    key = hashlib.sha256("\0".join([*flags, text]).encode())
    kept = objects / f"{key.hexdigest()[:32]}.o"
    if kept.is_file():
        return kept
    for name, body in program.files.items():
        (folder / name).write_text(body, encoding="utf-8")
    source, partial = folder / f"unit_{program.name}.c", folder / f"{program.name}.o"
    source.write_text(text, encoding="utf-8")
    command = ["cc", *flags, "-c", source.name, "-o", str(partial)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return Failed("the C compiler refuses it: " + _first_error(done.stderr))
    shutil.move(partial, kept)
    return kept


def _unit(program: Program) -> str:
    name = program.name
    sources = "".join(f'#include "{file}"\n' for file in sorted(program.files) if file.endswith(".c"))
    digests = "".join(
        f"/* {file} {hashlib.sha256(body.encode()).hexdigest()} */\n" for file, body in sorted(program.files.items())
    )
    given, wanted = _named(program.inputs, "in"), _named(program.outputs, "out")
    everything = [*given, *wanted]
    blocks = [f"{t.ctype} *const {v} = block_{name}({_bytes(t)}u);" for v, t in everything]
    reads = [
        f"if (fread({v}, 1, {_bytes(t)}u, in) != {_bytes(t)}u) {{\n            return 3;\n        }}" for v, t in given
    ]
    writes = [f"(void)fwrite({v}, 1, {_bytes(t)}u, out);" for v, t in wanted]
    arenas = [f".{field} = block_{name}({size}u)" for field, size in program.arenas]
    driver = DRIVER.format(
        name=name,
        context=", ".join([*arenas, ".state = &state"]),
        blocks=_indented(blocks),
        reads=_indented(reads),
        given=", ".join(f".{t.field} = {v}" for v, t in given) or ".unused = 0u",
        wanted=", ".join(f".{t.field} = {v}" for v, t in wanted),
        writes=_indented(writes),
        frees=_indented([f"free({v});" for v, _ in everything]),
        arena_frees="\n".join(f"    free(ctx.{field});" for field, _ in program.arenas),
    )
    return digests + sources + driver


def _named(tensors: Sequence[Tensor], prefix: str) -> list[tuple[str, Tensor]]:
    return [(f"{prefix}_{index}", tensor) for index, tensor in enumerate(tensors)]


def _bytes(tensor: Tensor) -> int:
    return tensor.elements * element_type(tensor.dtype).itemsize


def element_type(name: str) -> np.dtype[np.generic]:
    """The element type of that name, those of ml_dtypes included."""
    import ml_dtypes

    dtype: np.dtype[np.generic] = np.dtype(getattr(ml_dtypes, name, name))
    return dtype


def _carrier(dtype: np.dtype[np.generic]) -> np.dtype[np.generic]:
    """The type whose bytes programs read and write: int8 and uint8 for narrower integers."""
    if dtype.name in ("int4", "int2"):
        return np.dtype(np.int8)
    return np.dtype(np.uint8) if dtype.name in ("uint4", "uint2") else dtype


def _indented(lines: Sequence[str]) -> str:
    return "\n".join(f"        {line}" for line in lines)


def _link(linked: Mapping[str, Path], folder: Path) -> Path:
    """One executable: ``programs SAMPLES NAME SAMPLES NAME ...`` runs these programs in order, telling each name."""
    declared = "".join(f"int run_{name}(const char *inputs, const char *outputs, long samples);\n" for name in linked)
    calls = "".join(
        f'        if (strcmp(name, "{name}") == 0) status = run_{name}("{name}.in", "{name}.out", samples);\n'
        for name in linked
    )
    (folder / "main.c").write_text(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
        f"{declared}\nint main(int argc, char **argv)\n{{\n    for (int i = 1; i + 1 < argc; i += 2) {{\n"
        "        const long samples = atol(argv[i]);\n        const char *const name = argv[i + 1];\n"
        "        int status = 2;\n        (void)puts(name);\n        (void)fflush(stdout);\n"
        f"{calls}        if (status != 0) return 9;\n    }}\n    return 0;\n}}\n",
        encoding="utf-8",
    )
    executable = folder / "programs"
    command = ["cc", *SANITIZE, "-g0", "main.c", *map(str, linked.values()), "-lm", "-o", str(executable)]
    subprocess.run(command, cwd=folder, check=True)
    return executable


def _run(executable: Path, counts: Mapping[str, int], folder: Path) -> dict[str, Failed]:
    """Runs all programs; one that fails ends the process, and the next process begins behind it."""
    failures: dict[str, Failed] = {}
    waiting = list(counts)
    while waiting:
        arguments = [word for name in waiting for word in (str(counts[name]), name)]
        try:
            done = subprocess.run(
                [str(executable), *arguments],
                cwd=folder,
                capture_output=True,
                text=True,
                check=False,
                timeout=_TIMEOUT_SECONDS,
            )
            status, told, why = done.returncode, done.stdout, _first_error(done.stderr)
        except subprocess.TimeoutExpired as error:
            status, told, why = 1, (error.stdout or b"").decode(), f"it did not end within {_TIMEOUT_SECONDS} s"
        if status == 0:
            break
        last = told.split()[-1]
        failures[last] = Failed(f"it ended with {status}: {why}")
        waiting = waiting[waiting.index(last) + 1 :]
    return failures


def _outputs(program: Program, folder: Path, samples: int) -> list[tuple[Array, ...]]:
    data = (folder / f"{program.name}.out").read_bytes()
    results, offset = [], 0
    for _ in range(samples):
        arrays: list[Array] = []
        for tensor in program.outputs:
            dtype = element_type(tensor.dtype)
            values = np.frombuffer(data, _carrier(dtype), tensor.elements, offset).reshape(tensor.shape)
            offset += values.nbytes
            arrays.append(values.astype(dtype))
        results.append(tuple(arrays))
    return results


def _first_error(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip(" =")]
    told = [line for line in lines if "error" in line.lower()] or lines
    return told[0].strip()[:300] if told else "it says nothing"
